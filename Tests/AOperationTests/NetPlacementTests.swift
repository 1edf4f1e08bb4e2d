import Foundation
import Synchronization
import Testing

@testable import AOperation

/// Members of delivery nets that were not given to a group stand where nothing waits for ever, or stay outside.
@Suite(.timeLimit(Load.patience))
struct NetPlacementTests {
    let queue = AOperationQueue()

    private static let ordered: [@Sendable () -> OrderedGroupOperation] = [
        {
            let (fetch, inner, second) = (Value(1), Keep<Int>(), Keep<Int>())
            fetch.deliver(to: inner)
            fetch.deliver(to: second)
            return OrderedGroupOperation(GroupOperation(inner), second)
        },
        {
            let (fetch, first, second) = (Value(1), Step(), Keep<Int>())
            first.addDependency(fetch)
            fetch.deliver(to: second)
            return OrderedGroupOperation(first, second)
        },
        {
            let (fetch, inner, second) = (Value(1), Step(), Keep<Int>())
            inner.addDependency(fetch)
            fetch.deliver(to: second)
            return OrderedGroupOperation(GroupOperation(inner), second)
        },
        {
            let (first, second, report) = (Value(1), Step(), Keep<Int>())
            first.deliver(to: report)
            report.addDependency(second)
            return OrderedGroupOperation(first, second)
        },
        {
            let (first, inner, report) = (Value(1), Step(), Keep<Int>())
            first.deliver(to: report)
            report.addDependency(inner)
            return OrderedGroupOperation(first, GroupOperation(inner))
        },
        {
            let (fetch, inner) = (Value(1), Keep<Int>())
            fetch.deliver(to: inner)
            return OrderedGroupOperation(GroupOperation(inner), fetch)
        },
        {
            let (fetch, needed, inner, second) = (Value(1), Step(), Keep<Int>(), Keep<Int>())
            fetch.addDependency(needed)
            fetch.deliver(to: inner)
            fetch.deliver(to: second)
            return OrderedGroupOperation(GroupOperation(needed, inner), second)
        },
        {
            let (fetch, needed, inner, second) = (Value(1), BlockOperation {}, Keep<Int>(), Keep<Int>())
            fetch.addDependency(needed)
            fetch.deliver(to: inner)
            fetch.deliver(to: second)
            return OrderedGroupOperation(GroupOperation([needed, inner]), second)
        },
        {
            let (fetch, needed, inner, second) = (Value(1), Step(), Keep<Int>(), Keep<Int>())
            let between = Step()
            between.addDependency(needed)
            between.add(to: AOperationQueue.shared)
            fetch.addDependency(between)
            fetch.deliver(to: inner)
            fetch.deliver(to: second)
            return OrderedGroupOperation(GroupOperation(needed, inner), second)
        },
    ]

    @Test(arguments: ordered.indices) func inAnOrderedGroup_whatIsInsideOfChildrenCounts(number: Int) async {
        let group = Self.ordered[number]()
        queue.addOperation(group)
        await group.ended()
        #expect(group.outcome?.isSuccess == true)
    }

    /// The receiver that a plain child waits for is added by itself, later or never.
    @Test(arguments: [false, true]) func receiverThatAPlainChildWaitsFor_isNoLaterChild(isAdded: Bool) async {
        let (fetch, first, outside, second) = (Value(1), BlockOperation {}, Keep<Int>(), Keep<Int>())
        fetch.deliver(to: outside)
        fetch.deliver(to: second)
        first.addDependency(outside)
        let group = OrderedGroupOperation([first, second])
        queue.addOperation(group)
        if isAdded { outside.add(to: queue) }
        await group.ended()
        await outside.ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(outside.outcome?.isSuccess == true)
        #expect(first.isFinished)
    }

    /// A report that receives from a child of a group, and waits for something that waits for that group.
    private static let reports: [@Sendable (GroupOperation, Keep<Int>) -> [Foundation.Operation]] = [
        { group, report in
            let other = Step()
            other.addDependency(group)
            report.addDependency(other)
            return [other]
        },
        { group, report in
            let inner = Step()
            inner.addDependency(group)
            let other = GroupOperation(inner)
            report.addDependency(other)
            return [other]
        },
        { group, report in
            let inner = Step()
            let other = GroupOperation(inner)
            other.addDependency(group)
            report.addDependency(inner)
            return [other]
        },
        { group, report in
            let (first, second) = (Step(), Step())
            first.addDependency(group)
            report.addDependency(second)
            return [OrderedGroupOperation(first, second)]
        },
        { group, report in
            let plain = BlockOperation {}
            plain.addDependency(group)
            report.addDependency(plain)
            return [GroupOperation(plain)]
        },
    ]

    @Test(arguments: reports.indices) func receiverThatWaitsForTheGroup_isNoChildOfIt_butIsInItsQueue(number: Int) async {
        let (value, report) = (Value(1), Keep<Int>())
        value.deliver(to: report)
        let group = GroupOperation(value)
        let others = Self.reports[number](group, report)
        queue.addOperation(group)
        await group.ended()
        for other in others { queue.addOperation(other) }
        await report.ended()
        #expect(report.outcome?.value == .success(1))
        #expect(group.operations.count == 1)
    }

    @Test func producerThatWaitsForTheGroupsLock_isNoChildOfIt_andRunsAfterIt() async {
        let (gate, other, value, receiver) = (Gate(), Step(), Value(1), Keep<Int>())
        other.exclusive("NetPlacement.lock")
        value.addDependency(other)
        value.deliver(to: receiver)
        let inner = GroupOperation(receiver)
        let group = OrderedGroupOperation(gate, inner)
        group.exclusive("NetPlacement.lock")
        queue.addOperation(group)
        await gate.started.wait()
        queue.addOperation(other)
        await hasAsked(other)
        gate.open()
        await value.ended()
        await receiver.ended()
        await other.ended()
        let (refused, late) = (other.publishedErrors, value.outcome?.value == 1 ? receiver.publishedErrors : value.publishedErrors)
        // Who looks for circles last closes this one. It has asked a moment before it looks.
        if refused.first?.publishedError is AOperationError.LockCycle {
            #expect(value.outcome?.value == 1)
        } else {
            #expect(late.first?.publishedError is AOperationError.LockCycle, "\(late)")
            #expect(inner.operations.count == 1)
        }
    }

    /// The first of two groups that need it starts, and what stands before its receiver there waits for the other group.
    @Test func producerForTwoGroups_doesNotStandBehindWhatWaitsForIt() async {
        let (value, here, there, first, gate) = (Value(1), Keep<Int>(), Keep<Int>(), Step(), Gate())
        value.deliver(to: here)
        value.deliver(to: there)
        let other = GroupOperation(there)
        first.addDependency(other)
        let group = OrderedGroupOperation(gate, first, here)
        queue.addOperation(group)
        await gate.started.wait()
        queue.addOperation(other)
        gate.open()
        await group.ended()
        await other.ended()
        #expect(here.outcome?.value == .success(1))
        #expect(there.outcome?.value == .success(1))
    }

    /// It comes with whichever of two groups starts first; and both wait for the lock of the group that waits for it.
    @Test func producerThatComesWithGroupsThatWaitForTheLock_closesACircle() async {
        let key = freshKey("producer")
        let (group, gate) = await queue.runningGroup("group", [key])
        let (value, one, other, child) = (Value(1), Keep<Int>(), Keep<Int>(), Step("child"))
        value.deliver(to: one)
        value.deliver(to: other)
        child.addDependency(value)
        let waiting = [GroupOperation(one).exclusive(key), GroupOperation(other).exclusive(key)]
        for next in waiting {
            queue.addOperation(next)
            await hasAsked(next)
        }
        group.addOperation(child)
        gate.open()
        await group.ended()
        for next in waiting { await next.ended() }
        let errors = ([group, child] + waiting).flatMap(\.publishedErrors)
        #expect(errors.contains { $0.publishedError is AOperationError.LockCycle })
    }

    private final class Sum: ResultableOperation<Int>, ReceiverOperation, @unchecked Sendable {
        var receivedValue: Result<[Int], AOperationError>?
        override func execute() {
            finish(with: (receivedValue ?? .failure(.receivedValueIsNil(in: self))).map { $0.reduce(0, +) })
        }
    }

    /// A group with one child; what is to end; and what is added besides the group.
    private typealias Case = (group: GroupOperation, ends: [AOperation], others: [Foundation.Operation])

    private static let waiting: [@Sendable () -> Case] = [
        {
            // It waits for the group through another member of its net.
            let (value, other, sum) = (Value(1), Value(2), Sum())
            let group = GroupOperation(value)
            other.addDependency(group)
            [value, other].deliver(to: sum)
            return (group, [sum], [])
        },
        {
            let (value, sum, total) = (Value(1), Sum(), Sum())
            let group = GroupOperation(value)
            [value].deliver(to: sum)
            sum.addDependency(group)
            [value, sum].deliver(to: total)
            return (group, [total], [])
        },
        {
            // In an ordered group, it waits for a later child: by a delivery from elsewhere,
            let (first, second, elsewhere, sum) = (Value(1), Value(2), Sum(), Sum())
            [second].deliver(to: elsewhere)
            [first, elsewhere].deliver(to: sum)
            return (OrderedGroupOperation(first, second), [sum], [GroupOperation(elsewhere)])
        },
        {
            // through another operation,
            let (first, second, step, sum) = (Value(1), Value(2), Step(), Sum())
            [first].deliver(to: sum)
            step.addDependency(second)
            sum.addDependency(step)
            return (OrderedGroupOperation(first, second), [sum], [step])
        },
        {
            // or as it is a plain operation.
            let (first, plain, sum) = (Value(1), BlockOperation {}, Sum())
            [first].deliver(to: sum)
            sum.addDependency(plain)
            return (OrderedGroupOperation(first, plain), [sum], [])
        },
    ]

    @Test(arguments: waiting.indices) func memberThatWouldWaitForEver_runsBesideTheGroup(number: Int) async {
        let (group, ends, others) = Self.waiting[number]()
        queue.addOperation(group)
        for other in others { queue.addOperation(other) }
        await group.ended()
        for operation in ends {
            await operation.ended()
            #expect(operation.anyOutcome?.isSuccess == true)
        }
        #expect(group.outcome?.isSuccess == true)
    }

    /// The barrier waits for the group, and that for its producer.
    @Test func aProducer_ofAChildOfAGroupBeforeABarrier_comesBeforeThatBarrier() async {
        let queue = AOperationQueue()
        queue.isSuspended = true
        let log = Log<String>()
        let (first, producer) = (Value(1), PassOn<Int>())
        first.deliver(to: producer)
        let receiver = producer.deliver(to: PassOn())
        receiver.didFinish { _ in log.append("receiver") }
        let group = GroupOperation(receiver)
        queue.addOperation(group)
        queue.addBarrierBlock { log.append("barrier") }
        queue.addOperation(first)
        let behind = Step { log.append("behind") }
        queue.addOperation(behind)
        queue.isSuspended = false
        await group.ended()
        await behind.ended()
        #expect(log.entries.filter { $0 != "receiver" } == ["barrier", "behind"])
        #expect(receiver.outcome?.isSuccess == true)
    }

    /// What the producer waits for comes before the barrier with it, in each direction along what delivers.
    @Test(.timeLimit(.minutes(1)))
    func whatAProducerWaitsFor_comesBeforeTheBarrierThatTheProducerIsBefore() async {
        let queue = AOperationQueue()
        queue.isSuspended = true
        let log = Log<String>()
        let (first, producer) = (Value(1), PassOn<Int>())
        let deepest = Step { log.append("deepest") }
        let awaited = Step { log.append("awaited") }.dependencies([deepest])
        let joint = BlockOperation {}
        joint.addDependency(awaited)
        first.deliver(to: producer)
        first.addDependency(joint)
        let group = GroupOperation(producer.deliver(to: PassOn()))
        queue.addOperation(group)
        queue.addBarrierBlock { log.append("barrier") }
        let behind = Step { log.append("behind") }.dependencies([producer])
        behind.add(to: queue)
        OperationQueue().addOperation(joint)
        queue.isSuspended = false
        await behind.ended()
        #expect(log.entries == ["deepest", "awaited", "barrier", "behind"])
        #expect(group.outcome?.isSuccess == true)
    }

    /// The group takes what is in no queue when it starts: what is added with it, or brings it along, is in one.
    @Test(arguments: 0..<4) func receiverThatIsAddedWithTheGroup_isNoChildOfIt(form: Int) async {
        let (child, receiver) = (Value(1), Keep<Int>())
        child.deliver(to: receiver)
        let group = GroupOperation(child)
        let (queue, begun) = (AOperationQueue(), DispatchSemaphore(value: 0))
        child.didStart { begun.signal() }
        let delegate = WaitsForGroup(receiver, begun)
        queue.delegate = delegate
        switch form {
        case 0: queue.addOperations([group, receiver], waitUntilFinished: false)
        case 1: queue.addOperations([receiver, group], waitUntilFinished: false)
        case 2: queue.addOperation(receiver)
        default: receiver.add(to: queue)
        }
        for operation in [group, receiver] { await operation.ended() }
        #expect(group.operations.count == 1 && receiver.outcome?.isSuccess == true)
    }

    /// The group comes along with the first, and begins before the second is in the queue.
    @Test(arguments: [false, true]) func receiversThatAreAddedTogether_areNoChildrenOfTheGroupOfTheirProducers(byDependent: Bool) async {
        let (first, second) = (Value(1), Value(2))
        let receivers = [first.deliver(to: Keep<Int>()), second.deliver(to: Keep<Int>())]
        let group = GroupOperation(first, second)
        let (queue, begun) = (AOperationQueue(), DispatchSemaphore(value: 0))
        first.didStart { begun.signal() }
        let delegate = WaitsForGroup(receivers[1], begun)
        queue.delegate = delegate
        let last = Step().dependencies(receivers)
        if byDependent { last.add(to: queue) } else { queue.addOperations(receivers + [last], waitUntilFinished: false) }
        for operation in [group, last] { await operation.ended() }
        #expect(group.operations.count == 2 && receivers.allSatisfy { $0.outcome?.isSuccess == true })
    }

    /// The group is first, and begins before the last comes, which brings the one between them along.
    @Test func oneBetweenTwoThatAreAddedTogether_isNoChildOfTheGroupOfItsProducer() async {
        let (child, between, receiver) = (Value(1), PassOn<Int>(), Keep<Int>())
        child.deliver(to: between)
        between.deliver(to: receiver)
        let group = GroupOperation(child)
        let (queue, begun) = (AOperationQueue(), DispatchSemaphore(value: 0))
        child.didStart { begun.signal() }
        let other = Step()
        let delegate = WaitsForGroup(other, begun)
        queue.delegate = delegate
        queue.addOperations([group, other, receiver], waitUntilFinished: false)
        for operation in [group, receiver] { await operation.ended() }
        #expect(group.operations.count == 1 && between.outcome?.value == 1 && receiver.outcome?.isSuccess == true)
    }

    /// In place of the child its group is added, and begins before the rest comes.
    @Test func producerOfAChildThatIsAddedToAQueue_isTakenByTheGroup() async {
        let (producer, child, first, other) = (Value(1), PassOn<Int>(), Step(), Step())
        producer.deliver(to: child)
        let group = GroupOperation(first, child)
        let (queue, begun) = (AOperationQueue(), DispatchSemaphore(value: 0))
        first.didStart { begun.signal() }
        let delegate = WaitsForGroup(other, begun)
        queue.delegate = delegate
        queue.addOperations([child, other], waitUntilFinished: false)
        for operation in [group, other] { await operation.ended() }
        #expect(group.operations.count == 3 && child.outcome?.value == 1)
    }

    /// A group of its own around the producer comes along, as to a queue.
    @Test func receiverThatARunningGroupAdds_bringsTheGroupOfItsProducer() async {
        let (child, receiver) = (Value(1), PassOn<Int>())
        child.deliver(to: receiver)
        let inner = GroupOperation(child)
        let outer = AddsLater(Step()) { $0.addOperation(receiver) }
        queue.addOperation(outer)
        for operation in [outer, inner, receiver] { await operation.ended() }
        #expect(outer.outcome?.isSuccess == true && receiver.outcome?.value == 1 && outer.operations.count == 3)
    }

    /// It begins, and what it has ends, while it is given them.
    @Test(arguments: [true, false], [true, false])
    func whatAGroupIsGivenTogether_isAllOfIt_whenItBegins(isOrdered: Bool, isReceiverFirst: Bool) async {
        for round in 0..<1_000 {
            let (producer, receiver) = (Value(1), PassOn<Int>())
            producer.deliver(to: receiver)
            let (first, gate) = (Step(), BlockOperation {})
            first.addDependency(gate)
            let group = isOrdered ? OrderedGroupOperation(first) : GroupOperation(first)
            let (queue, isAboutToBegin) = (AOperationQueue(), Flag())
            Thread.detachNewThread {
                isAboutToBegin.set()
                queue.addOperation(group)
            }
            while !isAboutToBegin.isSet {}
            for _ in 0..<(round % 200) { _ = isAboutToBegin.isSet }
            // It may end before it is given anything, but not in between.
            let mayEnd = round.isMultiple(of: 2)
            if mayEnd { gate.start() }
            group.addOperations(isReceiverFirst ? [receiver, producer] : [producer, receiver])
            if !mayEnd { gate.start() }
            await group.ended()
            let isRefused = mayEnd && group.operations.count == 1
            #expect(isRefused ? producer.outcome?.isSuccess == false : group.operations.count == 3)
            #expect(isRefused ? receiver.outcome?.isSuccess == false : receiver.outcome?.value == 1)
        }
    }

    /// The group begins while it is given them, with some of many.
    @Test func receiverThatAGroupIsGivenWithAGroup_isNoChildOfThat_whenItBegins() async {
        for round in 0..<4_000 {
            let (child, receiver) = (Value(1), Keep<Int>())
            child.deliver(to: receiver)
            let inner = GroupOperation(child)
            let (first, gate) = (Step(), BlockOperation {})
            first.addDependency(gate)  // it does not end before it has them
            let outer = GroupOperation(first)
            let queue = AOperationQueue()
            let isAboutToBegin = Flag()
            Thread.detachNewThread {
                isAboutToBegin.set()
                queue.addOperation(outer)
            }
            while !isAboutToBegin.isSet {}
            for _ in 0..<(round % 400) { _ = isAboutToBegin.isSet }
            outer.addOperations([inner, receiver])
            gate.start()
            await outer.ended()
            #expect(inner.operations.count == 1 && outer.operations.count == 3 && receiver.outcome?.isSuccess == true)
        }
    }

    /// What a running group is given together is in it before a group of that starts.
    @Test func receiverThatARunningGroupAddsWithTheGroup_isNoChildOfThat() async {
        let (child, receiver) = (Value(1), Keep<Int>())
        child.deliver(to: receiver)
        let inner = GroupOperation(child)
        let outer = AddsLater(Step()) { $0.addOperations([inner, receiver]) }
        queue.addOperation(outer)
        for operation in [outer, inner, receiver] { await operation.ended() }
        #expect(inner.operations.count == 1 && outer.operations.count == 3)
    }
}

/// Before one is added: gives a group that was added before time to begin its first child, should it: it has taken what it takes.
private final class WaitsForGroup: AOperationQueueDelegate {
    private let (receiver, begun): (AOperation, DispatchSemaphore)

    init(_ receiver: AOperation, _ begun: DispatchSemaphore) { (self.receiver, self.begun) = (receiver, begun) }

    func operationQueue(_ queue: AOperationQueue, willAddOperation operation: Foundation.Operation) {
        if operation === receiver { _ = begun.wait(timeout: .now() + 0.2) }
    }
}

/// Adds to itself when its first child has ended.
private final class AddsLater: GroupOperation, @unchecked Sendable {
    private let first: Foundation.Operation
    private let adding: (GroupOperation) -> Void

    init(_ first: Foundation.Operation, _ adding: @escaping (GroupOperation) -> Void) {
        (self.first, self.adding) = (first, adding)
        super.init([first])
    }

    override func operationDidFinish(_ operation: Foundation.Operation, withErrors errors: [AOperationError]) {
        if operation === first { adding(self) }
    }
}

private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() { value.store(true, ordering: .releasing) }
}
