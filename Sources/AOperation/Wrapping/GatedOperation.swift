import Foundation

/// Runs an operation if its gate lets it through, asked when its turn has come.
///
/// ```swift
/// GatedOperation(operation: Upload(report)) { settings.isUploadAllowed }
/// ```
/// A closed gate is what a condition is that does not hold: the operation is not run and ends as cancelled, and the
/// gated operation fails with ``AOperationError/GateIsClosed`` (state `.condition`).
open class GatedOperation: ComposedOperation, @unchecked Sendable {
    private let gate: @Sendable () -> Bool

    /// - Parameter gate: whether to run `operation`; called once, on the executing thread.
    public init(operation: Foundation.Operation, gate: @escaping @Sendable () -> Bool) {
        self.gate = gate
        super.init(operation: operation)
    }

    open override func execute() {
        // Elsewhere it has been asked before.
        guard isMirror || gate() else {
            let error = AOperationError.GateIsClosed(operation)
            return abandon(with: .failure([AOperationError(error, state: .condition, publisher: publisherName)]))
        }
        super.execute()
    }

    /// What the gate is where others evaluate conditions.
    final var condition: any AOperationCondition { Gate(gate: gate, operation: operation, name: publisherName) }
}

/// The gate of a gated operation, asked as a condition of it.
struct Gate: AOperationCondition {
    let gate: @Sendable () -> Bool
    let operation: Foundation.Operation
    /// Of the gated operation.
    let name: String

    func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        guard !gate() else { return completion(.success) }
        let error = AOperationError.GateIsClosed(self.operation)
        completion(.failure(AOperationError(error, state: .condition, publisher: name)))
    }
}
