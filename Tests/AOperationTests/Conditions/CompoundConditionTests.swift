import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct CompoundConditionTests {
    // MARK: And

    @Test func and_holds_whenAllDo_orThereAreNone() async {
        #expect(await evaluate(AndCondition(Answer.holds, TrueCondition())) == .success)
        #expect(await evaluate(AndCondition()) == .success)
        #expect(await evaluate(AndCondition([])) == .success)
    }

    @Test func and_withOneFailure_passesItOnAsItIs() async {
        let result = await evaluate(AndCondition(Answer.holds, Answer.fails("x"), Answer.holds))
        #expect(result.published as? Failed == Failed(text: "x"))
        #expect(result.error?.publisher == "Answer")
    }

    @Test func and_withSeveralFailures_holdsThemAll_inOrder() async {
        let result = await evaluate(AndCondition(Answer.fails("x"), Answer.holds, FalseCondition()))
        let error = result.published as? AndCondition.Error
        #expect(error?.errors.map(\.publisher) == ["Answer", "FalseCondition"])
        #expect(
            result.error?.localizedDescription
                == "2 of the required conditions do not hold: Answer: x; "
                + "FalseCondition: The condition FalseCondition never holds")
        #expect(result.error?.publisher == "AndCondition")
        #expect(result.error?.state == .condition)
    }

    @Test func and_failsBeforeItIsIgnored_andIsIgnoredBeforeItWaits() async {
        let failed = await evaluate(AndCondition(Answer.ignored, Answer.later(1), Answer.fails("x")))
        #expect(failed.published as? Failed == Failed(text: "x"))
        #expect(await evaluate(AndCondition(Answer.later(1), Answer.ignored, Answer.holds)) == .ignored)
    }

    @Test func and_waitsForTheLongestOfItsConditions() async {
        let result = await evaluate(AndCondition(Answer.later(1, "a"), Answer.later(9, "b"), Answer.holds))
        #expect(result == .retry(after: .seconds(9), because: "b"))
    }

    // MARK: Or

    @Test func or_holds_whenOneDoes_whateverTheOthersSay() async {
        let result = await evaluate(
            OrCondition(Answer.fails("x"), Answer.ignored, Answer.later(1), Answer.holds))
        #expect(result == .success)
    }

    @Test func or_withoutAHoldingCondition_listsAllErrors_inOrder() async {
        let result = await evaluate(OrCondition(Answer.fails("x"), FalseCondition()))
        let error = result.published as? OrCondition.Error
        #expect(error?.errors.map(\.publisher) == ["Answer", "FalseCondition"])
        #expect(
            result.error?.localizedDescription
                == "None of the alternative conditions holds: Answer: x; "
                + "FalseCondition: The condition FalseCondition never holds")
        #expect(result.error?.publisher == "OrCondition")
        #expect(result.error?.state == .condition)
    }

    @Test func or_withoutConditions_fails() async {
        for empty in [OrCondition(), OrCondition([])] {
            let result = await evaluate(empty)
            #expect(
                result.error?.localizedDescription
                    == "An OrCondition without conditions never holds: give it at least one")
            #expect((result.published as? OrCondition.Error)?.errors.isEmpty == true)
        }
    }

    @Test func or_waitsForTheFirstThatMayHold_beforeItFails() async {
        let result = await evaluate(
            OrCondition(Answer.fails("x"), Answer.later(9, "a"), Answer.later(1, "b"), Answer.ignored))
        #expect(result == .retry(after: .seconds(1), because: "b"))
    }

    @Test func or_isIgnored_onlyIfAllAre() async {
        #expect(await evaluate(OrCondition(Answer.ignored, Answer.ignored)) == .ignored)
        let mixed = await evaluate(OrCondition(Answer.ignored, Answer.fails("x")))
        #expect((mixed.published as? OrCondition.Error)?.errors.count == 1)
    }

    @Test func compounds_nest() async {
        let condition = OrCondition(
            AndCondition(Answer.holds, NegatedCondition(Answer.holds)),
            AndCondition(Answer.holds, NegatedCondition(FalseCondition())))
        #expect(await evaluate(condition) == .success)
    }

    // MARK: True, false, blocks

    @Test func trueHolds_falseDoesNot() async {
        #expect(await evaluate(TrueCondition()) == .success)
        #expect(await evaluate(FalseCondition()).published is FalseCondition.Error)
    }

    @Test func block_ofABool_holdsIfItIsTrue() async {
        #expect(await evaluate(BlockCondition { true }) == .success)
        let result = await evaluate(BlockCondition { 1 > 2 })
        #expect(result.published is BlockCondition.Error)
        #expect(result.error?.localizedDescription == "The block of the condition returned false")
        #expect(result.error?.publisher == "BlockCondition")
    }

    @Test func block_thatThrows_failsWithWhatItThrows() async {
        let result = await evaluate(
            BlockCondition {
                if true { throw Failed(text: "thrown") }
                return true
            })
        #expect(result.published as? Failed == Failed(text: "thrown"))
    }

    @Test func block_withACompletion_isStillUnderstood() async {
        #expect(await evaluate(BlockCondition { $0(.ignored) }) == .ignored)
        #expect(await evaluate(BlockCondition { completion in completion(.success) }) == .success)
    }
}
