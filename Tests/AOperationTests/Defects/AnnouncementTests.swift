import Foundation
import Testing

@testable import AOperation

/// How Foundation's own queue learns of an operation's readiness and of its end: they are announced in words that it
/// knows, every time.
@Suite(.timeLimit(Load.patience))
struct AnnouncementTests {
    let plain = OperationQueue()
    let queue = AOperationQueue()

    enum Release: CaseIterable {
        case endInAQueue, endInAPlainQueue, endOfAPlainOperation, endByHand, cancellation, removal
    }

    /// Nothing else happens in the queue that could make it look once more.
    @Test(arguments: Release.allCases)
    func B6_operationThatBecomesReadyInAPlainQueue_isStarted_withoutAnotherOccasion(release: Release) async {
        for _ in 0..<Load.rounds(100) {
            let blocker: Foundation.Operation = release == .endOfAPlainOperation ? BlockOperation {} : Step()
            let operation = Step()
            operation.addDependency(blocker)
            let other = OperationQueue()
            DispatchQueue.global().async { [queue] in
                switch release {
                case .endInAQueue: queue.addOperation(blocker)
                case .endInAPlainQueue, .endOfAPlainOperation: other.addOperation(blocker)
                case .endByHand: blocker.start()
                case .cancellation: blocker.cancel()
                case .removal: operation.removeDependency(blocker)
                }
            }
            plain.addOperation(operation)
            await operation.ended()
            await plain.idle()
            #expect(operation.outcome?.isSuccess == true)
        }
    }

    enum Life: CaseIterable {
        case inAQueue, inAPlainQueue, inAGroup, byHand, cancelledBefore, cancelledWhileItRuns
    }

    @Test(arguments: Life.allCases)
    func B12_endOfAnOperation_isAnnounced_toPlainDependentsAndThoseWhoWait(life: Life) async {
        for _ in 0..<50 {
            let gate = Gate()
            let ran = Signal()
            let dependent = BlockOperation { ran.fire() }
            dependent.addDependency(gate)
            plain.addOperation(dependent)
            switch life {
            case .inAQueue, .cancelledWhileItRuns: queue.addOperation(gate)
            case .inAPlainQueue: plain.addOperation(gate)
            case .inAGroup: queue.addOperation(GroupOperation(gate))
            case .byHand: gate.start()
            case .cancelledBefore:
                gate.cancel()
                plain.addOperation(gate)
            }
            if life != .cancelledBefore { await gate.started.wait() }
            if life == .cancelledWhileItRuns { gate.cancel() } else { gate.open() }
            await ran.wait()
            await onThread { gate.waitUntilFinished() }
            await plain.idle()
        }
        #expect(plain.operationCount == 0)
    }

    @Test func B12_slotsOfASerialPlainQueue_areGivenBack_whereverTheEndComesFrom() async {
        plain.maxConcurrentOperationCount = 1
        let gates = (0..<100).map { Gate("\($0)") }
        for gate in gates { plain.addOperation(gate) }
        for (number, gate) in gates.enumerated() {
            await gate.started.wait()
            #expect(gate.isExecuting)
            DispatchQueue.global().async { if number.isMultiple(of: 2) { gate.open() } else { gate.cancel() } }
        }
        await plain.idle()
        #expect(gates.allSatisfy { $0.isEnded && !$0.isExecuting })
    }
}
