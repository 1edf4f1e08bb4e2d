import Foundation
import Testing

@testable import AOperation

/// How many may run at once, changed while they do; and barriers between groups.
@Suite(.timeLimit(Load.patience))
struct LimitChangeTests {
    let queue = AOperationQueue()

    @Test func limitsOfQueueAndGroup_changedAtAnyMoment_loseNobody() async {
        let (log, gauge) = (Log<Int>(), Gauge())
        let count = Load.count(200)
        let children = (0..<count).map { number in
            AOperationBlock { finish in
                gauge.enter()
                log.append(number)
                DispatchQueue.global().async {
                    gauge.leave()
                    finish()
                }
            }
        }
        let group = GroupOperation(children)
        (queue.maxConcurrentOperationCount, group.maxConcurrentOperationCount) = (0, 0)
        queue.addOperation(group)
        queue.maxConcurrentOperationCount = 4
        for round in 0..<500 {
            queue.maxConcurrentOperationCount = round % 4
            group.maxConcurrentOperationCount = round % 3
            await Task.yield()
        }
        queue.maxConcurrentOperationCount = 1
        group.maxConcurrentOperationCount = OperationQueue.defaultMaxConcurrentOperationCount
        await group.ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(Set(log.entries).count == count && log.count == count)
        #expect(gauge.most <= 4)
        await queue.idle()
    }

    @Test func barriersBetweenGroups_alsoCancelledOnes_andFromBarriers_runInTheirOrder() async {
        let log = Log<Int>()
        queue.maxConcurrentOperationCount = 2
        for round in 0..<20 {
            let group = GroupOperation(Step { log.append(2 * round) }, Step { log.append(2 * round) })
            queue.addOperation(group)
            if round.isMultiple(of: 3) { group.cancel() }
            queue.addBarrierBlock { [queue] in
                log.append(2 * round + 1)
                if round.isMultiple(of: 5) { queue.addBarrierBlock { log.append(100) } }
            }
        }
        await queue.idle()
        let rounds = log.entries.filter { $0 < 100 }
        #expect(rounds == rounds.sorted())
        #expect(rounds.filter { !$0.isMultiple(of: 2) } == (0..<20).map { 2 * $0 + 1 })
        #expect(log.count - rounds.count == 4)
    }

    @Test func suspendedQueueThatNobodyHolds_goesAway_whenItsOperationsAreCancelled() async {
        var queue: AOperationQueue? = AOperationQueue()
        queue?.isSuspended = true
        let chain = (0..<50).map { _ in Step() }
        for place in 1..<chain.count { chain[place].addDependency(chain[place - 1]) }
        let group = GroupOperation(Step(), Gate())
        let all: [VoidOperation] = chain + [group]
        queue?.addOperations(all, waitUntilFinished: false)
        let held = queue.map { Weak($0) }
        queue = nil
        #expect(held?.object != nil)
        for operation in all { operation.cancel() }
        for operation in all { await operation.ended() }
        #expect(all.allSatisfy { $0.outcome?.isCancelled == true })
        held?.object?.isSuspended = false
        await until { held?.object == nil }
        #expect(held?.object == nil)
    }
}
