import Foundation
import Testing

@testable import AOperation

/// Waits that look like a circle and are none.
@Suite(.timeLimit(Load.patience))
struct NoLockCycleTests {
    let a = freshKey("a")
    let b = freshKey("b")
    let queue = AOperationQueue()
    let serial = AOperationQueue(slots: 1)

    /// One of two holders of a semaphore is enough to go on.
    @Test func semaphoreWithAHolderThatCanEnd_isNoCircle() async {
        let (group, gate) = await queue.runningGroup("group", [a])
        let stuckGate = Gate("stuck's gate")
        let stuck = GroupOperation(stuckGate)
        stuck.exclusive(b, limit: 2)
        let free = Gate("free").exclusive(b, limit: 2)
        queue.addOperations([stuck, free], waitUntilFinished: false)
        await stuckGate.started.wait()
        await free.started.wait()
        let asks = Step("asks").exclusive(a)
        stuck.addOperation(asks)
        await hasAsked(asks)
        let outsider = Step("outsider").exclusive(b, limit: 2)
        serial.addOperation(outsider)
        await serial.settled()
        let child = Step("child")
        child.addDependency(outsider)
        group.addOperation(child)
        free.open()
        await child.ended()
        #expect(child.outcome?.isSuccess == true)
        gate.open()
        stuckGate.open()
        await stuck.ended()
        #expect(stuck.outcome?.isSuccess == true)
    }

    @Test func siblingsThatWaitForEachOther_areNoCircle() async {
        let gauge = Gauge()
        let gate = Gate()
        let group = GroupOperation(gate)
        group.exclusive(a)
        queue.addOperation(group)
        await gate.started.wait()
        var last: AOperation = gate
        for index in 0..<200 {
            let child = LockTests.worker(gauge, a)
            if index.isMultiple(of: 2) { child.addDependency(last) }
            last = child
            group.addOperation(child)
        }
        gate.open()
        await group.ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(gauge.most == 1)
    }

    /// It does not start any more: that it would have waited for one who asks for the key does not matter.
    @Test func childThatIsOnlyCancelled_isNoCircle() async {
        let (asked, kept) = (Signal(), Log<@Sendable (OperationConditionResult) -> Void>())
        let asks = Step("asks").exclusive(a)
        let slow = Gate("slow", isDeaf: true)
        slow.grace = .seconds(3_600)
        queue.addOperation(slow)
        await slow.started.wait()
        let nested = GroupOperation(slow)
        nested.addDependency(asks)
        let group = GroupOperation(nested)
        group.exclusive(a).condition { decide in
            kept.append(decide)
            asked.fire()
        }
        queue.addOperation(group)
        await asked.wait()
        kept.entries.first?(.failed("condition"))
        await until { !nested.isInitialized }
        serial.addOperation(asks)
        await hasAsked(asks)
        slow.open()
        await group.ended()
        await asks.ended()
        #expect(group.publishedTexts == ["condition"])
        #expect(asks.outcome?.isSuccess == true)
    }
}

extension AOperationQueue {
    /// A group that holds keys and runs until its gate is opened.
    func runningGroup(_ name: String, _ keys: [String]) async -> (group: GroupOperation, gate: Gate) {
        let gate = Gate("\(name)'s gate")
        let group = GroupOperation(gate)
        group.name = name
        for key in keys { group.exclusive(key) }
        addOperation(group)
        await gate.started.wait()
        return (group, gate)
    }
}

/// Waits until an operation of any queue has asked for its locks, or has ended.
func hasAsked(_ operation: AOperation) async {
    await until {
        let (state, request) = operation.core.withLock { ($0.state, $0.lockRequest) }
        return switch state {
        case .initialized, .waiting, .ready, .preparing(isInline: true): false
        // It has the request a moment before the table has.
        case .preparing(isInline: false): request.map { LockTable.shared.isWaiting($0) || LockTable.shared.isHeld($0) } ?? false
        case .executing, .deliberating, .retrying, .provisional, .holding, .telling, .finished, .ended: true
        }
    }
}
