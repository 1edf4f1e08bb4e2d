import AOperation
import Executing
import Foundation
import Wire

/// What became of an operation of a submission.
public struct OperationEvent: Sendable {
    /// The words of `aop show`.
    public enum State: String, Hashable, Sendable, Codable, CaseIterable {
        /// It waits for others.
        case blocked
        /// It waits for a lock.
        case locking
        /// Its conditions are evaluated.
        case evaluating
        /// It waits for a worker.
        case queued
        case running
        /// It has been told to stop, and runs still.
        case stopping
        /// It waits for its next attempt.
        case retrying
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
            case .blocked, .locking, .evaluating, .queued, .running, .stopping, .retrying, .paused, .unknown: nil
            }
        }
    }

    /// Its path within the submission.
    public let path: String
    /// What it is now.
    public let state: State
    /// When it came about.
    public let at: Date
    /// When the attempt began; nil: it has not.
    public let startedAt: Date?
    /// The number of the attempt, from 1; 0: there was none.
    public let attempt: Int
    /// The worker that has it; empty: none.
    public let worker: String
    /// Of a failure; the first one leads.
    public let errors: [AOperationError]
    /// How far it has come, if that is what is told: its state has not changed then.
    public let progress: OperationProgress?
}

extension OperationEvent {
    /// - Parameter graph: of whoever has submitted it, to know its errors again; one without operations: it was another process.
    init(_ event: WireEvent, in graph: OperationGraph) {
        path = event.path
        state = State(event.state)
        at = Date(milliseconds: event.at)
        startedAt = event.startedAt == 0 ? nil : Date(milliseconds: event.startedAt)
        attempt = Int(event.attempt)
        worker = event.worker
        errors = event.errors.map { graph.error($0, of: Int(event.unit)) }
        progress = event.hasProgress ? OperationProgress(event.progress) : nil
    }
}

extension OperationEvent.State {
    fileprivate init(_ state: WireOperationState) {
        self =
            switch state {
            case .blocked: .blocked
            case .locking: .locking
            case .evaluating: .evaluating
            case .queued: .queued
            case .running: .running
            case .stopping: .stopping
            case .retrying: .retrying
            case .paused: .paused
            case .succeeded: .succeeded
            case .failed: .failed
            case .cancelled: .cancelled
            case .UNRECOGNIZED: .unknown
            }
    }
}
