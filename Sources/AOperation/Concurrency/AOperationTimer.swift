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
    ///   - leeway: seconds by which it may be late, so that the system can fire several timers at once; as little as
    ///     possible by default.
    ///   - handler: called once, on one of Dispatch's global queues.
    public convenience init(interval: TimeInterval, leeway: TimeInterval = 0, handler: @escaping @Sendable () -> Void) {
        self.init(interval: interval, leeway: leeway, on: .global(), handler: handler)
    }

    convenience init(
        interval: TimeInterval, leeway: TimeInterval = 0, on queue: DispatchQueue, handler: @escaping @Sendable () -> Void
    ) {
        self.init(on: queue, handler) { source in
            source.schedule(deadline: .now() + (interval > 0 ? interval : 0), leeway: Self.interval(leeway))
        }
    }

    /// Fires when it is `date` by the clock on the wall, also if that is set meanwhile; at once if that is past.
    convenience init(at date: Date, leeway: TimeInterval = 0, handler: @escaping @Sendable () -> Void) {
        let seconds = min(max(0, date.timeIntervalSince1970), Self.secondsMax)
        let time = timespec(tv_sec: Int(seconds), tv_nsec: Int(seconds.truncatingRemainder(dividingBy: 1) * 1e9))
        self.init(on: .global(), handler) { source in
            source.schedule(wallDeadline: DispatchWallTime(timespec: time), leeway: Self.interval(leeway))
        }
    }

    /// Less than zero, or what is no number, is nothing.
    private static func interval(_ seconds: TimeInterval) -> DispatchTimeInterval {
        .nanoseconds(seconds > 0 ? Int(min(seconds, secondsMax) * 1e9) : 0)
    }

    /// What Dispatch can count, in nanoseconds, since 1970: some hundred years.
    private static let secondsMax: TimeInterval = 250 * 365 * 86_400

    private init(
        on queue: DispatchQueue, _ handler: @escaping @Sendable () -> Void, schedule: (any DispatchSourceTimer) -> Void
    ) {
        let source = DispatchSource.makeTimerSource(queue: queue)
        schedule(source)
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
