import Foundation
import Testing

@testable import AOperation

/// `add(to:)` brings what an operation waits for, also by way of others.
@Suite(.timeLimit(Load.patience))
struct AwaitedOperationTests {
    let queue = AOperationQueue()

    @Test func whatMembersOfAGroupWaitFor_isAddedWithIt() async {
        let log = Log<String>()
        let read = Step { log.append("read") }
        let archive = Step { log.append("archive") }.dependencies([read])
        let group = GroupOperation(OrderedGroupOperation(archive))
        group.add(to: queue)
        await group.ended()
        #expect(log.entries == ["read", "archive"])
    }

    @Test func whatAComposedOperationWaitsFor_isAddedWithIt() async {
        let read = Step()
        let composed = ComposedOperation(operation: Step().dependencies([read]))
        composed.add(to: queue)
        await composed.ended()
        #expect(read.outcome?.isSuccess == true)
    }

    @Test func aPlainChild_bringsWhatItWaitsFor() async {
        let read = Step()
        let plain = BlockOperation {}
        plain.addDependency(read)
        let group = GroupOperation(plain)
        group.add(to: queue)
        await group.ended()
        #expect(read.outcome?.isSuccess == true)
    }

    /// A producer of a child becomes a child, as it did; what that waits for is added.
    @Test func producersOfChildren_becomeChildren_andBringWhatTheyWaitFor() async {
        let read = Step()
        let producer = Value(1).dependencies([read])
        let receiver = producer.deliver(to: PassOn())
        let group = GroupOperation(receiver)
        group.add(to: queue)
        await group.ended()
        #expect(group.operations.count == 2)
        #expect(group.operations.contains { $0 === producer })
        #expect(read.outcome?.isSuccess == true)
    }

    @Test func whatIsReachedThroughAPlainOperation_isAdded_butNotThePlainOne() async {
        let log = Log<String>()
        let first = Step { log.append("first") }
        let plain = BlockOperation { log.append("plain") }
        plain.addDependency(first)
        let last = Step { log.append("last") }.dependencies([plain])
        last.add(to: queue)
        await first.ended()
        #expect(!plain.isFinished)
        OperationQueue().addOperation(plain)
        await last.ended()
        #expect(log.entries == ["first", "plain", "last"])
    }

    @Test func whatAPlainQueueHas_isLeftToIt() async {
        let gate = Gate()
        let plain = OperationQueue()
        let read = Step().dependencies([gate])
        plain.addOperation(read)
        let group = GroupOperation(Step().dependencies([read]))
        group.add(to: queue)
        #expect(read.isInitialized)
        plain.addOperation(gate)
        await gate.started.wait()
        gate.open()
        await group.ended()
        #expect(read.outcome?.isSuccess == true)
    }
}
