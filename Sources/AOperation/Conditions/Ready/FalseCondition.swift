import Foundation

/// Never holds: the operation fails with ``Error`` without being executed.
public struct FalseCondition: AOperationCondition, Sendable {
    /// The condition is one that never holds.
    public struct Error: LocalizedError, PortableError, Hashable, Sendable {
        public init() {}

        public var errorDescription: String? { "The condition FalseCondition never holds" }
    }

    public init() {}

    public func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        completion(.failure(AOperationError(Error())))
    }
}
