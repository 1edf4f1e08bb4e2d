import Foundation
import Testing

@testable import AOperation

/// What delivers to a group's child and is added to a plain queue as well.
@Suite(.timeLimit(Load.patience))
struct GroupForeignProducerTests {
    let queue = OperationQueue()

    private func member(of group: GroupOperation, _ operation: AOperation) async {
        await until { group.operations.contains { $0 === operation } }
    }

    @Test func producerThatTheGroupHasTaken_mayStillBeAddedToAPlainQueue() async throws {
        let gate = Gate()
        let producer = Value(1)
        producer.addDependency(gate)
        let receiver = Keep<Int>()
        producer.deliver(to: receiver)
        let group = GroupOperation(receiver)
        queue.addOperation(group)
        await member(of: group, producer)
        queue.addOperation(producer)
        queue.addOperation(gate)
        await gate.started.wait()
        gate.open()
        await group.ended()
        await queue.idle()
        #expect(try receiver.result?.get()?.get() == 1)
    }

    @Test func producerThatTheGroupHasRun_mayStillBeAddedToAPlainQueue() async throws {
        let producer = Value(1)
        let receiver = Keep<Int>()
        producer.deliver(to: receiver)
        let group = GroupOperation(receiver)
        queue.addOperation(group)
        await group.ended()
        let after = BlockOperation {}
        after.addDependency(producer)
        queue.addOperation(after)
        queue.addOperation(producer)
        await queue.idle()
        #expect(after.isFinished)
        #expect(try receiver.result?.get()?.get() == 1)
    }

    /// Nobody adds the producer anywhere: those whom the group runs must hear of its end.
    @Test(arguments: [false, true])
    func plainChildOfTheGroup_mayWaitForTheProducer(hasEnded: Bool) async throws {
        let producer = Value(1)
        let receiver = Keep<Int>()
        producer.deliver(to: receiver)
        let plain = BlockOperation {}
        plain.addDependency(producer)
        let gate = Gate()
        let group = hasEnded ? OrderedGroupOperation([receiver, gate]) : GroupOperation(receiver, plain)
        queue.addOperation(group)
        if hasEnded {
            await gate.started.wait()
            group.addOperation(plain)
            gate.open()
        }
        await group.ended()
        #expect(plain.isFinished)
        #expect(group.outcome?.isSuccess == true)
        #expect(try receiver.result?.get()?.get() == 1)
    }

    @Test func completionBlockOfAProducerThatTheGroupHasTaken_isCalled_andItsEndCanBeWaitedFor() async {
        let (producer, other) = (Value(1), Value(2))
        let receiver = Keep<[Int]>()
        [producer, other].deliver(to: receiver)
        let called = Signal()
        producer.completionBlock = { called.fire() }
        let group = GroupOperation(receiver)
        queue.addOperation(group)
        await called.wait()
        await onThread { other.waitUntilFinished() }
        #expect(other.outcome?.isSuccess == true)
        await group.ended()
    }

    /// The locks of a nested group are asked for before anything starts: what delivers to one inside of it and to one
    /// before it is none of its children.
    @Test func producerForANestedGroupAndForAnEarlierChild_comesBeforeBoth() async {
        let source = PassOn<Int>()
        source.name = "source"
        source.receivedValue = .success(1)
        let first = PassOn<Int>()
        first.name = "first"
        let inner = PassOn<Int>()
        source.deliver(to: first)
        source.deliver(to: inner)
        let nested = GroupOperation(inner)
        nested.name = "nested"
        nested.addDependency(first)
        _ = nested.exclusive(freshKey("key")).exclusions
        let group = OrderedGroupOperation(first, nested)
        _ = group.exclusions
        AOperationQueue().addOperation(group)
        await group.ended()
        #expect(group.operations.map { $0.name ?? "" } == ["source", "first", "nested"])
        #expect(group.outcome?.isSuccess == true)
    }
}
