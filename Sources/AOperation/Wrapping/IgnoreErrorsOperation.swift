import Foundation

/// Runs an operation and succeeds however that ends: for work whose failure must not make a group fail.
///
/// ```swift
/// OrderedGroupOperation(Build(), IgnoreErrorsOperation(operation: WarmCache()), Publish(), onFailure: .stop)
/// ```
/// How the operation ended is in ``GroupOperation/outcomes``. Cancelling this operation cancels both.
open class IgnoreErrorsOperation: ComposedOperation, @unchecked Sendable {
    public override init(operation: Foundation.Operation) {
        super.init(operation: operation)
    }

    final override func childEnded(_ operation: Foundation.Operation) { forgive(operation) }
}
