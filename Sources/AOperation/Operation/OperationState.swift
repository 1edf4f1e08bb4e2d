/// Where an operation stands. It only moves downwards, except that a ready operation waits again when it is given
/// another dependency, and that one may be tried again.
enum OperationState {
    /// In no queue yet: it may still be configured.
    case initialized
    /// In a queue, waiting for `unmet` dependencies to end. While it is being admitted, one more than there are.
    case waiting(unmet: Int)
    /// Its dependencies have ended. It waits for a slot.
    case ready
    /// A slot was free: locks are asked for, dependent operations run, conditions are evaluated. `isInline` while the
    /// thread that had the slot does so; afterwards the operation is without one.
    case preparing(isInline: Bool)
    /// `execute()` was, or is about to be, called; the operation holds its slot.
    case executing
    /// An attempt has ended like this; whether that is the outcome, or it is tried again, is open.
    case deliberating(Ending, Body)
    /// Another attempt, an operation of its own, is under way or about to begin.
    case retrying
    /// Its attempts have ended like this, and those who receive from it know; the end of the delivery net may have it
    /// tried again, and until then it is no outcome.
    case provisional(Ending)
    /// The body is over and has proposed this ending; `willFinish` holds it back. One that was provisional is known to
    /// those who receive from the operation.
    case holding(Ending, wasProvisional: Bool)
    /// The outcome is decided; the listeners are being told.
    case telling(Ending, Body)
    /// The listeners have been told. What waits for the end of the body still waits.
    case finished(Ending, Body)
    /// Outcome and body are over: slot, dependents and group have been let go.
    case ended(Ending)

    /// Whether the operation's own code may still be running after its outcome was decided.
    enum Body {
        /// It has not ended yet: it ignores its cancellation, or is about to notice it.
        case running
        /// It has ended, or was never begun.
        case over
    }

    /// The decided outcome.
    var ending: Ending? {
        switch self {
        case .initialized, .waiting, .ready, .preparing, .executing, .deliberating, .retrying, .provisional, .holding: nil
        case .telling(let ending, _), .finished(let ending, _), .ended(let ending): ending
        }
    }

    /// The decided outcome, or the one that only `willFinish` holds back.
    var proposed: Ending? {
        if case .holding(let ending, _) = self { ending } else { ending }
    }

    /// What those who receive from the operation are given: the outcome, or what may still be tried again.
    var delivered: Ending? {
        switch self {
        case .provisional(let ending), .holding(let ending, wasProvisional: true): ending
        case .initialized, .waiting, .ready, .preparing, .executing, .deliberating, .retrying, .holding, .telling, .finished,
            .ended:
            ending
        }
    }

    /// How the last attempt ended, while that may not be the outcome.
    var open: Ending? {
        switch self {
        case .deliberating(let ending, _), .provisional(let ending): ending
        case .initialized, .waiting, .ready, .preparing, .executing, .retrying, .holding, .telling, .finished, .ended: nil
        }
    }

    var isInitialized: Bool { if case .initialized = self { true } else { false } }

    var isReady: Bool { if case .ready = self { true } else { false } }

    /// Before its start.
    var isUnstarted: Bool {
        switch self {
        case .initialized, .waiting, .ready, .preparing: true
        case .executing, .deliberating, .retrying, .provisional, .holding, .telling, .finished, .ended: false
        }
    }

    /// Ready, or being prepared, for a start that has not come yet.
    var isBeforeStart: Bool {
        switch self {
        case .ready, .preparing: true
        case .initialized, .waiting, .executing, .deliberating, .retrying, .provisional, .holding, .telling, .finished,
            .ended:
            false
        }
    }

    var isPreparing: Bool { if case .preparing = self { true } else { false } }

    var isRetrying: Bool { if case .retrying = self { true } else { false } }

    var isHolding: Bool { if case .holding = self { true } else { false } }

    var isProvisional: Bool { if case .provisional = self { true } else { false } }

    /// Whether the body of an attempt whose ending is known has ended.
    var isBodyOver: Bool {
        switch self {
        case .deliberating(_, .running), .telling(_, .running), .finished(_, .running): false
        case .initialized, .waiting, .ready, .preparing, .executing, .deliberating, .retrying, .provisional, .holding,
            .telling, .finished, .ended:
            true
        }
    }

    var isExecuting: Bool {
        switch self {
        case .executing, .deliberating, .retrying, .provisional, .holding: true
        case .initialized, .waiting, .ready, .preparing, .telling, .finished, .ended: false
        }
    }

    var isFinished: Bool {
        switch self {
        case .finished, .ended: true
        case .initialized, .waiting, .ready, .preparing, .executing, .deliberating, .retrying, .provisional, .holding,
            .telling:
            false
        }
    }

    var isEnded: Bool { if case .ended = self { true } else { false } }
}
