import Foundation

/// A group of one: gives a plain Foundation operation conditions, observers and the rest of an `AOperation`, or an
/// `AOperation` others than its own.
///
/// ```swift
/// ComposedOperation(operation: BlockOperation { export() })
///     .conditions(MutuallyExclusive<Database>())
///     .observers(BlockObserver(finishHandler: { _, errors in log(errors) }))
///     .add(to: queue)
/// ```
/// It ends as its operation does; dependencies work in both directions, whatever kind the other operation is.
open class ComposedOperation: GroupOperation, @unchecked Sendable {
    /// The operation it was made of.
    public final let operation: Foundation.Operation

    /// Runs `operation` with conditions, observers and limits of its own.
    public init(operation: Foundation.Operation) {
        self.operation = operation
        super.init([operation])
    }
}
