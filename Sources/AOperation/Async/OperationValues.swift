import Foundation

/// The value of an operation as an asynchronous sequence: one element, then the end. Made by
/// ``ResultableOperation/values(on:)``.
public struct OperationValues<Output>: AsyncSequence, Sendable {
    public typealias Element = Output
    public typealias Failure = any Error

    private let operation: ResultableOperation<Output>
    private let queue: AOperationQueue

    init(of operation: ResultableOperation<Output>, on queue: AOperationQueue) {
        self.operation = operation
        self.queue = queue
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(operation: operation, queue: queue)
    }

    /// Waits for the operation's value.
    public struct Iterator: AsyncIteratorProtocol {
        private var operation: ResultableOperation<Output>?
        private let queue: AOperationQueue

        fileprivate init(operation: ResultableOperation<Output>, queue: AOperationQueue) {
            self.operation = operation
            self.queue = queue
        }

        public mutating func next() async throws -> Output? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Output? {
            guard let operation else { return nil }
            self.operation = nil
            return try await operation.result(on: queue).get()
        }
    }
}

extension ResultableOperation {
    /// The operation's value as an asynchronous sequence, for code that takes one: one element, then the end.
    ///
    /// ```swift
    /// for try await words in CountWords(path: "a.txt").values(on: queue) { print(words) }
    /// ```
    /// The operation is added to `queue`, as `add(to:)` does, when the element is first asked for; an operation that
    /// is in a queue already is only waited for. Cancelling the consuming task cancels the operation. The sequence may
    /// be read several times: it is one operation, executed once.
    /// - Throws: while it is read, ``AOperationError``: the first error of an operation that failed; for a cancelled
    ///   one ``AOperationError/IsCancelled``.
    public final func values(on queue: AOperationQueue) -> OperationValues<Output> {
        OperationValues(of: self, on: queue)
    }
}
