import Foundation

/// Is told of the operations of a queue. Both methods have a default that does nothing.
public protocol AOperationQueueDelegate: AnyObject {
    /// `operation` is about to become a member of the queue. Others that are added with it may have started.
    func operationQueue(_ queue: AOperationQueue, willAddOperation operation: Foundation.Operation)
    /// The outcome of `operation` is decided. `errors` is empty on success, and for plain Foundation operations.
    func operationQueue(
        _ queue: AOperationQueue, operationDidFinish operation: Foundation.Operation,
        withErrors errors: [AOperationError])
}

extension AOperationQueueDelegate {
    public func operationQueue(_ queue: AOperationQueue, willAddOperation operation: Foundation.Operation) {}
    public func operationQueue(
        _ queue: AOperationQueue, operationDidFinish operation: Foundation.Operation,
        withErrors errors: [AOperationError]
    ) {}
}
