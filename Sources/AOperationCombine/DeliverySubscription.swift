import AOperation
import OpenCombine

/// One subscription to delivered values: a ``DeliveryPipeline`` with its upstream, its operation and its downstream.
///
/// Invariant behind `@unchecked Sendable`: what it holds is only reached under its lock; upstream and downstream are
/// called outside of it, and the pipeline's stages see to it that only one call at a time is under way downstream.
final class DeliverySubscription<
    Upstream: Publisher, Operation: ReceiverOperation & ResultableOperation<Downstream.Input>, Downstream: Subscriber
>: Subscription, Subscriber, ResultListener, @unchecked Sendable
where Operation.Input == Upstream.Output, Downstream.Failure == AOperationError {
    typealias Input = Upstream.Output
    typealias Failure = Upstream.Failure
    fileprivate typealias Pipeline = DeliveryPipeline<Upstream.Output, Downstream.Input>

    fileprivate struct State {
        var pipeline = Pipeline()
        var upstream: (any Subscription)?
        var downstream: Downstream?
        /// The one that runs.
        var operation: Operation?
    }

    private let source: OperationSource<Operation>
    private let queue: AOperationQueue
    private let state: Guarded<State>

    init(source: OperationSource<Operation>, queue: AOperationQueue, downstream: Downstream) {
        self.source = source
        self.queue = queue
        state = Guarded(State(downstream: downstream))
    }

    // MARK: The upstream's calls

    func receive(subscription: any Subscription) {
        let downstream = state.withLock { state -> Downstream? in
            guard state.upstream == nil, !state.pipeline.isOver else { return nil }
            state.upstream = subscription
            return state.downstream
        }
        guard let downstream else { return subscription.cancel() }
        downstream.receive(subscription: self)
    }

    func receive(_ input: Upstream.Output) -> Subscribers.Demand {
        perform(state.withLock { $0.pipeline.received(input) })
        return .none
    }

    func receive(completion: Subscribers.Completion<Upstream.Failure>) {
        switch completion {
        case .finished: perform(state.withLock { $0.pipeline.upstreamEnded(nil) })
        case .failure(let error): perform(state.withLock { $0.pipeline.upstreamEnded(AOperationError(error)) })
        }
    }

    // MARK: The downstream's calls

    func request(_ demand: Subscribers.Demand) {
        guard demand > 0 else { return }
        perform(state.withLock { $0.pipeline.requested(demand) })
    }

    func cancel() {
        let held = state.withLock { state in
            state.pipeline.cancelled()
            return state.letGo()
        }
        held.upstream?.cancel()
        held.operation?.cancel()
    }

    // MARK: Actions

    private func perform(_ first: Pipeline.Action) {
        var action = first
        while true {
            switch action {
            case .none:
                return
            case .ask:
                state.withLock { $0.upstream }?.request(.max(1))
                return
            case .run(let received):
                guard let refusal = run(received) else { return }
                action = state.withLock { $0.pipeline.ran(.failure(refusal)) }
            case .send(let output):
                let more = state.withLock { $0.downstream }?.receive(output) ?? .none
                action = state.withLock { $0.pipeline.sent(more) }
            case .complete(let completion):
                return complete(completion)
            }
        }
    }

    /// Starts the next operation; returns why there is none.
    private func run(_ received: Result<Upstream.Output, AOperationError>) -> AOperationError? {
        let operation: Operation
        do {
            operation = try source.next()
        } catch {
            // Nobody can take the upstream's error any more: that is what the pipeline ends with.
            if case .failure(let upstreamError) = received { return upstreamError }
            return error
        }
        let isWanted = state.withLock { state in
            guard !state.pipeline.isOver else { return false }
            state.operation = operation
            return true
        }
        guard isWanted else { return nil }
        operation.receivedValue = received
        operation.tell(self)
        operation.add(to: queue)
        return nil
    }

    func operation(_ operation: ObjectIdentifier, finishedWith result: Result<Downstream.Input, AOperationError>) {
        let action = state.withLock { state in
            state.operation = nil
            return state.pipeline.ran(result)
        }
        perform(action)
    }

    private func complete(_ completion: Subscribers.Completion<AOperationError>) {
        let held = state.withLock { $0.letGo() }
        if case .failure = completion { held.upstream?.cancel() }
        held.downstream?.receive(completion: completion)
    }
}

extension DeliverySubscription.State {
    /// Empties it. What it held is released by the caller, outside of the lock.
    fileprivate mutating func letGo() -> Self {
        defer {
            upstream = nil
            downstream = nil
            operation = nil
        }
        return self
    }
}
