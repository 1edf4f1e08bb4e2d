import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct SequenceKindTests {
    let queue = AOperationQueue()

    @Test func linear_givesEachStepTheOneBefore() async {
        let sequence = LinearSequence([
            { previous in previous == nil ? Value(1) : nil },
            { previous in previous?.value(as: Int.self).map { Value($0 + 1) } },
            { previous in previous?.value(as: Int.self).map { Value("\($0)") } },
        ])
        #expect(await sequence.result(on: queue).error == nil)
        #expect(sequence.results.last.flatMap { $0 } as? String == "2")
    }

    @Test func linear_endsWithTheFirstFailure() async {
        let log = Log<String>()
        let sequence = LinearSequence([{ _ in Value(1) }, { _ in Failing<Int>("second") }, { _ in Step { log.append("third") } }])
        _ = await sequence.result(on: queue)
        #expect(sequence.errorTexts == ["second"])
        #expect(log.count == 0)
    }

    final class Early: LinearSequence, @unchecked Sendable {
        override var steps: [Step] { [{ _ in Value(1) }, { _ in nil }, { _ in Value(3) }] }
    }

    @Test func linear_ofASubclass_endsWithAStepThatIsNil() async {
        let sequence = Early()
        #expect(await sequence.result(on: queue).error == nil)
        #expect(sequence.outcomes.count == 1)
        #expect(await LinearSequence().result(on: queue).error == nil)
    }

    @Test(arguments: [1, 2, 3])
    func retry_stopsAtTheFirstSuccess_andForgetsTheFailures(succeedsAt: Int) async {
        let sequence = RetrySequence(Attempt(succeedsAt: succeedsAt), numberOfRetries: 3)
        #expect(await sequence.result(on: queue).error == nil)
        #expect(sequence.outcomes.count == succeedsAt)
        #expect(sequence.results.last.flatMap { $0 } as? Int == succeedsAt)
    }

    @Test func retry_failsWithTheErrorsOfAllAttempts() async {
        let sequence = RetrySequence(Attempt(succeedsAt: 9), numberOfRetries: 3, wait: .exponential(power: 2, period: 0.001, maximum: 1))
        _ = await sequence.result(on: queue)
        #expect(sequence.errorTexts == ["1", "2", "3"])
        #expect(sequence.publishedErrors.map(\.publisher) == ["attempt 1", "attempt 2", "attempt 3"])
    }

    final class Waiting: VoidOperation, RetryableOperation, @unchecked Sendable {
        let started = Signal()
        func new() -> Waiting { Waiting() }
        override func execute() { started.fire() }
        override func cancel() {
            super.cancel()
            finish()
        }
    }

    @Test func retry_leavesACancelledAttemptAlone() async {
        let first = Waiting()
        let sequence = RetrySequence(first, numberOfRetries: 3)
        sequence.add(to: queue)
        await first.started.wait()
        first.cancel()
        await sequence.ended()
        #expect(sequence.outcomes.map(\.isCancelled) == [true])
        #expect(sequence.outcome?.isFailure == true)
    }
}
