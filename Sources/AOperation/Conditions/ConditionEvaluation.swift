/// One round of evaluating an operation's conditions: asks all leaves, and reports when all have answered.
final class ConditionEvaluation: Sendable {
    private struct State {
        var results: [OperationConditionResult?]
        var open: Int
        var completion: (@Sendable ([OperationConditionResult]) -> Void)?
    }

    private let state: Guarded<State>

    private init(leaves: Int, completion: @escaping @Sendable ([OperationConditionResult]) -> Void) {
        // One more open than there are leaves, so that the round cannot end while it is being begun.
        state = Guarded(State(results: Array(repeating: nil, count: leaves), open: leaves + 1, completion: completion))
    }

    /// Evaluates all leaves of `tree` for `operation`.
    ///
    /// - Parameters:
    ///   - failures: why dependent operations failed, by the leaves' indices.
    ///   - completion: called once, with the results of the leaves in their order.
    static func evaluate(
        _ tree: ConditionTree, for operation: AOperation, failures: [Int: AOperationError],
        completion: @escaping @Sendable ([OperationConditionResult]) -> Void
    ) {
        let evaluation = ConditionEvaluation(leaves: tree.leaves.count, completion: completion)
        for (index, leaf) in tree.leaves.enumerated() {
            ConditionDependency.$failure.withValue(failures[index]) {
                leaf.condition.evaluateForOperation(operation) { result in evaluation.answer(index, result) }
            }
        }
        evaluation.letGo()
    }

    /// Evaluates one condition by itself.
    static func evaluate(
        _ condition: any AOperationCondition, for operation: AOperation, failures: [Int: AOperationError],
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        let tree = ConditionTree([condition])
        evaluate(tree, for: operation, failures: failures) { results in
            completion(OperationConditionResult.combined(tree.combine(results)))
        }
    }

    private func answer(_ index: Int, _ result: OperationConditionResult) {
        let isFirst = state.withLock { state in
            guard state.results[index] == nil else { return false }
            state.results[index] = result
            return true
        }
        if isFirst { letGo() }
    }

    private func letGo() {
        let last = state.withLock { state -> (() -> Void)? in
            state.open -= 1
            guard state.open == 0, let completion = state.completion else { return nil }
            state.completion = nil
            let results = state.results.compactMap(\.self)
            return { completion(results) }
        }
        last?()
    }
}

extension OperationConditionResult {
    /// What several results come to: a failure before "ignored", that before "not now", and that before success.
    static func combined(_ results: [OperationConditionResult]) -> OperationConditionResult {
        ConditionVerdict(results).result
    }
}

/// What an operation's conditions come to.
enum ConditionVerdict {
    case satisfied
    case failed([AOperationError])
    case ignored
    /// The longest wait among those who ask for one, and its reason.
    case notYet(Duration, because: String)

    init(_ results: [OperationConditionResult]) {
        var errors: [AOperationError] = []
        var isIgnored = false
        var wait: (Duration, String)?
        for result in results {
            switch result {
            case .success: break
            case .failure(let error): errors.append(error)
            case .ignored: isIgnored = true
            case .retry(let duration, let reason):
                let duration = max(duration, .zero)  // it may be made of two times
                if duration >= wait?.0 ?? .zero { wait = (duration, reason) }
            }
        }
        if !errors.isEmpty {
            self = .failed(errors)
        } else if isIgnored {
            self = .ignored
        } else if let wait {
            self = .notYet(wait.0, because: wait.1)
        } else {
            self = .satisfied
        }
    }

    fileprivate var result: OperationConditionResult {
        switch self {
        case .satisfied: .success
        case .failed(let errors): errors.first.map { .failure($0) } ?? .success
        case .ignored: .ignored
        case .notYet(let duration, let reason): .retry(after: duration, because: reason)
        }
    }
}
