/// Calls a closure when an operation starts; see ``AOperationObserver/operationDidStart(_:)``.
public struct StartedObserver: AOperationObserver, Sendable {
    private let handler: @Sendable (AOperation) -> Void

    public init(_ handler: @escaping @Sendable (_ operation: AOperation) -> Void) {
        self.handler = handler
    }

    public func operationDidStart(_ operation: AOperation) { handler(operation) }
}
