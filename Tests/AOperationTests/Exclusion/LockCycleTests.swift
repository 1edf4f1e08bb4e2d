import Foundation
import Testing

@testable import AOperation

/// Circles that come up at run time.
@Suite(.timeLimit(Load.patience))
struct LockCycleTests {
    let a = freshKey("a")
    let b = freshKey("b")
    let queue = AOperationQueue()
    let serial = AOperationQueue(slots: 1)

    private func running(_ name: String, _ keys: String...) async -> (group: GroupOperation, gate: Gate) {
        await queue.runningGroup(name, keys)
    }

    @Test func crossedKeysOfRunningGroups_failTheOneThatClosesTheCircle() async throws {
        let (one, gateOne) = await running("one", a)
        let (two, gateTwo) = await running("two", b)
        let waits = Step("waits").exclusive(b)
        one.addOperation(waits)
        await hasAsked(waits)
        let closes = Step("closes").exclusive(a)
        two.addOperation(closes)
        await closes.ended()
        let error = try #require(closes.publishedErrors.first)
        let cycle = try #require(error.publishedError as? AOperationError.LockCycle)
        #expect(cycle.operation == "closes")
        #expect(cycle.keys == [a, b])
        #expect(cycle.holders == ["one", "two"])
        #expect(error.publisher == "closes")
        #expect(error.state == .condition)
        #expect(
            cycle.errorDescription
                == "The Operation closes would wait for itself: \(a), \(b) is held by one, two, which waits for it. "
                + "Name the key on the group around it, or take it outside")
        gateTwo.open()
        await waits.ended()
        gateOne.open()
        await one.ended()
        #expect(one.outcome?.isSuccess == true)
        #expect(two.outcome?.isFailure == true)
    }

    @Test func childThatWaitsForAnOutsider_whoWaitsForTheGroupsKey_fails() async {
        let (group, gate) = await running("group", a)
        let outsider = Step("outsider").exclusive(a)
        serial.addOperation(outsider)
        await serial.settled()
        let child = Step("child")
        child.addDependency(outsider)
        group.addOperation(child)
        await child.ended()
        #expect(child.isLockCycle)
        gate.open()
        await outsider.ended()
        #expect(outsider.outcome?.isSuccess == true)
    }

    @Test func outsiderWhoAsksForTheGroupsKey_whileAChildWaitsForHim_fails() async {
        let (group, gate) = await running("group", a)
        let blocker = Gate()
        let outsider = Step("outsider").exclusive(a)
        outsider.addDependency(blocker)
        serial.addOperations([outsider, blocker], waitUntilFinished: false)
        await blocker.started.wait()
        let child = Step("child")
        child.addDependency(outsider)
        group.addOperation(child)
        blocker.open()
        await outsider.ended()
        #expect(outsider.isLockCycle)
        await child.ended()
        #expect(child.outcome?.isSuccess == true, "what it waited for has ended")
        gate.open()
        await group.ended()
        #expect(group.outcome?.isSuccess == true)
    }

    @Test func circleThroughAChain_orAnOrderedGroup_orAPlainOperation_isFound() async {
        for kind in 0..<3 {
            let key = freshKey()
            let (group, gate) = await running("group", key)
            let asks = Step("asks").exclusive(key)
            var last: Foundation.Operation
            switch kind {
            case 0:
                let middle = Step("middle")
                middle.addDependency(asks)
                last = middle
                serial.addOperations([asks, middle], waitUntilFinished: false)
            case 1:
                last = Step("last")
                serial.addOperation(OrderedGroupOperation(asks, last))
                await serial.settled()
            // The group has named the key, so it is the group that waits.
            default:
                last = BlockOperation {}
                last.addDependency(asks)
                serial.addOperations([asks, last], waitUntilFinished: false)
            }
            await serial.settled()
            let child = Step("child")
            child.addDependency(last)
            group.addOperation(child)
            await child.ended()
            #expect(child.isLockCycle, "kind \(kind)")
            gate.open()
            await group.ended()
            await asks.ended()
        }
    }

    @Test func childOfAGroupThatWaitsForTheKey_cannotBeWaitedFor() async {
        for asksFirst in [true, false] {
            let key = freshKey()
            let (group, gate) = await running("group", key)
            let inner = Step("inner")
            let waiting = GroupOperation(inner)
            waiting.name = "waiting"
            waiting.exclusive(key)
            let blocker = Gate()
            waiting.addDependency(blocker)
            serial.addOperations([waiting, blocker], waitUntilFinished: false)
            await blocker.started.wait()
            if asksFirst {
                blocker.open()
                await serial.settled()
            }
            let child = Step("child")
            child.addDependency(inner)
            group.addOperation(child)
            if asksFirst {
                await child.ended()
                #expect(child.isLockCycle)
                gate.open()
                await waiting.ended()
                #expect(waiting.outcome?.isSuccess == true)
            } else {
                blocker.open()
                await waiting.ended()
                #expect(waiting.isLockCycle)
                #expect(inner.outcome?.isCancelled == true)
                await child.ended()
                gate.open()
                await group.ended()
                #expect(group.outcome?.isSuccess == true)
            }
        }
    }

    @Test func dependencyThatIsAddedLast_closesTheCircle() async {
        for isAddedWhileWaiting in [true, false] {
            let key = freshKey()
            let (group, gate) = await running("group", key)
            let middle = Step("middle")
            let blocker = Gate()
            if isAddedWhileWaiting {
                middle.addDependency(blocker)
                queue.addOperations([middle, blocker], waitUntilFinished: false)
            }
            let child = Step("child")
            child.addDependency(middle)
            group.addOperation(child)
            let asks = Step("asks").exclusive(key)
            serial.addOperation(asks)
            await serial.settled()
            middle.addDependency(asks)
            if !isAddedWhileWaiting { queue.addOperation(middle) }
            await middle.ended()
            #expect(middle.isLockCycle)
            await child.ended()
            #expect(child.outcome?.isSuccess == true)
            gate.open()
            blocker.cancel()
            await asks.ended()
            #expect(asks.outcome?.isSuccess == true)
        }
    }

    @Test func operationThatWaitsForTheKey_andBecomesAChildOfItsHolder_sharesIt() async {
        let (group, gate) = await running("group", a)
        let asks = Step("asks").exclusive(a)
        serial.addOperation(asks)
        await serial.settled()
        group.addOperation(asks)
        await asks.ended()
        #expect(asks.outcome?.isSuccess == true)
        gate.open()
        await group.ended()
        #expect(group.outcome?.isSuccess == true)
    }

    @Test func groupThatRunsElsewhere_withAChildThatWaitsForTheKey_andBecomesAChildOfItsHolder_sharesIt() async {
        let (group, gate) = await running("group", a)
        let (other, otherGate) = await running("other")
        let asks = Step("asks").exclusive(a)
        other.addOperation(asks)
        await hasAsked(asks)
        group.addOperation(other)
        await asks.ended()
        #expect(asks.outcome?.isSuccess == true)
        otherGate.open()
        gate.open()
        await group.ended()
        #expect(group.outcomes.count == 2)
    }

    /// The one that waits has joined another one, which waits for the key.
    @Test func circleThroughAJoin_isFound() async {
        let id = freshKey("id")
        let (group, gate) = await running("group", a)
        let blocker = Gate()
        let first = UniqueGate(id, "first").exclusive(a)
        first.addDependency(blocker)
        let joiner = UniqueGate(id, "joiner", onDuplicate: .join)
        queue.addOperations([blocker, first, joiner], waitUntilFinished: false)
        await blocker.started.wait()
        let child = Step("child")
        child.addDependency(joiner)
        group.addOperation(child)
        blocker.open()
        await first.ended()
        #expect(first.isLockCycle)
        await child.ended()
        gate.open()
        await group.ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(joiner.isLockCycle)
    }

    /// A plain child cannot fail: the one that asks for the key does.
    @Test(arguments: [false, true])
    func plainChildThatWaitsForAnOutsider_whoWaitsForTheGroupsKey_letsTheOutsiderFail(isLate: Bool) async {
        let outsider = Step("outsider").exclusive(a)
        let plain = BlockOperation {}
        plain.addDependency(outsider)
        let gate = Gate()
        let group = GroupOperation(isLate ? [gate] : [gate, GroupOperation(plain)])
        group.exclusive(a)
        queue.addOperation(group)
        await gate.started.wait()
        serial.addOperation(outsider)
        if isLate {
            await hasAsked(outsider)
            group.addOperation(ComposedOperation(operation: plain))
        }
        await outsider.ended()
        #expect(outsider.isLockCycle)
        gate.open()
        await group.ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(plain.isFinished)
    }

    /// The child waits for it through an operation of a plain queue, which nobody sees from there.
    @Test func operationThatAPlainOneWaitsFor_closesACircle_andFails() async {
        let (group, gate) = await running("group", a)
        let needed = Step("needed")
        let needsGate = Gate()
        needed.addDependency(needsGate)
        let plain = BlockOperation {}
        plain.addDependency(needed)
        OperationQueue().addOperation(plain)
        let child = Step("child")
        child.addDependency(plain)
        group.addOperation(child)
        let asks = Step("asks").exclusive(a)
        for operation in [needsGate, needed, asks] { queue.addOperation(operation) }
        await hasAsked(asks)
        needed.addDependency(asks)
        await needed.ended()
        #expect(needed.isLockCycle)
        needsGate.open()
        await child.ended()
        gate.open()
        await group.ended()
        await asks.ended()
        #expect(asks.outcome?.isSuccess == true)
    }

    @Test func semaphoreWhoseHoldersAreAllStuck_isACircle() async {
        let (group, gate) = await running("group", a)
        var gates: [Gate] = []
        for index in 0..<2 {
            let stuckGate = Gate("stuck's gate")
            let stuck = GroupOperation(stuckGate)
            stuck.name = "stuck \(index)"
            stuck.exclusive(b, limit: 2)
            queue.addOperation(stuck)
            await stuckGate.started.wait()
            let asks = Step("asks").exclusive(a)
            stuck.addOperation(asks)
            await hasAsked(asks)
            gates.append(stuckGate)
        }
        let outsider = Step("outsider").exclusive(b, limit: 2)
        serial.addOperation(outsider)
        await serial.settled()
        let child = Step("child")
        child.addDependency(outsider)
        group.addOperation(child)
        await child.ended()
        #expect(child.isLockCycle)
        gate.open()
        for gate in gates { gate.open() }
        await outsider.ended()
    }

    @Test func lockCycle_leavesNothingBehind_andMayBeTriedAgain() async {
        let (group, gate) = await running("group", a)
        let blocker = Gate()
        let ran = Log<Int>()
        let outsider = LockLifetimeTests.Attempt(Log(), failures: 0).exclusive(a)
        outsider.name = "outsider"
        outsider.addDependency(blocker)
        let child = Step("child") { ran.append(1) }
        child.addDependency(outsider)
        let refused = Signal()
        outsider.retryOnFailure { number, error, retry in
            #expect(error.publishedError is AOperationError.LockCycle)
            refused.fire()
            // The circle is still there until the child is gone.
            child.onEnd { _ in retry(true) }
        }
        queue.addOperations([outsider, blocker], waitUntilFinished: false)
        await blocker.started.wait()
        group.addOperation(child)
        blocker.open()
        await refused.wait()
        let rival = Gate("rival").exclusive(a)
        serial.addOperation(rival)
        await serial.settled()
        child.cancel()
        gate.open()
        await rival.started.wait()
        // Another attempt of the outsider asks anew: it is not let in on the strength of the request that failed.
        await until { LockTable.shared.requests.count(where: { $0.names.contains(a) }) == 2 }
        #expect(outsider.outcome == nil)
        rival.open()
        await outsider.ended()
        #expect(outsider.outcome?.isSuccess == true)
        #expect(ran.count == 0)
        #expect(!LockTable.shared.knows(a))
    }
}
