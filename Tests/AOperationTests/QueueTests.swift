import Foundation
import Testing

@testable import AOperation

/// Suspends the queue before it starts its children.
private final class SuspendingGroup: GroupOperation, @unchecked Sendable {
    let allAreReady = Signal()
    private let queue: OperationQueue

    init(_ children: [Foundation.Operation], suspending queue: OperationQueue) {
        self.queue = queue
        super.init(children)
    }

    override func execute() {
        queue.isSuspended = true
        super.execute()
        allAreReady.fire()
    }
}

@Suite(.timeLimit(Load.patience))
struct QueueTests {
    let queue = AOperationQueue()

    @Test func dependencies_workInBothDirections_withPlainOperations() async {
        let log = Log<Int>()
        let one = BlockOperation { log.append(1) }
        let two = Step { log.append(2) }
        let three = BlockOperation { log.append(3) }
        let four = Step { log.append(4) }
        let five = BlockOperation { log.append(5) }
        two.addDependency(one)
        three.addDependency(two)
        four.addDependency(three)
        five.addDependency(three)
        five.addDependency(four)
        queue.addOperations([five, four, three, two, one], waitUntilFinished: false)
        await queue.idle()
        #expect(log.entries == [1, 2, 3, 4, 5])
    }

    @Test func dependencies_workAcrossQueues() async {
        let other = OperationQueue()
        let log = Log<Int>()
        for _ in 0..<50 {
            let plain = BlockOperation { log.append(1) }
            let ours = Step { log.append(2) }
            let plainAfter = BlockOperation { log.append(3) }
            ours.addDependency(plain)
            plainAfter.addDependency(ours)
            queue.addOperation(ours)
            other.addOperation(plain)
            other.addOperation(plainAfter)
            await queue.idle()
            await other.idle()
        }
        #expect(log.count == 150)
        #expect(Array(log.entries.prefix(3)) == [1, 2, 3])
    }

    @Test func dependencyAddedToAWaitingPlainOperation_doesNotBlockTheQueue() async {
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let log = Log<Int>()
        let first = BlockOperation { log.append(2) }
        queue.addOperation(first)
        let second = BlockOperation { log.append(1) }
        first.addDependency(second)
        queue.addOperation(second)
        queue.isSuspended = false
        await queue.idle()
        #expect(log.entries == [1, 2])
    }

    @Test func dependentsOfAFailedOrCancelledOperation_run() async {
        let cancelled = Step("cancelled")
        let after = Step("after")
        after.addDependency(cancelled)
        let afterFailure = Step()
        let failing = Failing<Int>("x")
        afterFailure.addDependency(failing)
        cancelled.cancel()
        queue.addOperations([after, cancelled, afterFailure, failing], waitUntilFinished: false)
        await queue.idle()
        #expect(after.outcome?.isSuccess == true)
        #expect(afterFailure.outcome?.isSuccess == true)
    }

    @Test func suspension_startsNothing_alsoInAGroupThatRuns() async {
        let gate = Gate()
        let next = Step()
        let group = OrderedGroupOperation(gate, next)
        queue.addOperation(group)
        await gate.started.wait()
        queue.isSuspended = true
        let top = Step()
        queue.addOperation(top)
        gate.open()
        await gate.ended()
        #expect(next.outcome == nil)
        #expect(top.outcome == nil)
        #expect(queue.isSuspended)
        #expect(queue.operations.map { ObjectIdentifier($0) } == [ObjectIdentifier(group), ObjectIdentifier(top)])
        queue.isSuspended = false
        await queue.idle()
        #expect(next.outcome?.isSuccess == true)
        #expect(top.outcome?.isSuccess == true)
    }

    @Test(arguments: [1, 2, 5])
    func maxConcurrentOperationCount_holdsForOperationsOfBothKinds(limit: Int) async {
        queue.maxConcurrentOperationCount = limit
        #expect(queue.maxConcurrentOperationCount == limit)
        let gauge = Gauge()
        for index in 0..<60 {
            if index.isMultiple(of: 3) {
                queue.addOperation(
                    BlockOperation {
                        gauge.enter()
                        gauge.leave()
                    })
            } else {
                queue.addOperation(
                    AOperationBlock { finish in
                        gauge.enter()
                        DispatchQueue.global().async {
                            gauge.leave()
                            finish()
                        }
                    })
            }
        }
        await queue.idle()
        #expect(gauge.most <= limit)
    }

    @Test func groupOfVeryManyReadyChildren_isStartedWithoutADeepStack() async {
        let group = SuspendingGroup((0..<Load.count(30_000)).map { _ in Step() }, suspending: queue)
        queue.addOperation(group)
        await group.allAreReady.wait()
        queue.isSuspended = false
        await group.ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(group.outcomes.count == Load.count(30_000))
    }

    @Test func raisingTheLimit_startsWhatWaits() async {
        queue.maxConcurrentOperationCount = 0
        let operation = Step()
        queue.addOperation(operation)
        #expect(operation.outcome == nil)
        queue.maxConcurrentOperationCount = OperationQueue.defaultMaxConcurrentOperationCount
        await operation.ended()
    }

    @Test func priority_decidesAmongReadyOperations() async {
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let log = Log<Int>()
        for priority in [Foundation.Operation.QueuePriority.veryLow, .low, .normal, .high, .veryHigh] {
            let operation = Step { log.append(priority.rawValue) }
            operation.queuePriority = priority
            queue.addOperation(operation)
        }
        queue.isSuspended = false
        await queue.idle()
        #expect(log.entries == [8, 4, 0, -4, -8])
    }

    @Test func barrier_runsBetweenWhatCameBeforeAndAfter() async {
        let log = Log<Int>()
        let gates = [Gate(), Gate()]
        for gate in gates { queue.addOperation(gate.didStart { log.append(1) }) }
        queue.addBarrierBlock { log.append(2) }
        for _ in 0..<3 { queue.addOperation(Step { log.append(3) }) }
        queue.addBarrierBlock { log.append(4) }
        queue.addOperation(BlockOperation { log.append(5) })
        for gate in gates {
            await gate.started.wait()
            gate.open()
        }
        await queue.idle()
        #expect(log.entries == [1, 1, 2, 3, 3, 3, 4, 5])
    }

    @Test func barrierInAnEmptyQueue_runs() async {
        let ran = Signal()
        queue.addBarrierBlock { ran.fire() }
        await ran.wait()
        await queue.idle()
    }

    @Test func cancelAllOperations_endsWaitingAndRunningOnes() async {
        let gate = Gate()
        let waiting = Step()
        waiting.addDependency(gate)
        let plain = BlockOperation {}
        let blocker = Gate("never added")
        plain.addDependency(blocker)
        queue.addOperations([gate, waiting, plain], waitUntilFinished: false)
        await gate.started.wait()
        queue.cancelAllOperations()
        await queue.idle()
        #expect(gate.outcome?.isCancelled == true)
        #expect(waiting.outcome?.isCancelled == true)
        #expect(plain.isCancelled && plain.isFinished)
        blocker.cancel()
    }

    @Test func addOperations_canWaitUntilFinished() async {
        let queue = queue
        let operations: [Foundation.Operation] = [Step(), BlockOperation {}, GroupOperation(Step())]
        await onThread { queue.addOperations(operations, waitUntilFinished: true) }
        #expect(operations.allSatisfy { $0.isFinished })
    }

    @Test func operations_areListedUntilTheyEnd() async {
        queue.isSuspended = true
        let operations = [Step(), Step()]
        queue.addOperations(operations, waitUntilFinished: false)
        #expect(queue.operations.map { ObjectIdentifier($0) } == operations.map { ObjectIdentifier($0) })
        #expect((queue as OperationQueue).operations.count == 2)
        queue.isSuspended = false
        await queue.idle()
        #expect(queue.operations.isEmpty)
    }

    @Test func addingTwice_isHarmless() async {
        let runs = Log<Int>()
        let operation = Step { runs.append(1) }
        let ends = Log<Int>()
        operation.didFinish { _ in ends.append(1) }
        operation.add(to: queue)
        operation.add(to: queue)
        AOperationQueue.shared.addOperation(operation)
        await operation.ended()
        operation.add(to: queue)
        await callbacksDelivered()
        await queue.idle()
        #expect(runs.count == 1)
        #expect(ends.count == 1)
    }

    /// What the delegate of a queue is told.
    private final class Told: AOperationQueueDelegate, Sendable {
        let log = Log<String>()

        func operationQueue(_ queue: AOperationQueue, willAddOperation operation: Foundation.Operation) {
            log.append("will add \(operation.name ?? "plain")")
        }

        func operationQueue(
            _ queue: AOperationQueue, operationDidFinish operation: Foundation.Operation, withErrors errors: [AOperationError]
        ) {
            log.append("finished \(operation.name ?? "plain") \(errors.count)")
        }
    }

    @Test func delegate_isToldOfEveryOperation() async {
        let delegate = Told()
        queue.delegate = delegate
        for operation in [Step("a"), Failing<Int>("b"), BlockOperation {}] {
            queue.addOperation(operation)
            await queue.idle()
        }
        #expect(
            delegate.log.entries == [
                "will add a", "finished a 0", "will add b", "finished b 1", "will add plain", "finished plain 0",
            ])
    }

    @Test func whatWasCancelledBeforeItIsAdded_isToldToTheDelegate_andCounted_once() async {
        let delegate = Told()
        queue.delegate = delegate
        queue.progress.totalUnitCount = 5
        let (first, second, group) = (Step("first"), Step("second"), GroupOperation(Step("child")))
        let (producer, receiver) = (Value(1, name: "producer"), Keep<Int>())
        producer.deliver(to: receiver)
        receiver.name = "receiver"
        group.name = "group"
        for operation in [first, second, group, producer] as [AOperation] { operation.cancel() }
        queue.addOperation(first)
        queue.addOperation(first)
        first.add(to: queue)
        await onThread { [queue] in queue.addOperations([second, group, second], waitUntilFinished: true) }
        receiver.add(to: queue)
        for operation in [group, receiver] as [AOperation] { await operation.ended() }
        await queue.idle()
        let log = delegate.log.entries
        for name in ["first", "second", "group", "producer"] {
            #expect(log.filter { $0.hasSuffix(" \(name)") || $0.contains(" \(name) ") } == ["will add \(name)", "finished \(name) 1"])
        }
        #expect(log.filter { $0.contains("receiver") } == ["will add receiver", "finished receiver 0"])
        #expect(log.count == 10)
        #expect(queue.progress.completedUnitCount == 5)
    }

    @Test func operationsThatAreCancelledWhileTheyAreAdded_areCountedOnce() async {
        let queue = AOperationQueue()
        let count = Load.rounds(300)
        queue.progress.totalUnitCount = Int64(count)
        for _ in 0..<count {
            let operation = Step()
            DispatchQueue.global().async { operation.cancel() }
            queue.addOperation(operation)
            await operation.ended()
        }
        await queue.idle()
        await until { queue.progress.completedUnitCount == Int64(count) }
        #expect(queue.progress.completedUnitCount == Int64(count))
    }

    @Test func queueLives_asLongAsItHasOperations() async {
        let gate = Gate()
        let next = Step()
        next.addDependency(gate)
        weak var weakly: AOperationQueue?
        do {
            let queue = AOperationQueue()
            weakly = queue
            queue.addOperations([gate, next], waitUntilFinished: false)
        }
        await gate.started.wait()
        #expect(weakly != nil)
        gate.open()
        await next.ended()
        #expect(next.outcome?.isSuccess == true)
    }

    @Test func underlyingQueue_runsTheOperations() async {
        let key = DispatchSpecificKey<Int>()
        let own = DispatchQueue(label: "own")
        own.setSpecific(key: key, value: 1)
        queue.underlyingQueue = own
        let log = Log<Int?>()
        queue.addOperation(Step { log.append(DispatchQueue.getSpecific(key: key)) })
        queue.addOperation(GroupOperation(Step { log.append(DispatchQueue.getSpecific(key: key)) }))
        let plain = BlockOperation { log.append(DispatchQueue.getSpecific(key: key)) }
        queue.addOperation(GroupOperation(GroupOperation(plain)))
        await queue.idle()
        #expect(log.entries == [1, 1, 1])
    }

    @Test func blocks_runInTheQueue() async {
        let log = Log<Int>()
        queue.addOperation { log.append(1) }
        await queue.idle()
        #expect(log.count == 1)
    }

    @Test func L6_groupAndDidFinish_whileTheMainQueueIsBlocked_needNothingOfIt() async {
        // The tests' main thread runs no main loop that this suite could rely on: all of the above shows it. Here the
        // main queue is busy for the whole time.
        let release = DispatchSemaphore(value: 0)
        let isBusy = Signal()
        DispatchQueue.main.async {
            isBusy.fire()
            release.wait()
        }
        await isBusy.wait()
        let told = Signal()
        let group = GroupOperation(Step(), GroupOperation(Value(1).deliver(to: PassOn())))
        group.didFinish { _ in told.fire() }.add(to: queue)
        await told.wait()
        release.signal()
    }

    /// The group only waits for it, and gives its slot back meanwhile.
    @Test(arguments: [1, 2])
    func childThatIsInTheQueueItself_isWaitedForWithoutASlot(slots: Int) async {
        let queue = AOperationQueue(slots: slots)
        let gate = Gate()
        let child = Step()
        child.addDependency(gate)
        let groups = (0..<slots).map { _ in GroupOperation(child) }
        queue.addOperations([gate, child] + groups, waitUntilFinished: false)
        await gate.started.wait()
        gate.open()
        await queue.idle()
        #expect(child.outcome?.isSuccess == true)
        #expect(groups.allSatisfy { $0.outcome?.isSuccess == true })
    }

    @Test func dependencyRemovedWhileItsDependentIsAdded_isNotWaitedFor() async {
        let queue = AOperationQueue()
        for round in 0..<Load.rounds(2_000) {
            let never: Foundation.Operation = round.isMultiple(of: 2) ? BlockOperation {} : Step()
            let operation = Step()
            operation.addDependency(never)
            DispatchQueue.global().async { operation.removeDependency(never) }
            queue.addOperation(operation)
            await operation.ended()
        }
    }

    @Test func progress_hasCountedWhatAddOperationsHasWaitedFor() async {
        for _ in 0..<Load.rounds(200) {
            let queue = AOperationQueue()
            queue.progress.totalUnitCount = 3
            await onThread { queue.addOperations([Step(), Step(), BlockOperation {}], waitUntilFinished: true) }
            #expect(queue.progress.completedUnitCount == 3)
        }
    }

    /// A group in which nothing can run does not count among those that run.
    @Test(arguments: [1, 2], [1, 3, -1])
    func innerGroupThatWaitsForItsSibling_leavesItItsPlace(limit: Int, slots: Int) async {
        let queue = AOperationQueue(slots: slots)
        let last = Step()
        let waiting = (0..<6).map { _ -> GroupOperation in
            let child = Step()
            child.addDependency(last)
            return GroupOperation(GroupOperation(child), Step())
        }
        let group = GroupOperation(waiting + [last])
        group.maxConcurrentOperationCount = limit
        queue.addOperation(group)
        await group.ended()
        await queue.idle()
        #expect(group.outcome?.isSuccess == true)
    }

    @Test func innerGroups_countAsOneEach_underTheLimit() async {
        let queue = AOperationQueue()
        let gauge = Gauge()
        final class Inner: GroupOperation, @unchecked Sendable {
            var gauge: Gauge?
            override func execute() {
                gauge?.enter()
                super.execute()
            }
            override func operationDidFinish(_ operation: Foundation.Operation, withErrors errors: [AOperationError]) {
                gauge?.leave()
            }
        }
        let inner = (0..<20).map { _ -> Inner in
            let inner = Inner(Step())
            inner.gauge = gauge
            return inner
        }
        let group = GroupOperation(inner)
        group.maxConcurrentOperationCount = 2
        queue.addOperation(group)
        await group.ended()
        #expect(gauge.most <= 2)
    }
}
