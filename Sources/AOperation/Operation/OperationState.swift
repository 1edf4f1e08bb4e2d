/// Where an operation stands. It only moves downwards, except that a ready operation waits again when it is given
/// another dependency.
enum OperationState {
    /// In no queue yet: it may still be configured.
    case initialized
    /// In a queue, waiting for `unmet` dependencies to end. While it is being admitted, one more than there are.
    case waiting(unmet: Int)
    /// Its dependencies have ended. It waits for a slot; conditions are evaluated and locks asked for here.
    case ready
    /// `execute()` was, or is about to be, called; the operation holds its slot.
    case executing
    /// The body is over and has proposed this ending; `willFinish` holds it back.
    case holding(Ending)
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
        case .initialized, .waiting, .ready, .executing, .holding: nil
        case .telling(let ending, _), .finished(let ending, _), .ended(let ending): ending
        }
    }

    var isInitialized: Bool { if case .initialized = self { true } else { false } }

    var isReady: Bool { if case .ready = self { true } else { false } }

    var isExecuting: Bool {
        switch self {
        case .executing, .holding: true
        case .initialized, .waiting, .ready, .telling, .finished, .ended: false
        }
    }

    var isFinished: Bool {
        switch self {
        case .finished, .ended: true
        case .initialized, .waiting, .ready, .executing, .holding, .telling: false
        }
    }

    var isEnded: Bool { if case .ended = self { true } else { false } }
}
