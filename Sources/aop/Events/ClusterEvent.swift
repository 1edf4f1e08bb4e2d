import Cluster
import Shapes
import Wire

/// Something that happened to a submission, to an operation of one, or to a worker.
struct ClusterEvent: Hashable, Sendable {
    enum Subject: Hashable, Sendable {
        case submission
        case operation(path: String, attempt: Int, worker: String)
        case worker(String, text: String)
    }

    /// Milliseconds since 1970.
    var at: Int64
    /// Of the submission; empty: it is none.
    var id: String
    var name: String
    var subject: Subject
    /// `submitted`, or a word of `aop show`: `running`, `stopping`, `retrying`, `succeeded`, `failed`, `cancelled`. Of a worker `joined`,
    /// `back`, `draining`, `resumed`, `lost`, `left`, `removed`.
    var event: String
    /// Why it failed; empty: it has not, or that is not known.
    var error = ""

    init(at: Int64, id: String, name: String, subject: Subject, event: String, error: String = "") {
        (self.at, self.id, self.name, self.subject, self.event, self.error) = (at, id, name, subject, event, error)
    }

    init(_ event: WireWorkerEvent) {
        self.init(at: event.at, id: "", name: "", subject: .worker(event.worker, text: event.text), event: event.event)
    }

    var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [
            ("at", .time(at)), ("id", .optional(id)), ("name", id.isEmpty ? .null : .string(name)), ("event", .string(event)),
        ]
        switch subject {
        case .submission: members += [("path", .null), ("attempt", .null), ("worker", .null)]
        case .worker(let worker, let text):
            members += [("path", .null), ("attempt", .null), ("worker", .string(worker)), ("text", .optional(text))]
        case .operation(let path, let attempt, let worker):
            members += [
                ("path", .string(path)), ("attempt", attempt == 0 ? .null : .integer(Int64(attempt))), ("worker", .optional(worker)),
            ]
        }
        return members + [("error", .optional(error))]
    }

    /// `2026-11-25T02:26:37.891Z  7fk2mq0d3s  failed     count/3  (host/0): exited with 7`
    func line(_ style: Style) -> String {
        let word = style.state(event) + String(repeating: " ", count: max(0, 10 - event.count))
        let rest: String =
            switch subject {
            case .submission: PlainText.of(name)
            case .worker(let worker, let text): PlainText.of(worker) + (text.isEmpty ? "" : ": \(PlainText.of(text))")
            case .operation(let path, let attempt, let worker):
                PlainText.of(path) + (attempt > 1 ? "  attempt \(attempt)" : "") + (worker.isEmpty ? "" : "  (\(worker))")
            }
        // In the column of the submissions' ids.
        let subject = if case .worker = subject { "worker    " } else { id }
        return "\(TimeText.rfc3339(at))  \(subject)  \(word) \(rest)\(error.isEmpty ? "" : ": \(DisplayWidth.cut(error, to: 200))")\n"
    }

    /// For scripts: what it happened to, and what happened.
    var bare: String {
        switch subject {
        case .submission: "\(id) \(event)\n"
        case .worker(let worker, _): "worker \(worker) \(event)\n"
        case .operation(let path, _, _): "\(id)/\(path) \(event)\n"
        }
    }
}
