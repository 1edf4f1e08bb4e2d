import Foundation
import Testing

@testable import AOperation

/// Traps of Foundation's operations on Linux that our classes must not have: a test for each.
@Suite(.timeLimit(Load.patience))
struct FoundationTrapTests {
    let queue = AOperationQueue()

    @Test func B1_removingAnUnfinishedDependency_letsTheOperationRun() async {
        let never = Gate("never added")
        let neverPlain = BlockOperation {}
        let operation = Step()
        operation.addDependency(never)
        operation.addDependency(neverPlain)
        queue.addOperation(operation)
        operation.removeDependency(never)
        operation.removeDependency(neverPlain)
        await operation.ended()
        #expect(operation.outcome?.isSuccess == true)
        let before = Step()
        before.addDependency(never)
        before.removeDependency(never)
        queue.addOperation(before)
        await before.ended()
    }

    @Test func B2_addingACancelledOperationBehindABarrier_doesNotBlock() async {
        let gate = Gate()
        queue.addOperation(gate)
        await gate.started.wait()
        let ran = Signal()
        queue.addBarrierBlock { ran.fire() }
        let cancelled = Step()
        cancelled.cancel()
        queue.addOperation(cancelled)
        let cancelledPlain = BlockOperation {}
        cancelledPlain.cancel()
        queue.addOperation(cancelledPlain)
        gate.open()
        await ran.wait()
        await queue.idle()
    }

    /// Foundation keeps the barriers of its own queues as dependencies that it tells nobody of.
    @Test func B2_operationBehindABarrierOfAPlainQueue_waitsForIt_andAddingItDoesNotBlock() async {
        let plain = OperationQueue()
        let (gate, order) = (Gate(), Log<String>())
        plain.addOperation(gate)
        await gate.started.wait()
        plain.addBarrierBlock { order.append("barrier") }
        let other = Step { order.append("other") }
        let (behind, freed) = (Step { order.append("behind") }, Step { order.append("freed") })
        freed.addDependency(other)
        await onThread { plain.addOperations([behind, freed], waitUntilFinished: false) }
        queue.addOperation(other)
        await other.ended()
        #expect(order.entries == ["other"])
        gate.open()
        await behind.ended()
        await freed.ended()
        #expect(order.entries.prefix(2) == ["other", "barrier"])
        #expect(Set(order.entries) == ["other", "barrier", "behind", "freed"])
    }

    @Test func B3_finishingAWaitingOperation_leavesTheQueueIntact() async {
        let gate = Gate()
        let waiting = Step()
        waiting.addDependency(gate)
        queue.addOperations([gate, waiting], waitUntilFinished: false)
        await gate.started.wait()
        waiting.finish()
        #expect(waiting.outcome?.isSuccess == true)
        for _ in 0..<10 { queue.addOperation(Step()) }
        gate.open()
        await queue.idle()
    }

    @Test func B4_droppingADependent_doesNotHurtItsDependency() async {
        for _ in 0..<50 {
            let ours = Step()
            let plain = BlockOperation {}
            do {
                let dropped = Step()
                dropped.addDependency(ours)
                dropped.addDependency(plain)
            }
            let waiting = Step()
            waiting.addDependency(plain)
            queue.addOperation(waiting)
            waiting.cancel()
            queue.addOperations([ours, plain], waitUntilFinished: false)
            await queue.idle()
        }
    }

    @Test func B4_plainDependents_thatEndBeforeTheirDependency_doNotHurtIt() async {
        for _ in 0..<50 {
            let ours = Gate("ours")
            let opened = DispatchSemaphore(value: 0)
            let plain = BlockOperation { opened.wait() }
            queue.addOperations([ours, plain], waitUntilFinished: false)
            await ours.started.wait()
            var ends: [Signal] = []
            do {
                let dependents = (0..<3).map { _ in BlockOperation {} }
                for dependent in dependents {
                    dependent.addDependency(ours)
                    dependent.addDependency(plain)
                    let end = Signal()
                    dependent.completionBlock = { end.fire() }
                    ends.append(end)
                }
                dependents[0].cancel()
                dependents[1].cancel()
                let group = GroupOperation([dependents[1], dependents[2]])
                queue.addOperations([dependents[0], group], waitUntilFinished: false)
                group.cancel()
            }
            for end in ends { await end.wait() }
            ours.open()
            opened.signal()
            await queue.idle()
            #expect(ours.outcome?.isSuccess == true)
        }
    }

    @Test func B4_plainDependents_thatEndBeforeFoundationHearsOfTheirDependency_doNotHurtIt() async {
        for _ in 0..<50 {
            let suspended = AOperationQueue()
            suspended.isSuspended = true
            let ours = Step()
            suspended.addOperation(ours)
            do {
                let dependent = BlockOperation {}
                dependent.addDependency(ours)
                let group = GroupOperation([dependent])
                queue.addOperation(group)
                ours.cancel()
                await ours.ended()
                group.cancel()
                await group.ended()
            }
            await queue.idle()
            suspended.isSuspended = false
            await suspended.idle()
            #expect(ours.outcome?.isCancelled == true)
        }
    }

    @Test func B5_operationsThatBecomeReadyFromOtherThreads_allStart() async {
        let gates = (0..<500).map { Gate("\($0)") }
        let dependents = gates.map { gate in
            let step = Step()
            step.addDependency(gate)
            return step
        }
        for gate in gates {
            DispatchQueue.global().async { [queue] in
                queue.addOperation(gate)
                gate.open()
            }
        }
        for dependent in dependents { queue.addOperation(dependent) }
        for dependent in dependents { await dependent.ended() }
        await queue.idle()
    }

    @Test func B7_cancelledBeforeTheStart_leavesTheQueue() async {
        queue.isSuspended = true
        let operation = Step()
        queue.addOperation(operation)
        operation.cancel()
        await operation.ended()
        queue.isSuspended = false
        await queue.idle()
        #expect(queue.operations.isEmpty)
    }

    @Test func B8_completionBlock_isCalledOnce_whenTheWorkIsSynchronous() async {
        let calls = Log<Int>()
        for _ in 0..<50 {
            let called = Signal()
            let operation = Step()
            operation.completionBlock = {
                calls.append(1)
                called.fire()
            }
            queue.addOperation(operation)
            await called.wait()
            await queue.idle()
        }
        #expect(calls.count == 50)
    }

    @Test func B9_operationsAreReleased_whenTheyHaveEnded() async {
        weak var weakly: Step?
        do {
            let operation = Step()
            let next = operation.deliver(to: PassOn<Void>())
            let called = Signal()
            operation.completionBlock = { [operation] in
                _ = operation.name
                called.fire()
            }
            operation.willFinish { [operation] _, finish in
                _ = operation.name
                finish()
            }
            operation.didFinish { [operation] _ in _ = operation.name }
            operation.addObserver(BlockObserver(finishHandler: { [operation] _, _ in _ = operation.name }))
            weakly = operation
            next.add(to: queue)
            await next.ended()
            await called.wait()
        }
        await queue.idle()
        await callbacksDelivered()
        await released { weakly == nil }
        #expect(weakly == nil)
    }

    @Test func B10_chainOf100000_runsAndIsReleased() async {
        let runs = Gauge()
        var last: Step?
        for _ in 0..<Load.count(100_000) {
            let next = Step { runs.enter() }
            if let last { next.addDependency(last) }
            last = next
        }
        last?.add(to: queue)
        await last?.ended()
        #expect(runs.most == Load.count(100_000))
        weak let weakly = last
        last = nil
        await queue.idle()
        await released { weakly == nil }
        #expect(weakly == nil)
    }

    @Test func B10_chainOf100000_thatNeverRuns_isReleased() {
        var last: Step?
        weak var first: Step?
        for _ in 0..<Load.count(100_000) {
            let next = Step()
            if let last { next.addDependency(last) } else { first = next }
            last = next
        }
        #expect(first != nil)
        last = nil
        #expect(first == nil)
    }

    @Test func B11_whatWaitsForAnOperation_seesItEnded() async {
        for _ in 0..<Load.rounds(200) {
            let first = Step()
            let seen = Log<Bool>()
            let second = Step { seen.append(first.isFinished && first.outcome != nil) }
            second.addDependency(first)
            queue.addOperations([second, first], waitUntilFinished: false)
            await second.ended()
            #expect(seen.entries == [true])
        }
        await queue.idle()
    }

    @Test func twentyThousandBlockedOperations_areThroughWithinTheSuitesTimeLimit() async {
        // Adding them alone would take Foundation's queue a good part of that: it is quadratic.
        let gate = Gate()
        for _ in 0..<Load.count(20_000) {
            let step = Step()
            step.addDependency(gate)
            queue.addOperation(step)
        }
        queue.addOperation(gate)
        await gate.started.wait()
        gate.open()
        await queue.idle()
        #expect(queue.operations.isEmpty)
    }

    /// The last references of an ended operation go with the thread that ended it: shortly after it.
    private func released(_ condition: () -> Bool) async {
        let deadline = ContinuousClock.now + .seconds(10)
        await until { condition() || ContinuousClock.now >= deadline }
    }
}
