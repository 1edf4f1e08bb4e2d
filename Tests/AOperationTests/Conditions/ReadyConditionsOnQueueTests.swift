import Foundation
import Testing

@testable import AOperation

/// The ready-made conditions on operations that a queue runs.
@Suite(.timeLimit(Load.patience))
struct ReadyConditionsOnQueueTests {
    let queue = AOperationQueue()
    let executed = Log<String>()

    private func step(_ name: String) -> Step { Step(name) { [executed] in executed.append(name) } }

    @Test func failedCondition_failsTheOperation_withoutExecutingIt() async {
        let dependency = step("dependency")
        dependency.cancel()
        let target = step("target").dependencies([dependency]).conditions(NoCancelledDependencies())
        target.add(to: queue)
        await target.ended()
        #expect(executed.entries.isEmpty)
        #expect(!target.isCancelled)
        #expect(target.errors.count == 1)
        #expect(target.errors.first?.state == .condition)
        #expect(target.errors.first?.publisher == "NoCancelledDependencies")
        let error = target.errors.first?.publishedError as? NoCancelledDependencies.Error
        #expect(error?.canceledDependencies == ["dependency"])
    }

    @Test func noFailedDependencies_isEvaluatedWhenTheDependenciesHaveEnded() async {
        let gate = Gate("gate")
        let failing = Failing<Int>("failing")
        failing.addDependency(gate)
        let target = step("target").dependencies([failing]).conditions(NoFailedDependencies())
        target.add(to: queue)
        await gate.started.wait()
        gate.open()
        await target.ended()
        let error = target.errors.first?.publishedError as? NoFailedDependencies.Error
        #expect(error?.failedDependencies == ["failing"])
        #expect(executed.entries.isEmpty)
    }

    @Test func cancelledProducer_isACancelledDependencyOfItsReceiver() async {
        let producer = Value(1, name: "producer")
        producer.cancel()
        let receiver = Keep<Int>().conditions(NoCancelledDependencies())
        producer.deliver(to: receiver).add(to: queue)
        await receiver.ended()
        let error = receiver.errors.first?.publishedError as? NoCancelledDependencies.Error
        #expect(error?.canceledDependencies == ["producer"])
    }

    @Test func D20_cancelledExclusivePredecessor_doesNotFailTheOperation() async {
        let first = Gate("first").conditions(Alone())
        let second = step("second").conditions(Alone(), NoCancelledDependencies(), NoFailedDependencies())
        queue.addOperation(first)
        await first.started.wait()
        queue.addOperation(second)
        first.cancel()
        await second.ended()
        #expect(second.outcome?.isSuccess == true)
    }

    @Test func D20_cancelledDependentOperation_isNoDependencyOfTheOperation() async {
        let preparation = Preparing {
            let step = Step("preparation")
            step.cancel()
            return step
        }
        let target = step("target").conditions(NegatedCondition(preparation), NoFailedDependencies())
        await queue.run(target)
        #expect(target.outcome?.isSuccess == true)
    }

    @Test func negated_letsTheOperationRun_whenTheOtherConditionFails() async {
        let runs = step("runs").conditions(NegatedCondition(FalseCondition()))
        let fails = step("fails").conditions(NegatedCondition(TrueCondition()))
        await queue.run(runs)
        await queue.run(fails)
        #expect(executed.entries == ["runs"])
        #expect(fails.errors.first?.localizedDescription == "The condition TrueCondition succeed")
    }

    @Test func dependentOperation_runsFirst_andItsFailureIsTheConditions() async {
        let prepared = step("target").conditions(Preparing { [self] in step("preparation") })
        let unprepared = step("never").conditions(Preparing { Failing<Int>("preparation failed") })
        await queue.run(prepared)
        await queue.run(unprepared)
        #expect(executed.entries == ["preparation", "target"])
        #expect(unprepared.errors.first?.publisher == "preparation failed")
        #expect(unprepared.errors.first?.state == .condition)
    }

    @Test func D32_silentCondition_doesNotRunTheDependentOperation() async {
        let target = step("target").conditions(SilentCondition(Preparing { [self] in step("preparation") }))
        await queue.run(target)
        #expect(executed.entries == ["target"])
        #expect(target.outcome?.isSuccess == true)
    }

    @Test func ignoredCondition_cancelsTheOperation() async {
        let target = step("target").conditions(IgnoredCondition(FalseCondition()), TrueCondition())
        await queue.run(target)
        #expect(target.outcome?.isCancelled == true)
        #expect(executed.entries.isEmpty)
    }

    @Test func failure_comesBeforeIgnored() async {
        let target = step("target").conditions(IgnoredCondition(FalseCondition()), Answer.fails("x"))
        await queue.run(target)
        #expect(target.outcome?.errors.map(\.localizedDescription) == ["x"])
    }

    @Test func D31_conditionsOfOneType_areAllEvaluated_theirErrorsInOrder() async {
        let target = step("target").conditions(Answer.fails("a"), Answer.holds, Answer.fails("b"))
        target.addCondition(Answer.fails("c"))
        await queue.run(target)
        #expect(target.errors.map(\.localizedDescription) == ["a", "b", "c"])
    }

    @Test func D30_conditionsError_isPublishedByItsKey_alsoWhenItIsDelivered() async {
        let producer = Value(1).conditions(Keyed())
        let receiver = producer.deliver(to: Keep<Int>())
        receiver.add(to: queue)
        await receiver.ended()
        let received = receiver.outcome?.value??.error
        #expect(received?.publisher == "my.key")
        #expect(received?.state == .condition)
    }

    @Test func wrappedExclusiveCondition_excludes() async {
        let gauge = Gauge()
        let steps = (0..<20).map { index in
            let step = Step {
                gauge.enter()
                gauge.leave()
            }
            return index.isMultiple(of: 2) ? step.conditions(SilentCondition(Alone())) : step.conditions(AndCondition(Alone()))
        }
        queue.addOperations(steps, waitUntilFinished: false)
        for step in steps { await step.ended() }
        #expect(gauge.most == 1)
    }

    @Test func notNow_isAskedAgain_withoutASlot() async {
        queue.maxConcurrentOperationCount = 1
        let isOpen = Signal()
        let target = step("target").condition { completion in
            completion(isOpen.hasFired ? .success : .retry(after: .milliseconds(5), because: "closed"))
        }
        let opener = Step("opener") { [executed] in
            executed.append("opener")
            isOpen.fire()
        }
        queue.addOperations([target, opener], waitUntilFinished: false)
        await target.ended()
        #expect(executed.entries == ["opener", "target"])
    }

    @Test func or_waitsUntilOneOfItsConditionsHolds() async {
        let asked = Log<Int>()
        let third = BlockCondition { completion in
            asked.append(1)
            completion(asked.count >= 3 ? .success : .retry(after: .milliseconds(1), because: "counting"))
        }
        let target = step("target").conditions(OrCondition(FalseCondition(), third))
        await queue.run(target)
        #expect(target.outcome?.isSuccess == true)
        #expect(asked.count == 3)
    }

    @Test func authorizedFor_asksOnce_forOperationsThatRunAtOnce() async {
        let desk = Microphone.Desk()
        let first = Gate("first").conditions(AuthorizedFor(Microphone(desk: desk)))
        let second = Gate("second").conditions(AuthorizedFor(Microphone(desk: desk)))
        queue.addOperations([first, second], waitUntilFinished: false)
        await desk.requested.wait()
        desk.answer(.allowed)
        await first.started.wait()
        await second.started.wait()
        first.open()
        second.open()
        await first.ended()
        await second.ended()
        #expect(desk.asked == 1)
    }

    @Test func authorizedFor_refused_failsTheOperation() async {
        let desk = Microphone.Desk()
        let target = step("target").conditions(AuthorizedFor(Microphone(desk: desk)))
        queue.addOperation(target)
        await desk.requested.wait()
        desk.answer(.denied)
        await target.ended()
        let error = target.errors.first?.publishedError as? CapabilityError
        #expect(error?.reason == .notAuthorized(status: "denied"))
        #expect(executed.entries.isEmpty)
    }

    @Test func silentAuthorizedFor_asksNobody() async {
        let desk = Microphone.Desk()
        let target = step("target").conditions(SilentCondition(AuthorizedFor(Microphone(desk: desk))))
        await queue.run(target)
        #expect(desk.asked == 0)
        #expect(target.errors.first?.publishedError is CapabilityError)
    }
}
