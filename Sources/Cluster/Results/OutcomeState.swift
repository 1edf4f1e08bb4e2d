import Wire

/// How a submission, or an operation of one, has ended, as `aop show` says it.
public enum OutcomeState: String, Hashable, Sendable, Codable, CaseIterable {
    /// Of a submission: everything has.
    case succeeded
    /// Of a submission: something has, or was cancelled by itself.
    case failed
    /// Of a submission: it was cancelled as a whole.
    case cancelled
}

extension OutcomeState {
    /// Nil: it has not ended.
    init?(_ state: WireSubmissionState) {
        switch state {
        case .succeeded: self = .succeeded
        case .failed: self = .failed
        case .cancelled: self = .cancelled
        case .pending, .running, .paused, .UNRECOGNIZED: return nil
        }
    }

    /// Of a submission of this process.
    ///
    /// - Parameters:
    ///   - told: what the coordinator says of it; nil: it has not said so, because the queue was closed before, for example.
    ///   - isSuccessHere: whether all that was submitted has succeeded in this process. What cannot be read here has failed here.
    init(told: OutcomeState?, isSuccessHere: Bool) {
        switch told {
        case .failed?: self = .failed
        case .cancelled?: self = .cancelled
        case .succeeded?, nil: self = isSuccessHere ? .succeeded : .failed
        }
    }
}
