import Logging
import Wire

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
    /// The reason of the denial that is told, and of the last one that was lifted, until every executor has tried again.
    private var told = ""
    private var lifted: (reason: String, until: Int64)?

    init(endpoint: String) { self.endpoint = endpoint }

    /// - Parameter now: milliseconds of the boot clock.
    mutating func attached(at now: Int64) -> [News] {
        defer { state = .attached }
        switch state {
        case .attached: return []
        case .new, .lost, .unreachable: return [attachedStatus]
        case .denied, .deniedAndUnreachable:
            lifted = (told, now + Self.retryMaximumMilliseconds)
            return [.log(.notice, "the coordinator at \(endpoint) lets this worker in"), attachedStatus]
        }
    }

    /// - Parameters:
    ///   - isThere: the coordinator has answered, and has an obstacle that may pass.
    ///   - time: what to say of now.
    mutating func detached(_ reason: String, isThere: Bool = false, time: String) -> [News] {
        switch state {
        case .new, .lost:
            state = .unreachable
            guard !isThere else {
                return [
                    .log(.warning, "the coordinator at \(endpoint) does not let this worker in now: \(reason); trying on"),
                    .status("not let in since \(time), trying on: \(reason)"),
                ]
            }
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

    /// An executor is not let in, while the supervisor is attached. What it says may be older than that the supervisor was
    /// let in: of the same reason nothing is told before each executor has tried again.
    mutating func executorDenied(_ reason: String, at now: Int64, time: String) -> [News] {
        if case .attached = state, let lifted, lifted.reason == reason, now < lifted.until { return [] }
        defer { state = .denied(.over) }
        return denial(reason, time)
    }

    /// Somebody may see to it: processes may be started, and keys authorised, in any order.
    private mutating func denial(_ reason: String, _ time: String) -> [News] {
        told = reason
        let status = News.status("not let in since \(time), trying on: \(reason)")
        switch state {
        case .denied: return []
        case .deniedAndUnreachable: return [status]
        case .new, .attached, .lost, .unreachable: return [.log(.error, "\(reason); trying on"), status]
        }
    }

    /// The longest time between two tries of an executor that is not let in.
    static let retryMaximumMilliseconds = PeerSession.Configuration.deniedMaximumMillisecondsDefault

    private var attachedStatus: News { .status("attached to \(endpoint)") }
}
