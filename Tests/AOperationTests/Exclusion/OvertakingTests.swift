import Foundation
import Testing

@testable import AOperation

/// Who waits in line behind those who wait for him goes before them.
@Suite(.timeLimit(Load.patience))
struct OvertakingTests {
    let a = freshKey("a")
    let b = freshKey("b")
    let queue = AOperationQueue()

    @Test func childThatAsksForAFreeKey_goesBeforeThoseWhoWaitForItsGroup() async {
        let (group, gate) = await queue.runningGroup("group", [a])
        let both = Step("both").exclusive(a).exclusive(b)
        queue.addOperation(both)
        await hasAsked(both)
        let child = Step("child").exclusive(b)
        group.addOperation(child)
        await child.ended()
        #expect(child.outcome?.isSuccess == true)
        gate.open()
        await both.ended()
        #expect(both.outcome?.isSuccess == true)
    }

    @Test func thoseWhoWaitForNothingOfTheirs_areStillServedInTheirOrder() async {
        let (group, gate) = await queue.runningGroup("group", [a])
        let (holder, end) = await queue.runningGroup("holder", [b])
        let order = Log<String>()
        let both = Step("both").exclusive(a).exclusive(b)
        let other = Step("other").exclusive(b)
        let child = Step("child").exclusive(b)
        for step in [both, other, child] { step.addObserver(BlockObserver(startHandler: { _ in order.append(step.name ?? "") })) }
        queue.addOperation(both)
        await hasAsked(both)
        queue.addOperation(other)
        await hasAsked(other)
        group.addOperation(child)
        await hasAsked(child)
        end.open()
        await child.ended()
        #expect(order.entries == ["child"], "the others wait for both, and that waits for the child")
        gate.open()
        await other.ended()
        #expect(order.entries == ["child", "both", "other"])
        await holder.ended()
    }

    @Test func waiterBehindOneThatWaitsForAnotherKey_closesNoCircle() async {
        // "group" holds b; "front" waits for a and b; "behind" wants a, which is free but for "front".
        let (group, gate) = await queue.runningGroup("group", [b])
        let front = Step("front").exclusive(a).exclusive(b)
        let behind = Step("behind").exclusive(a)
        queue.addOperation(front)
        await hasAsked(front)
        queue.addOperation(behind)
        await hasAsked(behind)
        let child = Step("child")
        child.addDependency(behind)
        group.addOperation(child)
        await child.ended()
        #expect(child.outcome?.isSuccess == true)
        #expect(behind.outcome?.isSuccess == true)
        gate.open()
        await front.ended()
        #expect(front.outcome?.isSuccess == true)
        await group.ended()
    }

    @Test func operationThatAChildComesToWaitFor_goesBeforeThoseWhoWaitForTheGroup() async {
        let (group, gate) = await queue.runningGroup("group", [a])
        let (holder, end) = await queue.runningGroup("holder", [b])
        let both = Step("both").exclusive(a).exclusive(b)
        queue.addOperation(both)
        await hasAsked(both)
        let outsider = Step("outsider").exclusive(b)
        queue.addOperation(outsider)
        await hasAsked(outsider)
        let child = Step("child")
        child.addDependency(outsider)
        group.addOperation(child)
        end.open()
        await child.ended()
        #expect(child.outcome?.isSuccess == true)
        #expect(outsider.outcome?.isSuccess == true)
        gate.open()
        await both.ended()
        #expect(both.outcome?.isSuccess == true)
        await holder.ended()
    }
}

/// Who is set back by somebody who comes later.
@Suite(.timeLimit(Load.patience))
struct SetBackTests {
    let a = freshKey("a")
    let b = freshKey("b")
    let c = freshKey("c")
    let queue = AOperationQueue()

    /// A group that holds the key, and has a child that waits for `operation`.
    private func holder(_ name: String, _ key: String, limit: Int = 1, waitingFor operation: AOperation) async -> GroupOperation {
        let child = Step("child of \(name)")
        child.addDependency(operation)
        let gate = Gate()
        let group = GroupOperation(child, gate)  // the child waits when the gate has started
        group.name = name
        group.exclusive(key, limit: limit)
        queue.addOperation(group)
        await gate.started.wait()
        gate.open()
        await gate.ended()
        return group
    }

    private func ask(_ operations: AOperation...) async {
        for operation in operations {
            queue.addOperation(operation)
            await hasAsked(operation)
        }
    }

    @Test func whoIsOvertaken_andIsWaitedForToo_goesFirstInTurn() async {
        let (first, gate) = await queue.runningGroup("first", [b])
        let last = Step("last").exclusive(a).exclusive(b)
        let wanted = Step("wanted").exclusive(b)
        let one = await holder("one", c, waitingFor: last)
        let two = await holder("two", a, waitingFor: wanted)
        let front = Step("front").exclusive(a).exclusive(c)
        await ask(front, wanted, last)
        gate.open()
        for operation in [first, wanted, two, last, one, front] as [AOperation] {
            await operation.ended()
            #expect(operation.publishedErrors.isEmpty, "\(operation.publisherName)")
        }
    }

    @Test func holdersOfASemaphore_whoAllWaitForOneWhoWaitsForIt_areACircle() async {
        let wanted = Step("wanted").exclusive(a, limit: 2)
        let one = await holder("one", a, limit: 2, waitingFor: wanted)
        let gate = Gate()
        let other = GroupOperation(gate)
        other.exclusive(a, limit: 2)
        queue.addOperation(other)
        await gate.started.wait()
        let child = Step("child")
        child.addDependency(wanted)
        let two = GroupOperation(child)
        two.exclusive(a, limit: 2)
        await ask(two, wanted)
        gate.open()
        for operation in [other, one, two, child, wanted] as [AOperation] { await operation.ended() }
        #expect([child, wanted].count { $0.isLockCycle } <= 1, "one of them gives way at most")
        #expect(one.outcome != nil && two.outcome != nil)
    }

    @Test func whoNamesASmallerLimit_leavesNobodyBehindForEver() async {
        let (first, gate) = await queue.runningGroup("first", [b])
        let wanted = Step("wanted").exclusive(a, limit: 3).exclusive(b)
        let one = await holder("one", a, limit: 3, waitingFor: wanted)
        let narrow = Step("narrow").exclusive(a, limit: 1)
        await ask(wanted, narrow)
        gate.open()
        for operation in [first, wanted, one, narrow] as [AOperation] { await operation.ended() }
        #expect(one.publishedErrors.isEmpty)
        #expect(narrow.publishedErrors.isEmpty)
    }

    /// A member of a retry scope fails, and what it has locked is kept until its tail has ended. That waits for a group in line
    /// behind somebody who waits for that lock.
    @Test func groupInLineBehindOneThatWaitsForAKeptKey_goesBeforeIt() async {
        let (gate, hold) = (Gate(), Gate())
        let failing = Scripted<String>(Script("failing") { run in gate.onEnd { _ in run.fail() } }).exclusive(a)
        let value = Scripted<String>(.failing("value", 0))
        let tail = [failing, value].deliver(to: Joined()).retryOnFailure { _, _, retry in retry(false) }
        let group = GroupOperation(value).exclusive(b)
        group.addDependency(hold)
        let both = Step("both").exclusive(a).exclusive(b)
        queue.addOperation(failing)
        await until { failing.core.withLock { $0.state.isExecuting } }
        queue.addOperation(both)
        await hasAsked(both)
        queue.addOperation(hold)
        await hold.started.wait()
        hold.open()
        await hasAsked(group)
        queue.addOperation(gate)
        await gate.started.wait()
        gate.open()
        await tail.ended()
        await both.ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(both.outcome?.isSuccess == true)
    }

    private final class Joined: ResultableOperation<String>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
        var receivedValue: Result<[String], AOperationError>?
        override func execute() { finish(with: (receivedValue ?? .failure(.receivedValueIsNil(in: self))).map { $0.joined() }) }
        func new() -> Self { Self() }
        required override init() { super.init() }
    }
}
