import AOperation
import OpenCombine

extension Publishers {
    /// Publishes the value of an operation, then finishes. Made by `publisher(on:)`.
    public struct OperationPublisher<Output>: Publisher {
        public typealias Failure = AOperationError

        private let source: OperationSource<ResultableOperation<Output>>
        let queue: AOperationQueue

        init(of operation: ResultableOperation<Output>, on queue: AOperationQueue) {
            self.queue = queue
            source = OperationSource(operation, first: .always)
        }

        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == AOperationError {
            subscriber.receive(
                subscription: OperationSubscription<Output, Downstream>(source: source, queue: queue, downstream: subscriber))
        }
    }
}

extension ResultableOperation {
    /// Publishes the operation's value, and then that it has finished; or its first error, for a cancelled operation
    /// ``AOperationError/IsCancelled``.
    ///
    /// ```swift
    /// queue.callbackQueue = .main  // where the closures are the main actor's
    /// let subscription = CountWords(path: "a.txt").publisher(on: queue)
    ///     .sink { completion in print(completion) } receiveValue: { words in print(words) }
    /// ```
    /// The operation is added to `queue`, as `add(to:)` does, when the subscriber first asks for a value; one that is
    /// in a queue already is only waited for. Cancelling the subscription cancels the operation, and no other. The
    /// subscriber is called on the queue's callback queue: set that to `.main` where the subscriber belongs to the main actor, as
    /// closures in top-level code do.
    ///
    /// Every further subscription, e.g. that of `retry(_:)`, runs a fresh operation made by `new()` with the same
    /// conditions and observers; if the operation is no ``RetryableOperation`` it fails with
    /// ``AOperationError/IsNotRetryable``.
    public final func publisher(on queue: AOperationQueue) -> Publishers.OperationPublisher<Output> {
        Publishers.OperationPublisher(of: self, on: queue)
    }
}
