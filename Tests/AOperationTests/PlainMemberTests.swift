import Foundation
import Testing

@testable import AOperation

/// Plain operations in our queue, which hands them to Foundation's.
@Suite(.timeLimit(Load.patience))
struct PlainMemberTests {
    /// Foundation asks an operation that it is given whether it is ready, and may write a no over the yes of an end that
    /// comes in between; it never asks again.
    @Test func cancelledPlainChild_isNoSuccessOfItsGroup() async throws {
        let queue = AOperationQueue()
        func cancelled() -> Foundation.Operation {
            let operation = BlockOperation {}
            operation.name = "plain"
            operation.cancel()
            return operation
        }
        let sibling = Step("sibling")
        let groups = [
            GroupOperation(cancelled(), Step()), OrderedGroupOperation([cancelled(), sibling], onFailure: .stop),
            ComposedOperation(operation: cancelled()), GroupOperation(GroupOperation(cancelled())),
        ]
        let dependent = Step("dependent").conditions(NoFailedDependencies())
        dependent.addDependency(groups[0])
        for operation in groups + [dependent] as [AOperation] { queue.addOperation(operation) }
        for group in groups {
            await group.ended()
            let error = try #require(group.publishedErrors.first)
            #expect(group.outcome?.isFailure == true)
            #expect((error.publishedError as? AOperationError.IsCancelled)?.operation == "plain")
            #expect(error.publisher == "plain")
            #expect(group.publishedErrors.count == 1)
        }
        await dependent.ended()
        #expect(sibling.outcome?.isCancelled == true)
        #expect(dependent.outcome?.isFailure == true)
    }

    @Test func endOfADependency_thatFoundationOverlooks_isSaidOnceMore() async {
        let first = Late()
        let second = Overlooked()
        second.addDependency(first)
        let host = Host { second in
            // Ended, but Foundation has not heard of it: it does while it is being given the dependent.
            second.whileAsked = { first.tell() }
        }
        let member = PlainMember(second)
        member.enter(Lane(), of: host)
        first.end()
        member.dependencyEnded()
        await second.isDone.wait()
        #expect(second.wasOverlooked)
    }

    @Test(arguments: [false, true])
    func plainOperation_thatDependsOnACancelledChildOfAWaitingGroup_runs_andTakesNoSlotMeanwhile(isEarly: Bool) async {
        let queue = AOperationQueue(slots: 1)
        let (gate, child, plain) = (Gate(), Step(), BlockOperation {})
        let group = GroupOperation(child)
        group.addDependency(gate)
        plain.addDependency(child)
        if isEarly { child.cancel() }
        queue.addOperation(group)
        queue.addOperation(plain)
        child.cancel()
        queue.addOperation(gate)
        await gate.started.wait()
        gate.open()
        await group.ended()
        await queue.idle()
        #expect(plain.isFinished)
    }

    /// The group of the cancelled child waits for a lock that the plain operation's group has: nothing of that is between the two.
    @Test(arguments: [false, true])
    func plainOperation_thatDependsOnACancelledChild_needsNotTheStartOfItsGroup(isEarly: Bool) async {
        let queue = AOperationQueue()
        let (gate, child, plain) = (Gate(), Step(), BlockOperation {})
        let waiting = GroupOperation(child)
        let holder = GroupOperation(gate, plain)
        for group in [holder, waiting] { group.exclusive("PlainMember.cancelledChild") }
        plain.addDependency(child)
        if isEarly { child.cancel() }
        queue.addOperation(holder)
        await gate.started.wait()
        queue.addOperation(waiting)
        child.cancel()
        gate.open()
        await holder.ended()
        await waiting.ended()
        #expect(plain.isFinished)
        #expect(holder.outcome?.isSuccess == true)
    }

    @Test(arguments: [false, true])
    func plainOperation_thatDependsOnAProducer_cancelledBeforeItsReceiverIsAdded_runs(isInGroup: Bool) async {
        let queue = AOperationQueue(slots: 1)
        let (producer, receiver, plain) = (Value(1), Keep<Int>(), BlockOperation {})
        producer.deliver(to: receiver)
        plain.addDependency(producer)
        producer.cancel()
        queue.addOperation(plain)
        queue.addOperation(isInGroup ? GroupOperation(receiver) : receiver)
        await receiver.ended()
        await queue.idle()
        #expect(plain.isFinished)
    }

    /// The first place has given it to Foundation, which holds it back, when its turn comes in the others.
    @Test func plainOperation_inSeveralPlaces_isRunByTheFirst_andTheOthersWaitForIt() async {
        let (runs, executor) = (Log<String>(), DispatchQueue(label: "PlainMember.heldBack"))
        executor.suspend()
        let plain = BlockOperation { runs.append("run") }
        let (first, second) = (AOperationQueue(), AOperationQueue())
        first.underlyingQueue = executor
        first.addOperation(plain)
        second.addOperation(plain)
        let (free, behind) = (Gate(), Step("behind"))
        let groups = [GroupOperation(plain, free), OrderedGroupOperation(plain, behind), GroupOperation(GroupOperation(plain))]
        second.addOperations(groups, waitUntilFinished: false)
        await free.started.wait()
        #expect(runs.count == 0)
        #expect(behind.outcome == nil)
        executor.resume()
        free.open()
        for queue in [first, second] { await queue.idle() }
        #expect(runs.count == 1)
        #expect(groups.allSatisfy { $0.outcome?.isSuccess == true })
    }

    @Test(arguments: [1, 2, -1]) func plainOperations_ofTwoGroups_runOnce_alsoWhenTheirTurnsComeTogether(_ slots: Int) async {
        let (queue, runs) = (AOperationQueue(slots: slots), Log<Int>())
        var groups: [GroupOperation] = []
        for index in 0..<300 {
            let plain = BlockOperation { runs.append(index) }
            groups += [GroupOperation(plain), GroupOperation(plain)]
        }
        queue.addOperations(groups, waitUntilFinished: false)
        await queue.idle()
        #expect(runs.entries.sorted() == Array(0..<300))
        #expect(groups.allSatisfy { $0.outcome?.isSuccess == true })
    }

    /// While one of two places has it cancelled, the other one waits for the same end.
    @Test func plainOperation_thatOneOfItsGroupsCancels_endsInTheOtherToo() async {
        let (queue, gate, plain) = (AOperationQueue(), Gate(), BlockOperation {})
        plain.addDependency(gate)
        let (cancelled, other) = (GroupOperation(plain), GroupOperation(plain))
        queue.addOperations([cancelled, other, gate], waitUntilFinished: false)
        await gate.started.wait()
        cancelled.cancel()
        await cancelled.ended()
        #expect(cancelled.outcome?.isCancelled == true)
        gate.open()
        await other.ended()
        #expect(other.publishedErrors.first?.publishedError is AOperationError.IsCancelled)
    }
}

/// Answers that it is not ready, although it has become so while it was asked.
private final class Overlooked: Foundation.Operation, @unchecked Sendable {
    let isDone = Signal()
    /// Set and called on the thread that hands it to Foundation.
    var whileAsked: (() -> Void)?
    private(set) var wasOverlooked = false

    override var isReady: Bool {
        let isReady = super.isReady
        guard !isReady, let change = whileAsked else { return isReady }
        whileAsked = nil
        change()
        wasOverlooked = super.isReady
        return isReady
    }

    override func main() { isDone.fire() }
}

/// Ends before Foundation is told of it.
private final class Late: Foundation.Operation, @unchecked Sendable {
    private var hasEnded = false

    override var isFinished: Bool { hasEnded }

    func end() { hasEnded = true }

    func tell() {
        willChangeValue(forKey: "isFinished")
        didChangeValue(forKey: "isFinished")
    }
}

private final class Host: LaneHost {
    private let queue = OperationQueue()
    private let willRun: (Overlooked) -> Void

    init(_ willRun: @escaping (Overlooked) -> Void) { self.willRun = willRun }

    func memberSettled(_ operation: Foundation.Operation, errors: [AOperationError]) {}

    func addProduced(_ operation: Foundation.Operation, id: String?) {}

    func runPlain(_ operation: Foundation.Operation) {
        if let operation = operation as? Overlooked { willRun(operation) }
        queue.addOperation(operation)
    }
}
