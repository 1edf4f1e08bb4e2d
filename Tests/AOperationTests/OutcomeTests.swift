import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct OutcomeTests {
    @Test func success_tellsEveryListenerOnce_inOrder() async throws {
        let log = Log<String>()
        final class Delegate: AOperationDelegate, Sendable {
            let log: Log<String>
            init(_ log: Log<String>) { self.log = log }
            func operationDidStart(_ operation: AOperation) { log.append("delegate start") }
            func operationDidFinish(_ operation: AOperation, with errors: [AOperationError]) {
                log.append("delegate finish \(operation.isFinished)")
            }
        }
        let delegate = Delegate(log)
        let operation = Value(3)
        operation.delegate = delegate
        operation
            .observers(
                BlockObserver(
                    startHandler: { _ in log.append("observer start") },
                    finishHandler: { operation, _ in log.append("observer finish \(operation.isFinished)") })
            )
            .didStart { log.append("didStart") }
            .willFinish { result, finish in
                log.append("willFinish \(result)")
                finish()
            }
            .didFinish { [weak operation] result in
                log.append("didFinish \(result) \(operation?.isFinished ?? false)")
            }
            .add(to: AOperationQueue())
        await operation.ended()
        await callbacksDelivered()
        #expect(
            log.entries == [
                "delegate start", "observer start", "didStart", "willFinish success(3)", "observer finish false",
                "delegate finish false", "didFinish success(3) true",
            ])
        #expect(operation.outcome == .success(3))
        withExtendedLifetime(delegate) {}
    }

    @Test func failure_keepsTheStateAndPublisherItWasBornWith() async {
        let foreign = AOperationError(Failed(text: "no"), state: .condition, publisher: "Somebody")
        let receiver = PassOn<Int>()
        receiver.receivedValue = .failure(foreign)
        let result = await receiver.result(on: AOperationQueue())
        #expect(result.error == foreign)
        let own = await Failing<Int>("own").result(on: AOperationQueue())
        #expect(own.error?.publisher == "own")
        #expect(own.error?.state == .execution)
    }

    @Test func finish_afterTheFirst_isIgnored() async {
        let operation = MapOperationBlock<Void, Int> { _, finish in
            finish(.success(1))
            finish(.success(2))
            finish(.failure(AOperationError(Failed(text: "late"))))
        }
        let ends = Log<String>()
        operation.didFinish { ends.append("\($0)") }.add(to: AOperationQueue())
        await operation.ended()
        await callbacksDelivered()
        #expect(ends.entries == ["success(1)"])
        #expect(operation.outcome == .success(1))
    }

    @Test(arguments: 0..<20)
    func concurrentCancelAndFinish_leadToOneOutcome(round: Int) async {
        let queue = AOperationQueue()
        let ends = Log<Int>()
        let observed = Log<Int>()
        let operations = (0..<100).map { index in
            Gate("\(index)", isDeaf: true)
                .observers(BlockObserver(finishHandler: { _, _ in observed.append(index) }))
                .didFinish { _ in ends.append(index) }
        }
        for operation in operations { operation.add(to: queue) }
        await onThread {
            DispatchQueue.concurrentPerform(iterations: 300) { iteration in
                let operation = operations[iteration / 3]
                switch (iteration + round) % 3 {
                case 0: operation.cancel()
                case 1: operation.open()
                default: operation.finish(with: .failure(AOperationError(Failed(text: "x"))))
                }
            }
        }
        for operation in operations {
            if operation.outcome == nil { operation.open() }
            await operation.ended()
        }
        await callbacksDelivered()
        #expect(ends.entries.sorted() == Array(0..<100), "round \(round)")
        #expect(observed.entries.sorted() == Array(0..<100), "round \(round)")
        await queue.idle()
    }

    @Test func cancel_decidesAtOnce_butTheSlotWaitsForTheBody() async {
        let queue = AOperationQueue()
        queue.maxConcurrentOperationCount = 1
        let deaf = Gate("deaf", isDeaf: true)
        let next = Step()
        queue.addOperations([deaf, next], waitUntilFinished: false)
        await deaf.started.wait()
        deaf.cancel()
        #expect(deaf.outcome?.isCancelled == true)
        #expect(deaf.isFinished)
        #expect(!deaf.isEnded)
        #expect(next.outcome == nil)
        deaf.open()
        await next.ended()
        #expect(deaf.outcome?.isCancelled == true, "what the body reports later is ignored")
        #expect(next.outcome?.isSuccess == true)
    }

    @Test func cancelBeforeTheStart_endsWithoutExecuting() async {
        let executed = Log<Int>()
        let operation = Step { executed.append(1) }
        let told = Log<String>()
        operation
            .didStart { executed.append(2) }
            .observers(BlockObserver(cancelHandler: { _ in told.append("cancel") }, finishHandler: { _, _ in told.append("finish") }))
            .didFinish { told.append("\($0.error?.publishedError is AOperationError.IsCancelled)") }
        operation.cancel()
        await callbacksDelivered()
        #expect(told.entries == ["cancel", "finish", "true"])
        let queue = AOperationQueue()
        operation.add(to: queue)
        await queue.idle()
        #expect(executed.entries.isEmpty)
        #expect(told.count == 3)
    }

    @Test func finishedFirst_cancelledLater_staysFinished() async {
        let operation = Value(1)
        await operation.add(to: AOperationQueue()).ended()
        operation.cancel()
        #expect(!operation.isCancelled)
        #expect(operation.outcome == .success(1))
        #expect(operation.publishedErrors.isEmpty)
    }

    @Test func willFinish_mayBeAsynchronous_andEndsByItselfOnCancel() async {
        let queue = AOperationQueue()
        let held = Log<@Sendable () -> Void>()
        let asked = Signal()
        let operation = Value(1).willFinish { _, finish in
            held.append(finish)
            asked.fire()
        }
        operation.add(to: queue)
        await asked.wait()
        #expect(operation.outcome == nil)
        #expect(operation.isExecuting)
        held.entries.first?()
        await operation.ended()
        #expect(operation.outcome == .success(1))

        let askedAgain = Signal()
        let cancelled = Value(2).willFinish { _, _ in askedAgain.fire() }
        cancelled.add(to: queue)
        await askedAgain.wait()
        cancelled.cancel()
        await cancelled.ended()
        #expect(cancelled.outcome == .cancelled)
    }

    @Test func listenersThatComeLate_areToldOnce() async {
        let operation = Value(5)
        await operation.add(to: AOperationQueue()).ended()
        let told = Log<String>()
        operation.addObserver(BlockObserver(finishHandler: { _, errors in told.append("observer \(errors.count)") }))
        operation.didFinish { told.append("\($0)") }
        await callbacksDelivered()
        #expect(told.entries == ["observer 0", "success(5)"])
    }

    @Test func operationWithoutResult_failsUnlessItIsVoid() async {
        let void = VoidOperation()
        await void.add(to: AOperationQueue()).ended()
        #expect(void.outcome?.isSuccess == true)
        let missing = ResultableOperation<Int>()
        let result = await missing.result(on: AOperationQueue())
        #expect(result.error?.publishedError is AOperationError.ResultIsMissing)
    }

    /// A queue for callbacks that knows who is on it.
    private final class Callbacks: Sendable {
        let queue = DispatchQueue(label: "callbacks")
        private let key = DispatchSpecificKey<Bool>()

        init() { queue.setSpecific(key: key, value: true) }

        var isHere: Bool { DispatchQueue.getSpecific(key: key) == true }
    }

    @Test func didFinish_isCalledOnTheQueueThatWasAskedFor() async {
        let (queue, callbacks, place) = (AOperationQueue(), Callbacks(), Log<Bool>())
        queue.callbackQueue = callbacks.queue
        let inGroup = Value(1).didFinish { _ in place.append(callbacks.isHere) }
        let operation = GroupOperation(inGroup).didFinish { _ in place.append(callbacks.isHere) }
        await operation.add(to: queue).ended()
        await callbacksDelivered(callbacks.queue)
        #expect(place.entries == [true, true])
    }

    /// Code of the main actor trusts in it.
    @Test(arguments: ["cancelled before", "stopped"])
    func didFinish_ofWhatNeverJoinsItsGroupsQueue_isCalledThere_too(reason: String) async {
        let (queue, callbacks, place) = (AOperationQueue(), Callbacks(), Log<Bool>())
        queue.callbackQueue = callbacks.queue
        let never = Value(1).didFinish { _ in place.append(callbacks.isHere) }
        let group: GroupOperation
        if reason == "stopped" {
            group = OrderedGroupOperation([ResultableOperation<Int>(), GroupOperation(never)], onFailure: .stop)
        } else {
            group = GroupOperation(GroupOperation(never))
            queue.isSuspended = true
        }
        queue.addOperation(group)
        if queue.isSuspended { group.cancel() }
        queue.isSuspended = false
        await group.ended()
        await never.ended()
        await callbacksDelivered(callbacks.queue)
        #expect(place.entries == [true])
    }

    @Test func endThatComesWhileACancellationIsTold_isToldAfterIt() async {
        final class Held: VoidOperation, @unchecked Sendable {
            let started = Signal()
            override func execute() { started.fire() }
        }
        let (operation, log) = (Held(), Log<String>())
        operation.addObserver(
            CancelledObserver { operation in
                let isOver = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    (operation as? Held)?.finish()
                    isOver.signal()
                }
                isOver.wait()
                log.append("cancelled")
            })
        operation.addObserver(BlockObserver(finishHandler: { _, _ in log.append("finished") }))
        AOperationQueue().addOperation(operation)
        await operation.started.wait()
        operation.cancel()
        await operation.ended()
        #expect(log.entries == ["cancelled", "finished"])
    }

    @Test func endThatComesWhileTheStartIsTold_isToldAfterIt() async {
        let (operation, log) = (Gate(), Log<String>())
        operation.addObserver(
            BlockObserver(
                startHandler: { operation in
                    let isOver = DispatchSemaphore(value: 0)
                    Thread.detachNewThread {
                        operation.cancel()
                        isOver.signal()
                    }
                    isOver.wait()
                    log.append("started")
                },
                finishHandler: { _, _ in log.append("finished") }))
        AOperationQueue().addOperation(operation)
        await operation.ended()
        #expect(log.entries == ["started", "finished"])
        #expect(operation.outcome?.isCancelled == true)
    }
}

@Suite(.timeLimit(Load.patience))
struct AsyncOperationTests {
    final class Compute: AsyncOperation<Int>, @unchecked Sendable {
        private let body: @Sendable () async throws -> Int
        init(_ body: @escaping @Sendable () async throws -> Int) {
            self.body = body
            super.init()
        }
        override func run() async throws -> Int { try await body() }
    }

    @Test func valueAndThrownErrorAreTheResult() async throws {
        let queue = AOperationQueue()
        #expect(try await Compute { 7 }.value(on: queue) == 7)
        await #expect(throws: AOperationError.self) {
            try await Compute { throw Failed(text: "broken") }.value(on: queue)
        }
    }

    @Test func cancel_cancelsTheTask_andTheBodyEndsWhenRunReturns() async {
        let started = Signal()
        let returned = Signal()
        let operation = Compute {
            started.fire()
            do {
                try await Task.sleep(for: .seconds(600))
            } catch {
                returned.fire()
                throw error
            }
            return 1
        }
        operation.add(to: AOperationQueue())
        await started.wait()
        operation.cancel()
        #expect(operation.outcome == .cancelled)
        await operation.ended()
        #expect(returned.hasFired)
    }

    @Test func cancellingTheWaitingTask_cancelsTheOperation() async {
        let gate = Gate()
        let waiting = Task { await gate.result(on: AOperationQueue()) }
        await gate.started.wait()
        waiting.cancel()
        let result = await waiting.value
        #expect(result.error?.publishedError is AOperationError.IsCancelled)
    }
}
