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
/// `Output` is.
///
/// A wrapper that is cancelled, or timed out, has its own outcome at once and cancels what it wraps; its body ends
/// with that. If what it wraps is cancelled from elsewhere, the wrapper fails with the error of that cancellation.
///
/// Invariant behind `@unchecked Sendable`: `work` is only reached under its lock; `generator` is constant;
/// `receivedValue` is set before the operation runs and read while it does.
open class WrapperOperation<Input, Output>: ResultableOperation<Output>, ReceiverOperation, @unchecked Sendable {
    public var receivedValue: Result<Input, AOperationError>?

    private let generator: @Sendable (Result<Input, AOperationError>?) -> ResultableOperation<Output>?
    private let work = Guarded(Work.notBegun)

    private enum Work {
        case notBegun
        /// These run for the wrapper, and so many of them have not ended.
        case running([AOperation], open: Int)
        /// All of them have ended, or there is nothing to be run any more.
        case over
    }

    /// - Parameter generator: makes the operation to run, from what the wrapper received (nil if nothing delivers to
    ///   it). Called once, when the wrapper is executed.
    public init(
        generator: @escaping @Sendable (_ receivedValue: Result<Input, AOperationError>?) -> ResultableOperation<Output>?
    ) {
        self.generator = generator
        super.init()
    }

    /// Makes the operation and runs it.
    open override func execute() {
        guard let operation = generator(receivedValue) else {
            return conclude(with: .failure([AOperationError(AOperationError.NothingToRun(self))]))
        }
        run(operation, with: operation.unqueuedDependencies())
    }

    open override func cancel() {
        super.cancel()
        stop()
    }

    private func run(_ operation: ResultableOperation<Output>, with members: [AOperation]) {
        let isWanted = work.withLock { work in
            guard case .notBegun = work else { return false }
            work = .running(members, open: members.count)
            return true
        }
        guard isWanted else {
            Self.cancel(members)
            return endBody()
        }
        onSettled { wrapper, _ in (wrapper as? Self)?.stop() }
        let parts = OperationParts(of: self, ended: { [self] _ in partEnded(of: operation) })
        for member in members { parts.enter(member) }
        giveUpSlot()
    }

    private func partEnded(of operation: ResultableOperation<Output>) {
        let isLast = work.withLock { work in
            guard case .running(let members, let open) = work else { return false }
            work = open > 1 ? .running(members, open: open - 1) : .over
            return open == 1
        }
        if isLast { Trampoline.run { [self] in end(as: operation) } }
    }

    private func end(as operation: ResultableOperation<Output>) {
        switch operation.outcome {
        case .success(let value): conclude(withResult: .success(value))
        case .failure, .cancelled: conclude(with: .failure(operation.publishedErrors))
        case nil: preconditionFailure("\(operation.publisherName) ended before its outcome was decided")
        }
    }

    /// Cancels what runs for the wrapper, or keeps it from being run.
    private func stop() {
        let members = work.withLock { work -> [AOperation] in
            switch work {
            case .notBegun:
                work = .over
                return []
            case .running(let members, _):
                return members
            case .over:
                return []
            }
        }
        Self.cancel(members)
    }

    /// Those that wait for others first, so that none of them is started by the end of another.
    private static func cancel(_ members: [AOperation]) {
        guard !members.isEmpty else { return }
        Trampoline.run { for member in members.reversed() { member.cancel() } }
    }
}
