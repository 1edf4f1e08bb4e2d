import Foundation

/// An operation that makes another one when it is executed, runs it, and ends as that does: a chain of operations as
/// one reusable operation.
///
/// ```swift
/// final class ServiceOperation<Output: Decodable & Sendable>: WrapperOperation<Void, Output>, @unchecked Sendable {
///     init(url: URL) {
///         super.init { (_) -> ResultableOperation<Output>? in
///             URLSessionTaskOperation.data(for: url)
///                 .deliver(to: ServicesErrorHandleOperation())
///                 .deliver(to: JSONDecoderOperation<Output>())
///         }
///     }
/// }
/// ```
/// The generated operation runs with all that belongs to it (its delivery net, and dependencies that are in no queue
/// yet) as a part of the wrapper, in the slots of the same queue; the wrapper itself holds none meanwhile. It ends when
/// all of them have ended: with the value of the generated operation, or with its errors, which keep their state and
/// publisher. If the generator returns nil the wrapper fails with ``AOperationError/NothingToRun``, whatever its
/// `Output` is; if it returns the wrapper, or an operation that this is inside of, with ``AOperationError/WaitsForItself``.
///
/// A wrapper that is cancelled, or timed out, has its own outcome at once and cancels what it wraps; its body ends
/// with that. If what it wraps is cancelled from elsewhere, the wrapper fails with the error of that cancellation.
///
/// Invariant behind `@unchecked Sendable`: `generator` is constant; `receivedValue` is set before the operation runs and read while it does.
open class WrapperOperation<Input, Output>: ResultableOperation<Output>, ReceiverOperation, @unchecked Sendable {
    public var receivedValue: Result<Input, AOperationError>?

    private let generator: @Sendable (Result<Input, AOperationError>?) -> ResultableOperation<Output>?
    /// - Parameter generator: makes the operation to run, from what the wrapper received (nil if nothing delivers to
    ///   it). Called once, when the wrapper is executed.
    public init(
        generator: @escaping @Sendable (_ receivedValue: Result<Input, AOperationError>?) -> ResultableOperation<Output>?
    ) {
        self.generator = generator
        super.init()
    }

    final override var makesParts: Bool { true }

    final override func makePart() -> AOperation? { generator(receivedValue) }

    final override func didBecomeMirror() { withAttachments { $0.part = WrapperPart() } }

    /// Makes the operation and runs it.
    open override func execute() {
        guard let operation = generator(receivedValue) else {
            return conclude(with: .failure([AOperationError(AOperationError.NothingToRun(self))]))
        }
        guard !isInside(of: operation) else {
            return conclude(with: .failure([AOperationError(AOperationError.WaitsForItself(self, running: operation))]))
        }
        let parts = OperationParts(of: self, allEnded: { [self] in end(as: operation) })
        if parts.run([operation], if: { $0.state.isExecuting }) { giveUpSlot() } else { endBody() }
    }

    private final func end(as operation: ResultableOperation<Output>) {
        switch operation.outcome {
        case .success(let value): conclude(withResult: .success(value))
        case .failure, .cancelled: conclude(with: .failure(operation.publishedErrors))
        case nil: preconditionFailure("\(operation.publisherName) ended before its outcome was decided")
        }
    }
}
