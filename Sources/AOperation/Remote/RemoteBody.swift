/// How an operation ended that runs elsewhere.
package enum RemoteEnding: Sendable {
    /// With the value in its wire form.
    case success(EncodedValue)
    /// With at least one error, unless it is a group: that has those of its children besides.
    case failure([AOperationError])
    case cancelled
}

/// The body of an operation that runs elsewhere: on a cluster. The operation itself is a mirror: it lives through
/// everything that any operation lives through, in its queue and its group, only its work is done by somebody else.
///
/// Invariant: its variables are only reached under the lock of the operation's core.
final class RemoteBody {
    enum Phase {
        /// It has not been handed over: it does not run anywhere.
        case here
        /// It was handed over, and may be running.
        case away
        /// It has ended like this; the operation has not come to that yet. A group stays here.
        case ended(RemoteEnding)
        /// It has ended, and the operation has taken that over.
        case over
    }

    var phase = Phase.here
    /// It is known to have started there: until then the operation does not start here.
    var hasStarted = false
    /// The operation has told its start and waits for the end.
    var isAwaited = false
    /// Where its body stands if it is executed here after all.
    var hosting = Hosting.unused
    /// Who decides here whether it is tried again there, where that asks for it.
    var retryDecider: RetryDecider?
    /// The conditions whose errors can be told here when they fail there.
    var tellingConditions: [any AOperationCondition] = []
    /// Where an end stands in which this process has a say.
    var conclusion = Conclusion.open
    /// What is asked about its end, once the operation has told its start here.
    var whenAwaited: (@Sendable () -> Void)?
    /// The ending that was asked for here while the body is away; who has it decides.
    var cancellation: Ending?
    /// How it has ended there, when the operation has taken that over.
    private var outcomeThere: DependencyOutcome?
    /// It has ended there as cancelled, and the operation has taken that over.
    var isCancelledThere: Bool { outcomeThere == .cancelled }
    /// Called, once, when the operation is cancelled here while the body is away.
    let whenCancelled: @Sendable (AOperation) -> Void
    /// Opens a cursor for a reader of its partial results.
    let partialResults: (@Sendable () -> any RemotePartialResultCursor)?

    init(
        whenCancelled: @escaping @Sendable (AOperation) -> Void, partialResults: (@Sendable () -> any RemotePartialResultCursor)?
    ) {
        self.whenCancelled = whenCancelled
        self.partialResults = partialResults
    }

    var isAway: Bool { if case .away = phase { true } else { false } }

    /// The operation takes over how it has ended.
    func close(with ending: RemoteEnding) {
        phase = .over
        outcomeThere = DependencyOutcome(ending)
    }

    /// How it has ended there; nil: it has not, or it is not known here.
    var endThere: DependencyOutcome? {
        if case .ended(let ending) = phase { DependencyOutcome(ending) } else { outcomeThere }
    }

    /// The operation has begun: takes what there is to take, or is called when there is.
    func takeEnding() -> RemoteEnding? {
        guard case .ended(let ending) = phase else {
            isAwaited = true
            return nil
        }
        close(with: ending)
        return ending
    }
}
