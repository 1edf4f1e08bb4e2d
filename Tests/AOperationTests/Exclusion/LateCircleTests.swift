import Foundation
import Testing

@testable import AOperation

/// Circles that a dependency closes which comes late, or is of a plain operation: whatever queue that one is in.
@Suite(.timeLimit(Load.patience))
struct LateCircleTests {
    enum Place: CaseIterable { case ours, plainQueue, plainOperation }
    enum Moment: CaseIterable { case beforeItIsAdded, afterItWasAdded }

    private final class Unique: VoidOperation, UniqueOperation, @unchecked Sendable {
        let uniqueId: String
        let onDuplicate = DuplicatePolicy.join
        init(_ uniqueId: String) {
            self.uniqueId = uniqueId
            super.init()
        }
        override func execute() { finish() }
    }

    private let queue = AOperationQueue()

    private func add(_ operation: Foundation.Operation, to place: Place, _ plainQueue: OperationQueue) {
        if place == .plainQueue { plainQueue.addOperation(operation) } else { AOperationQueue().addOperation(operation) }
    }

    /// It waits for one that has joined who waits for it.
    @Test(arguments: Place.allCases, Moment.allCases)
    func throughAJoin(_ place: Place, _ moment: Moment) async {
        let plainQueue = OperationQueue()
        let key = freshKey("circle")
        let (first, joiner, gate) = (Unique(key), Unique(key), Gate())
        let x: Foundation.Operation = place == .plainOperation ? BlockOperation {} : Step("x")
        x.addDependency(gate)
        first.addDependency(x)
        queue.addOperation(gate)
        if moment == .afterItWasAdded { add(x, to: place, plainQueue) }
        queue.addOperation(first)
        queue.addOperation(joiner)
        await gate.started.wait()
        x.addDependency(joiner)
        if moment == .beforeItIsAdded { add(x, to: place, plainQueue) }
        gate.open()
        await joiner.ended()
        await first.ended()
        #expect(first.outcome?.isSuccess == true)
        #expect(joiner.publishedErrors.first?.publishedError is AOperationError.IgnoredDuplicate)
        await until { x.isFinished }
    }

    /// A child of a group that holds a key waits for it, and it waits for one that waits for the key.
    @Test(arguments: Place.allCases, Moment.allCases)
    func throughALock(_ place: Place, _ moment: Moment) async {
        let plainQueue = OperationQueue()
        let key = freshKey("circle")
        let (gate, begins) = (Gate(), Gate())
        let child = Step("child")
        let x: Foundation.Operation = place == .plainOperation ? BlockOperation {} : Step("x")
        x.addDependency(gate)
        child.addDependency(x)
        let group = GroupOperation([child, begins]).exclusive(key)
        let other = Step("other").exclusive(key)
        queue.addOperation(gate)
        if moment == .afterItWasAdded { add(x, to: place, plainQueue) }
        queue.addOperation(group)
        await begins.started.wait()
        queue.addOperation(other)
        await until { other.core.withLock { $0.lockRequest != nil } }
        x.addDependency(other)
        if moment == .beforeItIsAdded { add(x, to: place, plainQueue) }
        gate.open()
        begins.open()
        await other.ended()
        await group.ended()
        await until { x.isFinished }
        let failed = [other, group, x as? AOperation].compactMap(\.self).flatMap(\.publishedErrors)
        #expect(failed.contains { $0.publishedError is AOperationError.LockCycle })
    }

    /// More is behind a wait that may be in the circle than is looked at when something is added.
    @Test func wideOne_isFoundLater() async throws {
        let key = freshKey("wide")
        let (group, groupGate) = await queue.runningGroup("group", [key])
        let waits = Step("waits").exclusive(key)
        queue.addOperation(waits)
        await hasAsked(waits)
        let gate = Gate()
        queue.addOperation(gate)
        let (near, far) = (100, 600)
        var last = waits
        for _ in 0..<near {
            let next = Step()
            next.addDependency(last)
            queue.addOperation(next)
            last = next
        }
        let (x, child) = (Step("x"), Step("child"))
        child.addDependency(x)
        let others = (0..<far).map { _ in Step() }
        for other in others {
            other.addDependency(gate)
            child.addDependency(other)
        }
        queue.addOperations(others, waitUntilFinished: false)
        group.addOperation(child)
        x.addDependency(last)
        queue.addOperation(x)
        await x.ended()
        #expect(x.isLockCycle)
        gate.open()
        groupGate.open()
        await group.ended()
        await last.ended()
        #expect(last.outcome?.isSuccess == true)
    }
}
