import Foundation

/// An operation that makes a result from the received one, by a closure.
///
/// ```swift
/// fetch.deliver(to: MapOperationBlock<Data, Int> { received, finish in
///     finish((received ?? .success(Data())).map(\.count))
/// })
/// ```
/// Without a producer the closure receives nil.
///
/// Invariant behind `@unchecked Sendable`: `receivedValue` is set before the operation runs and read while it does.
public final class MapOperationBlock<Input, Output>: ResultableOperation<Output>, ReceiverOperation,
    @unchecked Sendable
{
    public typealias MapBlock =
        @Sendable (
            _ received: Result<Input, AOperationError>?,
            _ finish: @escaping @Sendable (Result<Output, AOperationError>) -> Void
        ) -> Void

    public var receivedValue: Result<Input, AOperationError>?
    private let block: MapBlock

    /// - Parameter block: is given what was received, value or failure, and makes the outcome of it.
    public init(block: @escaping MapBlock) {
        self.block = block
        super.init()
    }

    public override func execute() {
        block(receivedValue) { [self] result in finish(with: result) }
    }
}
