import Foundation
import Testing

@testable import AOperation

/// Who is of a retry scope, and from when on.
@Suite(.timeLimit(Load.patience))
struct RetryScopeMembershipTests {
    let queue = AOperationQueue()

    /// [head, side] → tail. Somebody who waits for the side comes into a queue before the net does, and is not alone.
    private func net(_ head: Attempted) -> (side: Attempted, tail: Scripted<[String]>) {
        let side = Attempted(.failing("S", 0))
        let tail = [head, side].deliver(to: Scripted<[String]>(.failing("T", 0)))
        tail.retry(.times(2))
        let early = Step()
        early.addDependency(side)
        queue.addOperations([early, Step()], waitUntilFinished: false)
        return (side, tail)
    }

    /// The order of the group is a bond to those outside of the net.
    @Test func netThatSomebodyWaitedFor_beforeItCameIntoAnOrderedGroup() async {
        let head = Attempted(.failing("A", 1))
        let (side, tail) = net(head)
        let group = OrderedGroupOperation([head, side, tail])
        queue.addOperation(group)
        await group.ended()
        #expect(head.script.runs == 1)
        #expect(tail.script.runs == 2)
    }

    @Test func netThatSomebodyWaitedFor_beforeItHadAllItsProducers() async {
        let head = Attempted(.failing("A", 0))
        let (_, tail) = net(head)
        let first = Attempted(.failing("B", 1))
        first.deliver(to: head)
        tail.add(to: queue)
        await tail.ended()
        #expect(first.script.runs == 2)
        #expect(tail.outcome?.isSuccess == true)
    }

    @Test func netThatSomebodyWaitedFor_beforeItsEndHadAReceiver() async {
        let head = Attempted(.failing("A", 1))
        let (_, tail) = net(head)
        let end = tail.deliver(to: Keep<String>())
        end.add(to: queue)
        await end.ended()
        #expect(head.script.runs == 1)
        #expect(tail.script.runs == 2)
    }

    /// The scope does not keep it: a stranger may come to lie where it was.
    @Test func memberThatHasEnded_isNoneAnyMore() async {
        let gate = Gate()
        let head = Attempted(.failing("A", 0))
        let tail = head.deliver(to: Attempted(.failing("T", 0))).retry(.times(2))
        tail.addDependency(gate)
        tail.add(to: queue)
        await gate.started.wait()
        let scope = tail.core.withLock(\.retryScope)
        await head.ended()
        #expect(scope?.isMember(head) == false)
        gate.open()
        await tail.ended()
    }

    /// A producer of many nets at once: each has a scope of its own.
    @Test func manyScopesOfOneNet_areFoundInLinearTime() async {
        let source = Attempted(.failing("source", 0))
        let script = Script("member") { $0.succeed() }
        let tails = (0..<10_000).map { _ in
            source.deliver(to: Attempted(script)).deliver(to: Attempted(script)).retry(.times(2))
        }
        source.add(to: queue)
        for tail in tails { await tail.ended() }
        #expect(script.runs == 20_000)
        #expect(tails.allSatisfy { $0.outcome?.isSuccess == true })
    }
}
