/// Always holds.
public struct TrueCondition: AOperationCondition, Sendable {
    public init() {}

    public func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        completion(.success)
    }
}
