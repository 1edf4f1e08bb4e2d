import Synchronization

/// Stops a command, also one that is only being started.
final class CommandControl: Sendable {
    enum Mode: Sendable, Comparable {
        /// SIGTERM, and SIGKILL after its grace.
        case gently
        /// SIGKILL.
        case now
    }

    private enum State {
        /// Not running yet; `requested` is carried out when it does. Whoever makes it wait is told.
        case pending(requested: Mode?, whenStopped: (@Sendable () -> Void)?)
        case running(EventLoop, stop: @Sendable (Mode) -> Void)
    }

    private let state = Mutex(State.pending(requested: nil, whenStopped: nil))

    /// Whether it was stopped before it ran.
    var isStopped: Bool {
        state.withLock { state in
            if case .pending(_?, _) = state { true } else { false }
        }
    }

    func stop(_ mode: Mode) {
        let tell: (@Sendable () -> Void)? = state.withLock { state in
            switch state {
            case .pending(let requested, let whenStopped):
                state = .pending(requested: max(requested ?? mode, mode), whenStopped: nil)
                return whenStopped
            case .running(let loop, let stop):
                return { loop.submit { stop(mode) } }
            }
        }
        tell?()
    }

    /// `body` is called once if this is stopped before it runs; at once if it was.
    func whenStopped(_ body: @escaping @Sendable () -> Void) {
        let isStopped = state.withLock { state in
            guard case .pending(let requested, _) = state else { return false }
            guard requested == nil else { return true }
            state = .pending(requested: nil, whenStopped: body)
            return false
        }
        if isStopped { body() }
    }

    /// From now on `stop` is called on the loop's thread; also for what was asked for before.
    func attach(_ loop: EventLoop, stop: @escaping (Mode) -> Void) {
        // `stop` is only called on the loop's thread, where it was made.
        nonisolated(unsafe) let confined = stop
        let requested: Mode? = state.withLock { state in
            defer { state = .running(loop, stop: { confined($0) }) }
            if case .pending(let requested, _) = state { return requested }
            return nil
        }
        if let requested { loop.submit { confined(requested) } }
    }
}
