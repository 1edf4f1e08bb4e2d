import Foundation
import Testing

@testable import AOperation

/// Who waits for an operation of a retry scope and has no part in it.
@Suite(.timeLimit(Load.patience))
struct OutsideWaiterTests {
    /// Fails, always.
    private final class Broken: ResultableOperation<Int>, RetryableOperation, @unchecked Sendable {
        let attempts: Log<Int>
        init(_ attempts: Log<Int> = Log()) {
            self.attempts = attempts
            super.init()
        }
        func new() -> Broken { Broken(attempts) }
        override func execute() {
            attempts.append(1)
            finish(with: .failure(AOperationError(Failed(text: "broken"))))
        }
    }

    private final class Relay: ResultableOperation<Int>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
        var receivedValue: Result<Int, AOperationError>?
        func new() -> Relay { Relay() }
        override func execute() { finish(with: receivedValue ?? .failure(.receivedValueIsNil(in: self))) }
    }

    /// The end of the net waits for one that a plain queue has not started, and which waits for the producer.
    @Test func oneThatAPlainQueueHasNotStarted_countsAmongThoseWhoWait() async {
        let queue = OperationQueue()
        let producer = Broken()
        let tail = Relay().retry(RetryPolicy(attempts: 3, backoff: .none))
        producer.deliver(to: tail)
        let outsider = Step("outsider")
        outsider.addDependency(producer)
        tail.addDependency(outsider)
        for operation in [outsider, producer, tail] { queue.addOperation(operation) }
        await tail.ended()
        #expect(outsider.outcome?.isSuccess == true)
        #expect(producer.attempts.count == 1, "somebody from outside waited for its outcome")
        #expect(tail.publishedErrors.first?.publishedError as? Failed == Failed(text: "broken"))
    }

    /// Nobody tells of a plain operation in a plain queue; but the end of the net is known to wait for it.
    @Test func plainOneInAPlainQueue_thatTheEndWaitsFor_countsAmongThoseWhoWait() async {
        let queue = OperationQueue()
        let producer = Broken()
        let tail = Relay().retry(RetryPolicy(attempts: 3, backoff: .none))
        producer.deliver(to: tail)
        let outsider = BlockOperation {}
        outsider.addDependency(producer)
        let between = Step("between")
        between.addDependency(outsider)
        tail.addDependency(between)
        for operation in [outsider, between, producer, tail] as [Foundation.Operation] { queue.addOperation(operation) }
        await tail.ended()
        #expect(outsider.isFinished)
        #expect(producer.attempts.count == 1)
        #expect(tail.publishedErrors.first?.publishedError as? Failed == Failed(text: "broken"))
    }

    /// The same when it was in the net once, and waits no longer in that way.
    @Test func oneOfTheNet_thatWasAskedBeforeTheNetWasStarted_isNoOutsider() async {
        let queue = OperationQueue()
        let producer = Broken()
        let middle = Relay()
        let tail = Keep<[Int]>().retry(RetryPolicy(attempts: 3, backoff: .none))
        _ = [producer, middle].deliver(to: tail)
        middle.receivedValue = .success(1)
        middle.addDependency(producer)
        queue.addOperation(middle)  // is asked, and waits for the producer
        queue.addOperation(producer)
        await producer.ended()
        #expect(producer.outcome?.isFailure == true)
        await middle.ended()
    }

    /// It was told of a failure that may be tried again; then somebody from outside came, so that it is the outcome, which
    /// `willFinish` holds back.
    @Test func receiverOfAProvisionalFailure_receivesIt_evenWhileWillFinishHoldsIt() async {
        let queue = AOperationQueue()
        let producer = Broken()
        let release = Signal()
        producer.willFinish { _, finish in
            Task {
                await release.wait()
                finish()
            }
        }
        let gate = Gate()
        let tail = Relay().retryOnFailure { _, _, again in again(false) }
        producer.deliver(to: tail)
        tail.addDependency(gate)
        queue.addOperation(producer)
        queue.addOperation(gate)
        await gate.started.wait()
        await until { producer.core.withLock { $0.state.isProvisional } }
        let outsider = Step("outsider")
        outsider.addDependency(producer)
        queue.addOperation(outsider)
        gate.open()
        await tail.ended()
        #expect(tail.publishedErrors.first?.publishedError as? Failed == Failed(text: "broken"))
        release.fire()
        await outsider.ended()
        await producer.ended()
    }
}
