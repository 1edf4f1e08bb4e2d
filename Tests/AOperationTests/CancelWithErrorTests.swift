import Foundation
import Testing

@testable import AOperation

/// Cancelling for a reason.
@Suite(.timeLimit(Load.patience))
struct CancelWithErrorTests {
    let queue = AOperationQueue()
    let reason = AOperationError(Failed(text: "the disk is full"))

    @Test func runningOperation_isStopped_andFailsWithTheReason() async {
        let gate = Gate()
        let ears = Ears.on(gate)
        let cancels = Log<Bool>()
        gate.addObserver(CancelledObserver { cancels.append($0.isCancelled) })
        queue.addOperation(gate)
        await gate.started.wait()
        gate.cancelWithError(reason)
        await gate.ended()
        await callbacksDelivered()
        #expect(gate.publishedErrors.map(\.localizedDescription) == ["the disk is full"])
        #expect(gate.publishedErrors.first?.publisher == "Gate")
        #expect(gate.outcome?.isFailure == true)
        #expect(cancels.entries == [true])
        #expect(ears.wereToldOnce, "\(ears.summary)")
    }

    @Test func waitingOperation_doesNotRun_andItsDependentDoes() async {
        let gate = Gate()
        let waits = Value(1)
        waits.addDependency(gate)
        let dependent = Step()
        dependent.addDependency(waits)
        queue.addOperations([gate, waits, dependent], waitUntilFinished: false)
        waits.cancelWithErrors([reason, AOperationError(Failed(text: "and the tape"))])
        await dependent.ended()
        #expect(waits.publishedErrors.count == 2)
        #expect(dependent.outcome?.isSuccess == true)
        gate.open()
        await queue.idle()
    }

    @Test func operationInNoQueue_failsToo() async {
        let operation = Value(1)
        operation.cancelWithError(reason)
        queue.addOperation(operation)
        await operation.ended()
        #expect(operation.result?.error?.localizedDescription == "the disk is full")
    }

    @Test func group_cancelsItsChildren_andFails() async {
        let gate = Gate()
        let group = GroupOperation(gate, Step())
        queue.addOperation(group)
        await gate.started.wait()
        group.cancelWithError(reason)
        await group.ended()
        #expect(gate.outcome?.isCancelled == true)
        #expect(group.publishedErrors.map(\.localizedDescription) == ["the disk is full"])
    }

    @Test func itIsNotTriedAgain_andTheFirstReasonCounts() async {
        let asked = Log<Int>()
        let gate = RetriedGate()
        gate.retryOnFailure { number, _, retry in
            asked.append(number)
            retry(true)
        }
        queue.addOperation(gate)
        await gate.started.wait()
        gate.cancelWithError(reason)
        gate.cancelWithError(AOperationError(Failed(text: "late")))
        gate.cancel()
        gate.finish()
        await gate.ended()
        #expect(asked.count == 0)
        #expect(gate.publishedErrors.map(\.localizedDescription) == ["the disk is full"])
    }

    @Test func withoutErrors_itIsACancellation() async {
        let operation = Value(1)
        operation.cancelWithErrors([])
        queue.addOperation(operation)
        await operation.ended()
        #expect(operation.outcome?.isCancelled == true)
    }

    @Test func fromManyThreads_listenersAreToldOnce() async {
        for round in 0..<Load.rounds(200) {
            let operation = Step()
            let ears = Ears.on(operation)
            let cancels = Log<Void>()
            operation.addObserver(CancelledObserver { _ in cancels.append(()) })
            queue.addOperation(operation)
            for thread in 0..<4 {
                DispatchQueue.global().async {
                    thread.isMultiple(of: 2) ? operation.cancel() : operation.cancelWithError(AOperationError(Failed(text: "\(round)")))
                }
            }
            await operation.ended()
            await callbacksDelivered()
            #expect(ears.wereToldOnce, "\(ears.summary)")
            #expect(cancels.count <= 1)
        }
    }

    private final class RetriedGate: VoidOperation, RetryableOperation, @unchecked Sendable {
        let started = Signal()
        func new() -> Self { Self() }
        override func execute() { started.fire() }
    }
}
