import Shapes
import Wire

/// Workers as text.
enum WorkerText {
    static func table(_ all: [WireWorkerView]) -> String {
        guard !all.isEmpty else { return "no workers; start one with `aop worker`\n" }
        var table = Table(["ID", "PID", "STATE", "RUNNING", "HEARD", "LABELS", "RESOURCES", "OPERATIONS"])
        let now = WallClock.milliseconds()
        for worker in all {
            table.add([
                worker.id, "\(worker.pid)", worker.state, "\(worker.running)/\(worker.slots)",
                TimeText.age(worker.lastHeard, now: now), list(worker.labels),
                list(worker.resources.map(\.text)), worker.operations.joined(separator: " "),
            ])
        }
        return table.text
    }

    /// All that is known of each.
    static func details(_ workers: [WireWorkerView]) -> String {
        let now = WallClock.milliseconds()
        return workers.map { details($0, now: now) }.joined(separator: "\n")
    }

    private static func details(_ worker: WireWorkerView, now: Int64) -> String {
        let detail = worker.detail
        var lines = [("id", worker.id)]
        if worker.givenName != worker.id { lines.append(("name", worker.givenName)) }
        lines += [("host", worker.host), ("process", "\(worker.pid)"), ("state", worker.state)]
        if worker.hasDrain { lines.append(("drained", drain(worker.drain, now: now))) }
        if detail.mayRunUntil != 0 {
            lines.append(("unheard", "something may run in it until \(TimeText.rfc3339(detail.mayRunUntil))"))
        }
        lines += [
            ("version", worker.version.isEmpty ? "-" : "aop \(worker.version)"), ("heard", TimeText.age(worker.lastHeard, now: now)),
            ("clock", worker.hasClockOffset ? clock(worker.clockOffset) : "-"),
            ("slots", "\(worker.slots), \(worker.running) taken" + (detail.line == 0 ? "" : ", and places for \(detail.line) in line")),
            ("labels", list(worker.labels)), ("resources", list(worker.resources.map(\.text), separator: ", ")),
            ("operations", list(detail.operations.map(\.text), separator: ", ")), ("conditions", list(detail.conditions, separator: ", ")),
        ]
        let fields = lines.map { DisplayWidth.pad($0.0, to: 12) + PlainText.of($0.1) + "\n" }.joined()
        guard !detail.held.isEmpty else { return fields + "\nit has been given nothing that has not ended\n" }
        var table = Table(["OPERATION", "STATE", "STARTED"])
        for held in detail.held { table.add([PlainText.of(held.operation), held.state.word, TimeText.age(held.startedAt, now: now)]) }
        let more = Int(detail.heldCount) - detail.held.count
        return fields + "\n" + table.text + (more > 0 ? "and \(more) more\n" : "")
    }

    private static func clock(_ offset: Int64) -> String {
        offset.magnitude < 1_000
            ? "as the coordinator's" : "\(offset.magnitude / 1_000) s \(offset < 0 ? "behind" : "ahead of") the coordinator's"
    }

    private static func drain(_ drain: WireWorkerDrain, now: Int64) -> String {
        "\(TimeText.age(drain.since, now: now)) by \(drain.by.isEmpty ? "the coordinator's own user" : drain.by)"
            + (drain.reason.isEmpty ? "" : ": \(drain.reason)")
    }

    private static func list(_ texts: [String], separator: String = " ") -> String {
        texts.isEmpty ? "-" : texts.joined(separator: separator)
    }
}

extension WireRegisteredOperation {
    /// "resize 3 (from 1 on)": its version, and the oldest one that is taken, too.
    fileprivate var text: String { "\(name) \(version)" + (oldestVersion < version ? " (from \(oldestVersion) on)" : "") }
}

extension WireResourceView {
    /// "gpus 1/2", "memory 2.0/16.0 GiB": taken, and how much there is.
    fileprivate var text: String {
        guard name == ResourceName.memory else { return "\(name) \(taken)/\(amount)" }
        func gibibytes(_ bytes: UInt64) -> String {
            let tenths = bytes / ((1 << 30) / 10)
            return "\(tenths / 10).\(tenths % 10)"
        }
        return "\(name) \(gibibytes(taken))/\(gibibytes(amount)) GiB"
    }
}
