import Foundation
import Testing

@testable import AOperation

/// Answers twice from each of two threads.
private struct Twice: AOperationCondition, Sendable {
    let answered: Gauge

    func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        answered.enter()
        for _ in 0..<2 {
            Thread.detachNewThread {
                completion(.success)
                completion(.failure(AOperationError(Failed(text: "second"))))
            }
        }
    }
}

/// Named as another type is.
private enum Here {
    struct Twin: AOperationCondition { static var isMutuallyExclusive: Bool { true } }
}

private enum There {
    struct Twin: AOperationCondition { static var isMutuallyExclusive: Bool { true } }
}

@Suite(.timeLimit(Load.patience))
struct ConditionDefectTests {
    @Test func D16_answersFromManyThreads_areAllTakenIn_andTheRoundEndsOnce() async {
        let conditions = (0..<50).map { _ in Twice(answered: Gauge()) }
        let tree = ConditionTree(conditions)
        let ends = Log<Int>()
        let ended = Signal()
        ConditionEvaluation.evaluate(tree, for: Step(), failures: [:]) { results in
            ends.append(results.count)
            ended.fire()
        }
        await ended.wait()
        #expect(ends.entries == [50])
    }

    @Test func D16_ofTwoAnswers_theFirstCounts() async {
        let twice = BlockCondition { completion in
            completion(.ignored)
            completion(.success)
            completion(.failure(AOperationError(Failed(text: "late"))))
        }
        let ends = Log<[OperationConditionResult]>()
        ConditionEvaluation.evaluate(ConditionTree([twice, TrueCondition()]), for: Step(), failures: [:]) {
            ends.append($0)
        }
        #expect(ends.entries == [[.ignored, .success]])
        #expect(await evaluate(NegatedCondition(twice)) == .success)
    }

    @Test func D30_error_isPublishedByTheKey_alsoInsideOfOthers() async {
        #expect(await evaluate(Keyed()).error?.publisher == "my.key")
        #expect(await evaluate(SilentCondition(Keyed())).error?.publisher == "my.key")
        #expect(await evaluate(AndCondition(TrueCondition(), Keyed())).error?.publisher == "my.key")
        let alternatives = await evaluate(OrCondition(Keyed(), Keyed())).published as? OrCondition.Error
        #expect(alternatives?.errors.map(\.publisher) == ["my.key", "my.key"])
    }

    @Test func D30_errorOfADependentOperation_keepsItsPublisher() async {
        let failing = Failing<Int>("preparation")
        await AOperationQueue().run(failing)
        let result = await evaluate(AndCondition(Preparing { Step() }), dependencies: [0: failing])
        #expect(result.error?.publisher == "preparation")
        #expect(result.error?.state == .condition)
    }

    @Test func D30_typesOfOneName_haveLocksOfTheirOwn_alsoWhenWrapped() {
        let locks = ConditionTree([Here.Twin(), SilentCondition(There.Twin())]).exclusions
        #expect(Set(locks).count == 2)
    }

    @Test func D31_conditionsOfOneType_areAllEvaluated() {
        let operation = Step().conditions(Answer.fails("a"), Answer.fails("b"))
        operation.addCondition(Answer.fails("c"))
        let tree = ConditionTree(operation.core.withLock { $0.conditions })
        let ends = Log<[OperationConditionResult]>()
        ConditionEvaluation.evaluate(tree, for: operation, failures: [:]) { ends.append(tree.combine($0)) }
        let texts = ends.entries.first?.map { $0.error?.localizedDescription }
        #expect(texts == ["a", "b", "c"])
    }
}
