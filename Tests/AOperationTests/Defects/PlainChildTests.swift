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
}
