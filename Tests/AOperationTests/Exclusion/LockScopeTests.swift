import Foundation
import Testing

@testable import AOperation

/// Locks of groups, and of what is inside of them.
@Suite(.timeLimit(Load.patience))
struct LockScopeTests {
    let key = freshKey()
    let queue = AOperationQueue()
    let serial = AOperationQueue(slots: 1)

    /// Children are not in a queue before the group starts: nothing is taken for them.
    @Test func D4_groupThatNeverStarts_holdsNothing() async {
        let abandoned = GroupOperation(Step().exclusive(key), UniqueStep(key))
        await serial.run(all: [Step().exclusive(key), UniqueStep(key)])
        let gate = Gate()
        let waiting = GroupOperation(Step().exclusive(key), UniqueStep(key))
        waiting.addDependency(gate)
        queue.addOperations([gate, waiting], waitUntilFinished: false)
        await gate.started.wait()
        let unique = UniqueStep(key)
        await serial.run(all: [Step().exclusive(key), unique])
        #expect(unique.outcome?.isSuccess == true)
        gate.open()
        await waiting.ended()
        #expect(waiting.outcome?.isSuccess == true)
        withExtendedLifetime(abandoned) {}
    }

    @Test func D4_droppedGroups_leakNothing() async {
        let released = Signal()
        for kind in 0..<3 {
            let tracer = Tracer(released)
            let child = Step { _ = tracer }.exclusive(key).conditions(Rule(after: { Step { _ = tracer } }))
            let group = kind == 0 ? GroupOperation(child) : OrderedGroupOperation(child)
            group.exclusive(key)
            if kind == 2 { group.cancel() }
        }
        await released.wait()
        await serial.run(all: [Step().exclusive(key)])
        #expect(!LockTable.shared.knows(key))
    }

    /// The group lends its lock to its children.
    @Test func D5_groupAndChild_withTheSameKey_run() async {
        let gauge = Gauge()
        let group = GroupOperation((0..<10).map { _ in LockTests.worker(gauge, key) })
        group.exclusive(key)
        let rivals = (0..<10).map { _ in LockTests.worker(gauge, key) }
        for operation in [group] + rivals { operation.add(to: queue) }
        await queue.idle()
        #expect(group.outcome?.isSuccess == true)
        #expect(gauge.most == 1)
    }

    @Test func D5_groupsInGroups_withTheSameKey_run_onOneSlot() async {
        let gauge = Gauge()
        let innermost = OrderedGroupOperation(LockTests.worker(gauge, key), LockTests.worker(gauge, key))
        innermost.exclusive(key)
        let inner = GroupOperation(innermost, LockTests.worker(gauge, key))
        inner.exclusive(key)
        let group = GroupOperation(inner, LockTests.worker(gauge, key))
        await serial.run(all: [group])
        #expect(group.outcome?.isSuccess == true)
        #expect(gauge.most == 1)
        #expect(!LockTable.shared.knows(key))
    }

    @Test func group_takesWhatItsDescendantsName_inOneStep() async {
        let other = freshKey("other")
        let holder = Gate().exclusive(other)
        queue.addOperation(holder)
        await holder.started.wait()
        let log = Log<String>()
        let group = OrderedGroupOperation(
            Step { log.append("1") }, GroupOperation(Step { log.append("2") }.exclusive(key)),
            Step().conditions(Rule(after: { Step { log.append("3") }.exclusive(other) })))
        serial.addOperation(group)
        await serial.settled()
        #expect(log.entries.isEmpty, "one of its keys is taken: it has not started")
        holder.open()
        await group.ended()
        #expect(log.entries == ["1", "2", "3"])
    }

    @Test func group_holdsUntilItsEnd() async {
        let gate = Gate()
        let group = OrderedGroupOperation(Step().exclusive(key), gate)
        queue.addOperation(group)
        await gate.started.wait()
        let rival = Step().exclusive(key)
        serial.addOperation(rival)
        await serial.settled()
        #expect(rival.outcome == nil)
        gate.open()
        await rival.ended()
    }

    @Test func children_takeTurns_alsoThoseAddedWhileItRuns() async {
        let gauge = Gauge()
        let group = Adding(gauge, key)
        await queue.run(all: [group])
        #expect(group.outcome?.isSuccess == true)
        #expect(group.outcomes.count == 21)
        #expect(gauge.most == 1)
    }

    /// Adds children with its own key when the first has finished.
    final class Adding: GroupOperation, @unchecked Sendable {
        let gauge: Gauge
        let key: String
        let first: Step
        init(_ gauge: Gauge, _ key: String) {
            self.gauge = gauge
            self.key = key
            first = Step().exclusive(key)
            super.init([first])
        }
        override func operationDidFinish(_ operation: Foundation.Operation, withErrors errors: [AOperationError]) {
            guard operation === first else { return }
            for _ in 0..<20 { addOperation(LockTests.worker(gauge, key)) }
        }
    }

    @Test func keyThatBecomesKnownWhileTheGroupRuns_isAskedFor_andReleasedWithTheChild() async {
        let gauge = Gauge()
        let gate = Gate()
        let group = GroupOperation(gate)
        queue.addOperation(group)
        await gate.started.wait()
        for _ in 0..<10 {
            group.addOperation(LockTests.worker(gauge, key))
            LockTests.worker(gauge, key).add(to: queue)
        }
        let rival = Step().exclusive(key)
        serial.addOperation(rival)
        await rival.ended()
        gate.open()
        await group.ended()
        #expect(gauge.most == 1)
    }

    @Test func deliveryNetOfAChild_belongsToTheGroup_withItsKeys() async {
        let holder = Gate().exclusive(key)
        queue.addOperation(holder)
        await holder.started.wait()
        let log = Log<String>()
        let producer = MapOperationBlock<Void, Int> { _, finish in
            log.append("producer")
            finish(.success(1))
        }
        producer.exclusive(key)
        let first = Step { log.append("first") }
        let group = GroupOperation(first, producer.deliver(to: Keep()))
        serial.addOperation(group)
        await serial.settled()
        #expect(log.entries.isEmpty, "the producer is a child of the group, which takes its key before it starts")
        holder.open()
        await group.ended()
        #expect(group.outcomes.count == 3)
    }

    @Test func childOfAnotherQueue_keepsItsOwnLock() async {
        let gate = Gate().exclusive(key)
        queue.addOperation(gate)
        await gate.started.wait()
        let group = GroupOperation([gate])
        serial.addOperation(group)
        await serial.settled()
        gate.open()
        await group.ended()
        #expect(group.outcome?.isSuccess == true)
    }

    @Test func semaphoreInsideAGroup_isOnePermitForAll() async {
        let gauge = Gauge()
        let outside = (0..<30).map { _ in LockTests.worker(gauge, key, limit: 2) }
        let group = GroupOperation((0..<10).map { _ in LockTests.worker(gauge, key, limit: 2) })
        for operation in [group] + outside { operation.add(to: queue) }
        await queue.idle()
        #expect(gauge.most <= 2)
    }

    @Test func manyGroupsWithCrossedKeys_onFewSlots_end() async {
        for _ in 0..<10 {
            let keys = (0..<4).map { freshKey("\($0)") }
            let gauges = keys.map { _ in Gauge() }
            let small = AOperationQueue(slots: 2)
            for _ in 0..<40 {
                let children = (0..<3).map { _ -> AOperation in
                    let index = Int.random(in: 0..<4)
                    let child = LockTests.worker(gauges[index], keys[index])
                    return Bool.random() ? child : GroupOperation(child).exclusive(keys[index])
                }
                let group = Bool.random() ? GroupOperation(children) : OrderedGroupOperation(children)
                if Bool.random() { group.exclusive(keys[Int.random(in: 0..<4)]) }
                group.add(to: small)
            }
            await small.idle()
            #expect(gauges.allSatisfy { $0.most <= 1 })
            #expect(keys.allSatisfy { !LockTable.shared.knows($0) })
        }
    }

    @Test func manyChildrenWithAKeyEach_areNotQuadratic() async {
        let key = key
        let group = GroupOperation((0..<Load.count(5_000)).map { Step().exclusive("\(key) \($0)") })
        await queue.run(all: [group])
        #expect(group.outcome?.isSuccess == true)
    }

    @Test func manyChildrenWithTwoKeysEach_areNotQuadratic() async {
        let other = freshKey("other")
        let group = GroupOperation((0..<Load.count(5_000)).map { _ in Step().exclusive(key).exclusive(other) })
        await queue.run(all: [group])
        #expect(group.outcome?.isSuccess == true)
    }

    enum Addition: CaseIterable {
        case condition, conditionOfTheGroup, child, grandchild, delivery
    }

    /// The group around it has looked for locks before: the nested groups look again.
    @Test(arguments: Addition.allCases)
    func lockNamedLater_insideOfANestedGroup_isTakenByThatGroup(addition: Addition) async {
        let (gate, rival, first, leaf) = (Gate(), Gate(), Step(), Value(1))
        rival.exclusive(key)
        let innermost = GroupOperation(leaf)
        let inner = OrderedGroupOperation(first, innermost)
        inner.addDependency(gate)
        let around = GroupOperation(GroupOperation(inner), gate)
        queue.addOperations([rival, around], waitUntilFinished: false)
        await gate.started.wait()
        await rival.started.wait()
        switch addition {
        case .condition: leaf.exclusive(key)
        case .conditionOfTheGroup: innermost.exclusive(key)
        case .child: inner.addOperation(Step().exclusive(key))
        case .grandchild: innermost.addOperation(GroupOperation(Step().exclusive(key)))
        case .delivery: leaf.deliver(to: Keep<Int>().exclusive(key))
        }
        gate.open()
        await queue.settled()
        #expect(first.outcome == nil)
        rival.open()
        await around.ended()
        #expect(around.outcome?.isSuccess == true)
        #expect(!LockTable.shared.knows(key))
    }
}
