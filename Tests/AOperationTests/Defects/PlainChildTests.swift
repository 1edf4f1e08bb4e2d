import Foundation
import Testing

@testable import AOperation

/// Plain Foundation operations in groups: their slots, and what cancels them.
@Suite(.timeLimit(Load.patience))
struct PlainChildTests {
    let queue = AOperationQueue()

    /// How many of `count` operations that wait for each other run at once; then lets them go.
    private func atOnce(_ count: Int) async -> Int {
        let gauge = Gauge()
        for _ in 0..<count {
            AOperationBlock { finish in
                gauge.enter()
                DispatchQueue.global().async {
                    gauge.leave()
                    finish()
                }
            }
            .add(to: queue)
        }
        await queue.idle()
        return gauge.most
    }

    @Test(arguments: [1, 2, -1])
    func groupCancelledBeforeItIsAdded_givesNoSlotBackThatItNeverHad(limit: Int) async {
        queue.maxConcurrentOperationCount = limit
        for _ in 0..<5 {
            let group = GroupOperation(BlockOperation {}, GroupOperation(BlockOperation {}))
            group.cancel()
            queue.addOperation(group)
            await group.ended()
        }
        let most = await atOnce(50)
        #expect(limit < 0 || most <= limit)
    }

    @Test(arguments: Stress.seeds)
    func groupsCancelledAtAnyMoment_keepTheLimit(seed: UInt64) async {
        var random = SeededGenerator(seed)
        queue.maxConcurrentOperationCount = 1
        for _ in 0..<20 {
            let inner = OrderedGroupOperation(BlockOperation {}, BlockOperation {})
            let group = GroupOperation(GroupOperation(BlockOperation {}), inner)
            group.add(to: queue)
            await jitter(.random(in: 0...4, using: &random))
            group.cancel()
            await group.ended()
        }
        #expect(await atOnce(20) <= 1)
    }

    @Test func cancelledGroup_endsAlthoughAPlainChildWaits() async {
        let never = BlockOperation {}
        let child = BlockOperation {}
        child.addDependency(never)
        let first = Step()
        let group = GroupOperation(first, child)
        group.add(to: queue)
        await first.ended()
        group.cancel()
        await group.ended()
        #expect(group.outcome?.isCancelled == true)
        #expect(child.isFinished && child.isCancelled)
        await queue.idle()
    }

    @Test func timedOutGroup_andCancelledQueue_endPlainChildrenThatWait() async {
        let never = BlockOperation {}
        let groups = (0..<2).map { _ -> GroupOperation in
            let child = BlockOperation {}
            child.addDependency(never)
            return GroupOperation(GroupOperation(child))
        }
        groups[0].addObserver(TimeoutObserver(0.01))
        groups[0].add(to: queue)
        await groups[0].ended()
        #expect(groups[0].outcome?.isFailure == true)
        groups[1].add(to: queue)
        queue.cancelAllOperations()
        await groups[1].ended()
        await queue.idle()
    }

    @Test func plainOperationThatHasFinished_isAChildThatHasEnded() async {
        let done = (0..<200).map { _ in BlockOperation {} }
        for operation in done { operation.start() }
        let log = Log<Int>()
        let group = OrderedGroupOperation(done + [Step { log.append(1) }])
        await group.add(to: queue).ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(log.count == 1)
    }

    @Test func plainOperationThatSomebodyElseRuns_isWaitedFor() async {
        let started = Signal()
        let goOn = DispatchSemaphore(value: 0)
        let other = BlockOperation {
            started.fire()
            goOn.wait()
        }
        Thread.detachNewThread { other.start() }
        await started.wait()
        let group = GroupOperation(other)
        group.add(to: queue)
        goOn.signal()
        await group.ended()
        #expect(group.outcome?.isSuccess == true)
        await queue.idle()
    }

    /// One that needs a slot of a queue that gives none would wait for ever.
    @Test(arguments: [true, false])
    func cancelledGroup_ofPlainChildren_needsNoSlot(isStarted: Bool) async {
        let started = Signal()
        let goOn = DispatchSemaphore(value: 0)
        queue.maxConcurrentOperationCount = isStarted ? 2 : 1
        let children = (0..<3).map { _ in BlockOperation {} }
        let never = BlockOperation {}
        for child in children { child.addDependency(never) }
        let first = Step()
        let group = GroupOperation([first] + children)
        if isStarted {
            group.add(to: queue)
            await first.ended()
            queue.isSuspended = true
        } else {
            queue.addOperation {
                started.fire()
                goOn.wait()
            }
            await started.wait()
            group.add(to: queue)
        }
        group.cancel()
        await group.ended()
        #expect(children.allSatisfy { $0.isFinished })
        queue.isSuspended = false
        goOn.signal()
        await queue.idle()
    }

    @Test(arguments: Stress.seeds)
    func childrenThatAreAddedWhileTheGroupIsCancelled_allEnd(seed: UInt64) async {
        var random = SeededGenerator(seed)
        let never = BlockOperation {}
        let group = GroupOperation(Step())
        group.add(to: queue)
        let children = (0..<60).map { _ in BlockOperation {} }
        for child in children { child.addDependency(never) }
        let moment = Int.random(in: 0..<60, using: &random)
        async let adding: Void = onThread { for child in children { group.addOperation(child) } }
        async let cancelling: Void = onThread {
            for _ in 0..<(moment * 50) where group.isFinished { break }
            group.cancel()
        }
        _ = await (adding, cancelling)
        await group.ended()
        await queue.idle()
    }

    @Test(arguments: Stress.seeds)
    func plainOperationsThatAreAddedWhileTheQueueIsCancelled_endIfTheyAreCancelled(seed: UInt64) async {
        let never = BlockOperation {}
        let operations = (0..<60).map { _ in BlockOperation {} }
        for operation in operations { operation.addDependency(never) }
        let queue = queue
        async let adding: Void = onThread { for operation in operations { queue.addOperation(operation) } }
        async let cancelling: Void = onThread {
            for _ in 0..<(Int(seed) * 50) where never.isFinished { break }
            queue.cancelAllOperations()
        }
        _ = await (adding, cancelling)
        for operation in operations where operation.isCancelled { await until { operation.isFinished } }
        queue.cancelAllOperations()
        await queue.idle()
    }

    @Test func plainOperationCancelledBeforehand_endsAtOnce() async {
        let operation = BlockOperation {}
        operation.addDependency(BlockOperation {})
        operation.cancel()
        queue.addOperation(operation)
        await queue.idle()
        #expect(operation.isFinished)
    }
}
