import Foundation

/// Is told of the stages of an operation's life. Every method has a default that does nothing.
///
/// Each stage is told once, progress as often as it is reported. The calls come on the thread on which that happens:
/// return soon, and do not wait in them for another operation.
public protocol AOperationObserver {
    /// The operation is about to be executed.
    func operationDidStart(_ operation: AOperation)
    /// The operation has produced another one.
    func operation(_ operation: AOperation, didProduceOperation newOperation: Foundation.Operation)
    /// The operation, or another attempt of it, has told how far it has come: see ``AOperation/reportProgress(_:message:)``.
    /// May be told often.
    func operation(_ operation: AOperation, didReportProgress progress: OperationProgress)
    /// The operation was cancelled; its end is told by ``operationDidFinish(_:errors:)``.
    func operationDidCancel(_ operation: AOperation)
    /// The outcome is decided. `errors` is empty on success; the first leads.
    func operationDidFinish(_ operation: AOperation, errors: [AOperationError])
}

extension AOperationObserver {
    public func operationDidStart(_ operation: AOperation) {}
    public func operation(_ operation: AOperation, didProduceOperation newOperation: Foundation.Operation) {}
    public func operation(_ operation: AOperation, didReportProgress progress: OperationProgress) {}
    public func operationDidCancel(_ operation: AOperation) {}
    public func operationDidFinish(_ operation: AOperation, errors: [AOperationError]) {}
}
