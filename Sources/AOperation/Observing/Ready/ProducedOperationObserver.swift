import Foundation

/// Calls a closure when an operation produces another one; see
/// ``AOperationObserver/operation(_:didProduceOperation:)``.
public struct ProducedOperationObserver: AOperationObserver, Sendable {
    private let handler: @Sendable (AOperation, Foundation.Operation) -> Void

    public init(_ handler: @escaping @Sendable (_ operation: AOperation, _ produced: Foundation.Operation) -> Void) {
        self.handler = handler
    }

    public func operation(_ operation: AOperation, didProduceOperation newOperation: Foundation.Operation) {
        handler(operation, newOperation)
    }
}
