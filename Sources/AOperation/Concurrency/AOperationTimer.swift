import Foundation

/// Calls a closure once, after a time, unless it is cancelled before.
///
/// ```swift
/// let timer = AOperationTimer(interval: 2) { print("two seconds later") }
/// ```
/// The handler is called on one of Dispatch's global queues, and released when it has been called or the timer is
/// cancelled. Letting go of the timer cancels it.
public final class AOperationTimer: Sendable {
    private enum State {
        /// Fires unless it is cancelled.
        case armed(any DispatchSourceTimer, handler: @Sendable () -> Void)
        /// Has fired, or was cancelled.
        case over
    }

    private let state = Guarded(State.over)

    /// Starts the timer.
    ///
    /// - Parameters:
    ///   - interval: seconds from now; zero and less fire as soon as possible.
    ///   - handler: called once, on one of Dispatch's global queues.
    public convenience init(interval: TimeInterval, handler: @escaping @Sendable () -> Void) {
        self.init(interval: interval, on: .global(), handler: handler)
    }

    init(interval: TimeInterval, on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) {
        let source = DispatchSource.makeTimerSource(queue: queue)
        source.schedule(deadline: .now() + (interval > 0 ? interval : 0))
        state.withLock { $0 = .armed(source, handler: handler) }
        source.setEventHandler { [weak self] in self?.fire() }
        source.activate()
    }

    deinit {
        cancel()
    }

    /// Stops the timer: its handler is not called any more. A call that has begun goes on.
    public func cancel() {
        disarm()
    }

    private func fire() {
        disarm()?()
    }

    @discardableResult
    private func disarm() -> (@Sendable () -> Void)? {
        let before = state.withLock { state in
            defer { state = .over }
            return state
        }
        guard case .armed(let source, let handler) = before else { return nil }
        source.cancel()
        return handler
    }
}
