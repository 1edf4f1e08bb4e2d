import Foundation
import Testing

@testable import AOperation

/// Conditions around another one: what becomes of each result, and what they pass on of the inner one.
@Suite(.timeLimit(Load.patience))
struct WrapperConditionTests {
    // MARK: Results

    @Test func negated_holds_whenTheOtherFails_orIsIgnored() async {
        #expect(await evaluate(NegatedCondition(Answer.fails("x"))) == .success)
        #expect(await evaluate(NegatedCondition(Answer.ignored)) == .success)
    }

    @Test func negated_fails_whenTheOtherHolds() async {
        let result = await evaluate(NegatedCondition(Answer.holds))
        let error = result.published as? NegatedCondition<Answer>.Error
        #expect(error?.negatedConditionKey == "Answer")
        #expect(result.error?.localizedDescription == "The condition Answer succeed")
        #expect(result.error?.publisher == "Not<Answer>")
        #expect(result.error?.state == .condition)
    }

    @Test func negated_waits_whileTheOtherIsUndecided() async {
        #expect(await evaluate(NegatedCondition(Answer.later(7))) == .retry(after: .seconds(7), because: "busy"))
    }

    @Test func negatedTwice_holdsWhenTheInnermostDoes() async {
        #expect(await evaluate(NegatedCondition(NegatedCondition(Answer.holds))) == .success)
        let failed = await evaluate(NegatedCondition(NegatedCondition(Answer.fails("x"))))
        #expect(failed.error?.localizedDescription == "The condition Not<Answer> succeed")
        #expect(failed.error?.publisher == "Not<Not<Answer>>")
    }

    @Test(arguments: [Answer.holds, .ignored, .later(3)])
    func silent_passesEveryResultOn(_ inner: Answer) async {
        #expect(await evaluate(SilentCondition(inner)) == inner.result)
    }

    @Test func silent_passesFailuresOn_withThePublisherOfTheInnerCondition() async {
        let result = await evaluate(SilentCondition(Answer.fails("x")))
        #expect(result.published as? Failed == Failed(text: "x"))
        #expect(result.error?.publisher == "Answer")
    }

    @Test(arguments: [Answer.holds, .ignored, .later(3)])
    func ignored_passesOnWhatIsNoFailure(_ inner: Answer) async {
        #expect(await evaluate(IgnoredCondition(inner)) == inner.result)
    }

    @Test func ignored_makesAFailureIgnored() async {
        #expect(await evaluate(IgnoredCondition(Answer.fails("x"))) == .ignored)
    }

    @Test func wrapper_evaluatedByHand_behavesAsInTheEngine() async {
        let result = await withCheckedContinuation { continuation in
            NegatedCondition(IgnoredCondition(Answer.fails("x"))).evaluateForOperation(Step()) {
                continuation.resume(returning: $0)
            }
        }
        #expect(result == .success)
    }

    // MARK: Key, lock, dependent operation

    @Test func keys_nameTheInnerCondition() {
        #expect(NegatedCondition<TrueCondition>.key == "Not<TrueCondition>")
        #expect(SilentCondition<TrueCondition>.key == "Silent<TrueCondition>")
        #expect(IgnoredCondition<TrueCondition>.key == "Ignored<TrueCondition>")
        #expect(SilentCondition<NegatedCondition<Keyed>>.key == "Silent<Not<my.key>>")
    }

    @Test func wrappers_areExclusive_ifTheInnerConditionIs() {
        #expect(NegatedCondition<Alone>.isMutuallyExclusive)
        #expect(SilentCondition<Alone>.isMutuallyExclusive)
        #expect(IgnoredCondition<Alone>.isMutuallyExclusive)
        #expect(!NegatedCondition<TrueCondition>.isMutuallyExclusive)
    }

    @Test func wrappers_takeTheLockOfTheInnerCondition_once() {
        let wrapped: [any AOperationCondition] = [
            NegatedCondition(Alone()), SilentCondition(Alone()), IgnoredCondition(Alone()), AndCondition(Alone()),
            OrCondition(Alone()),
        ]
        for condition in wrapped {
            #expect(ConditionTree([condition]).exclusions == ConditionTree([Alone()]).exclusions, "\(condition)")
        }
    }

    @Test func dependentOperations_areRun_exceptBelowASilentCondition() {
        let preparing = Preparing { Step() }
        let tree = ConditionTree([
            NegatedCondition(preparing), SilentCondition(preparing), OrCondition(preparing, SilentCondition(preparing)),
            SilentCondition(AndCondition(preparing, NegatedCondition(preparing))), IgnoredCondition(preparing),
        ])
        #expect(tree.leaves.map(\.runsDependentOperation) == [true, false, true, false, false, false, true])
    }

    @Test func D32_silentCondition_hasNoDependentOperation_askedAsACondition() {
        let silent: any AOperationCondition = SilentCondition(Preparing { Step() })
        #expect(silent.dependencyForOperation(Step()) == nil)
        #expect(silent.dependentOperation == nil)
    }

    @Test func failedDependentOperation_failsTheInnerCondition_andIsPassedThroughTheWrapper() async {
        let failing = Failing<Int>("preparation")
        await AOperationQueue().run(failing)
        #expect(await evaluate(NegatedCondition(Preparing { Step() }), dependencies: [0: failing]) == .success)
        #expect(await evaluate(IgnoredCondition(Preparing { Step() }), dependencies: [0: failing]) == .ignored)
        let result = await evaluate(AndCondition(Preparing { Step() }), dependencies: [0: failing])
        #expect(result.published as? Failed == Failed(text: "preparation"))
    }
}
