import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct GroupTests {
    @Test func emptyGroup_succeeds() async {
        let group = GroupOperation()
        let ordered = OrderedGroupOperation([])
        #expect(await group.result(on: AOperationQueue()).error == nil)
        #expect(await ordered.result(on: AOperationQueue()).error == nil)
        #expect(group.outcomes.isEmpty)
    }

    @Test func outcomes_areInChildOrder_whateverTheOrderOfTheEnds() async {
        let gate = Gate("first")
        let group = GroupOperation(gate, Value("b"), Failing<Int>("c"), BlockOperation {})
        group.add(to: AOperationQueue())
        await gate.started.wait()
        gate.open()
        await group.ended()
        #expect(group.outcomes.count == 4)
        #expect(group.outcomes[1].value as? String == "b")
        #expect(group.outcomes[2].errors.map(\.localizedDescription) == ["c"])
        #expect(group.outcomes[3].isSuccess)
        #expect(group.outcome?.errors.map(\.localizedDescription) == ["c"])
    }

    @Test func errors_areFailuresInChildOrder_thenCancelledChildren_flattened() async {
        let slow = Gate("slow")
        let cancelled = Step("cancelled")
        cancelled.cancel()
        let failsLast = MapOperationBlock<Void, Void> { _, finish in
            finish(.failure(AOperationError(Failed(text: "1"))))
        }
        failsLast.addDependency(slow)
        let inner = GroupOperation(Failing<Int>("2a"), GroupOperation(Failing<Int>("2b")))
        let group = GroupOperation(cancelled, failsLast, inner, slow, Failing<Int>("3"))
        group.add(to: AOperationQueue())
        await inner.ended()
        slow.open()
        await group.ended()
        #expect(
            group.publishedErrors.map(\.localizedDescription)
                == ["1", "2a", "2b", "3", "The Operation cancelled is Cancelled"])
        #expect(group.outcome?.isFailure == true, "a cancelled child does not make the group cancelled")
        #expect(group.publishedErrors.first?.publisher == "MapOperationBlock<(), ()>")
    }

    @Test func ordered_startsTheNext_whenThePreviousHasEnded_itsBodyIncluded() async {
        let log = Log<String>()
        let deaf = Gate("deaf", isDeaf: true)
        let group = OrderedGroupOperation(
            Step { log.append("1") }, deaf, Step { log.append("3") }, BlockOperation { log.append("4") },
            Step { log.append("5") })
        group.add(to: AOperationQueue())
        await deaf.started.wait()
        deaf.cancel()
        #expect(log.entries == ["1"], "the body of the cancelled child still runs")
        deaf.open()
        await group.ended()
        #expect(log.entries == ["1", "3", "4", "5"])
        #expect(group.outcome?.isFailure == true)
        #expect(group.outcomes.map(\.isSuccess) == [true, false, true, true, true])
    }

    @Test func ordered_continue_runsAllAfterAFailure() async {
        let log = Log<Int>()
        let group = OrderedGroupOperation(Failing<Int>("a"), Step { log.append(1) }, Failing<Int>("b"))
        let result = await group.result(on: AOperationQueue())
        #expect(result.error?.localizedDescription == "a")
        #expect(group.publishedErrors.map(\.localizedDescription) == ["a", "b"])
        #expect(log.count == 1)
    }

    @Test func stop_cancelsWhatHasNotEnded_andOnlyTheCauseIsTheGroupsError() async {
        let log = Log<String>()
        let last = Step { log.append("ran") }.didFinish { log.append("\($0.error?.localizedDescription ?? "-")") }
        last.name = "last"
        let group = OrderedGroupOperation(Value(1), Failing<Int>("a"), last, BlockOperation { log.append("plain ran") }, onFailure: .stop)
        _ = await group.result(on: AOperationQueue())
        await callbacksDelivered()
        #expect(group.publishedErrors.map(\.localizedDescription) == ["a"])
        #expect(group.outcomes.map(\.isCancelled) == [false, false, true, true])
        #expect(group.outcome?.isFailure == true)
        #expect(log.entries == ["The Operation last is Cancelled"])
    }

    @Test func stop_leavesTheCancellationsOfOthersAmongTheErrors() async {
        let (cancelled, last) = (Step("cancelled"), Step("last"))
        let group = OrderedGroupOperation(Failing<Int>("a"), cancelled, last, onFailure: .stop)
        cancelled.cancel()
        _ = await group.result(on: AOperationQueue())
        #expect(group.publishedErrors.map(\.localizedDescription) == ["a", "The Operation cancelled is Cancelled"])
        #expect(group.outcomes.map(\.isCancelled) == [false, true, true])
    }

    @Test func stop_worksInAnUnorderedGroup_andOnCancelledChildren() async {
        let gates = (0..<3).map { Gate("\($0)") }
        let group = GroupOperation(gates).onFailure(.stop)
        group.add(to: AOperationQueue())
        for gate in gates { await gate.started.wait() }
        gates[1].cancel()
        await group.ended()
        #expect(gates.map { $0.outcome?.isCancelled } == [true, true, true])
        #expect(group.publishedErrors.map(\.localizedDescription) == ["The Operation 1 is Cancelled"])
        #expect(group.outcome?.isFailure == true)
    }

    @Test func cancel_cancelsTheChildren_waitsForThem_andNamesTheGroup() async {
        let deaf = Gate("deaf", isDeaf: true)
        let waiting = Step("waiting")
        waiting.addDependency(deaf)
        let inner = GroupOperation(deaf)
        inner.name = "inner"
        let group = GroupOperation(inner, waiting)
        group.name = "outer"
        let ends = Log<String>()
        group.didFinish { ends.append($0.error?.localizedDescription ?? "-") }
        inner.didFinish { ends.append($0.error?.localizedDescription ?? "-") }
        group.add(to: AOperationQueue())
        await deaf.started.wait()
        group.cancel()
        #expect(group.isCancelled)
        #expect(group.outcome == nil, "the group waits for its children")
        #expect(waiting.outcome?.isCancelled == true)
        deaf.open()
        await group.ended()
        await callbacksDelivered()
        #expect(group.outcome?.isCancelled == true)
        #expect(ends.entries == ["The Operation inner is Cancelled", "The Operation outer is Cancelled"])
        #expect(group.publishedErrors.count == 1)
    }

    @Test func groupCancelledBeforeItsStart_endsItsChildrenAsCancelled() async {
        let told = Log<String>()
        let child = Step("a") { told.append("ran") }.didFinish { told.append($0.error?.localizedDescription ?? "-") }
        let nested = Step("b").didFinish { told.append($0.error?.localizedDescription ?? "-") }
        let plain = BlockOperation { told.append("plain ran") }
        let group = GroupOperation(child, OrderedGroupOperation(nested), plain)
        group.cancel()
        await group.ended()
        await callbacksDelivered()
        #expect(told.entries.sorted() == ["The Operation a is Cancelled", "The Operation b is Cancelled"])
        #expect(group.outcome?.isCancelled == true)
        let queue = AOperationQueue()
        queue.addOperation(group)
        await queue.idle()
        #expect(told.count == 2)
    }

    @Test(arguments: 0..<30)
    func D3_cancellingAtAnyMoment_endsTheGroupAndEveryChildOnce(round: Int) async {
        let ends = Log<Int>()
        let children = (0..<20).map { index in Step("\(index)").didFinish { _ in ends.append(index) } }
        let ordered = OrderedGroupOperation(Array(children[0..<10]))
        let group = GroupOperation([ordered] + Array(children[10...]))
        group.didFinish { _ in ends.append(100) }
        let queue = AOperationQueue()
        queue.maxConcurrentOperationCount = 1 + round % 3
        queue.addOperation(group)
        let cancelAfter = round
        Thread.detachNewThread {
            for _ in 0..<(cancelAfter * 200) where group.isFinished { return }
            group.cancel()
        }
        await group.ended()
        await callbacksDelivered()
        #expect(ends.entries.sorted() == Array(0..<20) + [100], "round \(round)")
        #expect(ends.entries.last == 100, "the group's listeners come last (round \(round))")
        #expect(group.outcomes.count == 11)
        await queue.idle()
    }

    final class Branching: GroupOperation, @unchecked Sendable {
        let log = Log<String>()
        override func operationDidFinish(_ operation: Foundation.Operation, withErrors errors: [AOperationError]) {
            guard let name = operation.name else { return }
            log.append(name)
            if name.count < 4 {
                addOperation(Step(name + "a"))
                addOperation(Step(name + "b"))
            }
        }
    }

    @Test func D1_branchingFromOperationDidFinish_isSafe_everyTime() async {
        let queue = AOperationQueue()
        for round in 0..<Load.rounds(200) {
            let group = Branching(Step("x"))
            let result = await group.result(on: queue)
            #expect(result.error == nil)
            #expect(group.log.count == 15, "round \(round)")
            #expect(group.outcomes.count == 15)
            #expect(group.outcomes.allSatisfy { $0.isSuccess })
        }
    }

    @Test func D1_failureOfTheOnlyChild_isTheGroups_everyTime() async {
        for _ in 0..<Load.rounds(200) {
            let group = GroupOperation(Failing<Int>("only"))
            #expect(await group.result(on: AOperationQueue()).error?.localizedDescription == "only")
        }
    }

    final class Restarting: GroupOperation, @unchecked Sendable {
        override func operationDidFinish(_ operation: Foundation.Operation, withErrors errors: [AOperationError]) {
            if !errors.isEmpty { addOperation(Gate("again")) }
        }
    }

    @Test func branchingOnErrors_endsWhenTheGroupIsCancelled() async {
        let gate = Gate()
        let group = Restarting(gate)
        group.add(to: AOperationQueue())
        await gate.started.wait()
        group.cancel()
        await group.ended()
        #expect(group.outcome?.isCancelled == true)
        #expect(group.outcomes.count == 2)
    }

    @Test func producedOperations_becomeChildren() async {
        let log = Log<String>()
        let producer = MapOperationBlock<Void, Void> { _, finish in finish(.success(())) }
        producer.didStart { [unowned producer] in producer.produce(Step { log.append("produced") }) }
        producer.didProduce { log.append("told of \($0.name ?? "")") }
        let group = GroupOperation(producer)
        _ = await group.result(on: AOperationQueue())
        #expect(log.entries == ["told of Step", "produced"])
        #expect(group.outcomes.count == 2)
    }

    @Test func D28_finishWithAnError_inExecute_failsTheGroup() async {
        final class Own: GroupOperation, @unchecked Sendable {
            override func execute() {
                super.execute()
                finish(AOperationError(Failed(text: "mine")))
            }
        }
        let gate = Gate()
        let group = Own(gate)
        group.add(to: AOperationQueue())
        await gate.started.wait()
        gate.open()
        await group.ended()
        #expect(group.publishedErrors.map(\.localizedDescription) == ["mine"])
    }

    @Test func D28_whatExecuteDoesAfterTheChildrenHaveEnded_counts() async {
        final class Own: GroupOperation, @unchecked Sendable {
            let late = Step("late")
            let childIsOver = DispatchSemaphore(value: 0)
            override func execute() {
                super.execute()
                childIsOver.wait()
                addOperation(late)
                finish(AOperationError(Failed(text: "mine")))
            }
        }
        let gate = Gate()
        let group = Own(gate)
        gate.onEnd { _ in group.childIsOver.signal() }
        group.add(to: AOperationQueue())
        await gate.started.wait()
        gate.open()
        await group.ended()
        #expect(group.late.outcome?.isSuccess == true)
        #expect(group.publishedErrors.map(\.localizedDescription) == ["mine"])
    }

    @Test func childrenAreUntouchedUntilTheGroupStarts() async {
        let first = Gate("first")
        let child = Step()
        let group = GroupOperation(child)
        group.addDependency(first)
        group.add(to: AOperationQueue())
        await first.started.wait()
        #expect(child.isInitialized)
        first.open()
        await group.ended()
        #expect(child.isFinished)
    }

    @Test(arguments: [1, 2, 3])
    func childrenRunInTheSlotsOfTheQueue(slots: Int) async {
        let queue = AOperationQueue()
        queue.maxConcurrentOperationCount = slots
        let gauge = Gauge()
        let leaf: @Sendable () -> AOperation = {
            AOperationBlock { finish in
                gauge.enter()
                DispatchQueue.global().async {
                    gauge.leave()
                    finish()
                }
            }
        }
        let groups = (0..<5).map { _ in
            GroupOperation((0..<10).map { _ in GroupOperation(leaf(), OrderedGroupOperation(leaf(), leaf())) })
        }
        queue.addOperations(groups, waitUntilFinished: false)
        await queue.idle()
        #expect(groups.allSatisfy { $0.outcome?.isSuccess == true })
        #expect(gauge.most <= slots)
        #expect(gauge.most >= 1)
    }

    @Test func onASerialQueue_aGroupIsThroughBeforeTheNextOperationStarts() async {
        for _ in 0..<Load.rounds(200) {
            let queue = AOperationQueue()
            queue.maxConcurrentOperationCount = 1
            let log = Log<Int>()
            queue.isSuspended = true
            queue.addOperation(OrderedGroupOperation((0..<20).map { index in Step { log.append(index) } }))
            queue.addOperation(Step { log.append(20) })
            queue.isSuspended = false
            await queue.idle()
            #expect(log.entries == Array(0...20))
        }
    }

    @Test func groupThatWaitsForASiblingOfASerialQueue_givesItsSlotAway() async {
        let queue = AOperationQueue()
        queue.maxConcurrentOperationCount = 1
        let outside = Step()
        let child = Step()
        child.addDependency(outside)
        let group = GroupOperation(GroupOperation(child))
        queue.addOperations([group, outside], waitUntilFinished: false)
        await queue.idle()
        #expect(group.outcome?.isSuccess == true)
    }

    @Test func maxConcurrentOperationCount_ofAGroup_holds() async {
        let gauge = Gauge()
        let children = (0..<20).map { _ in
            AOperationBlock { finish in
                gauge.enter()
                DispatchQueue.global().async {
                    gauge.leave()
                    finish()
                }
            }
        }
        let group = GroupOperation(children)
        group.maxConcurrentOperationCount = 2
        _ = await group.result(on: AOperationQueue())
        #expect(gauge.most <= 2)
    }

    @Test func nestedAThousandDeep_runsAndIsReleased() async {
        let log = Log<Int>()
        var group: AOperation = Step { log.append(1) }
        for _ in 0..<1_000 { group = GroupOperation(group) }
        let queue = AOperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.addOperation(group)
        await queue.idle()
        #expect(log.count == 1)
        #expect(group.isFinished)
    }
}
