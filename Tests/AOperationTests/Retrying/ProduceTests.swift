import Foundation
import Testing

@testable import AOperation

/// What an operation produces that may be tried again.
@Suite(.timeLimit(Load.patience))
struct ProduceTests {
    let queue = AOperationQueue()

    @Test func whatFailedAttemptsProduce_isCancelled_andToldToNobody() async {
        let made = (1...3).map { Step("\($0)") }
        let told = Log<String>()
        let script = Script("a") { run in
            run.operation.produce(made[run.number - 1])
            if run.number < 3 { run.fail() } else { run.succeed() }
        }
        let operation = Attempted(script).retry(.times(3)).didProduce { told.append(($0 as? AOperation)?.publisherName ?? "-") }
        let group = GroupOperation(operation)
        queue.addOperation(group)
        await group.ended()
        #expect(made.map(\.isCancelled) == [true, true, false])
        #expect(made[2].outcome?.isSuccess == true)
        #expect(told.entries == ["3"])
        #expect(group.operations.count == 2)
        #expect(group.outcome?.isSuccess == true)
    }

    @Test func whatIsProducedByAnOperationThatFails_isCancelled() async {
        let made = Step("made")
        let script = Script("a") { run in
            run.operation.produce(made)
            run.fail()
        }
        let operation = Attempted(script).retry(.times(2))
        queue.addOperation(operation)
        await operation.ended()
        await made.ended()
        #expect(made.isCancelled)
    }

    /// Its outcome is decided while its body goes on.
    @Test func whatIsProducedAfterItsCancellation_isCancelled() async {
        let made = Step("made")
        let script = Script("a") { run in
            run.operation.cancel()
            run.operation.produce(made)
            run.succeed()
        }
        let operation = Attempted(script).retry(.times(2))
        let group = GroupOperation(operation)
        queue.addOperation(group)
        await group.ended()
        await made.ended()
        #expect(made.isCancelled && group.operations.count == 1)
    }

    @Test func whatAProducerOfARetriedNetProduces_isThereOnce() async {
        let made = Log<Step>()
        let producer = Attempted(
            Script("producer") { run in
                let step = Step("\(run.number)")
                made.append(step)
                run.operation.produce(step)
                if run.number == 1 { run.fail() } else { run.succeed() }
            })
        let end = Attempted(.failing("end", 0)).retry(.times(2))
        producer.deliver(to: end)
        queue.addOperation(end)
        await end.ended()
        #expect(end.outcome?.isSuccess == true)
        #expect(made.entries.map(\.isCancelled) == [true, false])
        await made.entries[1].ended()
        #expect(made.entries[1].outcome?.isSuccess == true)
    }

    @Test func underAnId_itIsThereAtOnce_andOnce() async {
        let made = (1...2).map { Step("\($0)") }
        let group = GroupOperation()
        let added = Log<Bool>()
        let script = Script("a") { run in
            let step = made[run.number - 1]
            added.append(run.operation.produce(step, id: "it"))
            guard run.number == 1 else { return run.succeed() }
            step.onEnd { _ in run.fail() }  // it waits for what it has produced
        }
        group.addOperation(Attempted(script).retry(.times(2)))
        queue.addOperation(group)
        await group.ended()
        #expect(added.entries == [true, false])
        #expect(made[0].outcome?.isSuccess == true)
        #expect(made[1].isCancelled)
        #expect(group.operations.count == 2)
    }

    @Test func idsAreThoseOfTheGroup_andOfTheOperationElsewhere() async {
        func produces(_ step: Step) -> Attempted {
            Attempted(
                Script("a") { run in
                    run.operation.produce(step, id: "it")
                    run.succeed()
                })
        }
        let inGroup = [Step("one"), Step("two")]
        let group = OrderedGroupOperation(inGroup.map { produces($0) })
        let outside = [Step("one"), Step("two")]
        queue.addOperation(group)
        for step in outside { queue.addOperation(produces(step)) }
        await group.ended()
        for step in inGroup + outside { await step.ended() }
        #expect(inGroup.map(\.isCancelled) == [false, true])
        #expect(outside.map(\.isCancelled) == [false, false])
    }

    @Test func oneThatIsNotTriedAgain_producesAtOnce_andMayWaitForIt() async {
        let made = Step("made")
        let script = Script("a") { run in
            run.operation.produce(made)
            made.onEnd { _ in run.succeed() }
        }
        let operation = Attempted(script)
        queue.addOperation(operation)
        await operation.ended()
        #expect(operation.outcome?.isSuccess == true)
    }

    @Test func idOfWhatComesTooLate_isNotTaken() async {
        let (late, next) = (Step("late"), Step("next"))
        let script = Script("a") { run in run.succeed() }
        let done = Attempted(script)
        let group = GroupOperation(done)
        let after = Attempted(
            Script("b") { run in
                #expect(done.produce(late, id: "it") == false)
                #expect(run.operation.produce(next, id: "it"))
                run.succeed()
            })
        after.addDependency(done)
        group.addOperation(after)
        queue.addOperation(group)
        await group.ended()
        #expect(late.isCancelled)
        #expect(next.outcome?.isSuccess == true)
    }

    @Test func whatTheFirstAttemptProducesDuringTheSecond_isCancelled() async {
        let (late, made) = (Step("late"), Step("made"))
        let first = Guarded<(AOperation & ScriptedOperation)?>(nil)
        let script = Script("a") { run in
            guard run.number > 1 else {
                first.withLock { $0 = run.operation }
                return run.fail()
            }
            first.withLock { $0 }?.produce(late)
            run.operation.produce(made)
            run.succeed()
        }
        let group = GroupOperation(Attempted(script).retry(.times(2)))
        queue.addOperation(group)
        await group.ended()
        #expect(late.isCancelled)
        #expect(made.outcome?.isSuccess == true)
        #expect(group.operations.count == 2)
        first.withLock { $0 = nil }
    }

    @Test(arguments: [false, true])
    func thoseWhoWaitForWhatIsNotToBe_goOn(isPlain: Bool) async {
        let made: Foundation.Operation = isPlain ? BlockOperation {} : Step("made")
        let plain = BlockOperation {}
        plain.addDependency(made)
        let waits = Step("waits")
        waits.addDependency(made)
        let script = Script("a") { run in
            run.operation.produce(made)
            run.fail()
        }
        let group = GroupOperation(Attempted(script).retry(.times(2)), waits, plain)
        queue.addOperation(group)
        await group.ended()
        #expect(made.isCancelled)
        #expect(plain.isFinished)
        #expect(waits.outcome?.isSuccess == true)
    }

    @Test func receiverThatIsNotToBe_doesNotTakeItsProducerWithIt() async {
        let script = Script("a") { run in
            guard run.number < 2 else { return run.succeed() }
            let receiver = Attempted(.failing("receiver", 0))
            (run.operation as? Attempted)?.deliver(to: receiver)
            run.operation.produce(receiver)
            run.fail()
        }
        let operation = Attempted(script).retry(.times(3))
        queue.addOperation(operation)
        await operation.ended()
        #expect(operation.outcome?.isSuccess == true)
    }
}
