import AOperation
import OpenCombine

extension Publishers {
    /// Publishes the outputs of operations that each received one value of `upstream`. Made by `deliver(to:on:)` and
    /// `deliver(to:)`.
    public struct OperationMiddlePublisher<
        Upstream: Publisher, Operation: ReceiverOperation & ResultableOperation<Output>, Output
    >: Publisher
    where Operation.Input == Upstream.Output {
        public typealias Failure = AOperationError

        /// Where the received values come from.
        public let upstream: Upstream
        private let source: OperationSource<Operation>
        let queue: AOperationQueue

        init(of upstream: Upstream, to receiver: Operation, on queue: AOperationQueue) {
            self.upstream = upstream
            self.queue = queue
            source = OperationSource(receiver, first: .ifUnused)
        }

        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == AOperationError {
            upstream.subscribe(
                DeliverySubscription<Upstream, Operation, Downstream>(source: source, queue: queue, downstream: subscriber))
        }
    }
}

extension Publisher {
    /// Delivers each value to an operation of its own, one after another, and publishes their outputs.
    ///
    /// ```swift
    /// lines.publisher.deliver(to: CountWords(), on: queue).sink { … } receiveValue: { words in … }
    /// ```
    /// The first value goes to `receiver`, each further one, and each of another subscription, to a fresh operation
    /// that it makes with `new()`, with the conditions and observers that `receiver` has now. A second value for one
    /// that is no ``RetryableOperation`` ends the pipeline with ``AOperationError/IsNotRetryable``.
    ///
    /// One value at a time is asked of this publisher, when the subscriber asks for an output; a publisher that does
    /// not wait to be asked, such as a subject, may need a `buffer`. An error of this publisher is delivered, too, as a
    /// `receivedValue` that is a failure; the pipeline ends after that operation. An operation that fails ends the
    /// pipeline with its first error. Cancelling the subscription cancels the operation that runs, and no other.
    public func deliver<Output, Operation: ReceiverOperation & ResultableOperation<Output>>(
        to receiver: Operation, on queue: AOperationQueue
    ) -> Publishers.OperationMiddlePublisher<Self, Operation, Output> where Operation.Input == Self.Output {
        Publishers.OperationMiddlePublisher(of: self, to: receiver, on: queue)
    }
}

extension Publishers.OperationPublisher {
    /// Delivers the operation's value, or its error, to `receiver` on the same queue: see `deliver(to:on:)`.
    public func deliver<NewOutput, Operation: ReceiverOperation & ResultableOperation<NewOutput>>(
        to receiver: Operation
    ) -> Publishers.OperationMiddlePublisher<Self, Operation, NewOutput> where Operation.Input == Output {
        Publishers.OperationMiddlePublisher(of: self, to: receiver, on: queue)
    }
}

extension Publishers.OperationMiddlePublisher {
    /// Delivers the outputs, or the error, to `receiver` on the same queue: see `deliver(to:on:)`.
    public func deliver<NewOutput, Receiver: ReceiverOperation & ResultableOperation<NewOutput>>(
        to receiver: Receiver
    ) -> Publishers.OperationMiddlePublisher<Self, Receiver, NewOutput> where Receiver.Input == Output {
        Publishers.OperationMiddlePublisher<Self, Receiver, NewOutput>(of: self, to: receiver, on: queue)
    }
}
