import Foundation
import Synchronization
import Testing

@testable import AOperation

/// Circles of dependencies without a lock: who closes one fails, and the others go on.
@Suite(.timeLimit(Load.patience))
struct DependencyCircleTests {
    let queue = AOperationQueue()

    private func cycle(of operation: AOperation) -> AOperationError.DependencyCycle? {
        operation.publishedErrors.first?.publishedError as? AOperationError.DependencyCycle
    }

    @Test func ofTwo_theSecondFails_byName() async {
        let (first, second) = (Step("first"), Step("second"))
        first.addDependency(second)
        second.addDependency(first)
        queue.addOperation(first)
        queue.addOperation(second)
        await first.ended()
        await second.ended()
        #expect(first.outcome?.isSuccess == true)
        #expect(cycle(of: second)?.operation == "second")
        #expect(cycle(of: second)?.members == ["first"])
        #expect(
            second.publishedErrors.first?.localizedDescription
                == "The Operation second would wait for itself by way of first. Remove one of these dependencies")
    }

    @Test func addedTogether_oneFails() async {
        let ring = (0..<5).map { Step("\($0)") }
        for place in ring.indices { ring[place].addDependency(ring[(place + 1) % ring.count]) }
        queue.addOperations(ring, waitUntilFinished: false)
        for operation in ring { await operation.ended() }
        #expect(ring.filter { $0.outcome?.isFailure == true }.count == 1)
        #expect(ring.filter { $0.outcome?.isSuccess == true }.count == 4)
    }

    @Test func dependencyThatComesLater_closesACircle() async {
        let gate = Gate()
        let chain = (0..<3).map { Step("\($0)") }
        chain[0].addDependency(gate)
        chain[1].addDependency(chain[0])
        chain[2].addDependency(chain[1])
        queue.addOperation(gate)
        queue.addOperations(chain, waitUntilFinished: false)
        chain[0].addDependency(chain[2])
        await chain[0].ended()
        #expect(cycle(of: chain[0])?.members == ["2", "1"])
        gate.open()
        await chain[2].ended()
        #expect(chain[2].outcome?.isSuccess == true)
    }

    @Test func childThatWaitsForItsGroup_fails() async {
        let child = Step("child")
        let group = GroupOperation(child, Step())
        group.name = "group"
        child.addDependency(group)
        queue.addOperation(group)
        await group.ended()
        #expect(cycle(of: child)?.members == ["group"])
        #expect(group.outcome?.isFailure == true)
    }

    @Test func childrenOfTwoGroups_thatWaitForTheOtherGroup() async {
        let children = [Step("a"), Step("b")]
        let groups = children.map { GroupOperation($0) }
        children[0].addDependency(groups[1])
        children[1].addDependency(groups[0])
        queue.addOperations(groups, waitUntilFinished: false)
        for group in groups { await group.ended() }
        #expect(children.filter { cycle(of: $0) != nil }.count == 1)
        #expect(children.filter { $0.outcome?.isSuccess == true }.count == 1)
    }

    @Test func groupThatWaitsForOneThatWaitsForItsChild() async {
        let child = Step("child")
        let group = GroupOperation(child)
        let other = Step("other")
        other.addDependency(child)
        group.addDependency(other)
        queue.addOperation(other)
        queue.addOperation(group)
        await group.ended()
        await other.ended()
        #expect(cycle(of: group) != nil)
        #expect(child.outcome?.isCancelled == true)
        #expect(other.outcome?.isSuccess == true)
    }

    @Test func orderedGroup_isACircleToo() async {
        let (early, late) = (Step("early"), Step("late"))
        let group = OrderedGroupOperation(early, late)
        let other = Step("other")
        early.addDependency(other)
        other.addDependency(late)
        queue.addOperations([other, group], waitUntilFinished: false)
        await group.ended()
        await other.ended()
        #expect(early.outcome?.isFailure == true)
        #expect(late.outcome?.isSuccess == true && other.outcome?.isSuccess == true)
    }

    @Test func throughAPlainOperation_itIsFound() async {
        let plain = BlockOperation {}
        plain.name = "plain"
        let operation = Step("operation")
        plain.addDependency(operation)
        operation.addDependency(plain)
        queue.addOperation(plain)
        queue.addOperation(operation)
        await operation.ended()
        #expect(cycle(of: operation)?.members == ["plain"])
        await queue.idle()
        #expect(plain.isFinished)
    }

    /// The plain operation comes last, and cannot fail.
    @Test func closedByAPlainOperation_theOneThatItWaitsForFails() async {
        let (plain, operation) = (BlockOperation {}, Step("operation"))
        plain.name = "plain"
        operation.addDependency(plain)
        plain.addDependency(operation)
        queue.addOperation(operation)
        queue.addOperation(plain)
        await operation.ended()
        #expect(cycle(of: operation)?.members == ["plain"])
        await queue.idle()
        #expect(plain.isFinished)
    }

    @Test func closedByAPlainOperation_behindOthers_theFirstOfOursFails() async {
        let (first, second) = (BlockOperation {}, BlockOperation {})
        (first.name, second.name) = ("first", "second")
        let (third, fourth) = (Step("third"), Step("fourth"))
        first.addDependency(second)
        second.addDependency(third)
        third.addDependency(fourth)
        fourth.addDependency(first)
        for operation in [fourth, third, second, first] { queue.addOperation(operation) }
        await third.ended()
        await fourth.ended()
        #expect(cycle(of: third)?.members == ["fourth", "first", "second"])
        #expect(fourth.outcome?.isSuccess == true)
        await queue.idle()
    }

    @Test func plainChild_thatWaitsForOneThatWaitsForItsGroup() async {
        let (plain, operation) = (BlockOperation {}, Step("operation"))
        plain.name = "plain"
        let group = GroupOperation(plain)
        group.name = "group"
        operation.addDependency(group)
        plain.addDependency(operation)
        queue.addOperation(operation)
        queue.addOperation(group)
        await operation.ended()
        await group.ended()
        #expect(cycle(of: operation)?.members == ["group", "plain"])
        #expect(group.outcome?.isSuccess == true)
    }

    @Test func plainOperationThatIsGivenADependency_whileItWaitsForASlot() async {
        let queue = AOperationQueue(slots: 1)
        let gate = Gate()
        queue.addOperation(gate)
        await gate.started.wait()
        let (plain, operation) = (BlockOperation {}, Step("operation"))
        operation.addDependency(plain)
        queue.addOperation(operation)
        queue.addOperation(plain)
        plain.addDependency(operation)
        gate.open()
        await operation.ended()
        #expect(cycle(of: operation) != nil)
        await queue.idle()
    }

    /// Plain operations in a chain, each added after the one that waits for it.
    @Test func plainChain_addedFromItsEnd_isNone_andCostsLittle() async {
        let count = Load.count(3_000)
        let chain = (0..<count).map { _ in BlockOperation {} }
        for place in 1..<count { chain[place].addDependency(chain[place - 1]) }
        let last = Step().dependencies([chain[count - 1]])
        queue.addOperation(last)
        for operation in chain.reversed() { queue.addOperation(operation) }
        await last.ended()
        #expect(last.outcome?.isSuccess == true)
    }

    /// What is in no queue may be changed yet.
    @Test func circleThatIsOpenedInTime_isNone() async {
        let (first, second) = (Step("first"), Step("second"))
        first.addDependency(second)
        second.addDependency(first)
        queue.addOperation(first)
        second.removeDependency(first)
        queue.addOperation(second)
        await first.ended()
        #expect(first.outcome?.isSuccess == true && second.outcome?.isSuccess == true)
    }

    @Test func longCircle_isFound() async {
        let count = Load.count(20_000)
        let chain = (0..<count).map { _ in Step() }
        for place in 1..<count { chain[place].addDependency(chain[place - 1]) }
        chain[0].addDependency(chain[count - 1])
        queue.addOperations(chain, waitUntilFinished: false)
        for operation in chain { await operation.ended() }
        let failed = chain.filter { $0.outcome?.isFailure == true }
        #expect(failed.count == 1)
        #expect(failed.first.flatMap { cycle(of: $0) }?.members.count == count - 1)
        let text = failed.first?.publishedErrors.first?.localizedDescription ?? ""
        #expect(text.hasSuffix("and \(count - 9) others. Remove one of these dependencies"), "\(text)")
    }

    /// Between two long chains: each of those in the middle is waited for when it comes, and waits for much. To look at all of
    /// that each time would be more than 100,000,000 steps.
    @Test func manyInTheMiddle_costLittle() async {
        let count = Load.count(5_000)
        let gate = Gate()
        var head: AOperation = gate
        queue.addOperation(gate)
        for _ in 0..<count {
            let next = Step()
            next.addDependency(head)
            queue.addOperation(next)
            head = next
        }
        let middle = (0..<count).map { _ in Step() }
        let last = Step()
        for operation in middle {
            operation.addDependency(head)
            last.addDependency(operation)
        }
        queue.addOperation(last)
        for operation in middle { queue.addOperation(operation) }
        gate.open()
        await last.ended()
        #expect(last.outcome?.isSuccess == true)
        #expect(middle.allSatisfy { $0.outcome?.isSuccess == true })
    }

    @Test(arguments: Stress.seeds)
    func graphsWithoutCircles_inAnyOrder_succeed(seed: UInt64) async {
        var random = SeededGenerator(seed)
        let queue = AOperationQueue()
        queue.maxConcurrentOperationCount = .random(in: 1...3, using: &random)
        var made: [Foundation.Operation] = []
        var roots: [Foundation.Operation] = []
        for _ in 0..<60 {
            let operation: Foundation.Operation
            switch Int.random(in: 0...5, using: &random) {
            case 0: operation = BlockOperation {}
            case 1 where roots.count > 2:
                // Its children were made before it, and wait for what was made before them.
                let children = (0..<2).map { _ in roots.remove(at: .random(in: roots.indices, using: &random)) }
                operation = GroupOperation(children)
            default: operation = Step()
            }
            // Nothing waits for a group that it could be inside of: for leaves only, and groups for none.
            if !(operation is GroupOperation), !made.isEmpty {
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let other = made[.random(in: made.indices, using: &random)]
                    if !(other is GroupOperation) { operation.addDependency(other) }
                }
            }
            made.append(operation)
            roots.append(operation)
        }
        for root in roots.shuffled(using: &random) { queue.addOperation(root) }
        await queue.idle()
        for case let operation as AOperation in made { #expect(operation.publishedErrors == [], "seed \(seed)") }
    }

    /// Any dependencies at all, also on groups around, of which many are closed after their operations have come: everything ends.
    @Test(arguments: Stress.seeds)
    func graphsWithCircles_inAnyOrder_end(seed: UInt64) async {
        var random = SeededGenerator(seed)
        let queue = AOperationQueue()
        queue.maxConcurrentOperationCount = .random(in: 1...3, using: &random)
        var all: [ResultableOperation<Void>] = (0..<Int.random(in: 3...30, using: &random)).map { Step("\($0)") }
        var roots = all
        while roots.count > 3, Int.random(in: 0...2, using: &random) > 0 {
            let children = (0..<2).map { _ in roots.remove(at: .random(in: roots.indices, using: &random)) }
            let group = Bool.random(using: &random) ? OrderedGroupOperation(children) : GroupOperation(children)
            roots.append(group)
            all.append(group)
        }
        let ears = all.map { Ears.on($0) }
        func connect(_ count: Int) {
            for _ in 0..<count {
                let (one, other) = (all[.random(in: all.indices, using: &random)], all[.random(in: all.indices, using: &random)])
                if one !== other { one.addDependency(other) }
            }
        }
        connect(.random(in: 0...(2 * all.count), using: &random))
        roots.shuffle(using: &random)
        for (place, root) in roots.enumerated() {
            queue.addOperation(root)
            if place.isMultiple(of: 3) { connect(2) }
        }
        connect(3)
        await queue.idle()
        await callbacksDelivered()
        for (operation, ears) in zip(all, ears) {
            #expect(operation.isEnded && ears.wereToldOnce, "\(ears.summary), seed \(seed)")
        }
    }

    @Test func plainOperationThatClosesTwoCircles_bothAreOpened() async {
        let (plain, first, second) = (BlockOperation {}, Step("first"), Step("second"))
        for step in [first, second] {
            plain.addDependency(step)
            step.addDependency(plain)
        }
        for operation in [first, second, plain] { queue.addOperation(operation) }
        await queue.idle()
        #expect(cycle(of: first) != nil && cycle(of: second) != nil && plain.isFinished)
    }

    /// The end of who fails because of one circle opens no other one.
    @Test(arguments: [false, true]) func closedWhileSomebodyFails_whoWouldOpenAnotherOne_failsToo(isFirst: Bool) async {
        let (blocker, child, failing, between) = (Gate(), Step("child"), Step("failing"), Step("between"))
        let slow = SlowToSayItsName("slow")
        let group = GroupOperation([child])
        group.addDependency(blocker)
        slow.addDependency(failing)
        for dependency in isFirst ? [failing, child] : [child, failing] { between.addDependency(dependency) }
        for operation in [slow, group] { failing.addDependency(operation) }
        for operation in [blocker, group, slow, between] { queue.addOperation(operation) }
        slow.isSlow.withLock { $0 = true }
        let queue = queue
        DispatchQueue.global().async { queue.addOperation(failing) }
        await onThread { slow.asked.wait() }
        // By way of the one that is about to fail, and by way of the child, which nobody else keeps away.
        group.addDependency(between)
        slow.answer.signal()
        for operation in [failing, group, between, slow] { await operation.ended() }
        #expect(cycle(of: failing) != nil && cycle(of: group) != nil)
        blocker.open()
    }

    @Test(arguments: Stress.seeds)
    func closedFromTwoThreadsAtOnce_oneFails(seed: UInt64) async {
        for _ in 0..<10 {
            let (first, second) = (Step("first"), Step("second"))
            first.addDependency(second)
            second.addDependency(first)
            let queue = queue
            DispatchQueue.concurrentPerform(iterations: 2) { queue.addOperation($0 == 0 ? first : second) }
            await first.ended()
            await second.ended()
            let failures = [first, second].compactMap { cycle(of: $0) }
            #expect(failures.count == 1, "seed \(seed)")
        }
    }

    /// It has no dependency of its own: the barrier that it is behind closes the circle.
    @Test func dependencyThatIsAddedBehindABarrier_inFrontOfWhichItIsWaitedFor_fails() async {
        let (front, middle, behind) = (Step("front"), Step("middle"), Step("behind"))
        front.addDependency(middle)
        middle.addDependency(behind)
        queue.addOperations([front, middle], waitUntilFinished: false)
        let isThrough = Signal()
        queue.addBarrierBlock { isThrough.fire() }
        queue.addOperation(behind)
        await behind.ended()
        #expect(cycle(of: behind)?.operation == "behind")
        #expect(cycle(of: behind).map { Set($0.members).isSuperset(of: ["middle"]) } == true)
        await isThrough.wait()
        #expect(front.outcome?.isSuccess == true)
    }

    /// Each is waited for when it comes, and looks in front of the barrier: that costs what the queue has saved, not more.
    @Test func whatIsWaitedForBehindABarrier_endsWithoutACircle() async {
        let gate = Gate()
        queue.addOperation(gate)
        queue.addBarrierBlock {}
        var operations: [Step] = []
        for _ in 0..<Load.count(20_000) {
            let (receiver, dependency) = (Step(), Step())
            receiver.addDependency(dependency)
            queue.addOperation(receiver)
            queue.addOperation(dependency)
            operations += [receiver, dependency]
        }
        await gate.started.wait()
        gate.open()
        for operation in operations { await operation.ended() }
        #expect(operations.allSatisfy { $0.outcome?.isSuccess == true })
    }
}

/// Its name is asked for while an error is made that tells of it.
private final class SlowToSayItsName: VoidOperation, @unchecked Sendable {
    let asked = DispatchSemaphore(value: 0)
    let answer = DispatchSemaphore(value: 0)
    let isSlow = Mutex(false)

    init(_ name: String) {
        super.init()
        self.name = name
    }

    override var name: String? {
        get {
            let waits = isSlow.withLock { isSlow in
                defer { isSlow = false }
                return isSlow
            }
            if waits {
                asked.signal()
                answer.wait()
            }
            return super.name
        }
        set { super.name = newValue }
    }

    override func execute() { finish() }
}
