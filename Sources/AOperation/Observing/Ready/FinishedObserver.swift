/// Calls a closure when an operation's outcome is decided; see
/// ``AOperationObserver/operationDidFinish(_:errors:)``.
public struct FinishedObserver: AOperationObserver, Sendable {
    private let handler: @Sendable (AOperation, [AOperationError]) -> Void

    public init(_ handler: @escaping @Sendable (_ operation: AOperation, _ errors: [AOperationError]) -> Void) {
        self.handler = handler
    }

    public func operationDidFinish(_ operation: AOperation, errors: [AOperationError]) { handler(operation, errors) }
}
