import Foundation
import Wire

/// How a submission stands.
public struct SubmissionStatus: Hashable, Sendable {
    /// The words of `aop list` and `aop show`.
    public enum State: String, Hashable, Sendable, Codable, CaseIterable {
        /// Nothing of it has begun.
        case pending
        case running
        case paused
        case succeeded
        case failed
        case cancelled
        /// The coordinator is newer than this program, and has a word that it does not know. It has not ended.
        case unknown

        /// How it has ended; nil: it has not.
        public var outcome: OutcomeState? {
            switch self {
            case .succeeded: .succeeded
            case .failed: .failed
            case .cancelled: .cancelled
            case .pending, .running, .paused, .unknown: nil
            }
        }
    }

    /// How many of its operations are in which state. Groups are not counted.
    public struct Counts: Hashable, Sendable {
        public let total: Int
        public let succeeded: Int
        public let failed: Int
        public let cancelled: Int
        public let running: Int
        /// They have not begun.
        public let pending: Int
    }

    /// The submission's id.
    public let id: String
    /// What the submitter called it.
    public let name: String
    /// Under which it was submitted.
    public let key: String
    public let state: State
    public let counts: Counts
    public let submittedAt: Date
    /// Nil: it has not ended.
    public let finishedAt: Date?
    /// Ended by its own timeout or deadline.
    public let isTimedOut: Bool
    /// Of the last cancellation that gave a reason; empty: none did.
    public let cancelReason: String
}

extension SubmissionStatus {
    init(_ view: WireSubmissionView) {
        id = view.id
        name = view.name
        key = view.key
        state = State(view.state)
        counts = Counts(view.counts)
        submittedAt = Date(milliseconds: view.submittedAt)
        finishedAt = view.finishedAt == 0 ? nil : Date(milliseconds: view.finishedAt)
        isTimedOut = view.timedOut
        cancelReason = view.cancelReason
    }
}

extension SubmissionStatus.State {
    fileprivate init(_ state: WireSubmissionState) {
        self =
            switch state {
            case .pending: .pending
            case .running: .running
            case .paused: .paused
            case .succeeded: .succeeded
            case .failed: .failed
            case .cancelled: .cancelled
            case .UNRECOGNIZED: .unknown
            }
    }
}

extension SubmissionStatus.Counts {
    fileprivate init(_ counts: WireCounts) {
        total = Int(clamping: counts.total)
        succeeded = Int(clamping: counts.succeeded)
        failed = Int(clamping: counts.failed)
        cancelled = Int(clamping: counts.cancelled)
        running = Int(clamping: counts.running)
        pending = Int(clamping: counts.pending)
    }
}

extension Date {
    /// As the wire has it: milliseconds since 1970.
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
