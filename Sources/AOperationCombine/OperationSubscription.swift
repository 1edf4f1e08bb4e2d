import AOperation
import OpenCombine

/// One subscription to an operation's value: it runs one operation, when it is first asked.
///
/// Invariant behind `@unchecked Sendable`: state is only reached under its lock; the downstream is called by the one
/// who has ended the state.
final class OperationSubscription<Downstream: Subscriber>: Subscription, ResultListener, @unchecked Sendable
where Downstream.Failure == AOperationError {
    private typealias Operation = ResultableOperation<Downstream.Input>

    private enum State {
        /// Nothing was asked for.
        case idle(Downstream)
        /// The operation is being made.
        case starting(Downstream)
        /// The operation runs.
        case running(Downstream, Operation)
        /// The completion was sent, or the subscription cancelled.
        case over
    }

    private let source: OperationSource<ResultableOperation<Downstream.Input>>
    private let queue: AOperationQueue
    private let state: Guarded<State>

    init(
        source: OperationSource<ResultableOperation<Downstream.Input>>, queue: AOperationQueue, downstream: Downstream
    ) {
        self.source = source
        self.queue = queue
        state = Guarded(.idle(downstream))
    }

    func request(_ demand: Subscribers.Demand) {
        guard demand > 0, let downstream = begin() else { return }
        do {
            let operation = try source.next()
            guard run(operation) else { return }
            operation.tell(self)
            operation.add(to: queue)
        } catch {
            if end() != nil { downstream.receive(completion: .failure(error)) }
        }
    }

    func cancel() {
        if case .running(_, let operation)? = end() { operation.cancel() }
    }

    private func begin() -> Downstream? {
        state.withLock { state in
            guard case .idle(let downstream) = state else { return nil }
            state = .starting(downstream)
            return downstream
        }
    }

    /// False when the subscription was cancelled meanwhile.
    private func run(_ operation: Operation) -> Bool {
        state.withLock { state in
            guard case .starting(let downstream) = state else { return false }
            state = .running(downstream, operation)
            return true
        }
    }

    /// The state that the subscription was in; nil if it was over.
    private func end() -> State? {
        state.withLock { state in
            if case .over = state { return nil }
            defer { state = .over }
            return state
        }
    }

    func operationFinished(with result: Result<Downstream.Input, AOperationError>) {
        guard case .running(let downstream, _)? = end() else { return }
        switch result {
        case .success(let value):
            _ = downstream.receive(value)
            downstream.receive(completion: .finished)
        case .failure(let error):
            downstream.receive(completion: .failure(error))
        }
    }
}
