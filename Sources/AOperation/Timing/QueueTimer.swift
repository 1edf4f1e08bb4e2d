import Foundation

/// How long an operation may wait for its start, with the timer that runs while it is ready.
///
/// An operation that is ready, and then waits for another dependency, is ready anew later: an earlier timer must not
/// end it then.
final class QueueTimer: Sendable {
    let limit: Duration
    private let timer = Guarded<AOperationTimer?>(nil)

    init(_ limit: Duration) {
        self.limit = limit
    }

    /// One with the same limit, for another operation.
    var anew: QueueTimer { QueueTimer(limit) }

    /// The operation is ready. An earlier timer counts no more.
    func start(for operation: AOperation) {
        let started = AOperationTimer(interval: limit.interval, on: Timers.queue) { [weak operation, limit] in
            guard let operation else { return }
            let error = AOperationError.QueueTimeout(operation: operation.publisherName, limit: limit)
            operation.timeOut(with: AOperationError(error), if: \.isBeforeStart)
        }
        replace(by: started)
    }

    var isRunning: Bool { timer.withLock { $0 != nil } }

    func stop() { replace(by: nil) }

    private func replace(by new: AOperationTimer?) {
        let old = timer.withLock { timer in
            defer { timer = new }
            return timer
        }
        old?.cancel()
    }
}
