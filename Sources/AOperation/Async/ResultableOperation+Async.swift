import Foundation

extension ResultableOperation {
    /// Adds the operation to `queue`, as `add(to:)` does, and waits for its value.
    ///
    /// Cancelling the surrounding task cancels the operation. Within the body of another operation it is waited with that one's
    /// slot and locks: for ever, if this one needs them.
    /// - Throws: ``AOperationError``; for a cancelled operation one with ``AOperationError/IsCancelled``.
    nonisolated(nonsending)
        public final func value(on queue: AOperationQueue) async throws -> Output
    {
        try await result(on: queue).get()
    }

    /// Adds the operation to `queue`, as `add(to:)` does, and waits for its result.
    ///
    /// Cancelling the surrounding task cancels the operation. An operation that is in a queue already is only waited
    /// for. Within the body of another operation it is waited with that one's slot and locks: for ever, if this one needs them.
    nonisolated(nonsending)
        public final func result(on queue: AOperationQueue) async -> Result<Output, AOperationError>
    {
        declareDependent()
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                onSettled { _, _ in continuation.resume() }
                add(to: queue)
            }
        } onCancel: {
            cancel()
        }
        withdrawDependent()
        guard let result else {
            preconditionFailure("\(publisherName) told of its end before its outcome was decided")
        }
        return result
    }
}
