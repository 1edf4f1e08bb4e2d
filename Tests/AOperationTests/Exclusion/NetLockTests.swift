import Foundation
import Testing

@testable import AOperation

/// Circles through what will come to be a child of a group, and through a queue's barriers.
@Suite(.timeLimit(Load.patience))
struct NetLockTests {
    let key = freshKey("key")
    let queue = AOperationQueue()

    /// The producer is in no queue: it becomes a child of the second group when that starts.
    @Test func holderThatWaitsForWhatAWaiterWillBring_fails() async {
        let (producer, receiver, child) = (Value(1, name: "producer"), Keep<Int>(), Step("child"))
        producer.deliver(to: receiver)
        child.addDependency(producer)
        let holder = GroupOperation(child).exclusive(key)
        let waiter = GroupOperation(receiver).exclusive(key)
        queue.addOperation(holder)
        await until { holder.isExecuting }
        queue.addOperation(waiter)
        await holder.ended()
        await waiter.ended()
        let errors = (holder.publishedErrors + waiter.publishedErrors).map(\.publishedError)
        #expect(errors.contains { $0 is AOperationError.LockCycle })
        #expect(child.isEnded && producer.isEnded)
    }

    /// The shortest way round leads through the group that may bring the producer as well, and has no lock in it.
    @Test func circleWithALock_besideAShorterOneWithout_fails() async {
        let producer = Value(1, name: "producer")
        let (first, second) = (Keep<Int>(), Keep<Int>())
        producer.deliver(to: first)
        producer.deliver(to: second)
        first.exclusive(key)
        let gate = Gate()
        let brings = GroupOperation(first)
        brings.addDependency(gate)
        let late = GroupOperation(second)
        late.addDependency(first)
        let begins = Gate()
        let holder = OrderedGroupOperation(begins, late).exclusive(key)
        queue.addOperation(holder)
        queue.addOperation(gate)
        queue.addOperation(brings)
        await begins.started.wait()
        await gate.started.wait()
        begins.open()
        await begins.ended()
        gate.open()
        await holder.ended()
        await brings.ended()
        let errors = (holder.publishedErrors + brings.publishedErrors).map(\.publishedError)
        #expect(errors.contains { $0 is AOperationError.LockCycle })
    }

    @Test func joinerThatWouldWaitForWhatItWouldBringItself_isIgnored() async {
        let id = freshKey("id")
        let (producer, receiver) = (Value(1), Keep<Int>())
        producer.deliver(to: receiver)
        let first = UniqueGate(id, "first")
        let joiner = UniqueGate(id, "joiner", onDuplicate: .join)
        first.addDependency(producer)
        let group = GroupOperation(receiver)
        group.addDependency(joiner)
        queue.addOperation(first)
        queue.addOperation(joiner)
        queue.addOperation(group)
        await joiner.ended()
        #expect(joiner.publishedErrors.first?.publishedError is AOperationError.IgnoredDuplicate)
        await first.started.wait()
        first.open()
        await group.ended()
        #expect(group.outcome?.isSuccess == true)
    }

    @Test func joinerBeforeABarrier_ofOneBehindIt_isIgnored() async {
        let id = freshKey("id")
        let gate = Gate()
        let joiner = UniqueGate(id, "joiner", onDuplicate: .join)
        let group = GroupOperation(joiner)
        group.addDependency(gate)
        queue.addOperation(group)
        queue.addOperation(gate)
        queue.addBarrierBlock {}
        let first = UniqueGate(id, "first")
        queue.addOperation(first)
        await gate.started.wait()
        gate.open()
        await group.ended()
        #expect(joiner.publishedErrors.first?.publishedError is AOperationError.IgnoredDuplicate)
        await first.started.wait()
        first.open()
        await first.ended()
    }

    /// Who holds the key waits for one behind the barrier, and that one for who asks for the key.
    @Test func lockBeforeABarrier_whoseHolderWaitsForOneBehindIt_fails() async {
        let behind = Step("behind")
        let child = Step("child")
        child.addDependency(behind)
        let holder = GroupOperation(child).exclusive(key)
        let other = AOperationQueue()
        other.addOperation(holder)
        await until { holder.isExecuting }
        let gate = Gate()
        let asks = Step("asks").exclusive(key)
        asks.addDependency(gate)
        queue.addOperation(asks)
        queue.addOperation(gate)
        queue.addBarrierBlock {}
        queue.addOperation(behind)
        await gate.started.wait()
        gate.open()
        await asks.ended()
        await holder.ended()
        // Who looks last fails: mostly that is who asks, but the child may look at what it waits for after that only.
        #expect((asks.outcome?.isSuccess == true) != (holder.outcome?.isSuccess == true))
        let errors = (asks.publishedErrors + holder.publishedErrors).map(\.publishedError)
        #expect(errors.contains { $0 is AOperationError.LockCycle })
    }

    /// A barrier that nobody behind it is waited for is in nobody's way.
    @Test func lockBeforeABarrier_thatIsNoCircle_isWaitedFor() async {
        let gate = Gate()
        let holder = GroupOperation(gate).exclusive(key)
        let other = AOperationQueue()
        other.addOperation(holder)
        await gate.started.wait()
        let asks = Step("asks").exclusive(key)
        queue.addOperation(asks)
        queue.addBarrierBlock {}
        let behind = Step("behind")
        queue.addOperation(behind)
        await hasAsked(asks)
        gate.open()
        await behind.ended()
        #expect(asks.outcome?.isSuccess == true)
    }
}
