import Foundation

/// Looks at the network again and again, and tells when the connection has changed.
///
/// No call of the handler begins after `stop()` has returned, nor goes on on another thread: `stop()` waits for it. Only
/// a thread that is in a handler itself, of this notifier or of another, does not wait: two handlers that stop each
/// other's notifiers would do so for ever.
///
/// Invariant behind `@unchecked Sendable`: `state` is only reached while `condition` is locked; nothing is called out
/// to meanwhile.
final class ReachabilityNotifier: @unchecked Sendable {
    private enum State {
        case idle
        /// A look is under way.
        case looking(last: Connection?)
        /// The handler is being told of `found`.
        case telling(found: Connection)
        /// The next look comes when the timer fires.
        case waiting(AOperationTimer, last: Connection)
        /// Stopped while the handler was being told, which goes on.
        case stopping
        case stopped
    }

    @TaskLocal private static var isInHandler = false

    private let condition = NSCondition()
    private var state = State.idle
    private let reachability: Reachability
    private let interval: Duration
    private let isWanted: @Sendable () -> Bool
    private let handler: @Sendable (Connection) -> Void

    /// - Parameters:
    ///   - interval: the time between two looks.
    ///   - isWanted: asked before each look and each call of the handler; the first false stops the notifier.
    ///   - handler: told what the first look found, and from then on each change; one call at a time.
    init(
        _ reachability: Reachability, every interval: Duration, while isWanted: @escaping @Sendable () -> Bool,
        handler: @escaping @Sendable (Connection) -> Void
    ) {
        self.reachability = reachability
        self.interval = interval
        self.isWanted = isWanted
        self.handler = handler
    }

    /// Begins to look; a second call, or one after ``stop()``, does nothing.
    func start() {
        let isFirst = condition.withLock {
            guard case .idle = state else { return false }
            state = .looking(last: nil)
            return true
        }
        if isFirst { look() }
    }

    /// Ends it for good.
    func stop() {
        condition.withLock {
            switch state {
            case .idle, .looking: state = .stopped
            case .telling: state = .stopping
            case .waiting(let timer, _):
                timer.cancel()
                state = .stopped
            case .stopping, .stopped: break
            }
            guard !Self.isInHandler else { return }
            while case .stopping = state { condition.wait() }
        }
    }

    private func look() {
        guard isWanted() else { return stop() }
        reachability.check { [weak self] connection in self?.heard(connection) }
    }

    private func heard(_ connection: Connection) {
        let isWanted = isWanted()
        let isNews = condition.withLock {
            guard case .looking(let last) = state else { return false }
            guard isWanted else {
                state = .stopped
                return false
            }
            if last == connection {
                state = nextLook(after: connection)
                return false
            }
            state = .telling(found: connection)
            return true
        }
        if isNews { tell(connection) }
    }

    private func tell(_ connection: Connection) {
        Self.$isInHandler.withValue(true) { handler(connection) }
        condition.withLock {
            switch state {
            case .telling: state = nextLook(after: connection)
            case .stopping:
                state = .stopped
                condition.broadcast()
            case .idle, .looking, .waiting, .stopped:
                preconditionFailure("a handler returned in state \(state): it is called in telling, and only stop() leaves that")
            }
        }
    }

    private func nextLook(after connection: Connection) -> State {
        .waiting(AOperationTimer(interval: interval.interval) { [weak self] in self?.lookAgain() }, last: connection)
    }

    private func lookAgain() {
        let isDue = condition.withLock {
            guard case .waiting(_, let last) = state else { return false }
            state = .looking(last: last)
            return true
        }
        if isDue { look() }
    }
}
