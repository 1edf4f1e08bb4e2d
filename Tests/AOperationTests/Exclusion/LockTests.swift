import Foundation
import Testing

@testable import AOperation

/// Mutual exclusion of operations.
@Suite(.timeLimit(Load.patience))
struct LockTests {
    /// Counts who is in; ends on another thread, so that holders would overlap if they could.
    static func worker(_ gauge: Gauge, _ keys: String..., limit: Int = 1) -> AOperationBlock {
        let operation = AOperationBlock { finish in
            gauge.enter()
            DispatchQueue.global().async {
                gauge.leave()
                finish()
            }
        }
        for key in keys { operation.exclusive(key, limit: limit) }
        return operation
    }

    @Test func neverTwoHolders_acrossQueues() async {
        let key = freshKey()
        let gauge = Gauge()
        let queues = [AOperationQueue(), AOperationQueue(slots: 1), AOperationQueue(slots: 3)]
        for index in 0..<900 { Self.worker(gauge, key).add(to: queues[index % 3]) }
        for queue in queues { await queue.idle() }
        #expect(gauge.most == 1)
    }

    @Test(arguments: [1, 2, 5])
    func limit_isHowManyHoldAtOnce(limit: Int) async {
        let key = freshKey()
        let gauge = Gauge()
        let queue = AOperationQueue()
        let gates = (0..<limit).map { _ in Gate().exclusive(key, limit: limit) }
        for gate in gates { gate.add(to: queue) }
        for gate in gates { await gate.started.wait() }  // that many at once
        for _ in 0..<200 { Self.worker(gauge, key, limit: limit).add(to: queue) }
        for gate in gates { gate.open() }
        await queue.idle()
        #expect(gauge.most <= limit)
    }

    @Test func smallestLimit_amongHoldersAndWaiters_counts() async {
        let key = freshKey()
        let queue = AOperationQueue(slots: 1)
        let wide = AOperationQueue()
        let holders = [Gate().exclusive(key, limit: 3), Gate().exclusive(key, limit: 3)]
        for holder in holders { wide.addOperation(holder) }
        for holder in holders { await holder.started.wait() }
        let narrow = Gate().exclusive(key, limit: 1)
        queue.addOperation(narrow)
        await queue.settled()
        let behind = Gate().exclusive(key, limit: 3)
        queue.addOperation(behind)
        await queue.settled()
        holders[0].open()
        await holders[0].ended()
        await queue.settled()
        #expect(!narrow.started.hasFired, "another one holds it")
        holders[1].open()
        await narrow.started.wait()
        #expect(!behind.started.hasFired)
        narrow.open()
        await behind.started.wait()
        behind.open()
        await behind.ended()
    }

    @Test func cancelledWaiterWithASmallLimit_letsTheOthersIn() async {
        let key = freshKey()
        let queue = AOperationQueue(slots: 1)
        let holder = Gate().exclusive(key, limit: 2)
        AOperationQueue().addOperation(holder)
        await holder.started.wait()
        let narrow = Step().exclusive(key, limit: 1)
        let behind = Step().exclusive(key, limit: 2)
        queue.addOperations([narrow, behind], waitUntilFinished: false)
        await queue.settled()
        #expect(behind.outcome == nil)
        narrow.cancel()
        await behind.ended()
        #expect(behind.outcome?.isSuccess == true)
        holder.open()
    }

    @Test func firstComeFirstServed() async {
        let key = freshKey()
        let holder = Gate().exclusive(key)
        AOperationQueue().addOperation(holder)
        await holder.started.wait()
        let log = Log<Int>()
        let queue = AOperationQueue(slots: 1)
        for index in 0..<100 { Step { log.append(index) }.exclusive(key).add(to: queue) }
        await queue.settled()
        holder.open()
        await queue.idle()
        #expect(log.entries == Array(0..<100))
    }

    /// One that needs many keys is not passed for ever by those that need one each.
    @Test func requestForManyKeys_isNotStarved() async {
        let keys = (0..<4).map { freshKey("\($0)") }
        let queue = AOperationQueue(slots: 1)
        let holders = keys.map { Gate().exclusive($0) }
        let wide = AOperationQueue()
        for holder in holders { wide.addOperation(holder) }
        for holder in holders { await holder.started.wait() }
        let log = Log<String>()
        let greedy = Step { log.append("greedy") }
        for key in keys { greedy.exclusive(key) }
        queue.addOperation(greedy)
        await queue.settled()
        for key in keys { for _ in 0..<20 { Step { log.append("single") }.exclusive(key).add(to: queue) } }
        await queue.settled()
        for holder in holders { holder.open() }
        await queue.idle()
        #expect(log.entries.first == "greedy")
        #expect(log.count == 81)
    }

    @Test func twoKeysAgainstEachOther_neverDeadlock() async {
        for _ in 0..<20 {
            let (a, b, c) = (freshKey("a"), freshKey("b"), freshKey("c"))
            let gauges = [a: Gauge(), b: Gauge(), c: Gauge()]
            let queue = AOperationQueue(slots: 4)
            let pairs = [[a, b], [b, a], [b, c], [c, a], [a, b, c], [c]]
            for _ in 0..<60 {
                let keys = pairs.randomElement() ?? [a]
                let operation = AOperationBlock { finish in
                    for key in keys { gauges[key]?.enter() }
                    DispatchQueue.global().async {
                        for key in keys { gauges[key]?.leave() }
                        finish()
                    }
                }
                for key in keys { operation.exclusive(key) }
                operation.add(to: queue)
            }
            await queue.idle()
            #expect(gauges.values.allSatisfy { $0.most == 1 })
        }
    }

    /// Exclusion is no order: a dependency of one that came later is no circle.
    @Test func D6_dependencyAgainstTheOrderOfAddition_underOneLock_runs() async {
        let key = freshKey()
        for slots in [1, 4] {
            let queue = AOperationQueue(slots: slots)
            let log = Log<Int>()
            let first = Step { log.append(1) }.exclusive(key)
            let second = Step { log.append(2) }.exclusive(key)
            second.addDependency(first)
            queue.addOperation(second)
            await queue.settled()
            queue.addOperation(first)
            await queue.idle()
            #expect(log.entries == [1, 2])
        }
    }

    /// The lock is taken before the dependent operation of the condition runs.
    @Test func D7_dependentsOfAnExclusiveCondition_neverRunAtOnce() async {
        struct UserAccess: AOperationCondition {
            static let isMutuallyExclusive = true
            let gauge: Gauge
            var dependentOperation: AOperation? { LockTests.worker(gauge) }
        }
        let gauge = Gauge()
        let queues = [AOperationQueue(), AOperationQueue(slots: 2)]
        for index in 0..<200 { Step().conditions(UserAccess(gauge: gauge)).add(to: queues[index % 2]) }
        for queue in queues { await queue.idle() }
        #expect(gauge.most == 1)
    }

    @Test func isMutuallyExclusive_worksForAnyConditionType_andMutuallyExclusive() async {
        struct Own: AOperationCondition { static let isMutuallyExclusive = true }
        enum Resource {}
        let own = Gauge()
        let resource = Gauge()
        let queue = AOperationQueue()
        for _ in 0..<Load.rounds(100) {
            Self.worker(own).conditions(Own()).add(to: queue)
            Self.worker(resource).conditions(MutuallyExclusive<Resource>()).add(to: queue)
        }
        await queue.idle()
        #expect(own.most == 1 && resource.most == 1)
    }

    enum Here { struct Access: AOperationCondition { static let isMutuallyExclusive = true } }
    enum There { struct Access: AOperationCondition { static let isMutuallyExclusive = true } }
    enum Elsewhere {
        struct Access: AOperationCondition {
            static let isMutuallyExclusive = true
            static let key = "LockTests.shared by name"
        }
    }
    enum Nowhere {
        struct Access: AOperationCondition {
            static let isMutuallyExclusive = true
            static let key = "LockTests.shared by name"
        }
    }

    /// Types of one name in different places are different locks; a key of their own makes them one.
    @Test func D30_typesOfOneName_shareNoLock_unlessTheyNameOne() async {
        let here = Gate().conditions(Here.Access())
        let there = Gate().conditions(There.Access())
        let queue = AOperationQueue()
        queue.addOperations([here, there], waitUntilFinished: false)
        await here.started.wait()
        await there.started.wait()
        here.open()
        there.open()
        let elsewhere = Gate().conditions(Elsewhere.Access())
        queue.addOperation(elsewhere)
        await elsewhere.started.wait()
        let serial = AOperationQueue(slots: 1)
        let nowhere = Step().conditions(Nowhere.Access())
        serial.addOperation(nowhere)
        await serial.settled()
        #expect(nowhere.outcome == nil)
        elsewhere.open()
        await nowhere.ended()
    }

    @Test func alertPresentation_isALock() async {
        #expect(AlertPresentation().exclusion == MutuallyExclusive<Alert>().exclusion)
        #expect(MutuallyExclusive<Alert>.key == "MutuallyExclusive<Alert>")
    }

    @Test func waitingForALock_takesNoSlot() async {
        let key = freshKey()
        let holder = Gate().exclusive(key)
        let queue = AOperationQueue(slots: 2)
        queue.addOperation(holder)
        await holder.started.wait()
        for _ in 0..<10 { Step().exclusive(key).add(to: queue) }
        let free = Step()
        queue.addOperation(free)
        await free.ended()
        holder.open()
        await queue.idle()
    }

    /// Two operations of one key, where the second is a dependent of a condition of the first.
    @Test func operation_andItsDependent_mayNameOneKey() async {
        let key = freshKey()
        let log = Log<String>()
        let operation = Step { log.append("operation") }
            .exclusive(key)
            .conditions(Rule(after: { Step { log.append("dependent") }.exclusive(key) }))
        await AOperationQueue(slots: 1).run(all: [operation])
        #expect(log.entries == ["dependent", "operation"])
        // The dependent's key is taken by the operation, whether it names it too or not.
        let gauge = Gauge()
        let queue = AOperationQueue()
        for _ in 0..<50 {
            Self.worker(gauge).conditions(Rule(after: { LockTests.worker(gauge, key) })).add(to: queue)
        }
        await queue.idle()
        #expect(gauge.most == 1)
    }
}
