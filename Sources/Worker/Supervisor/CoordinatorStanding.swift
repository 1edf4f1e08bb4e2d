import Logging

/// How a worker stands with its coordinator, and what is told of that: each change once, however often is tried.
///
/// A value that is stepped. What it is told are the events of the supervisor's own link, and what executors say of theirs.
struct CoordinatorStanding: Sendable {
    enum News: Equatable, Sendable {
        case log(Logger.Level, String)
        /// For the service manager, until the next one.
        case status(String)
    }

    private enum State: Equatable {
        /// Nothing was tried yet.
        case new
        case attached
        /// The connection is lost; the attempt that follows at once says how it stands.
        case lost
        case unreachable
        /// This worker, or an executor of it, is not let in.
        case denied(Attempt)
        /// Nobody has answered since it was not let in.
        case deniedAndUnreachable
    }

    private enum Attempt: Equatable {
        /// Of the supervisor; that its connection ends is still to come.
        case ending
        case over
    }

    private let endpoint: String
    private var state = State.new

    init(endpoint: String) { self.endpoint = endpoint }

    mutating func attached() -> [News] {
        defer { state = .attached }
        switch state {
        case .attached: return []
        case .new, .lost, .unreachable: return [attachedStatus]
        case .denied, .deniedAndUnreachable:
            return [.log(.notice, "the coordinator at \(endpoint) lets this worker in"), attachedStatus]
        }
    }

    /// - Parameter time: what to say of now.
    mutating func detached(_ reason: String, time: String) -> [News] {
        switch state {
        case .new, .lost:
            state = .unreachable
            return [
                .log(.notice, "no coordinator at \(endpoint) (\(reason)); trying on"),
                .status("no coordinator at \(endpoint) since \(time); trying on"),
            ]
        case .attached:
            state = .lost
            return [.log(.info, "the connection to \(endpoint) has ended (\(reason)); trying again")]
        case .denied(.ending):
            state = .denied(.over)
            return []
        // No line in the log: the attempts of a worker that is not let in end now in one way, now in the other.
        case .denied(.over):
            state = .deniedAndUnreachable
            return [.status("no coordinator at \(endpoint) since \(time); trying on (it did not let this worker in before)")]
        case .unreachable, .deniedAndUnreachable: return []
        }
    }

    /// The supervisor itself is not let in; ``detached(_:time:)`` follows.
    mutating func denied(_ reason: String, time: String) -> [News] {
        defer { state = .denied(.ending) }
        return denial(reason, time)
    }

    /// An executor is not let in, while the supervisor is attached.
    mutating func executorDenied(_ reason: String, time: String) -> [News] {
        defer { state = .denied(.over) }
        return denial(reason, time)
    }

    /// Somebody may see to it: processes may be started, and keys authorised, in any order.
    private func denial(_ reason: String, _ time: String) -> [News] {
        let status = News.status("not let in since \(time), trying on: \(reason)")
        switch state {
        case .denied: return []
        case .deniedAndUnreachable: return [status]
        case .new, .attached, .lost, .unreachable: return [.log(.error, "\(reason); trying on"), status]
        }
    }

    private var attachedStatus: News { .status("attached to \(endpoint)") }
}
