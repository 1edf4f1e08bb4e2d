import Foundation
import Testing

@testable import AOperation

/// AOperations in Foundation's own queue.
@Suite(.timeLimit(Load.patience))
struct FoundationQueueTests {
    let queue = OperationQueue()

    @Test func operation_group_andDeliveryChain_run() async throws {
        let log = Log<Int>()
        let group = OrderedGroupOperation(Step { log.append(1) }, Step { log.append(2) })
        let tail = Value(1).deliver(to: PassOn()).deliver(to: Keep())
        queue.addOperation(group)
        queue.addOperation(tail)
        await queue.idle()
        #expect(log.entries == [1, 2])
        #expect(try tail.result?.get() == .success(1))
    }

    @Test func dependencies_areWaitedFor() async {
        let log = Log<Int>()
        let one = BlockOperation { log.append(1) }
        let two = Step { log.append(2) }
        let three = Step { log.append(3) }
        two.addDependency(one)
        three.addDependency(two)
        for operation in [three, two, one] as [Foundation.Operation] { queue.addOperation(operation) }
        await queue.idle()
        #expect(log.entries == [1, 2, 3])
    }

    @Test func cancelledBeforeTheStart_leavesTheQueue() async {
        queue.isSuspended = true
        let operation = Step()
        queue.addOperation(operation)
        operation.cancel()
        #expect(operation.outcome?.isCancelled == true)
        queue.isSuspended = false
        await queue.idle()
        queue.addOperation(Step())
        await queue.idle()
        #expect(queue.operations.isEmpty)
    }

    @Test func slotIsHeld_untilTheBodyEnds() async {
        queue.maxConcurrentOperationCount = 1
        let deaf = Gate(isDeaf: true)
        let next = Step()
        for operation in [deaf, next] as [Foundation.Operation] { queue.addOperation(operation) }
        await deaf.started.wait()
        deaf.cancel()
        #expect(next.outcome == nil)
        deaf.open()
        await queue.idle()
        #expect(next.outcome?.isSuccess == true)
    }

    @Test func startByHand_runsAtOnce() {
        let log = Log<Int>()
        let operation = Step { log.append(1) }
        operation.start()
        #expect(log.count == 1)
        #expect(operation.isFinished)
        operation.start()
        #expect(log.count == 1)
    }

    @Test func waitingOperations_takeNoSlot_inASerialQueue() async {
        queue.maxConcurrentOperationCount = 1
        let log = Log<Int>()
        let plain = BlockOperation { log.append(1) }
        let second = Step { log.append(2) }
        second.addDependency(plain)
        let third = Step { log.append(3) }
        third.addDependency(second)
        let fourth = BlockOperation { log.append(4) }
        fourth.addDependency(third)
        for operation in [fourth, third, second, plain] as [Foundation.Operation] { queue.addOperation(operation) }
        await queue.idle()
        #expect(log.entries == [1, 2, 3, 4])
    }

    @Test func deliveryChain_startedAtItsEnd_runsInASerialQueue() async throws {
        queue.maxConcurrentOperationCount = 1
        let head = Value(1)
        let tail = head.deliver(to: PassOn()).deliver(to: Keep())
        queue.addOperation(tail)
        queue.addOperation(head)
        await queue.idle()
        #expect(try tail.result?.get() == .success(1))
    }

    @Test func removedDependency_isNotWaitedFor() async {
        queue.maxConcurrentOperationCount = 1
        let never = Gate()
        let neverPlain = BlockOperation {}
        let operation = Step()
        operation.addDependency(never)
        operation.addDependency(neverPlain)
        queue.addOperation(operation)
        queue.addOperation(Step())
        operation.removeDependency(never)
        operation.removeDependency(neverPlain)
        await queue.idle()
        #expect(operation.outcome?.isSuccess == true)
    }

    /// It is the producer that waited: the receiver starts it.
    @Test func removedDependencyOfAProducer_isNotWaitedFor() async {
        for _ in 0..<Load.rounds(100) {
            let blocker = Step()
            let (producer, receiver) = (Value(1), Keep<Int>())
            producer.addDependency(blocker)
            producer.deliver(to: receiver)
            queue.addOperation(receiver)
            DispatchQueue.global().async { producer.removeDependency(blocker) }
            await receiver.ended()
            await queue.idle()
            #expect(receiver.outcome?.isSuccess == true)
        }
    }

    @Test func cancelledProducer_isNotWaitedFor() async {
        for _ in 0..<Load.rounds(100) {
            let blocker = Step()
            let (producer, other, receiver) = (Value(1), Value(2), Keep<[Int]>())
            producer.addDependency(blocker)
            [producer, other].deliver(to: receiver)
            queue.addOperation(receiver)
            DispatchQueue.global().async { producer.cancel() }
            await receiver.ended()
            await queue.idle()
            #expect(receiver.outcome?.isSuccess == true)
        }
    }

    /// The queue watches the plain dependency as well: it is counted once.
    @Test func removedPlainDependencyOfAStartedReceiver_isCountedOnce() async {
        let (producer, receiver) = (Gate(), Keep<Void>())
        let (removed, kept) = (BlockOperation {}, Gate())
        producer.deliver(to: receiver)
        receiver.addDependency(removed)
        receiver.addDependency(kept)
        for operation in [receiver, producer] { queue.addOperation(operation) }
        await producer.started.wait()
        receiver.removeDependency(removed)
        queue.addOperation(removed)
        queue.addOperation(kept)
        await kept.started.wait()
        producer.open()
        await producer.ended()
        #expect(receiver.outcome == nil)
        kept.open()
        await receiver.ended()
        #expect(receiver.outcome?.value.flatMap(\.self) != nil)
        await queue.idle()
    }

    @Test(arguments: [1, 2, -1])
    func receiverThatIsStartedByItsProducer_takesNoSlotWhileItWaits(slots: Int) async {
        queue.maxConcurrentOperationCount = slots
        let producer = Value(1)
        let receivers = (0..<3).map { _ in Keep<Int>() }
        let blocker = BlockOperation {}
        for receiver in receivers {
            producer.deliver(to: receiver)
            receiver.addDependency(blocker)
        }
        for operation in [producer] + receivers + [blocker] { queue.addOperation(operation) }
        for receiver in receivers { await receiver.ended() }
        await queue.idle()
        #expect(receivers.allSatisfy { $0.outcome?.isSuccess == true })
    }

    @Test(arguments: [1, 2, -1])
    func dependencyAddedInTheQueue_isWaitedForWithoutASlot(slots: Int) async {
        queue.maxConcurrentOperationCount = slots
        queue.isSuspended = true
        let dependents = (0..<3).map { _ in Step() }
        let (producer, receiver) = (Value(1), Keep<Int>())
        producer.deliver(to: receiver)
        for operation in dependents + [receiver] { queue.addOperation(operation) }
        let last = BlockOperation {}
        queue.addOperation(last)
        for operation in dependents + [producer] { operation.addDependency(last) }
        let late = Value(2)
        late.deliver(to: receiver)
        queue.isSuspended = false
        await receiver.ended()
        await queue.idle()
        #expect(dependents.allSatisfy { $0.outcome?.isSuccess == true })
        #expect(receiver.outcome?.isSuccess == true)
    }

    @Test func cancelledDependencyThatIsInNoQueue_letsItsDependentStart() async {
        let dependency = Gate()
        let operation = Step()
        operation.addDependency(dependency)
        queue.addOperation(operation)
        dependency.cancel()
        await queue.idle()
        #expect(operation.outcome?.isSuccess == true)
    }

    /// Each waits for the one before it, and notes its number.
    private func addChain(of count: Int, to queue: OperationQueue, _ log: Log<Int>) {
        var last: Step?
        for index in 0..<count {
            let step = Step { log.append(index) }
            if let last { step.addDependency(last) }
            last = step
            queue.addOperation(step)
        }
    }

    @Test func chainInAPlainQueue_runsInOrder() async {
        let plain = OperationQueue()
        let log = Log<Int>()
        let count = Load.count(1_000)
        addChain(of: count, to: plain, log)
        await plain.idle()
        #expect(log.entries == Array(0..<count))
    }

    /// Somebody waits for a lock, so circles are looked for; and somewhere dependencies are removed all the time, so what was in the way of each
    /// operation is looked for again each time Foundation asks, which it does n times about each of n.
    @Test func chainInAPlainQueue_besideALock_andDependenciesThatAreRemoved_runsInOrder() async {
        let key = freshKey()
        let holder = Gate().exclusive(key)
        let locks = AOperationQueue()
        locks.addOperation(holder)
        await holder.started.wait()
        Step().exclusive(key).add(to: locks)
        let hasEnded = Log<Bool>()
        let (never, other, blocked) = (Gate(), Gate(), Step())
        blocked.addDependencies([never, other])
        let removing = OperationQueue()
        removing.addOperation(blocked)
        let removals = Task {
            while hasEnded.entries.isEmpty {
                blocked.removeDependency(other)
                blocked.addDependency(other)
                await Task.yield()
            }
            blocked.removeDependency(never)
            blocked.removeDependency(other)
            await blocked.ended()
        }
        let log = Log<Int>()
        let count = Load.count(1_000)
        addChain(of: count, to: queue, log)
        await queue.idle()
        hasEnded.append(true)
        await removals.value
        holder.open()
        await locks.idle()
        #expect(log.entries == Array(0..<count))
    }

    @Test func operationsThatBecomeReadyWhileTheyAreAdded_allStart() async {
        queue.maxConcurrentOperationCount = 2
        for round in 0..<Load.count(2_000) {
            let first: Foundation.Operation = round.isMultiple(of: 2) ? Step() : BlockOperation {}
            let second = Step()
            second.addDependency(first)
            let other = OperationQueue()
            DispatchQueue.global().async { other.addOperation(first) }
            queue.addOperation(second)
            await second.ended()
        }
        await queue.idle()
    }
}
