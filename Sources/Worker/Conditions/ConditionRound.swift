import AOperation
import Foundation
import Synchronization
import Wire

/// One evaluate unit: all conditions that it asks for, evaluated at once.
///
/// It ends when all have answered and commands have ended; a condition of a program's own that does not answer is given up
/// when the round is stopped.
final class ConditionRound: Sendable {
    /// What a condition found, before `negated` and `wait`.
    enum Finding {
        case holds(key: String? = nil)
        /// With its error, if it has one.
        case fails(String, error: AOperationError? = nil)
        /// It could not be evaluated, so its opposite does not hold either.
        case unknown(String)
        case notNow(milliseconds: Int64, String)
    }

    private struct State {
        var answers: [WireConditionAnswer?]
        var commands: [Int: ShellOperation] = [:]
        /// Of those that have secrets in their parameters.
        var redactions: [Int: Redaction] = [:]
        var isStopped = false
        var isUnbegun = false
        var completion: (@Sendable ([WireConditionAnswer], Bool) -> Void)?
    }

    /// How long what is waited for is left alone.
    private static let waitMilliseconds: Int64 = 2_000

    private let assignment: WireAssignment
    private let registry: OperationRegistry
    private let context: UnitContext
    private let queue = AOperationQueue()
    private let state: Mutex<State>

    /// - Parameter completion: called once, with an answer to each question in their order, and with whether this process could not begin a
    ///   command of them: others may answer it.
    init(
        _ assignment: WireAssignment, registry: OperationRegistry, context: UnitContext,
        completion: @escaping @Sendable (_ answers: [WireConditionAnswer], _ isUnbegun: Bool) -> Void
    ) {
        self.assignment = assignment
        self.registry = registry
        self.context = context
        state = Mutex(State(answers: Array(repeating: nil, count: assignment.conditions.count), completion: completion))
    }

    func begin() {
        for (index, question) in assignment.conditions.enumerated() { ask(index, question) }
        endIfAnswered()
    }

    /// Commands are asked to end; nobody else is waited for.
    func stop() {
        let commands = state.withLock { state in
            state.isStopped = true
            return state.commands
        }
        for command in commands.values { command.cancel() }
        for index in assignment.conditions.indices where commands[index] == nil { answer(index, .unknown("was stopped")) }
        endIfAnswered()
    }

    func kill() {
        for command in state.withLock({ $0.commands }).values { command.kill() }
    }

    private func ask(_ index: Int, _ question: WireConditionQuestion) {
        guard let type = registry.conditions[question.type] else {
            return answer(index, .unknown("the condition `\(question.type)` is not registered on \(context.worker)"))
        }
        do {
            var redaction = Redaction()
            let given = try context.host.secrets.resolve(question.parameters, isTemplated: question.templated, noting: &redaction)
            state.withLock { [redaction] state in state.redactions[index] = redaction }
            let parameters = question.templated ? try Template.render(given, bindings: context.bindings) : given
            let condition = try type.decoded(from: parameters)
            if let command = condition as? CommandCondition { return run(command, index) }
            let key = Self.key(of: condition)
            condition.evaluateForOperation(StandIn(path: assignment.path)) { result in
                self.answer(index, Finding(result, key: key))
                self.endIfAnswered()
            }
        } catch {
            answer(index, .unknown("`\(question.type)`: \(error.localizedDescription)"))
        }
    }

    /// As programs call it; nil: it is one of those that only clusters have, and the coordinator names it.
    private static func key(of condition: any ClusterCondition) -> String? {
        switch condition {
        case is ReachableCondition: ReachabilityCondition.key
        case is FileExistsCondition, is CommandCondition: nil
        default: type(of: condition).key
        }
    }

    private func run(_ condition: CommandCondition, _ index: Int) {
        let operation = condition.operation(in: context)
        let mayRun = state.withLock { state in
            if !state.isStopped { state.commands[index] = operation }
            return !state.isStopped
        }
        guard mayRun else { return answer(index, .unknown("was stopped")) }
        operation.whenEnded { outcome in
            self.state.withLock { $0.commands[index] = nil }
            switch outcome {
            case .success: self.answer(index, .holds())
            case .failure(let errors):
                if errors.contains(where: { $0.publishedError is UnbegunAttempt }) { self.state.withLock { $0.isUnbegun = true } }
                let reason = "the command \(errors.first?.localizedDescription ?? "failed")"
                let hasAnswered = (errors.first?.publishedError as? OperationFault)?.code == .exit
                self.answer(index, hasAnswered ? .fails(reason) : .unknown(reason))
            case .cancelled: self.answer(index, .unknown("was stopped"))
            }
            self.endIfAnswered()
        }
        operation.add(to: queue)
    }

    /// The first answer counts.
    private func answer(_ index: Int, _ finding: Finding) {
        let question = assignment.conditions[index]
        state.withLock { state in
            guard state.answers[index] == nil else { return }
            var answer = Self.answer(question, finding)
            if let redaction = state.redactions[index], redaction != Redaction() {
                answer.reason = redaction.apply(to: answer.reason)
                answer.clearFailure()
            }
            // What is cut is cut after that: a part of a secret would not be found.
            answer.reason = String(answer.reason.prefix(Self.reasonCharactersMax))
            state.answers[index] = answer
        }
    }

    private func endIfAnswered() {
        let tell = state.withLock { state -> (@Sendable () -> Void)? in
            let answers = state.answers.compactMap(\.self)
            guard answers.count == state.answers.count, let completion = state.completion else { return nil }
            state.completion = nil
            return { [isUnbegun = state.isUnbegun] in completion(answers, isUnbegun) }
        }
        tell?()
    }

    private static func answer(_ question: WireConditionQuestion, _ finding: Finding) -> WireConditionAnswer {
        var answer = WireConditionAnswer()
        answer.condition = question.condition
        switch (finding, question.negated) {
        case (.holds, false), (.fails, true):
            answer.finding = .satisfied
        case (.holds(let key), true):
            let name = key ?? question.type
            let error = NegatedConditionError(negatedConditionKey: name)
            fail(
                &answer, "the condition `\(question.type)` holds", question,
                AOperationError(error, state: .condition, publisher: key.map { "Not<\($0)>" }))
        case (.fails(let reason, let error), false):
            fail(&answer, reason, question, error)
        case (.unknown(let reason), _):
            fail(&answer, reason, question)
        case (.notNow(let milliseconds, let reason), _):
            answer.finding = .notNow
            answer.retryAfterMilliseconds = UInt32(clamping: max(1, milliseconds))
            answer.reason = reason
        }
        return answer
    }

    private static func fail(
        _ answer: inout WireConditionAnswer, _ reason: String, _ question: WireConditionQuestion, _ error: AOperationError? = nil
    ) {
        answer.reason = reason
        // It is waited for instead: there is no error.
        if let error, !question.wait { answer.failure = WireOperationFailure(answering: error) }
        answer.finding = question.wait ? .notNow : .failed
        if question.wait { answer.retryAfterMilliseconds = UInt32(waitMilliseconds) }
    }

    private static let reasonCharactersMax = 4 * 1024
}

extension ConditionRound.Finding {
    fileprivate init(_ result: OperationConditionResult, key: String?) {
        switch result {
        case .success: self = .holds(key: key)
        case .failure(let error):
            let published = AOperationError(error.publishedError, state: .condition, publisher: error.publisher ?? key)
            self = .fails(error.localizedDescription, error: published)
        case .ignored: self = .fails("the condition says that the operation is not to run")
        case .retry(let after, let reason):
            let (seconds, attoseconds) = after.components
            let milliseconds = seconds.multipliedReportingOverflow(by: 1_000)
            self = .notNow(
                milliseconds: milliseconds.overflow ? .max : milliseconds.partialValue + attoseconds / 1_000_000_000_000_000, reason)
        }
    }
}

/// What conditions are told they are evaluated for.
private final class StandIn: VoidOperation, @unchecked Sendable {
    init(path: String) {
        super.init()
        name = path
    }

    override func execute() { finish() }
}
