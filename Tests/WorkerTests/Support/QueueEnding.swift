import AOperation

@testable import Worker

extension AOperationQueue {
    /// Runs the operation, and waits for its end as a worker does.
    func end(of operation: any ClusterOperation) async -> ClusterOutcome {
        await withCheckedContinuation { continuation in
            operation.whenEnded { continuation.resume(returning: $0) }
            operation.add(to: self)
        }
    }
}
