import Foundation
import Testing

@testable import AOperation

/// Delivery nets of which a part was cancelled before it was in a queue, or is in a group that never starts: the rest is
/// not left out of everything, and who depends on it does not wait for ever.
@Suite(.timeLimit(Load.patience))
struct LostNetTests {
    let queue = AOperationQueue()

    private func pass() -> MapOperationBlock<Int, Int> {
        MapOperationBlock { received, finish in finish(received ?? .success(0)) }
    }

    private func net() -> (producer: Value<Int>, receiver: Keep<Int>, waiting: Step) {
        let (producer, receiver, waiting) = (Value(1, name: "producer"), Keep<Int>(), Step("waiting"))
        producer.deliver(to: receiver)
        waiting.addDependency(producer)
        return (producer, receiver, waiting)
    }

    @Test func groupWhoseConditionFails_endsUnlistedMembersOfNets_likeItsChildren() async {
        let (producer, receiver, waiting) = net()
        let log = Log<String>()
        producer.didFinish { _ in log.append("told") }
        queue.addOperation(waiting)
        let group = GroupOperation(receiver).conditions(Rule(.failure(AOperationError(Failed(text: "no")))))
        queue.addOperation(group)
        await group.ended()
        await waiting.ended()
        await callbacksDelivered()
        #expect(producer.outcome?.isCancelled == true)
        #expect(waiting.outcome?.isSuccess == true)
        #expect(log.entries == ["told"])
        #expect(group.operations.count == 2)
    }

    @Test func nestedGroupThatIsStoppedBeforeItStarts_endsThem() async {
        let (producer, receiver, waiting) = net()
        queue.addOperation(waiting)
        let group = OrderedGroupOperation([Failing<Int>("first"), GroupOperation(receiver)])
        group.onFailure = .stop
        queue.addOperation(group)
        await group.ended()
        await waiting.ended()
        #expect(producer.outcome?.isCancelled == true)
        #expect(waiting.outcome?.isSuccess == true)
    }

    @Test func groupThatIsCancelledBeforeItIsAdded_bringsThemToTheQueue() async {
        for isNested in [false, true] {
            let (producer, receiver, waiting) = net()
            queue.addOperation(waiting)
            let inner = GroupOperation(receiver)
            let group = isNested ? GroupOperation(inner) : inner
            group.cancel()
            queue.addOperation(group)
            await waiting.ended()
            #expect(producer.outcome == .success(1))
            #expect(waiting.outcome?.isSuccess == true)
        }
    }

    @Test func receiverThatIsCancelledBeforeItIsAdded_bringsTheRest() async {
        let (producer, receiver, waiting) = net()
        queue.addOperation(waiting)
        receiver.cancel()
        queue.addOperation(receiver)
        await waiting.ended()
        #expect(producer.outcome == .success(1))
    }

    @Test func receiverThatIsCancelledBeforeItsGroupIsAdded_bringsTheRest() async {
        let (producer, receiver, waiting) = net()
        queue.addOperation(waiting)
        receiver.cancel()
        let group = GroupOperation(receiver)
        queue.addOperation(group)
        await group.ended()
        await waiting.ended()
        #expect(producer.outcome == .success(1))
        #expect(group.operations.count == 2)
    }

    @Test func cancelledReceiver_bringsTheOthersOfAFanOut() async {
        let (producer, first, second) = (Value(1), Keep<Int>(), Keep<Int>())
        producer.deliver(to: first)
        producer.deliver(to: second)
        first.cancel()
        queue.addOperation(first)
        await second.ended()
        #expect(second.outcome?.value == .success(1))
        #expect(first.outcome?.isCancelled == true)
    }

    @Test func cancelledOperation_bringsItsDependencies_withAddTo() async {
        let (dependency, operation) = (Step("dependency"), Step("operation"))
        operation.addDependency(dependency)
        operation.cancel()
        operation.add(to: queue)
        await dependency.ended()
        #expect(dependency.outcome?.isSuccess == true)
    }

    /// The middle is cancelled with its only receiver, and nobody holds it.
    @Test(arguments: 1...3)
    func cancelledReceiver_bringsWhatIsBeforeItsCancelledProducers(length: Int) async {
        let (producer, receiver, waiting) = (Value(1), Keep<Int>(), Step("waiting"))
        waiting.addDependency(producer)
        var last: ResultableOperation<Int> = producer
        for _ in 0..<length { last = last.deliver(to: pass()) }
        last.deliver(to: receiver)
        queue.addOperation(waiting)
        receiver.cancel()
        queue.addOperation(receiver)
        await waiting.ended()
        #expect(producer.outcome == .success(1))
    }

    /// Adding the receiver of one that was cancelled brings what delivers to that one, and leaves that one out of the group.
    @Test func producerThatIsCancelledBeforeItsReceiversGroupIsAdded_bringsTheRest() async {
        let (producer, receiver, waiting) = (Value(1), Keep<Int>(), Step("waiting"))
        let middle = pass()
        producer.deliver(to: middle).deliver(to: receiver)
        waiting.addDependency(producer)
        middle.cancel()
        queue.addOperation(waiting)
        let group = GroupOperation(receiver)
        queue.addOperation(group)
        await group.ended()
        await waiting.ended()
        #expect(waiting.outcome?.isSuccess == true)
        #expect(!group.operations.contains { $0 === middle })
    }

    @Test(arguments: [false, true], [false, true])
    func groupThatIsCancelledWhileItIsAdded_losesNothing(isNested: Bool, isAddedWithOthers: Bool) async {
        let (producer, receiver, waiting) = net()
        queue.addOperation(waiting)
        let inner = GroupOperation(receiver)
        let group = isNested ? GroupOperation(inner) : inner
        let delegate = CancelWhatIsAdded(group)
        queue.delegate = delegate
        if isAddedWithOthers {
            queue.addOperations([Step("other"), group], waitUntilFinished: false)
        } else {
            queue.addOperation(group)
        }
        await group.ended()
        await waiting.ended()
        #expect(group.outcome?.isCancelled == true)
        #expect(producer.outcome == .success(1))
        withExtendedLifetime(delegate) {}
    }

    /// What was cancelled holds what comes before it, until it goes away itself; long chains are released one by one.
    @Test func cancelledReceiver_keepsNothingAlive_thatItDoesNotOutlive() {
        weak var producer: Value<Int>?
        do {
            let made = Value(1)
            producer = made
            var last: ResultableOperation<Int> = made
            for _ in 0..<20_000 { last = last.deliver(to: pass()) }
            last.cancel()
        }
        #expect(producer == nil)
    }

    /// However deep the group is that was cancelled before it was in a queue: nothing runs that nobody has added.
    @Test(arguments: 1...4) func netOfANestedGroup_cancelledInNoQueue_staysInNone(depth: Int) async {
        let ran = Log<String>()
        let child = Value(1)
        var group = GroupOperation(child)
        for _ in 1..<depth { group = GroupOperation(group) }
        let (producer, receiver) = (
            MapOperationBlock<Void, Int> { _, finish in
                ran.append("producer"); finish(.success(2))
            }, Collect(ran)
        )
        [child, producer].deliver(to: receiver)
        receiver.addDependency(group)
        group.cancel()
        let later = Step()
        queue.isSuspended = true
        queue.addOperation(receiver)
        queue.addOperation(later)
        #expect(ran.entries == [])
        queue.isSuspended = false
        await receiver.ended()
        await later.ended()
        #expect(ran.entries.last == "receiver")
    }

    /// The others do not wait for ever, whatever queue it is added to.
    @Test(arguments: [true, false])
    func aCancelledReceiver_bringsItsProducer_andThatOnesOtherReceivers(_ isPlain: Bool) async {
        let producer = Value(1)
        let (other, cancelled) = (producer.deliver(to: PassOn()), producer.deliver(to: PassOn()))
        cancelled.cancel()
        let queue = isPlain ? OperationQueue() : AOperationQueue()
        queue.addOperation(cancelled)
        await other.ended()
        #expect(other.outcome?.isSuccess == true)
        await cancelled.ended()
        await queue.idle()
    }

    private final class Collect: VoidOperation, ReceiverOperation, @unchecked Sendable {
        var receivedValue: Result<[Int], AOperationError>?
        private let ran: Log<String>
        init(_ ran: Log<String>) {
            self.ran = ran
            super.init()
        }
        override func execute() {
            ran.append("receiver")
            finish()
        }
    }

    /// What was cancelled as a child of a group remembers its net no longer than until that was added.
    @Test func netThatWaitsForItsCancelledGroup_isReleased() async {
        weak var held: AOperation?
        do {
            let (child, other, receiver) = (Value(1), Value(5), Collect(Log()))
            held = receiver
            let group = GroupOperation(child)
            other.addDependency(group)
            [child, other].deliver(to: receiver)
            other.cancel()
            queue.isSuspended = true
            queue.addOperation(group)
            group.cancel()
            queue.isSuspended = false
            await group.ended()
        }
        await until { held == nil }
    }
}

/// Cancels an operation when its queue is about to take it in.
private final class CancelWhatIsAdded: AOperationQueueDelegate {
    private let cancelled: AOperation

    init(_ cancelled: AOperation) { self.cancelled = cancelled }

    func operationQueue(_ queue: AOperationQueue, willAddOperation operation: Foundation.Operation) {
        if operation === cancelled { operation.cancel() }
    }
}
