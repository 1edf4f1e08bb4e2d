import Foundation
import Testing

@testable import AOperation

/// The event before the end, which observers may hold back.
@Suite(.timeLimit(Load.patience))
struct HoldingObserverTests {
    let queue = AOperationQueue()

    /// Holds an end back until it is opened.
    private final class Latch: HoldingObserver, Sendable {
        let told = Signal()
        let log = Log<[AOperationError]>()
        private let finishes = Log<@Sendable () -> Void>()

        func operation(
            _ operation: AOperation, willFinishWith errors: [AOperationError], finish: @escaping @Sendable () -> Void
        ) {
            log.append(errors)
            finishes.append(finish)
            told.fire()
        }

        func open() { for finish in finishes.entries { finish() } }
    }

    @Test func observer_holdsTheEndBack_untilItLetsGo() async {
        let latch = Latch()
        let ends = Log<String>()
        let operation = Value(1)
        operation.observers(latch, FinishedObserver { _, _ in ends.append("end") })
        queue.addOperation(operation)
        await latch.told.wait()
        #expect(!operation.isFinished && operation.isExecuting && ends.count == 0)
        latch.open()
        latch.open()
        await operation.ended()
        #expect(operation.outcome?.value == 1)
        #expect(ends.count == 1 && latch.log.entries == [[]])
    }

    @Test func end_waitsForAll_andForTheClosure_inThatOrder() async {
        let latches = [Latch(), Latch()]
        let order = Log<Int>()
        let closure = Log<@Sendable () -> Void>()
        let told = Signal()
        let operation = Failing<Int>("broken")
        operation.willFinish { _, finish in
            order.append(2)
            closure.append(finish)
            told.fire()
        }
        for (number, latch) in latches.enumerated() {
            operation.addObserver(latch)
            operation.addObserver(
                WillFinishObserver { _, _, finish in
                    order.append(number); finish()
                })
        }
        queue.addOperation(operation)
        await told.wait()
        #expect(order.entries == [0, 1, 2])
        latches[1].open()
        for finish in closure.entries { finish() }
        #expect(!operation.isFinished)
        latches[0].open()
        await operation.ended()
        #expect(operation.outcome?.isFailure == true)
        #expect(latches[0].log.entries.first?.first?.localizedDescription == "broken")
    }

    @Test func cancellation_endsItMeanwhile() async {
        let latch = Latch()
        let operation = Value(1)
        operation.addObserver(latch)
        queue.addOperation(operation)
        await latch.told.wait()
        operation.cancel()
        await operation.ended()
        #expect(operation.outcome?.isCancelled == true)
        latch.open()
        #expect(operation.outcome?.isCancelled == true)
    }

    @Test func whatWasCancelled_orFailedItsCondition_isNotHeldBack() async {
        let latch = Latch()
        let cancelled = Value(1)
        let refused = Value(2).condition { $0(.failure(AOperationError(Failed(text: "no")))) }
        for operation in [cancelled, refused] { operation.addObserver(latch) }
        cancelled.cancel()
        queue.addOperations([cancelled, refused], waitUntilFinished: false)
        await cancelled.ended()
        await refused.ended()
        #expect(latch.log.count == 0)
    }

    @Test func retriedOperation_isHeldBackOnce_atItsLastAttempt() async {
        let log = Log<Int>()
        let operation = Flaky(failures: Guarded(2))
        operation.retry(RetryPolicy(attempts: 3))
        operation.addObserver(
            WillFinishObserver { _, errors, finish in
                log.append(errors.count)
                DispatchQueue.global().async { finish() }
            })
        queue.addOperation(operation)
        await operation.ended()
        #expect(operation.outcome?.isSuccess == true)
        #expect(log.entries == [0])
    }

    @Test func group_isHeldBack_whenItsChildrenHaveEnded() async {
        let latch = Latch()
        let child = Step()
        let group = GroupOperation(child)
        group.addObserver(latch)
        queue.addOperation(group)
        await latch.told.wait()
        #expect(child.isEnded && !group.isFinished)
        latch.open()
        await group.ended()
        #expect(group.outcome?.isSuccess == true)
    }

    @Test func observer_isReleasedWithTheEnd() async {
        weak var released: Latch?
        let operation = Value(1)
        do {
            let latch = Latch()
            released = latch
            operation.addObserver(latch)
            queue.addOperation(operation)
            await latch.told.wait()
            latch.open()
        }
        await operation.ended()
        await queue.idle()
        #expect(released == nil)
    }

    @Test func fromManyThreads_theEndComesOnce() async {
        for _ in 0..<Load.rounds(100) {
            let operation = Value(1)
            let ears = Ears.on(operation)
            for _ in 0..<3 {
                operation.addObserver(
                    WillFinishObserver { _, _, finish in
                        for _ in 0..<4 { DispatchQueue.global().async { finish() } }
                    })
            }
            queue.addOperation(operation)
            await operation.ended()
            await callbacksDelivered()
            #expect(ears.wereToldOnce, "\(ears.summary)")
        }
    }

    @Test func blockObserver_hasAClosureForEveryEvent() async {
        let log = Log<String>()
        let operation = Producer()
        operation.addObserver(
            BlockObserver(
                didStart: { _ in log.append("start") }, didCancel: { _ in log.append("cancel") },
                didProduce: { _, product in log.append("produce \(product.name ?? "")") },
                willFinish: { _, errors, finish in
                    log.append("will finish \(errors.count)")
                    finish()
                },
                didFinish: { _, errors in log.append("finish \(errors.count)") }))
        queue.addOperation(operation)
        await operation.ended()
        #expect(log.entries == ["start", "produce Step", "will finish 0", "finish 0"])
        let gate = Gate()
        gate.addObserver(BlockObserver(didCancel: { _ in log.append("cancel") }))
        queue.addOperation(gate)
        await gate.started.wait()
        gate.cancel()
        await gate.ended()
        #expect(log.entries.last == "cancel")
    }

    private final class Producer: VoidOperation, @unchecked Sendable {
        override func execute() {
            produce(Step())
            finish()
        }
    }
}
