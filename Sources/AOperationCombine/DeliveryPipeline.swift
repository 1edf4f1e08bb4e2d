import AOperation
import OpenCombine

/// The logic of one subscription to delivered values: what it asks of the upstream, runs, and sends, and when.
///
/// A value that is stepped: each input returns what is to be done now.
struct DeliveryPipeline<Input, Output> {
    private var stage = Stage.idle
    /// How many outputs the downstream still wants.
    private var demand = Subscribers.Demand.none
    private var upstream = Upstream.open
    /// Values of an upstream that sends more than it was asked for.
    private var surplus: [Input] = []

    private enum Stage {
        /// Nothing is under way: there is no demand.
        case idle
        /// One value was asked of the upstream.
        case asked
        /// An operation runs.
        case running
        /// This output waits for demand.
        case holding(Output)
        /// The downstream is being given an output.
        case sending
        /// The completion was sent, or the subscription cancelled.
        case over
    }

    private enum Upstream {
        case open
        /// It ended with an error that is still to be delivered.
        case failed(AOperationError)
        case finished
    }

    enum Action {
        case none
        /// Ask the upstream for one value.
        case ask
        /// Run an operation with this, then call `ran`.
        case run(Result<Input, AOperationError>)
        /// Give this to the downstream, then call `sent`.
        case send(Output)
        /// Complete the downstream; a pipeline that fails lets go of its upstream.
        case complete(Subscribers.Completion<AOperationError>)
    }

    var isOver: Bool { if case .over = stage { true } else { false } }

    mutating func requested(_ more: Subscribers.Demand) -> Action {
        demand += more
        switch stage {
        case .idle: return proceed()
        case .holding(let output): return send(output)
        case .asked, .running, .sending, .over: return .none
        }
    }

    mutating func received(_ input: Input) -> Action {
        switch stage {
        case .asked:
            stage = .running
            return .run(.success(input))
        case .idle, .running, .holding, .sending:
            surplus.append(input)
            if case .idle = stage { return proceed() }
            return .none
        case .over:
            return .none
        }
    }

    mutating func upstreamEnded(_ error: AOperationError?) -> Action {
        upstream = error.map { .failed($0) } ?? .finished
        switch stage {
        case .idle, .asked: return proceed()
        case .running, .holding, .sending, .over: return .none
        }
    }

    mutating func ran(_ result: Result<Output, AOperationError>) -> Action {
        guard case .running = stage else { return .none }
        switch result {
        case .success(let output):
            if demand > 0 { return send(output) }
            stage = .holding(output)
            return .none
        case .failure(let error):
            stage = .over
            return .complete(.failure(error))
        }
    }

    mutating func sent(_ more: Subscribers.Demand) -> Action {
        guard case .sending = stage else { return .none }
        demand += more
        return proceed()
    }

    mutating func cancelled() {
        stage = .over
    }

    private mutating func send(_ output: Output) -> Action {
        stage = .sending
        demand -= 1
        return .send(output)
    }

    /// Nothing is under way: what is next?
    private mutating func proceed() -> Action {
        if !surplus.isEmpty {
            stage = .running
            return .run(.success(surplus.removeFirst()))
        }
        switch upstream {
        case .failed(let error):
            upstream = .finished
            stage = .running
            return .run(.failure(error))
        case .finished:
            stage = .over
            return .complete(.finished)
        case .open:
            guard demand > 0 else {
                stage = .idle
                return .none
            }
            stage = .asked
            return .ask
        }
    }
}
