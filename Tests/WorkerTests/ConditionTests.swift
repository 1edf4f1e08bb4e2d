import AOperation
import Foundation
import Synchronization
import Testing
import Wire

@testable import Worker

private struct Answering: ClusterCondition {
    static let conditionName = "answering"
    var say: String

    func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        switch say {
        case "yes": completion(.success)
        case "later": completion(.retry(after: .milliseconds(1_500), because: "not yet for \(operation.name ?? "")"))
        case "ignored": completion(.ignored)
        case "nothing": break
        default: completion(.failure(AOperationError(OperationFault(.operation, say))))
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct ConditionTests {
    private func question(
        _ index: UInt32, _ parameters: String, type: String = "answering", negated: Bool = false, wait: Bool = false,
        isTemplated: Bool = false
    ) -> WireConditionQuestion {
        .with {
            $0.condition = index
            $0.type = type
            $0.parameters = Data(parameters.utf8)
            $0.negated = negated
            $0.wait = wait
            $0.templated = isTemplated
        }
    }

    private func round(
        _ questions: [WireConditionQuestion], _ body: (ConditionRound) -> Void = { $0.begin() }
    ) async throws -> [WireConditionAnswer] {
        let runner = try CommandRunner()
        let context = UnitContext(
            submission: "s1", path: "a/b", attemptNumber: 1, worker: "testhost/0", host: runner.host)
        let registry = try OperationRegistry([], conditions: [Answering.self], withShell: true)
        defer { withExtendedLifetime(runner) {} }
        return await withCheckedContinuation { continuation in
            let round = ConditionRound(
                .with {
                    $0.path = "a/b"
                    $0.conditions = questions
                }, registry: registry, context: context
            ) { answers, _ in continuation.resume(returning: answers) }
            body(round)
        }
    }

    /// Its process has lost what commands need: another one may answer.
    @Test(arguments: [false, true]) func commandThatCannotBegin_isToldAsSuch(isGone: Bool) async throws {
        let runner = try CommandRunner()
        let directory = runner.host.temporaryDirectory
        if isGone {
            try FileManager.default.removeItem(atPath: directory)
            try Data().write(to: URL(fileURLWithPath: directory))
        }
        let context = UnitContext(submission: "s1", path: "a/b", attemptNumber: 1, worker: "testhost/0", host: runner.host)
        let registry = try OperationRegistry([], withShell: true)
        let isUnbegun: Bool = await withCheckedContinuation { continuation in
            let round = ConditionRound(
                .with { $0.conditions = [question(1, #"{"run":"true"}"#, type: "command")] }, registry: registry, context: context
            ) { _, isUnbegun in continuation.resume(returning: isUnbegun) }
            round.begin()
        }
        withExtendedLifetime(runner) {}
        #expect(isUnbegun == isGone)
    }

    @Test func answers_areInTheOrderOfTheQuestions_negatedAndWaitIncluded() async throws {
        let answers = try await round([
            question(4, #"{"say":"yes"}"#), question(5, #"{"say":"broken"}"#), question(6, #"{"say":"yes"}"#, negated: true),
            question(7, #"{"say":"no"}"#, negated: true), question(8, #"{"say":"later"}"#, negated: true),
            question(9, #"{"say":"no"}"#, wait: true), question(10, #"{"say":"ignored"}"#), question(11, "{}"),
            question(12, "{}", type: "nobody"),
        ])
        #expect(answers.map(\.condition) == [4, 5, 6, 7, 8, 9, 10, 11, 12])
        #expect(
            answers.map(\.finding) == [.satisfied, .failed, .failed, .satisfied, .notNow, .notNow, .failed, .failed, .failed])
        #expect(answers[1].reason == "broken")
        #expect(answers[2].reason == "the condition `answering` holds")
        #expect(answers[4].retryAfterMilliseconds == 1_500)
        #expect(answers[4].reason == "not yet for a/b")
        #expect(answers[5].retryAfterMilliseconds == 2_000)
        #expect(answers[7].reason.hasPrefix("`answering`: "))
        #expect(answers[8].reason.hasPrefix("the condition `nobody` is not registered on "))
    }

    /// Neither it nor its opposite holds.
    @Test func conditionThatCannotBeEvaluated_fails_alsoNegated() async throws {
        let answers = try await round([
            question(0, "{}", negated: true), question(1, "{}", type: "nobody", negated: true),
            question(2, #"{"run":"exit 3"}"#, type: "command", negated: true),
            question(3, #"{"run":"kill -9 $$"}"#, type: "command", negated: true),
            question(4, #"{"path":"/etc/${item.name}"}"#, type: "fileExists", negated: true, isTemplated: true),
        ])
        #expect(answers.map(\.finding) == [.failed, .failed, .satisfied, .failed, .failed], "\(answers.map(\.reason))")
    }

    @Test func conditionThatDoesNotAnswer_isGivenUpWhenItIsStopped() async throws {
        let answers = try await round([question(0, #"{"say":"nothing"}"#), question(1, #"{"say":"yes"}"#)]) { round in
            round.begin()
            round.stop()
        }
        #expect(answers.map(\.finding) == [.failed, .satisfied])
        #expect(answers.first?.reason == "was stopped")
    }

    @Test func noQuestions_endAtOnce() async throws {
        #expect(try await round([]).isEmpty)
    }

    @Test func twoConditionsOfOneName_areRefused() {
        let error = #expect(throws: OperationRegistry.Refused.self) {
            try OperationRegistry([], conditions: [Answering.self, Answering.self], withShell: false)
        }
        #expect(error?.description.contains("are both called `answering`") == true)
    }
}
