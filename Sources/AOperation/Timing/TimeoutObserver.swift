import Foundation

/// Stops an operation that takes too long: every attempt counts from its start.
///
/// ```swift
/// operation.observers(TimeoutObserver(5))
/// ```
/// The work is stopped as by a cancellation (`cancel()` is called, `isCancelled` is true, a group's children are
/// cancelled); the outcome is a failure with ``TimeoutObserver/Error``. One observer may serve many operations.
public struct TimeoutObserver: AttemptObserver {
    /// The operation took too long.
    public struct Error: LocalizedError, Hashable, Sendable {
        /// How long it was given, in seconds.
        public let seconds: TimeInterval

        public init(seconds: TimeInterval) {
            self.seconds = seconds
        }

        public var errorDescription: String? {
            "The Operation is timeout after \(seconds.formatted(.number.grouping(.never))) seconds because of TimeoutObserver"
        }
    }

    private let timeout: TimeInterval
    private let timers = AttemptTimers()

    /// - Parameter timeout: seconds from the start of an attempt; zero and less end it as soon as it has started.
    public init(_ timeout: TimeInterval) {
        self.timeout = timeout
    }

    /// How many attempts are being timed.
    var timerCount: Int { timers.count }

    func attemptDidStart(_ attempt: AOperation) {
        timers.start(for: attempt, after: timeout) { [timeout] attempt in
            attempt.timeOut(with: AOperationError(Error(seconds: timeout)))
        }
    }

    func attemptDidEnd(_ attempt: AOperation) {
        timers.stop(for: attempt)
    }
}

/// One timer for each attempt that is under way.
final class AttemptTimers: Sendable {
    private let timers = Guarded<[ObjectIdentifier: AOperationTimer]>([:])

    var count: Int { timers.withLock { $0.count } }

    func start(for attempt: AOperation, after seconds: TimeInterval, _ handler: @escaping @Sendable (AOperation) -> Void) {
        let timer = AOperationTimer(interval: seconds) { [weak attempt] in
            if let attempt { handler(attempt) }
        }
        timers.withLock { $0[ObjectIdentifier(attempt)] = timer }
        if attempt.ending != nil { stop(for: attempt) }  // it ended before the timer was kept
    }

    func stop(for attempt: AOperation) {
        timers.withLock { $0.removeValue(forKey: ObjectIdentifier(attempt)) }?.cancel()
    }
}
