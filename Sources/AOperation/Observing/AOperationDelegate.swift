/// The one object that accompanies an operation. Both methods have a default that does nothing.
///
/// The operation holds its delegate weakly: keep it alive elsewhere.
public protocol AOperationDelegate: AnyObject {
    /// The operation is about to be executed.
    func operationDidStart(_ operation: AOperation)
    /// The outcome is decided. `errors` is empty on success; the first leads.
    func operationDidFinish(_ operation: AOperation, with errors: [AOperationError])
}

extension AOperationDelegate {
    public func operationDidStart(_ operation: AOperation) {}
    public func operationDidFinish(_ operation: AOperation, with errors: [AOperationError]) {}
}
