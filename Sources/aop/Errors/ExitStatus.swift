import Cluster
import Wire

/// The exit codes of `aop`; the documentation lists them, scripts rely on them.
enum ExitStatus: Int32, Sendable {
    case success = 0
    /// An error of the tool itself.
    case toolError = 1
    /// The work ended with failures.
    case failures = 2
    /// The submission's own deadline or timeout ended it.
    case deadline = 3
    /// The submission was cancelled.
    case cancelled = 4
    case notFound = 5
    /// Refused by the check of the graph.
    case refused = 6
    case usage = 64
    /// No coordinator reachable.
    case unavailable = 69
    /// Try again later.
    case busy = 75
    case notPermitted = 77
    /// The client's `--timeout`; the work goes on.
    case timeout = 124
    case interrupted = 130

    /// The outcome of a submission that has ended. Where several apply: cancelled, then its own timeout, then failures.
    init(outcome view: WireSubmissionView) {
        switch view.state {
        case .succeeded: self = .success
        case .cancelled: self = .cancelled
        case .failed: self = view.timedOut ? .deadline : .failures
        case .pending, .running, .paused, .UNRECOGNIZED: self = .success
        }
    }

    /// Of several submissions: cancelled before timed out before failed.
    static func combined(_ all: some Sequence<ExitStatus>) -> ExitStatus {
        let all = Array(all)
        return [.cancelled, .deadline, .failures].first { all.contains($0) } ?? .success
    }
}
