import Cluster
import Shapes
import Wire

/// Something that happened to a submission, or to an operation of one.
struct ClusterEvent: Hashable, Sendable {
    enum Subject: Hashable, Sendable {
        case submission
        case operation(path: String, attempt: Int, worker: String)
    }

    /// Milliseconds since 1970.
    var at: Int64
    /// Of the submission.
    var id: String
    var name: String
    var subject: Subject
    /// `submitted`, or a word of `aop show`: `running`, `stopping`, `retrying`, `succeeded`, `failed`, `cancelled`.
    var event: String
    /// Why it failed; empty: it has not, or that is not known.
    var error = ""

    var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [
            ("at", .time(at)), ("id", .string(id)), ("name", .string(name)), ("event", .string(event)),
        ]
        switch subject {
        case .submission: members += [("path", .null), ("attempt", .null), ("worker", .null)]
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
            case .operation(let path, let attempt, let worker):
                PlainText.of(path) + (attempt > 1 ? "  attempt \(attempt)" : "") + (worker.isEmpty ? "" : "  (\(worker))")
            }
        return "\(TimeText.rfc3339(at))  \(id)  \(word) \(rest)\(error.isEmpty ? "" : ": \(DisplayWidth.cut(error, to: 200))")\n"
    }

    /// For scripts: what it happened to, and what happened.
    var bare: String {
        switch subject {
        case .submission: "\(id) \(event)\n"
        case .operation(let path, _, _): "\(id)/\(path) \(event)\n"
        }
    }
}
