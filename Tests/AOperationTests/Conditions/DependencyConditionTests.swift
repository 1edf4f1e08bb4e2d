import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct DependencyConditionTests {
    let queue = AOperationQueue()
    let target = Step("target")

    private func depend(on operations: AOperation...) async {
        for operation in operations {
            target.addDependency(operation)
            await queue.run(operation)
        }
    }

    private func cancelled(_ name: String) -> AOperation {
        let step = Step(name)
        step.cancel()
        return step
    }

    @Test func noCancelledDependencies_holds_withoutDependencies() async {
        #expect(await evaluate(NoCancelledDependencies(), for: target) == .success)
    }

    @Test func noCancelledDependencies_looksAtCancellationsOnly() async {
        await depend(on: Step("a"), Failing<Int>("b"))
        #expect(await evaluate(NoCancelledDependencies(), for: target) == .success)
    }

    @Test func noCancelledDependencies_namesTheCancelledOnes_inTheirOrder() async {
        await depend(on: cancelled("a"), Step("b"), cancelled("c"))
        let result = await evaluate(NoCancelledDependencies(), for: target)
        let error = result.published as? NoCancelledDependencies.Error
        #expect(error?.canceledDependencies == ["a", "c"])
        #expect(result.error?.localizedDescription == "These dependencies were cancelled: a, c")
        #expect(result.error?.state == .condition)
        #expect(result.error?.publisher == "NoCancelledDependencies")
    }

    @Test func noCanceledDependencies_isTheSameCondition() async {
        await depend(on: cancelled("a"))
        let result = await evaluate(NoCanceledDependencies(), for: target)
        #expect(result.published is NoCanceledDependencies.Error)
        #expect(NoCanceledDependencies.key == NoCancelledDependencies.key)
    }

    @Test func plainDependency_countsAsCancelled_whenItsFlagIsSet() async {
        let plain = BlockOperation {}
        plain.name = "plain"
        plain.cancel()
        target.addDependency(plain)
        target.addDependency(BlockOperation {})
        let expected = NoCancelledDependencies.Error(canceledDependencies: ["plain"])
        #expect(await evaluate(NoCancelledDependencies(), for: target).published as? NoCancelledDependencies.Error == expected)
        let failure = await evaluate(NoFailedDependencies(), for: target).published as? NoFailedDependencies.Error
        #expect(failure == NoFailedDependencies.Error(failedDependencies: [], canceledDependencies: ["plain"]))
    }

    @Test func dependencyThatFinishedFirst_andWasCancelledLater_isNotCancelled() async {
        let step = Step("a")
        await depend(on: step)
        step.cancel()
        #expect(await evaluate(NoCancelledDependencies(), for: target) == .success)
        #expect(await evaluate(NoFailedDependencies(), for: target) == .success)
    }

    @Test func groupWithACancelledChild_hasFailed_andIsNotCancelled() async {
        let group = GroupOperation(cancelled("child"))
        group.name = "group"
        await depend(on: group)
        #expect(await evaluate(NoCancelledDependencies(), for: target) == .success)
        let error = await evaluate(NoFailedDependencies(), for: target).published as? NoFailedDependencies.Error
        #expect(error?.failedDependencies == ["group"])
    }

    @Test func noFailedDependencies_namesFailedAndCancelledOnes() async {
        await depend(on: Failing<Int>("a"), cancelled("b"), Step("c"), Failing<Int>("d"))
        let result = await evaluate(NoFailedDependencies(), for: target)
        let expected = NoFailedDependencies.Error(failedDependencies: ["a", "d"], canceledDependencies: ["b"])
        #expect(result.published as? NoFailedDependencies.Error == expected)
        #expect(result.error?.localizedDescription == "Not all dependencies succeeded; failed: a, d; cancelled: b")
    }

    @Test func noFailedDependencies_mayIgnoreCancellations() async {
        await depend(on: cancelled("a"))
        #expect(await evaluate(NoFailedDependencies(ignoreCancellations: true), for: target) == .success)
        #expect(await evaluate(NoFailedDependenciesCondition(), for: target).published is NoFailedDependencies.Error)
    }

    @Test func noFailedDependencies_thatIgnoresCancellations_namesOnlyTheFailed() async {
        await depend(on: cancelled("a"), Failing<Int>("b"))
        let result = await evaluate(NoFailedDependencies(ignoreCancellations: true), for: target)
        let expected = NoFailedDependencies.Error(failedDependencies: ["b"], canceledDependencies: [])
        #expect(result.published as? NoFailedDependencies.Error == expected)
    }

    @Test func errorTexts_nameTheFirstTen() {
        let names = (1...12).map(String.init)
        let text = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more"
        let cancelled = NoCancelledDependencies.Error(canceledDependencies: names)
        let failed = NoFailedDependencies.Error(failedDependencies: names, canceledDependencies: [])
        #expect(cancelled.localizedDescription == "These dependencies were cancelled: \(text)")
        #expect(failed.localizedDescription == "Not all dependencies succeeded; failed: \(text)")
    }

    @Test func producer_isADeclaredDependency() async {
        let producer = Value(1, name: "producer")
        let receiver = Keep<Int>()
        producer.deliver(to: receiver)
        producer.cancel()
        let error = await evaluate(NoCancelledDependencies(), for: receiver).published
        #expect((error as? NoCancelledDependencies.Error)?.canceledDependencies == ["producer"])
    }
}
