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
        /// Not running yet; `requested` is carried out when it does.
        case pending(requested: Mode?)
        case running(EventLoop, stop: @Sendable (Mode) -> Void)
    }

    private let state = Mutex(State.pending(requested: nil))

    /// Whether it was stopped before it ran.
    var isStopped: Bool {
        state.withLock { state in
            if case .pending(_?) = state { true } else { false }
        }
    }

    func stop(_ mode: Mode) {
        let running: (EventLoop, @Sendable (Mode) -> Void)? = state.withLock { state in
            switch state {
            case .pending(let requested):
                state = .pending(requested: max(requested ?? mode, mode))
                return nil
            case .running(let loop, let stop):
                return (loop, stop)
            }
        }
        guard let (loop, stop) = running else { return }
        loop.submit { stop(mode) }
    }

    /// From now on `stop` is called on the loop's thread; also for what was asked for before.
    func attach(_ loop: EventLoop, stop: @escaping (Mode) -> Void) {
        // `stop` is only called on the loop's thread, where it was made.
        nonisolated(unsafe) let confined = stop
        let requested: Mode? = state.withLock { state in
            defer { state = .running(loop, stop: { confined($0) }) }
            if case .pending(let requested) = state { return requested }
            return nil
        }
        if let requested { loop.submit { confined(requested) } }
    }
}
