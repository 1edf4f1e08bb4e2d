/// Calls a closure when an operation is about to end, and holds the end back until that is let go; see ``HoldingObserver``.
///
/// ```swift
/// export.addObserver(WillFinishObserver { _, errors, finish in journal.flush { finish() } })
/// ```
public struct WillFinishObserver: HoldingObserver, Sendable {
    /// Takes the operation, the errors with which it is to fail, and what lets the end go.
    public typealias Handler =
        @Sendable (_ operation: AOperation, _ errors: [AOperationError], _ finish: @escaping @Sendable () -> Void) -> Void

    private let handler: Handler

    public init(_ handler: @escaping Handler) {
        self.handler = handler
    }

    public func operation(
        _ operation: AOperation, willFinishWith errors: [AOperationError], finish: @escaping @Sendable () -> Void
    ) {
        handler(operation, errors, finish)
    }
}
