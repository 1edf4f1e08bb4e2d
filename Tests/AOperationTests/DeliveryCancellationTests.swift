import Foundation
import Testing

@testable import AOperation

/// Cancelled receivers cancel a producer that nobody else needs.
@Suite(.timeLimit(Load.patience))
struct DeliveryCancellationTests {
    let queue = AOperationQueue()

    private func running(receivers count: Int) async -> (producer: Gate, receivers: [Keep<Void>]) {
        let producer = Gate("producer", isDeaf: true)
        let receivers = (0..<count).map { _ in producer.deliver(to: Keep<Void>()) }
        producer.add(to: queue)
        await producer.started.wait()
        return (producer, receivers)
    }

    // A cost that rises with the square of their number would meet the time limit.
    @Test func manyReceivers_cancelledInOrder_cancelTheProducerWithTheLast() async {
        let (producer, receivers) = await running(receivers: Load.count(40_000))
        for receiver in receivers.dropLast() { receiver.cancel() }
        #expect(!producer.isCancelled)
        receivers.last?.cancel()
        #expect(producer.isCancelled)
        producer.open()
        await queue.idle()
    }

    enum Place: CaseIterable { case noQueue, group, suspendedFoundationQueue }

    // As above.
    @Test(arguments: Place.allCases) func longChain_thatHasNotBegun_isCancelledFromItsEnd(place: Place) async {
        var chain: [ResultableOperation<Int>] = [Value(0)]
        for _ in 1..<Load.count(20_000) { chain.append(chain[chain.count - 1].deliver(to: PassOn<Int>())) }
        let foundation = OperationQueue()
        foundation.isSuspended = true
        let group = place == .group ? GroupOperation(chain) : nil
        if place == .suspendedFoundationQueue { foundation.addOperation(chain[chain.count - 1]) }
        chain[chain.count - 1].cancel()
        #expect(chain.allSatisfy { $0.isCancelled })
        group?.cancel()
        foundation.isSuspended = false
        await onThread { foundation.waitUntilAllOperationsAreFinished() }
    }

    @Test(arguments: 0..<20) func inWhateverOrder_theLastCancelsTheProducer(seed: UInt64) async {
        var random = Dice(state: seed)
        let (producer, receivers) = await running(receivers: 12)
        var order = receivers.shuffled(using: &random)
        let last = order.removeLast()
        for receiver in order {
            receiver.cancel()
            #expect(!producer.isCancelled, "seed \(seed)")
        }
        last.cancel()
        #expect(producer.isCancelled, "seed \(seed)")
        producer.open()
        await queue.idle()
    }

    @Test func receiverThatComesLate_needsTheProducer() async {
        let (producer, receivers) = await running(receivers: 3)
        for receiver in receivers.dropLast() { receiver.cancel() }
        let late = producer.deliver(to: Keep<Void>())
        late.add(to: queue)
        receivers.last?.cancel()
        #expect(!producer.isCancelled)
        late.cancel()
        #expect(producer.isCancelled)
        producer.open()
        await queue.idle()
    }

    @Test func dependentThatIsRemoved_needsTheProducerNoMore() async {
        let (producer, receivers) = await running(receivers: 2)
        let dependents = (0..<2).map { _ in Step() }
        for dependent in dependents {
            dependent.addDependency(producer)
            queue.addOperation(dependent)
        }
        receivers[0].cancel()
        dependents[0].removeDependency(producer)
        receivers[1].cancel()
        #expect(!producer.isCancelled, "the other one waits for it")
        producer.open()
        await queue.idle()
        #expect(producer.outcome?.isSuccess == true)
    }

    @Test func dependentInNoQueue_needsTheProducer() async {
        let (producer, receivers) = await running(receivers: 3)
        let dependents = (0..<2).map { _ in Step() }
        for dependent in dependents { dependent.addDependency(producer) }
        receivers[0].cancel()
        dependents[0].cancel()
        receivers[1].cancel()
        #expect(!producer.isCancelled, "the other dependent may yet be added")
        queue.addOperation(dependents[1])
        receivers[2].cancel()
        #expect(!producer.isCancelled, "the other dependent waits for it")
        producer.open()
        await queue.idle()
        #expect(producer.outcome?.isSuccess == true)
    }

    enum Withdrawal: CaseIterable { case removed, cancelled, released, late }

    @Test(arguments: Withdrawal.allCases) func dependentInNoQueue_thatNeverComes_needsTheProducerNoMore(how: Withdrawal) async {
        let (producer, receivers) = await running(receivers: 1)
        var dependent: Step? = Step()
        dependent?.addDependency(producer)
        switch how {
        case .removed: dependent?.removeDependency(producer)
        case .cancelled: dependent?.cancel()
        case .released: dependent = nil
        case .late: dependent?.deadline(.zero).add(to: queue)
        }
        receivers[0].cancel()
        #expect(producer.isCancelled)
        producer.open()
        await queue.idle()
        withExtendedLifetime(dependent) {}
    }

    @Test func receiverCancelledBeforeItIsAdded_leavesTheProducerToItsDependent() async {
        let producer = Value(1)
        let receiver = producer.deliver(to: Keep<Int>())
        let dependent = Step()
        dependent.addDependency(producer)
        receiver.cancel()
        #expect(!producer.isCancelled)
        queue.addOperations([receiver, dependent], waitUntilFinished: false)
        await queue.idle()
        #expect(dependent.outcome?.isSuccess == true)
    }

    /// The first of an id, which runs, who receives from it, and who has joined it.
    private func joined() async -> (first: UniqueGate, receiver: Keep<Int>, joiner: UniqueGate) {
        let id = freshKey("id")
        let first = UniqueGate(id, "first")
        let receiver = first.deliver(to: Keep<Int>())
        first.add(to: queue)
        await first.started.wait()
        let joiner = UniqueGate(id, "joiner", onDuplicate: .join)
        queue.addOperation(joiner)
        return (first, receiver, joiner)
    }

    @Test func duplicateThatHasJoined_needsTheProducer() async {
        let (first, receiver, joiner) = await joined()
        receiver.cancel()
        #expect(!first.isCancelled, "the joiner ends as it does")
        first.open(7)
        await queue.idle()
        #expect(joiner.outcome == .success(7))
    }

    @Test func duplicateThatWasCancelled_needsTheProducerNoMore() async {
        let (first, receiver, joiner) = await joined()
        joiner.cancel()
        receiver.cancel()
        #expect(first.isCancelled)
        first.open()
        await queue.idle()
    }

    @Test func taskThatAwaitsItsValue_needsTheProducer() async throws {
        let queue = queue
        let producer = Gate("producer", isDeaf: true)
        let receiver = producer.deliver(to: Keep<Void>())
        let task = Task { try await producer.value(on: queue) }
        await producer.started.wait()
        receiver.cancel()
        #expect(!producer.isCancelled)
        producer.open()
        try await task.value
        #expect(producer.core.withLock { $0.declaredDependents } == 0)
        await queue.idle()
    }
}
