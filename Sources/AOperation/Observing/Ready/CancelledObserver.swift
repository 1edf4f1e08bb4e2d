/// Calls a closure when an operation is cancelled; see ``AOperationObserver/operationDidCancel(_:)``.
///
/// ```swift
/// child.addObserver(CancelledObserver { [weak group] _ in group?.cancel() })
/// ```
public struct CancelledObserver: AOperationObserver, Sendable {
    private let handler: @Sendable (AOperation) -> Void

    public init(_ handler: @escaping @Sendable (_ operation: AOperation) -> Void) {
        self.handler = handler
    }

    public func operationDidCancel(_ operation: AOperation) { handler(operation) }
}
