import Foundation

/// The outputs of operations that each received one element of another sequence. Made by `deliver(to:on:)`.
public struct DeliveredValues<Upstream: AsyncSequence, Receiver: ResultableOperation<Output> & ReceiverOperation, Output>:
    AsyncSequence
where Receiver.Input == Upstream.Element {
    public typealias Element = Output
    public typealias Failure = any Error

    private let upstream: Upstream
    private let source: OperationSource<Receiver>
    private let queue: AOperationQueue

    init(of upstream: Upstream, to receiver: Receiver, on queue: AOperationQueue) {
        self.upstream = upstream
        self.queue = queue
        source = OperationSource(receiver, first: .ifUnused)
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(upstream: upstream.makeAsyncIterator(), source: source, queue: queue)
    }

    public struct Iterator: AsyncIteratorProtocol {
        private var upstream: Upstream.AsyncIterator
        private let source: OperationSource<Receiver>
        private let queue: AOperationQueue
        private var isOver = false

        fileprivate init(upstream: Upstream.AsyncIterator, source: OperationSource<Receiver>, queue: AOperationQueue) {
            self.upstream = upstream
            self.source = source
            self.queue = queue
        }

        public mutating func next() async throws -> Output? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Output? {
            guard !isOver else { return nil }
            guard let received = await receive(isolation: actor) else {
                isOver = true
                return nil
            }
            do {
                if case .failure = received { isOver = true }
                return try await run(received, isolation: actor)
            } catch {
                isOver = true
                throw error
            }
        }

        /// The next element, or the error, of the upstream; nil at its end.
        private mutating func receive(
            isolation actor: isolated (any Actor)?
        ) async -> Result<Upstream.Element, AOperationError>? {
            do {
                return try await upstream.next(isolation: actor).map { .success($0) }
            } catch {
                return .failure(AOperationError(error))
            }
        }

        private func run(
            _ received: Result<Upstream.Element, AOperationError>, isolation actor: isolated (any Actor)?
        ) async throws(AOperationError) -> Output {
            let operation: Receiver
            do {
                operation = try source.next()
            } catch {
                // Nobody can take the upstream's error any more: that is what the sequence ends with.
                if case .failure(let upstreamError) = received { throw upstreamError }
                throw error
            }
            operation.receivedValue = received
            return try await operation.result(on: queue).get()
        }
    }
}

extension DeliveredValues: Sendable where Upstream: Sendable {}

extension AsyncSequence {
    /// Delivers each element to an operation of its own, one after another, and makes a sequence of their outputs.
    ///
    /// ```swift
    /// for try await words in lines.deliver(to: CountWords(), on: queue) { print(words) }
    /// ```
    /// The first element goes to `receiver`, each further one to a fresh operation that it makes with `new()`,
    /// configured as `receiver` is now: conditions, observers, name, priorities (`didFinish` closures stay with
    /// `receiver`). Nothing runs ahead: the next element is asked for when the next output is. Cancelling the
    /// consuming task cancels the operation that runs.
    ///
    /// An error of this sequence is delivered, too, as a `receivedValue` that is a failure; the resulting sequence
    /// ends after that operation.
    /// - Throws: while it is read, ``AOperationError``: an operation's first error, after which the sequence ends;
    ///   ``AOperationError/IsNotRetryable`` at a second element if `receiver` is no ``RetryableOperation``.
    public func deliver<Output, Operation: ReceiverOperation & ResultableOperation<Output>>(
        to receiver: Operation, on queue: AOperationQueue
    ) -> DeliveredValues<Self, Operation, Output> where Operation.Input == Element {
        DeliveredValues(of: self, to: receiver, on: queue)
    }
}
