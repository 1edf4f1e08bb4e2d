import Foundation
import Testing

@testable import AOperation

/// Where the scope of a retry ends: at cancelled operations, at those who wait outside, at groups, in other queues.
@Suite(.timeLimit(Load.patience))
struct RetryScopeBoundaryTests {
    let queue = AOperationQueue()

    /// Lets `group` take `operation` in the moment in which that is added to a queue.
    private final class Overtaking: AOperationQueueDelegate {
        private let operation: Foundation.Operation
        private let group: GroupOperation

        init(_ operation: Foundation.Operation, by group: GroupOperation) { (self.operation, self.group) = (operation, group) }

        func operationQueue(_ queue: AOperationQueue, willAddOperation added: Foundation.Operation) {
            if added === operation { group.addOperation(operation) }
        }
    }

    /// The scope was made before that: its end waits for the group, which would wait for what is provisional in it.
    @Test func memberThatAGroupTakesMeanwhile_isNoneOfTheScope() async {
        let gate = Gate()
        let head = Attempted(.failing("head", 0))
        let middle = head.deliver(to: Attempted(.failing("middle", 9)))
        let tail = middle.deliver(to: Attempted(.failing("tail", 0))).retry(.times(2))
        let group = GroupOperation(gate)
        AOperationQueue().addOperation(group)
        await gate.started.wait()
        tail.addDependency(group)
        let delegate = Overtaking(middle, by: group)
        queue.delegate = delegate
        queue.addOperation(tail)
        gate.open()
        await tail.ended()
        await group.ended()
        #expect(group.operations.count == 2)
        #expect(tail.firstFailure == "middle 1")
        withExtendedLifetime(delegate) {}
    }

    @Test func tailCancelled_whileTheOthersAreProvisional() async {
        let chain = RetryChain(9, 0, 0)
        let asked = Signal()
        chain.last.retryOnFailure { _, _, _ in asked.fire() }
        chain.last.add(to: queue)
        await asked.wait()
        chain.last.cancel()
        await chain.ended()
        #expect(chain.last.outcome?.isCancelled == true)
        #expect(chain.first.firstFailure == "A 1")
        #expect(chain.middle.firstFailure == "A 1")
        #expect(chain.ends.allSatisfy { $0.count == 1 })
    }

    @Test func tailCancelled_whileTheHeadIsTriedAgain_cancelsTheHead() async {
        let running = Signal()
        let head = Script("A") { run in run.number == 1 ? run.fail() : running.fire() }
        let chain = RetryChain(head, .failing("B", 0), .failing("C", 0))
        chain.last.retry(.times(3))
        for operation in chain.operations { operation.grace = .milliseconds(20) }
        chain.last.add(to: queue)
        await running.wait()
        chain.last.cancel()
        await chain.ended()
        #expect(chain.operations.allSatisfy { $0.outcome?.isCancelled == true })
        #expect(chain.ends.allSatisfy { $0.count == 1 })
    }

    @Test(arguments: [0, 1])
    func producerCancelledWhileProvisional_staysCancelled_andTheRestIsTriedAgain(index: Int) async {
        let chain = RetryChain(1, 0, 0)
        let kept = Log<Retry>()
        let asked = Signal()
        chain.last.retryOnFailure { retries, _, retry in
            guard retries == 0 else { return retry(false) }
            kept.append(retry)
            asked.fire()
        }
        chain.last.add(to: queue)
        await asked.wait()
        chain.operations[index].cancel()
        #expect(chain.operations[index].outcome?.isCancelled == true)
        #expect(chain.last.outcome == nil)
        kept.entries.first?(true)
        await chain.ended()
        #expect(chain.operations[index].script.runs == 1)
        #expect(chain.last.script.runs == 2)
        #expect(chain.last.publishedErrors.first?.publishedError is AOperationError.IsCancelled)
        #expect(chain.ends.allSatisfy { $0.count == 1 })
    }

    /// Adds a barrier in the moment in which `operation` is added.
    private final class Barring: AOperationQueueDelegate {
        private let operation: AOperation
        private let passed: Signal

        init(_ operation: AOperation, _ passed: Signal) { (self.operation, self.passed) = (operation, passed) }

        func operationQueue(_ queue: AOperationQueue, willAddOperation added: Foundation.Operation) {
            if added === operation { queue.addBarrierBlock { [passed] in passed.fire() } }
        }
    }

    /// The barrier would wait for what is provisional, that for its end, and that for the barrier.
    @Test func barrierThatComesWhileTheNetIsAdded_isBehindAllOfIt() async {
        let chain = RetryChain(1, 0, 0)
        chain.last.retry(.times(3))
        let passed = Signal()
        let delegate = Barring(chain.last, passed)
        queue.delegate = delegate
        chain.last.add(to: queue)
        await chain.ended()
        await passed.wait()
        #expect(chain.first.script.runs == 2)
        #expect(chain.last.firstFailure == nil)
        #expect(chain.ends.allSatisfy { $0.count == 1 })
        withExtendedLifetime(delegate) {}
    }

    @Test func producerBeforeABarrier_isNotTriedAgainByAnEndBehindIt() async {
        let (isConnected, passed) = (DispatchSemaphore(value: 0), Signal())
        let head = Attempted(.failing("A", 9))
        head.didStart { isConnected.wait() }
        head.add(to: queue)
        queue.addBarrierBlock { passed.fire() }
        let tail = head.deliver(to: Attempted(.failing("T", 0))).retry(.times(3))
        tail.add(to: queue)
        isConnected.signal()
        await tail.ended()
        await passed.wait()
        #expect(head.script.runs == 1)
        #expect(tail.script.runs == 3)
        #expect(tail.firstFailure == "A 1")
    }

    @Test func producerWithAReceiverOutside_isNotTriedAgain() async throws {
        let head = Attempted(.failing("A", 1))
        let tail = head.deliver(to: Attempted(.failing("T", 0))).retry(.times(3))
        let other = head.deliver(to: Keep<String>())
        tail.add(to: queue)
        await tail.ended()
        await other.ended()
        #expect(head.script.runs == 1)
        #expect(tail.script.runs == 3)
        #expect(tail.firstFailure == "A 1")
        #expect(try other.result?.get()?.error?.localizedDescription == "A 1")
    }

    @Test func producersAboveOneThatIsNotTriedAgain_areNotEither() async {
        let chain = RetryChain(9, 0, 0)
        let dependent = Step()
        dependent.addDependency(chain.middle)
        chain.last.retry(.times(3))
        dependent.add(to: queue)  // with the whole chain
        await chain.ended()
        #expect(chain.first.script.runs == 1)
        #expect(chain.middle.script.runs == 1)
        #expect(chain.last.script.runs == 3)
        #expect(chain.operations.allSatisfy { $0.firstFailure == "A 1" })
        #expect(chain.ends.allSatisfy { $0.count == 1 })
    }

    /// Has an operation that is about to be added wait.
    private final class Detaining: AOperationQueueDelegate {
        private let operation: Foundation.Operation
        private let isOver: DispatchSemaphore

        init(_ operation: Foundation.Operation, until isOver: DispatchSemaphore) { (self.operation, self.isOver) = (operation, isOver) }

        func operationQueue(_ queue: AOperationQueue, willAddOperation added: Foundation.Operation) {
            if added === operation { isOver.wait() }
        }
    }

    /// Those who are added together are known together: the chain has failed as a whole before the dependent is in the queue.
    @Test(arguments: Together.allCases, [false, true])
    func dependentAddedTogetherWithTheChain_countsFromTheStart(_ way: Together, isPlain: Bool) async {
        if isPlain, way == .net { return }  // plain operations do not bring what they wait for
        let chain = RetryChain(1, 0, 0)
        let isAsked = DispatchSemaphore(value: 0)
        chain.last.retryOnFailure { retries, _, retry in
            if retries == 0 { isAsked.signal() }
            retry(retries == 0)
        }
        let dependent = isPlain ? BlockOperation {} : Step("dependent")
        dependent.addDependency(chain.middle)
        let delegate = Detaining(dependent, until: isAsked)
        queue.delegate = delegate
        switch way {
        case .net: await onThread { [queue] in (dependent as? AOperation)?.add(to: queue) }
        case .array: await onThread { [queue] in queue.addOperations([chain.last, dependent], waitUntilFinished: false) }
        }
        await chain.ended()
        await until { dependent.isFinished }
        #expect(chain.runs == [1, 1, 2])
        #expect(chain.operations.allSatisfy { $0.firstFailure == "A 1" })
        withExtendedLifetime(delegate) {}
    }

    enum Together: CaseIterable { case net, array }

    enum Departure: CaseIterable { case removed, cancelled }

    /// One that no longer waits when the chain fails has no say.
    @Test(arguments: Departure.allCases) func dependentAddedTogether_thatWaitsNoLonger(_ departure: Departure) async {
        let gate = Gate()
        let chain = RetryChain(1, 0, 0)
        chain.first.addDependency(gate)
        chain.last.retry(.times(3))
        let dependent = Step("dependent")
        dependent.addDependency(chain.middle)
        dependent.add(to: queue)
        await gate.started.wait()
        switch departure {
        case .removed: dependent.removeDependency(chain.middle)
        case .cancelled: dependent.cancel()
        }
        gate.open()
        await chain.ended()
        await dependent.ended()
        #expect(chain.runs == [2, 2, 2])
        #expect(chain.last.outcome?.isSuccess == true)
    }

    /// The one between goes on with the end of the head, and its own counts because somebody waits for it.
    @Test(arguments: [false, true]) func producerOfOneThatOthersWaitFor_isNotTriedAgain(isGroup: Bool) async {
        let head = Attempted(.failing("A", 1))
        let between = Attempted(.failing("B", 0))
        between.addDependency(head)
        let tail = Scripted<[String]>(.failing("T", 0))
        [head, between].deliver(to: tail)
        tail.retry(.times(2))
        let dependent = Step()
        dependent.addDependency(between)
        if isGroup {
            GroupOperation([head, between, tail, dependent]).add(to: queue)
        } else {
            dependent.add(to: queue)  // with the whole net
        }
        await tail.ended()
        await dependent.ended()
        #expect(head.script.runs == 1)
        #expect(between.script.runs == 1)
        #expect(tail.script.runs == 2)
        #expect(tail.firstFailure == "A 1")
    }

    /// Somebody begins to wait for one that runs already with an end that does not count yet.
    @Test func producerOfOneThatIsAwaitedLater_isNotTriedAgain() async {
        let head = Attempted(.failing("A", 1))
        let dependent = Step()
        let between = Attempted(
            Script("B") { [queue] run in
                dependent.addDependency(run.operation)
                dependent.add(to: queue)
                run.succeed()
            })
        between.addDependency(head)
        let tail = Scripted<[String]>(.failing("T", 0))
        [head, between].deliver(to: tail)
        tail.retry(.times(2))
        tail.add(to: queue)
        await tail.ended()
        await dependent.ended()
        #expect(head.script.runs == 1)
        #expect(between.script.runs == 1)
        #expect(tail.script.runs == 2)
    }

    @Test func producerWithAPlainDependentOutside_isNotTriedAgain() async {
        for dependent in [Step(), BlockOperation {}] as [Foundation.Operation] {
            let gate = Gate()
            let head = Attempted(.failing("A", 1))
            head.addDependency(gate)
            let tail = head.deliver(to: Attempted(.failing("T", 0))).retry(.times(2))
            dependent.addDependency(head)
            queue.addOperations([dependent, tail, gate], waitUntilFinished: false)
            await gate.started.wait()
            gate.open()
            await tail.ended()
            #expect(head.script.runs == 1)
            #expect(tail.script.runs == 2)
            #expect(head.firstFailure == "A 1")
        }
        await queue.idle()
    }

    /// Who waits for an operation is not told of anything provisional; nor may the tail wait for him meanwhile.
    @Test(arguments: [false, true])
    func dependentThatComesLate_makesTheFailureFinal(isPlain: Bool) async {
        let chain = RetryChain(1, 0, 0)
        let kept = Log<Retry>()
        let asked = Signal()
        chain.last.retryOnFailure { retries, _, retry in
            kept.append(retry)
            if retries == 0 { asked.fire() } else { retry(false) }
        }
        chain.last.add(to: queue)
        await asked.wait()
        let log = Log<String?>()
        let late = isPlain ? BlockOperation { log.append(chain.first.firstFailure) } : Step { log.append(chain.first.firstFailure) }
        late.addDependency(chain.first)
        queue.addOperation(late)
        await until { late.isFinished }
        #expect(chain.last.outcome == nil)
        kept.entries.first?(true)
        await chain.ended()
        #expect(log.entries == ["A 1"])
        #expect(chain.runs == [1, 2, 2])
        #expect(chain.ends == Array(repeating: ["didFinish A 1"], count: 3))
    }

    /// head → tail, and tail waits for `between`, which waits for head: whether that comes early or late.
    @Test(arguments: [false, true], [false, true])
    func dependentThatTheTailWaitsFor(isPlain: Bool, isLate: Bool) async {
        for _ in 0..<50 {
            let head = Attempted(.failing("A", 1))
            let tail = head.deliver(to: Attempted(.failing("T", 0))).retry(.times(3))
            let between = isPlain ? BlockOperation {} : Step("between")
            between.addDependency(head)
            tail.addDependency(between)
            if !isLate { queue.addOperation(between) }
            queue.addOperation(tail)
            if isLate { queue.addOperation(between) }
            await tail.ended()
            #expect(head.script.runs == 1)
            #expect(tail.firstFailure == "A 1")
        }
    }

    @Test func inASerialQueue() async {
        queue.maxConcurrentOperationCount = 1
        let chain = RetryChain(2, 1, 1)
        chain.last.retry(RetryPolicy(attempts: 9, backoff: .constant(.milliseconds(1)))).add(to: queue)
        let other = Step()
        other.add(to: queue)
        await chain.ended()
        await queue.idle()
        #expect(chain.runs == [3, 4, 5])
        #expect(chain.last.outcome?.isSuccess == true)
    }

    @Test(arguments: [false, true])
    func insideAGroup(isTailListed: Bool) async {
        let chain = RetryChain(2, 1, 0)
        chain.last.retry(.times(9))
        let group = GroupOperation(isTailListed ? [chain.last, chain.middle, chain.first] : [chain.first])
        await group.add(to: queue).ended()
        await chain.ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(group.outcomes.count == 3)
        #expect(chain.runs == [3, 4, 4])
    }

    /// The order of an ordered group is a bond to those outside of the net: there the tail's policy is its own.
    @Test func insideAnOrderedGroup_theTailIsTriedAgainAlone() async {
        let chain = RetryChain(1, 0, 0)
        chain.last.retry(.times(2))
        let group = OrderedGroupOperation(chain.operations)
        await group.add(to: queue).ended()
        await chain.ended()
        #expect(chain.runs == [1, 1, 2])
        #expect(chain.ends == Array(repeating: ["didFinish A 1"], count: 3))
        #expect(group.outcome?.isFailure == true)
    }

    @Test func producerInAnotherGroupThanTheTail_isNotTriedAgain() async {
        let head = Attempted(.failing("A", 1))
        let tail = head.deliver(to: Attempted(.failing("T", 0))).retry(.times(2))
        let groups = [GroupOperation(head), GroupOperation(tail)]
        for group in groups { queue.addOperation(group) }
        for group in groups { await group.ended() }
        #expect(head.script.runs == 1)
        #expect(tail.script.runs == 2)
        #expect(tail.firstFailure == "A 1")
    }

    @Test func groupAsAMember_isTriedAgainWithFreshChildren() async {
        let attempts = Log<Int>()
        let group = GroupOperation {
            attempts.append(1)
            return [Attempted(.failing("a", attempts.count < 3 ? 1 : 0)), Attempted(.failing("b", 0))]
        }
        let tail = group.deliver(to: Scripted<[String]>(.failing("T", 0))).retry(.times(5))
        await tail.add(to: queue).ended()
        await group.ended()
        #expect(tail.outcome?.isSuccess == true)
        #expect(group.outcome?.isSuccess == true)
        #expect(group.outcomes.count == 2)
        #expect(attempts.count == 3)
    }

    @Test(arguments: 0..<3)
    func inAQueueOfFoundation(start: Int) async {
        let foundation = OperationQueue()
        if start == 1 { foundation.maxConcurrentOperationCount = 1 }
        let chain = RetryChain(2, 1, 0)
        chain.last.retry(.times(9))
        switch start {
        case 0: foundation.addOperation(chain.last)
        case 1: for operation in chain.operations { foundation.addOperation(operation) }
        default: chain.last.start()
        }
        await chain.ended()
        #expect(chain.runs == [3, 4, 4])
        #expect(chain.ends == Array(repeating: ["didFinish success"], count: 3))
        await foundation.idle()
    }
}
