import AOperation
import OpenCombine

/// A subscription to what an operation ends with.
public protocol BaseOperationSubscription: Subscription {
    /// Lets another operation take the place of the one that the subscription follows: what that one ends with is of no interest any
    /// more. Whoever calls this runs the new one; the old one is left alone. Cancelling the subscription cancels the new one.
    ///
    /// Does nothing before the subscription has an operation, once it is over, or if the new one has another type of value.
    func updateOperation(with newOperation: AOperation)
}

extension Publishers {
    /// One subscription to an operation's value: it runs one operation, when it is first asked.
    ///
    /// Invariant behind `@unchecked Sendable`: state is only reached under its lock; the downstream is called by the one
    /// who has ended the state.
    public final class OperationSubscription<Output, Downstream: Subscriber>: BaseOperationSubscription, @unchecked Sendable
    where Downstream.Input == Output, Downstream.Failure == AOperationError {
        private typealias Operation = ResultableOperation<Output>

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

        private let source: OperationSource<ResultableOperation<Output>>
        private let queue: AOperationQueue
        private let state: Guarded<State>

        init(
            source: OperationSource<ResultableOperation<Output>>, queue: AOperationQueue, downstream: Downstream
        ) {
            self.source = source
            self.queue = queue
            state = Guarded(.idle(downstream))
        }

        public func request(_ demand: Subscribers.Demand) {
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

        public func cancel() {
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

        public func updateOperation(with newOperation: AOperation) {
            guard let newOperation = newOperation as? Operation else { return }
            let before = state.withLock { state -> State? in
                guard case .running(let downstream, let former) = state, former !== newOperation else { return nil }
                defer { state = .running(downstream, newOperation) }
                return state
            }
            if before != nil { newOperation.tell(self) }
        }
    }
}

extension Publishers.OperationSubscription: ResultListener {
    func operation(_ operation: ObjectIdentifier, finishedWith result: Result<Output, AOperationError>) {
        let ended = state.withLock { state -> State? in
            guard case .running(_, let latest) = state, ObjectIdentifier(latest) == operation else { return nil }
            defer { state = .over }
            return state
        }
        guard case .running(let downstream, _)? = ended else { return }
        switch result {
        case .success(let value):
            _ = downstream.receive(value)
            downstream.receive(completion: .finished)
        case .failure(let error):
            downstream.receive(completion: .failure(error))
        }
    }
}
