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
        guard gate() else {
            let error = AOperationError.GateIsClosed(operation)
            return abandon(with: .failure([AOperationError(error, state: .condition, publisher: publisherName)]))
        }
        super.execute()
    }
}
