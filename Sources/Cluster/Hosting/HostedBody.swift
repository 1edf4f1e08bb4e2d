import AOperation
import Executing
import Foundation
import Synchronization
import Wire

/// Something that this process executes for the coordinator.
enum HostedBody: Sendable {
    /// The operation itself.
    case operation(AOperation)
    /// Another attempt of it.
    case attempt(AOperation)
    case conditions(HostedConditions)
    /// What a group does next, or what is said to an end, which is known in a while; it cannot be stopped, but given up.
    case decision(giveUp: @Sendable () -> Void)

    /// Asks it to end.
    func stop() {
        switch self {
        case .operation(let operation): operation.stopHosted()
        case .attempt(let attempt): attempt.cancel()
        case .conditions(let conditions): conditions.stop()
        case .decision(let giveUp): giveUp()
        }
    }
}

/// The conditions of an operation that are evaluated in this process, all at once; what does not answer is given up when
/// they are stopped.
final class HostedConditions: Sendable {
    private struct State {
        var answers: [WireConditionAnswer?]
        var failed: [Failed] = []
        var isGateAsked = false
        var completion: (@Sendable ([WireConditionAnswer], [Failed]) -> Void)?
    }

    /// The error of a condition that does not hold, and what comes back of it.
    struct Failed: Sendable {
        let error: AOperationError
        let failure: WireOperationFailure
    }

    private let operation: AOperation
    private let questions: [(question: WireConditionQuestion, condition: HostedCondition?)]
    /// What a failure is in this process.
    private let error: @Sendable (WireOperationFailure) -> AOperationError
    private let state: Mutex<State>

    private static let reasonCharactersMax = 4 * 1024

    /// - Parameter completion: called once, with an answer to each question in their order and the errors of those that do
    ///   not hold.
    init(
        _ questions: [WireConditionQuestion], of member: OperationGraph.Member, _ operation: AOperation,
        error: @escaping @Sendable (WireOperationFailure) -> AOperationError,
        completion: @escaping @Sendable ([WireConditionAnswer], [Failed]) -> Void
    ) {
        self.operation = operation
        self.error = error
        self.questions = questions.map { ($0, member.hostedConditions[Int($0.condition)]) }
        state = Mutex(State(answers: Array(repeating: nil, count: questions.count), completion: completion))
    }

    /// On any thread: conditions may take their time.
    func begin() {
        // What a condition asks about them is known here then.
        operation.whenDependenciesAreOver { [self] in
            for (index, (question, condition)) in questions.enumerated() {
                guard let condition else {
                    answer(index, .failed("the condition `\(question.type)` is not known in this process", nil))
                    continue
                }
                if !condition.isGate { evaluate(condition, index) }
            }
            askGate()
            endIfAnswered()
        }
    }

    /// A gate is asked when everything else holds.
    private func askGate() {
        guard let gate = questions.firstIndex(where: { $0.condition?.isGate == true }), let condition = questions[gate].condition else {
            return
        }
        let holds = state.withLock { state -> Bool? in
            guard state.answers[gate] == nil, !state.isGateAsked else { return nil }
            let others = state.answers.indices.filter { $0 != gate }.map { state.answers[$0] }
            guard others.allSatisfy({ $0 != nil }) else { return nil }
            state.isGateAsked = true
            return others.allSatisfy { $0?.finding == .satisfied }
        }
        switch holds {
        case true?: evaluate(condition, gate)
        case false?: answer(gate, .holds)
        case nil: break
        }
    }

    /// What has been cancelled meanwhile, by a condition for example, is not to run, whatever that says.
    private func evaluate(_ condition: HostedCondition, _ index: Int) {
        guard !operation.isCancelled else { return answer(index, .ignored) }
        let failedParts = questions[index].question.failedParts.map { (Int($0.part), error($0.failure)) }
        condition.evaluate(for: operation, failedParts: Dictionary(failedParts) { first, _ in first }) { [self] result in
            answer(index, operation.isCancelled ? .ignored : Finding(result))
        }
    }

    func stop() {
        for index in questions.indices { answer(index, .failed("was stopped", nil)) }
    }

    private enum Finding {
        case holds
        case failed(String, AOperationError?)
        case ignored
        case notNow(milliseconds: Int64, String)

        init(_ result: OperationConditionResult) {
            switch result {
            case .success: self = .holds
            case .failure(let error): self = .failed(error.localizedDescription, error)
            case .ignored: self = .ignored
            case .retry(let after, let reason):
                self = .notNow(milliseconds: Int64(min(max(1, after / .milliseconds(1)), Double(UInt32.max))), reason)
            }
        }
    }

    /// The first answer counts.
    private func answer(_ index: Int, _ finding: Finding) {
        let question = questions[index].question
        var answer = WireConditionAnswer()
        answer.condition = question.condition
        var failed: Failed?
        switch finding {
        case .holds: answer.finding = .satisfied
        case .failed(let reason, let error):
            answer.finding = .failed
            answer.reason = String(reason.prefix(Self.reasonCharactersMax))
            failed = error.map { error in
                let published = AOperationError(error.publishedError, state: .condition, publisher: error.publisher ?? question.type)
                answer.failure = WireOperationFailure(answering: published)
                var failure = answer.failure
                failure.message = answer.reason
                return Failed(error: published, failure: failure)
            }
        case .ignored:
            answer.finding = .ignored
            answer.reason = "the condition says that the operation is not to run"
        case .notNow(let milliseconds, let reason):
            answer.finding = .notNow
            answer.retryAfterMilliseconds = UInt32(clamping: milliseconds)
            answer.reason = String(reason.prefix(Self.reasonCharactersMax))
        }
        state.withLock { state in
            guard state.answers[index] == nil else { return }
            state.answers[index] = answer
            if let failed { state.failed.append(failed) }
        }
        askGate()
        endIfAnswered()
    }

    private func endIfAnswered() {
        let end = state.withLock { state -> (@Sendable () -> Void)? in
            let answers = state.answers.compactMap(\.self)
            guard answers.count == state.answers.count, let completion = state.completion else { return nil }
            state.completion = nil
            return { [failed = state.failed] in completion(answers, failed) }
        }
        end?()
    }
}
