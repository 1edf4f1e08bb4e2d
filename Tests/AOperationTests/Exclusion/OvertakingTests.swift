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
