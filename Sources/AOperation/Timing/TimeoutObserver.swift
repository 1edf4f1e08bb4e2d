import Foundation

/// Stops an operation that takes too long: every attempt counts from its start.
///
/// ```swift
/// operation.observers(TimeoutObserver(5))
/// ```
/// The work is stopped as by a cancellation (`cancel()` is called, `isCancelled` is true, a group's children are
/// cancelled); the outcome is a failure with ``TimeoutObserver/Error``. One observer may serve many operations. An
/// operation that `willFinish` holds back after retries is given the time once more.
public struct TimeoutObserver: AttemptObserver {
    /// The operation took too long.
    public struct Error: LocalizedError, PortableError, Hashable, Sendable {
        /// How long it was given, in seconds.
        public let seconds: TimeInterval

        public init(seconds: TimeInterval) {
            self.seconds = seconds
        }

        public var errorDescription: String? {
            "The Operation is timeout after \(text) seconds because of TimeoutObserver"
        }

        /// Whole seconds without a fraction; the same in every locale, as errors are compared by their text.
        private var text: String {
            Int64(exactly: seconds).map { "\($0)" } ?? "\(seconds)"
        }
    }

    let timeout: TimeInterval
    private let timers = AttemptTimers()

    /// - Parameter timeout: seconds from the start of an attempt; zero ends it as soon as it has started, so that its body
    ///   does not run. Less than zero, or what is no number, becomes zero.
    public init(_ timeout: TimeInterval) {
        self.timeout = timeout > 0 ? timeout : 0
    }

    /// The same with a label.
    public init(timeout: TimeInterval) { self.init(timeout) }

    /// How many attempts are being timed.
    var timerCount: Int { timers.count }

    func attemptDidStart(_ attempt: AOperation) {
        timers.start(for: attempt, after: timeout) { [timeout] attempt, number in
            attempt.timeOut(attempt: number, with: AOperationError(Error(seconds: timeout)))
        }
    }

    func attemptDidEnd(_ attempt: AOperation) {
        timers.stop(for: attempt)
    }

    func operationIsHeldBack(_ operation: AOperation) {
        if !timers.isTimed(operation) { attemptDidStart(operation) }
    }
}

/// One timer for each attempt that is under way.
final class AttemptTimers: Sendable {
    private let timers = Guarded<[ObjectIdentifier: AOperationTimer]>([:])

    var count: Int { timers.withLock { $0.count } }

    func isTimed(_ attempt: AOperation) -> Bool { timers.withLock { $0[ObjectIdentifier(attempt)] != nil } }

    /// - Parameters:
    ///   - seconds: zero calls the handler at once.
    ///   - handler: called with the attempt and, for one that is the operation itself, with its number: when a timer fires
    ///     late the next attempt may have begun.
    func start(
        for attempt: AOperation, after seconds: TimeInterval, _ handler: @escaping @Sendable (AOperation, _ number: Int) -> Void
    ) {
        let number = attempt.core.withLock { $0.retries }
        guard seconds > 0 else { return handler(attempt, number) }
        let timer = AOperationTimer(interval: seconds, on: Timers.queue) { [weak attempt] in
            if let attempt { handler(attempt, number) }
        }
        timers.withLock { $0[ObjectIdentifier(attempt)] = timer }
        let isOver = attempt.core.withLock { $0.state.ending != nil || $0.state.open != nil || $0.retries != number }
        if isOver { stop(for: attempt) }  // it ended before the timer was kept
    }

    func stop(for attempt: AOperation) {
        timers.withLock { $0.removeValue(forKey: ObjectIdentifier(attempt)) }?.cancel()
    }
}
