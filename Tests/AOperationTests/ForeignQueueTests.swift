import Foundation
import Testing

@testable import AOperation

/// What a plain queue has is left to it, when something that waits for it or receives from it comes to one of ours.
@Suite(.timeLimit(Load.patience))
struct ForeignQueueTests {
    typealias Adding = AddedChildTests.Adding

    let plain = OperationQueue()
    let queue = AOperationQueue()

    @Test(arguments: [true, false])
    func dependencyInAPlainQueue_isWaitedFor(isDirect: Bool) async {
        let awaited = Step()
        plain.isSuspended = true
        plain.addOperation(awaited)
        let last = isDirect ? awaited : Step().dependencies([awaited])
        let dependent = Step().dependencies([last])
        dependent.add(to: queue)
        #expect(awaited.isInitialized)
        plain.isSuspended = false
        await dependent.ended()
        #expect(dependent.outcome?.isSuccess == true && awaited.outcome?.isSuccess == true)
        await plain.idle()
        await queue.idle()
    }

    @Test func chainInAPlainQueue_whoseEndComesToOurs_runsInOrder() async {
        let log = Log<Int>()
        var last: Step?
        let count = Load.count(1_000)
        for index in 0..<count {
            let step = Step { log.append(index) }
            if let last { step.addDependency(last) }
            last = step
            if index < count - 1 { plain.addOperation(step) } else { step.add(to: queue) }
        }
        await plain.idle()
        await queue.idle()
        #expect(log.entries == Array(0..<count))
    }

    /// The producer runs there; its receiver comes to a queue of ours.
    @Test(arguments: Adding.allCases)
    func producerInAPlainQueue_deliversToAReceiverInOurs(_ adding: Adding) async throws {
        let producer = Value(1)
        let receiver = Keep<Int>()
        producer.deliver(to: receiver)
        plain.isSuspended = true
        plain.addOperation(producer)
        adding.add(receiver, to: queue)
        #expect(producer.isInitialized)
        plain.isSuspended = false
        await receiver.ended()
        #expect(try receiver.result?.get() == .success(1))
        await plain.idle()
        await queue.idle()
    }

    /// One receiver is in a plain queue, which starts their producer with it; the other comes to a queue of ours.
    @Test(arguments: Adding.allCases)
    func receiversInBothKindsOfQueue_getTheResult(_ adding: Adding) async throws {
        let producer = Value(1)
        let (there, here) = (Keep<Int>(), Keep<Int>())
        producer.deliver(to: there)
        producer.deliver(to: here)
        plain.isSuspended = true
        plain.addOperation(there)
        adding.add(here, to: queue)
        plain.isSuspended = false
        await here.ended()
        await there.ended()
        #expect(try here.result?.get() == .success(1))
        #expect(try there.result?.get() == .success(1))
        await plain.idle()
        await queue.idle()
    }

    /// Cancelling asks an operation about its readiness, as a plain queue does: it comes to the queue nevertheless.
    @Test(arguments: Adding.allCases)
    func cancelledOnesThatAreInNoQueue_comeAlong(_ adding: Adding) async throws {
        let needed = Step()
        let producer = Value(1)
        let receiver = Keep<Int>()
        producer.addDependency(needed)
        producer.deliver(to: receiver)
        producer.cancel()
        needed.cancel()
        let added = Added()
        queue.delegate = added
        adding.add(receiver, to: queue)
        await receiver.ended()
        #expect(receiver.outcome?.isSuccess == true)
        #expect(added.log.entries.contains(ObjectIdentifier(producer)))
        await queue.idle()
    }
}

private final class Added: AOperationQueueDelegate {
    let log = Log<ObjectIdentifier>()

    func operationQueue(_ queue: AOperationQueue, willAddOperation operation: Foundation.Operation) {
        log.append(ObjectIdentifier(operation))
    }
}
