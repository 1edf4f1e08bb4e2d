import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct TimeLimitTests {
    let queue = AOperationQueue()

    @Test func queueTimeout_failsAnOperationThatFindsNoSlot() async {
        queue.maxConcurrentOperationCount = 1
        let gate = Gate()
        queue.addOperation(gate)
        await gate.started.wait()
        let waiting = Step().queueTimeout(.milliseconds(20))
        queue.addOperation(waiting)
        await waiting.ended()
        #expect(waiting.publishedErrors.first?.publishedError is AOperationError.QueueTimeout)
        gate.open()
        await queue.idle()
    }

    /// E.g. the difference of two times.
    @Test func limitsBelowZero_areZero_andOverAtOnce() async {
        queue.isSuspended = true
        let (waiting, late) = (Step("waiting").queueTimeout(.seconds(-1)), Step("late").deadline(.seconds(-1)))
        queue.addOperations([waiting, late], waitUntilFinished: false)
        for operation in [waiting, late] { await operation.ended() }
        #expect(waiting.publishedErrors.first?.publishedError as? AOperationError.QueueTimeout == .init(operation: "waiting", limit: .zero))
        #expect(late.publishedErrors.first?.publishedError as? AOperationError.DeadlinePassed == .init(operation: "late", limit: .zero))
        queue.isSuspended = false
    }

    /// Whatever the machine does meanwhile: nothing waits for a timer here.
    @Test(arguments: [Duration.zero, .seconds(-1)])
    func limitsThatAreOver_keepTheOperationFromStarting(_ limit: Duration) async {
        let log = Log<String>()
        for _ in 0..<50 {
            let late = Step { log.append("deadline") }.deadline(limit)
            let waiting = Step { log.append("queueTimeout") }.queueTimeout(limit)
            let attempt = Step { log.append("timeout") }.timeout(limit).didStart { log.append("start") }
            let group = GroupOperation(Step { log.append("child") }).deadline(limit)
            for operation in [late, waiting, attempt, group] as [VoidOperation] {
                operation.add(to: queue)
                await operation.ended()
                #expect(operation.outcome?.isFailure == true)
            }
            #expect(late.publishedErrors.first?.publishedError is AOperationError.DeadlinePassed)
            #expect(waiting.publishedErrors.first?.publishedError is AOperationError.QueueTimeout)
            #expect(attempt.publishedErrors.first?.publishedError is TimeoutObserver.Error)
            #expect(group.publishedErrors.first?.publishedError is AOperationError.DeadlinePassed)
        }
        await queue.idle()
        #expect(log.entries == Array(repeating: "start", count: 50))
    }

    @Test func aQueueTimeoutThatIsOver_inAPlainQueue_andATimeoutOfEachAttempt() async {
        let log = Log<String>()
        let plain = Step { log.append("plain") }.queueTimeout(.zero)
        OperationQueue().addOperation(plain)
        await plain.ended()
        #expect(plain.publishedErrors.first?.publishedError is AOperationError.QueueTimeout)
        let again = Again(log).timeout(.zero).retry(RetryPolicy(attempts: 3))
        let deep = OrderedGroupOperation((0..<2_000).map { _ in Step { log.append("deep") }.timeout(.zero) })
        for operation in [again, deep] as [AOperation] {
            operation.add(to: queue)
            await operation.ended()
        }
        #expect(again.publishedErrors.first?.publishedError is TimeoutObserver.Error)
        #expect(deep.outcomes.count == 2_000)
        #expect(log.entries.isEmpty)
    }

    private final class Again: VoidOperation, RetryableOperation, @unchecked Sendable {
        let log: Log<String>
        init(_ log: Log<String>) {
            self.log = log
            super.init()
        }
        func new() -> Again { Again(log) }
        override func execute() {
            log.append("attempt")
            finish()
        }
    }

    @Test func limitsOfAnyLength_areCountedTogether() async {
        let longest = Duration.seconds(Int64.max)
        let operation = Step().queueTimeout(longest).delay(.milliseconds(1)).deadline(longest + longest).timeout(longest + longest)
        queue.addOperation(operation)
        let never = Step().queueTimeout(longest).delay(longest + longest)
        queue.addOperation(never)
        await operation.ended()
        #expect(operation.outcome?.isSuccess == true)
        never.cancel()
        await queue.idle()
    }

    @Test func queueTimeout_doesNotTouchAnOperationThatHasStarted() async {
        let gate = Gate().queueTimeout(.milliseconds(20))
        queue.addOperation(gate)
        await gate.started.wait()
        let timer = Signal()
        let clock = AOperationTimer(interval: 0.06) { timer.fire() }
        await timer.wait()
        clock.cancel()
        gate.open()
        await gate.ended()
        #expect(gate.outcome?.isSuccess == true)
    }

    @Test func queueTimeout_countsWhileALockIsWaitedFor() async {
        let holder = Gate().exclusive("queueTimeout")
        queue.addOperation(holder)
        await holder.started.wait()
        let waiting = Step().exclusive("queueTimeout").queueTimeout(.milliseconds(20))
        queue.addOperation(waiting)
        await waiting.ended()
        #expect(waiting.publishedErrors.first?.publishedError is AOperationError.QueueTimeout)
        holder.open()
        await queue.idle()
    }

    @Test func queueTimeout_countsAnewWhenTheOperationIsReadyAgain() async throws {
        queue.maxConcurrentOperationCount = 1
        let (gate, dependency) = (Gate(), Gate())
        queue.addOperation(gate)
        await gate.started.wait()
        let waiting = Step().queueTimeout(.seconds(3_600))
        let timer = try #require(waiting.core.withLock { $0.timeLimits.queueTimeout })
        queue.addOperation(waiting)
        #expect(timer.isRunning)
        waiting.addDependency(dependency)
        #expect(!timer.isRunning, "it is not ready")
        AOperationQueue().addOperation(dependency)
        await dependency.started.wait()
        dependency.open()
        #expect(timer.isRunning, "it is ready again")
        gate.open()
        await waiting.ended()
        await until { !timer.isRunning }  // its end is told one after the other
        #expect(waiting.outcome?.isSuccess == true)
    }

    @Test func queueTimeout_doesNotCountADelay() async {
        let delayed = Step().delay(.seconds(3_600)).queueTimeout(.milliseconds(20))
        let tonight = Step().notBefore(Date(timeIntervalSinceNow: 3_600)).queueTimeout(.milliseconds(20))
        queue.addOperations([delayed, tonight], waitUntilFinished: false)
        let later = Signal()
        let clock = AOperationTimer(interval: 0.06) { later.fire() }
        await later.wait()
        clock.cancel()
        #expect(delayed.outcome == nil)
        #expect(tonight.outcome == nil)
        queue.cancelAllOperations()
        await queue.idle()
    }

    @Test func deadline_endsAnOperationThatWaits_andOneThatRuns() async {
        let never = Gate()
        let waiting = Step().deadline(.milliseconds(20))
        waiting.addDependency(never)
        let running = Gate().deadline(.milliseconds(20))
        queue.addOperations([waiting, running], waitUntilFinished: false)
        for operation in [waiting, running] as [VoidOperation] {
            await operation.ended()
            #expect(operation.publishedErrors.first?.publishedError is AOperationError.DeadlinePassed)
            #expect(operation.outcome?.isFailure == true)
        }
    }

    @Test func deadlineOfAGroup_boundsItsChildren() async {
        let child = Gate()
        let group = OrderedGroupOperation(child, Step()).deadline(.milliseconds(30))
        group.add(to: queue)
        await group.ended()
        #expect(group.outcome?.errors.first?.publishedError is AOperationError.DeadlinePassed)
        #expect(child.outcome?.isCancelled == true)
    }

    @Test func delayedOperation_waitsWithoutASlot() async {
        queue.maxConcurrentOperationCount = 1
        let log = Log<String>()
        let delayed = Step { log.append("delayed") }.delay(.milliseconds(50))
        queue.addOperation(delayed)
        queue.addOperation(Step { log.append("other") })
        await queue.idle()
        #expect(log.entries == ["other", "delayed"])
    }

    /// Nothing starts meanwhile, so that what is seen of the delay is not its end in line for a slot.
    @Test func delay_isOverWhileNoSlotIsFree_andWhileTheQueueIsSuspended() async {
        queue.maxConcurrentOperationCount = 1
        let gate = Gate()
        queue.addOperation(gate)
        await gate.started.wait()
        let busy = Step().delay(.milliseconds(1))
        queue.addOperation(busy)
        await until { busy.core.withLock { $0.timeLimits.start == nil } }
        gate.open()
        await busy.ended()
        queue.isSuspended = true
        let suspended = Step().delay(.milliseconds(1))
        queue.addOperation(suspended)
        await until { suspended.core.withLock { $0.timeLimits.start == nil } }
        queue.isSuspended = false
        await suspended.ended()
        #expect(suspended.outcome?.isSuccess == true)
    }

    @Test func delay_ofAnOperationThatIsGivenADependency_beginsAnew() async {
        let gate = Gate()
        let delayed = Step().delay(.seconds(3_600))
        queue.addOperation(delayed)
        #expect(delayed.core.withLock { $0.state.isReady && $0.timer != nil })
        delayed.addDependency(gate)
        delayed.delay(.milliseconds(1))
        queue.addOperation(gate)
        await gate.started.wait()
        gate.open()
        await delayed.ended()
        #expect(delayed.outcome?.isSuccess == true)
    }

    @Test func queueTimeout_beginsWhenTheDelayIsOver() async throws {
        queue.isSuspended = true
        let operation = Step().delay(.seconds(3_600)).queueTimeout(.seconds(3_600))
        let timer = try #require(operation.core.withLock { $0.timeLimits.queueTimeout })
        queue.addOperation(operation)
        #expect(!timer.isRunning, "it waits for its delay")
        let soon = Step().delay(.milliseconds(1)).queueTimeout(.milliseconds(1))
        queue.addOperation(soon)
        await soon.ended()
        #expect(soon.publishedErrors.first?.publishedError is AOperationError.QueueTimeout)
        queue.cancelAllOperations()
        queue.isSuspended = false
        await queue.idle()
    }

    @Test func notBefore_aDateThatNeverComes_waitsUntilItIsCancelled() async {
        let never = Step().notBefore(Date(timeIntervalSinceNow: .infinity))
        queue.addOperation(never)
        queue.addOperation(Step())
        never.cancel()
        await queue.idle()
        #expect(never.outcome?.isCancelled == true)
    }

    @Test func notBefore_aDateThatIsPast_isNoDelay_andOneToComeIs() async {
        let log = Log<Bool>()
        let date = Date(timeIntervalSinceNow: 0.05)
        queue.addOperation(Step().notBefore(.distantPast))
        queue.addOperation(Step { log.append(Date() >= date) }.notBefore(date))
        await queue.idle()
        #expect(log.entries == [true])
    }

    @Test func delayedOperation_canBeCancelled() async {
        let delayed = Step().delay(.seconds(3_600))
        queue.addOperation(delayed)
        delayed.cancel()
        await delayed.ended()
        await queue.idle()
        #expect(delayed.outcome?.isCancelled == true)
    }

    /// Else each is kept until it would have been started: an hour long.
    @Test func whatIsCancelledWhileItWaits_leavesNoTimer() async {
        let (hour, log) = (Duration.seconds(3_600), Log<String>())
        let delayed = Step().delay(hour)
        let later = Step().conditions(NotYet(again: hour))
        let failing = RetryOften(log).retry(RetryPolicy(attempts: 2, backoff: .constant(hour)))
        for operation in [delayed, later, failing] as [VoidOperation] {
            queue.addOperation(operation)
            await until { operation.core.withLock { $0.timer != nil } }
            operation.cancel()
            await operation.ended()
            #expect(operation.core.withLock { $0.timer == nil })
        }
        #expect(log.entries == ["attempt"])
        await queue.idle()
    }

    private struct NotYet: AOperationCondition {
        let again: Duration
        func evaluateForOperation(_ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void) {
            completion(.retry(after: again, because: "it is early"))
        }
    }

    private final class RetryOften: VoidOperation, RetryableOperation, @unchecked Sendable {
        let log: Log<String>
        init(_ log: Log<String>) {
            self.log = log
            super.init()
        }
        func new() -> RetryOften { RetryOften(log) }
        override func execute() {
            log.append("attempt")
            finish(with: AOperationError(Failed(text: "no")))
        }
    }

    @Test func progress_countsEndedOperations() async {
        queue.progress.totalUnitCount = 3
        for _ in 0..<2 { queue.addOperation(Step()) }
        queue.addOperation(BlockOperation {})
        await queue.idle()
        #expect(queue.progress.completedUnitCount == 3)
        #expect(queue.progress.fractionCompleted == 1)
    }
}
