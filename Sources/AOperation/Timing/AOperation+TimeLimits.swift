import Foundation

/// When an operation may start, and how long it may take.
struct TimeLimits {
    /// When it may start, beside what else it waits for.
    enum Start {
        /// So long after its dependencies have ended.
        case delay(Duration)
        case notBefore(Date)

        /// Calls `handler` at that time; nil if there is nothing to wait for. A date moves with the clock on the wall.
        func timer(_ handler: @escaping @Sendable () -> Void) -> AOperationTimer? {
            switch self {
            case .delay(let delay): delay > .zero ? AOperationTimer(interval: delay.interval, handler: handler) : nil
            case .notBefore(let date): date > Date() ? AOperationTimer(at: date, handler: handler) : nil
            }
        }
    }

    var start: Start?
    /// From ready to start.
    var queueTimeout: QueueTimer?
    /// From its entry into a queue to its end.
    var deadline: Duration?

    /// The same limits, for another operation.
    var anew: TimeLimits {
        var limits = self
        limits.queueTimeout = queueTimeout?.anew
        return limits
    }
}

extension AOperation {
    /// Stops an attempt that takes longer than `limit` from its start: ``TimeoutObserver``. A limit below zero becomes zero,
    /// which ends it as soon as it has started: its body does not run.
    @discardableResult
    public final func timeout(_ limit: Duration) -> Self {
        observers(TimeoutObserver(limit.interval))
    }

    /// Fails the operation with ``AOperationError/QueueTimeout`` if it has not started `limit` after it was ready: if it
    /// waits so long for a slot, a lock or its conditions. It is ready when its dependencies have ended, and anew when
    /// those have that were added since; a ``delay(_:)``, or the time until ``notBefore(_:)``, comes before that.
    /// It is not tried again. A limit below zero becomes zero: the operation fails as soon as it is ready, and is not started.
    @discardableResult
    public final func queueTimeout(_ limit: Duration) -> Self {
        setLimit("queueTimeout") { $0.queueTimeout = QueueTimer(max(limit, .zero)) }
        return self
    }

    /// Stops the operation, with all its attempts, and with everything inside of it, `limit` after it was added to a
    /// queue: it fails with ``AOperationError/DeadlinePassed``. It is not tried again. A duplicate that has joined
    /// another operation (``DuplicatePolicy/join``) waits no longer than this; that one goes on. A limit below zero becomes
    /// zero: the operation fails as soon as it is added, and is not started.
    @discardableResult
    public final func deadline(_ limit: Duration) -> Self {
        setLimit("deadline") { $0.deadline = max(limit, .zero) }
        return self
    }

    /// Lets the operation start `wait` after its dependencies have ended, at the earliest. It waits without a slot, and before
    /// it gets in line for one: also while all slots are in use, or the queue is suspended.
    @discardableResult
    public final func delay(_ wait: Duration) -> Self {
        setLimit("delay") { $0.start = .delay(wait) }
        return self
    }

    /// Lets the operation start at `date` at the earliest; it waits as with ``delay(_:)``. If the clock on the wall is set to
    /// another time meanwhile, it is that which counts.
    @discardableResult
    public final func notBefore(_ date: Date) -> Self {
        setLimit("notBefore") { $0.start = .notBefore(date) }
        return self
    }

    private func setLimit(_ name: String, _ change: (inout TimeLimits) -> Void) {
        let isMirror = core.withLock { core in
            guard core.attachments?.remote == nil else { return true }
            change(&core.timeLimits)
            return false
        }
        if isMirror { tooLate("`\(name)`") }
    }

    /// The operation has entered a queue.
    ///
    /// - Returns: false if the time is over already: it ends in a moment, and must not come to its start meanwhile.
    final func startDeadline() -> Bool {
        guard let limit = core.withLock({ $0.timeLimits.deadline }) else { return true }
        let timer = AOperationTimer(interval: limit.interval, on: Timers.queue) { [weak self] in
            guard let self else { return }
            let error = AOperationError.DeadlinePassed(operation: publisherName, limit: limit)
            timeOut(with: AOperationError(error))
        }
        onEnd { _ in timer.cancel() }
        return limit > .zero
    }

    /// The operation waits for its slot.
    ///
    /// - Returns: false if the time is over already: it ends in a moment, and must not come to its start meanwhile.
    final func start(_ timer: QueueTimer) -> Bool {
        timer.start(for: self)
        onEnd { _ in timer.stop() }
        return timer.limit > .zero
    }

    /// Begins to wait for the time of its start, if that is to come; calls `handler` then, unless it is to wait for another
    /// dependency first, or has ended.
    ///
    /// - Returns: whether it waits.
    final func waitForStart(_ handler: @escaping @Sendable () -> Void) -> Bool {
        let (start, round) = core.withLock { ($0.timeLimits.start, $0.round) }
        guard let start else { return false }
        return waitForTime {
            start.timer { [weak self] in
                let isDue = self?.core.withLock { core in
                    guard core.state.isReady, core.round == round, core.timeLimits.start != nil else { return false }
                    core.timeLimits.start = nil
                    return true
                }
                if isDue == true { handler() }
            }
        }
    }

    /// Keeps a timer until it has fired, the operation waits for another one, or has ended: what is cancelled leaves nothing
    /// behind.
    ///
    /// - Parameters:
    ///   - isWanted: whether there is still something to wait for. Who asks late must not take the timer of what came after.
    ///   - start: starts it, or not; called under the operation's lock, for which the timer's handler has to ask first.
    /// - Returns: whether it was started.
    @discardableResult
    final func waitForTime(
        if isWanted: (inout OperationCore) -> Bool = { _ in true }, _ start: () -> AOperationTimer?
    ) -> Bool {
        let (isStarted, old) = core.withLock { core -> (Bool, AOperationTimer?) in
            guard core.state.ending == nil, isWanted(&core), let timer = start() else { return (false, nil) }
            defer { core.timer = timer }
            return (true, core.timer)
        }
        old?.cancel()
        return isStarted
    }

    /// Whether it may be started at once, without a look at the clock.
    final var hasNoTimeBeforeStart: Bool { core.withLock { $0.timeLimits.start == nil && $0.timeLimits.queueTimeout == nil } }
}

extension AOperationError {
    /// The operation waited too long for its start.
    public struct QueueTimeout: LocalizedError, PortableError, Hashable, Sendable {
        /// The name of the operation.
        public package(set) var operation: String
        public let limit: Duration

        /// Also for an operation of another process.
        package init(operation: String, limit: Duration) {
            self.operation = operation
            self.limit = limit
        }

        public var errorDescription: String? {
            "The Operation \(operation) did not start within \(limit) after it was ready"
        }
    }

    /// The operation took longer, all in all, than it was given.
    public struct DeadlinePassed: LocalizedError, PortableError, Hashable, Sendable {
        /// The name of the operation.
        public package(set) var operation: String
        public let limit: Duration

        /// Also for an operation of another process.
        package init(operation: String, limit: Duration) {
            self.operation = operation
            self.limit = limit
        }

        public var errorDescription: String? { "The Operation \(operation) did not end within \(limit)" }
    }
}
