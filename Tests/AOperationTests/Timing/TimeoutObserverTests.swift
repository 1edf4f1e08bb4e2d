import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct TimeoutObserverTests {
    let queue = AOperationQueue()

    /// Runs until it is cancelled.
    private final class Patient: VoidOperation, RetryableOperation, @unchecked Sendable {
        let log: Log<String>
        init(_ log: Log<String> = Log()) {
            self.log = log
            super.init()
        }
        override func execute() { log.append("run") }
        override func cancel() {
            super.cancel()
            log.append("cancel \(isCancelled)")
            finish()
        }
        func new() -> Patient { Patient(log) }
    }

    @Test func timeout_stopsTheWork_andTheOutcomeIsAFailure() async {
        let operation = Patient().observers(TimeoutObserver(0.01))
        let heard = Log<AOperationError?>()
        operation.didFinish { heard.append($0.error) }.add(to: queue)
        await operation.ended()
        await callbacksDelivered()
        #expect(operation.log.entries == ["run", "cancel true"])
        #expect(operation.outcome?.isFailure == true)
        #expect(!operation.isCancelled, "an operation that has timed out was not cancelled")
        let error = heard.entries.first ?? nil
        #expect(heard.count == 1)
        #expect(error?.publishedError as? TimeoutObserver.Error == TimeoutObserver.Error(seconds: 0.01))
        #expect(error?.publisher == "Patient")
        #expect(error?.state == .execution)
    }

    @Test(arguments: [
        (5, "5"), (0.01, "0.01"), (1_234_567, "1234567"), (1.5, "1.5"), (0, "0"), (-1, "-1"), (.infinity, "inf"),
        (1e300, "1e+300"),
    ])
    func text_namesTheSeconds_inEveryLocale(seconds: TimeInterval, text: String) {
        let error = AOperationError(TimeoutObserver.Error(seconds: seconds))
        #expect((error as any Error).localizedDescription == "The Operation is timeout after \(text) seconds because of TimeoutObserver")
    }

    @Test(arguments: [0, -1, -.infinity, .nan] as [TimeInterval])
    func limitThatIsNone_isZero_andEndsTheAttemptAtOnce(limit: TimeInterval) async {
        let operation = Patient().observers(TimeoutObserver(limit))
        await operation.add(to: queue).ended()
        #expect(operation.publishedErrors.first?.publishedError as? TimeoutObserver.Error == TimeoutObserver.Error(seconds: 0))
    }

    @Test func asyncOperation_hasItsTaskCancelled() async {
        let ended = Signal()
        final class Sleeping: AsyncOperation<Int>, @unchecked Sendable {
            let ended: Signal
            init(_ ended: Signal) {
                self.ended = ended
                super.init()
            }
            override func run() async throws -> Int {
                defer { ended.fire() }
                try await Task.sleep(for: .seconds(3_600))
                return 1
            }
        }
        let operation = Sleeping(ended).observers(TimeoutObserver(0.01))
        operation.grace = .seconds(3_600)
        await operation.add(to: queue).ended()
        #expect(ended.hasFired)
        #expect(operation.publishedErrors.first?.publishedError is TimeoutObserver.Error)
    }

    @Test func bodyThatPolls_seesThatItIsToStop() async {
        let operation = Polling().observers(TimeoutObserver(0.01))
        await operation.add(to: queue).ended()
        #expect(operation.publishedErrors.first?.publishedError is TimeoutObserver.Error)
    }

    /// Looks itself whether it is to stop.
    private final class Polling: VoidOperation, RetryableOperation, @unchecked Sendable {
        let seen = Signal()
        override func execute() {
            let task = Task {
                await until { isCancelled }
                seen.fire()
                finish()
            }
            _ = task
        }
        func new() -> Polling { Polling() }
    }

    @Test func operationThatIsQuickEnough_isLeftAlone() async {
        let observer = TimeoutObserver(3_600)
        let operations = (0..<100).map { _ in Step() }
        for operation in operations { operation.observers(observer).add(to: queue) }
        await queue.idle()
        #expect(operations.allSatisfy { $0.outcome?.isSuccess == true })
        #expect(observer.timerCount == 0)
    }

    @Test func oneObserver_onManyOperations_timesEachFromItsOwnStart() async {
        let observer = TimeoutObserver(0.02)
        let operations = (0..<20).map { index in index.isMultiple(of: 2) ? Patient() : Step("quick") as VoidOperation }
        for operation in operations { operation.observers(observer).add(to: queue) }
        await queue.idle()
        for (index, operation) in operations.enumerated() {
            #expect(operation.outcome?.isFailure == index.isMultiple(of: 2))
        }
        #expect(observer.timerCount == 0)
    }

    @Test func timer_countsFromTheStart_notFromTheQueue() async {
        queue.isSuspended = true
        let operation = Step().observers(TimeoutObserver(0.01))
        operation.add(to: queue)
        let later = Signal()
        let timer = AOperationTimer(interval: 0.05) { later.fire() }
        await later.wait()
        timer.cancel()
        #expect(operation.outcome == nil)
        queue.isSuspended = false
        await operation.ended()
        #expect(operation.outcome?.isSuccess == true)
    }

    @Test func everyAttempt_hasItsOwnTime() async {
        let observer = TimeoutObserver(0.01)
        let operation = Patient().observers(observer).retry(.times(4))
        await operation.add(to: queue).ended()
        // On a busy machine an attempt may time out before its body has begun.
        #expect((1...4).contains(operation.log.entries.filter { $0 == "run" }.count))
        #expect(operation.core.withLock { $0.retries } == 3)
        #expect(operation.publishedErrors.first?.publishedError is TimeoutObserver.Error)
        #expect(operation.publishedErrors.count == 1)
        #expect(observer.timerCount == 0)
    }

    @Test func attemptThatIsInTime_afterOneThatWasNot_succeeds() async {
        let attempts = Log<Polling>()
        let operation = Attempted(
            Script("a") { run in
                guard run.number > 1 else {
                    Task {
                        await until { run.operation.isCancelled }
                        run.succeed()
                    }
                    return
                }
                run.succeed()
            })
        operation.observers(TimeoutObserver(0.01)).retry(.times(2)).add(to: queue)
        await operation.ended()
        #expect(operation.outcome?.isSuccess == true)
        #expect(!operation.isCancelled)
        _ = attempts
    }

    /// The timer of one attempt may fire when that has just ended: the next one is not stopped by it.
    @Test(arguments: 0..<4)
    func timerThatFiresLate_doesNotStopTheNextAttempt(part: Int) async {
        for step in 0..<Load.rounds(60) {
            let limit = 0.000_2
            let script = Script("a") { run in
                // Ends about when the timer fires.
                DispatchQueue.global().asyncAfter(deadline: .now() + limit) {
                    run.number <= 2 ? run.fail("own") : run.succeed()
                }
            }
            let asked = Log<String>()
            let operation = Attempted(script).observers(TimeoutObserver(limit)).retryOnFailure { retries, error, retry in
                asked.append(error.localizedDescription)
                part.isMultiple(of: 2) ? retry(true) : DispatchQueue.global().async { retry(true) }
            }
            await operation.add(to: queue).ended()
            #expect(operation.outcome?.isSuccess == true, "part \(part), step \(step)")
            // An attempt may time out before its body has begun.
            #expect(asked.count >= script.runs - 1, "each attempt that failed was asked about: \(asked.entries)")
        }
    }

    @Test func zeroAndLess_endTheAttemptAsSoonAsItHasStarted() async {
        for limit in [0, -1, -TimeInterval.infinity] {
            let operation = Patient().observers(TimeoutObserver(limit))
            await operation.add(to: queue).ended()
            #expect(operation.publishedErrors.first?.publishedError is TimeoutObserver.Error)
        }
    }

    @Test func infinity_isNoLimit() async {
        let gate = Gate().observers(TimeoutObserver(.infinity))
        gate.add(to: queue)
        await gate.started.wait()
        #expect(gate.outcome == nil)
        gate.open()
        await gate.ended()
        #expect(gate.outcome?.isSuccess == true)
    }

    @Test(arguments: [false, true])
    func D19_groupThatTimesOut_cancelsItsChildren_andEndsAfterThem(isRetried: Bool) async {
        let log = Log<String>()
        let make: @Sendable () -> [Foundation.Operation] = {
            let polling = Polling()
            polling.observers(BlockObserver(finishHandler: { _, _ in log.append("child") }))
            let waiting = Step("waiting")
            waiting.addDependency(polling)
            return [polling, waiting]
        }
        let attempts = Log<GroupOperation>()
        let group = GroupOperation(making: make).observers(TimeoutObserver(0.02))
        group.observers(BlockObserver(finishHandler: { _, _ in log.append("group") }))
        if isRetried {
            group.retryOnFailure { retries, _, retry in
                attempts.append(group)
                retry(retries < 2)
            }
        }
        group.add(to: queue)
        await group.ended()
        #expect(group.publishedErrors.map { $0.publishedError is TimeoutObserver.Error } == [true])
        #expect(log.entries == Array(repeating: "child", count: isRetried ? 3 : 1) + ["group"])
        #expect(group.outcomes.allSatisfy { $0.isCancelled })
        #expect(!group.isCancelled)
        #expect(attempts.count == (isRetried ? 3 : 0))
    }

    @Test func operationThatIsReleasedBeforeItsTimerFires_isFreed_andSoIsTheTimer() async {
        let observer = TimeoutObserver(3_600)
        let kept = Guarded<() -> AOperation?>({ nil })
        do {
            let operation = Step().observers(observer)
            kept.withLock { $0 = { [weak operation] in operation } }
            await operation.add(to: queue).ended()
        }
        await queue.idle()
        await until { kept.withLock { $0() == nil } }
        #expect(observer.timerCount == 0)
    }

    @Test func timeoutDuringWillFinish_endsTheOperation() async {
        for failures in [0, 2] {
            let operation = Attempted(.failing("a", failures)).retry(.times(5)).observers(TimeoutObserver(0.02))
                .willFinish { _, _ in }
            await operation.add(to: queue).ended()
            #expect(operation.publishedErrors.first?.publishedError is TimeoutObserver.Error, "after \(failures) failures")
        }
    }

    @Test func deadlineDuringWillFinish_endsTheOperation() async {
        let operation = Attempted(.failing("a", 0)).deadline(.milliseconds(20)).willFinish { _, _ in }
        await operation.add(to: queue).ended()
        #expect(operation.publishedErrors.first?.publishedError is AOperationError.DeadlinePassed, "\(operation.publishedErrors)")
    }

    @Test(arguments: 0..<4)
    func D14_finishCancelAndTimeoutAtOnce_leadToOneOutcome(part: Int) async {
        for step in 0..<80 {
            let hearing = Hearing()
            let script = Script("a") { run in
                DispatchQueue.global().async {
                    DispatchQueue.concurrentPerform(iterations: 4) { iteration in
                        iteration.isMultiple(of: 2) ? run.fail() : run.succeed()
                    }
                }
            }
            let operation = Attempted(script).observers(TimeoutObserver(0.000_05 * Double(step % 10)))
            if part.isMultiple(of: 2) { operation.retry(.times(3)) }
            hearing.listen(to: operation)
            operation.add(to: queue)
            if part >= 2 {
                await onThread {
                    DispatchQueue.concurrentPerform(iterations: 4) { iteration in
                        for _ in 0..<(step * 20 * iteration) where operation.isFinished { break }
                        operation.cancel()
                    }
                }
            }
            await operation.ended()
            await callbacksDelivered()
            #expect(hearing.heard("didFinish").count == 1, "part \(part), step \(step): \(hearing.lines.entries)")
            #expect(hearing.heard("observer finish").count == 1, "part \(part), step \(step)")
            #expect(operation.outcome?.isCancelled == operation.isCancelled, "part \(part), step \(step)")
            withExtendedLifetime(hearing) {}
        }
    }

    @Test func deadlineOfAGroupThatIsTriedAgain_isFinal_andWaitsForItsChildren() async {
        for limit in [0.01, 0.03] {
            let log = Log<String>()
            let group = GroupOperation {
                [Polling().observers(BlockObserver(finishHandler: { _, _ in log.append("child") }))]
            }
            group.retry(.times(.max)).observers(TimeoutObserver(0.02)).deadline(.seconds(limit))
            group.observers(BlockObserver(finishHandler: { _, _ in log.append("group") }))
            await group.add(to: queue).ended()
            #expect(group.publishedErrors.first?.publishedError is AOperationError.DeadlinePassed)
            #expect(log.entries.last == "group")
            #expect(log.entries.filter { $0 == "group" }.count == 1)
        }
    }

    @Test func deadline_endsTheAttemptThatRuns_andTheWaitForTheNext() async {
        let running = Polling().retry(.times(.max)).observers(TimeoutObserver(0.01)).deadline(.milliseconds(50))
        await running.add(to: queue).ended()
        #expect(running.publishedErrors.first?.publishedError is AOperationError.DeadlinePassed)
        #expect(!running.isCancelled)
        let waiting = Attempted(.failing("a", .max)).retry(RetryPolicy(attempts: 2, backoff: .constant(.seconds(3_600))))
            .deadline(.milliseconds(20))
        await waiting.add(to: queue).ended()
        #expect(waiting.publishedErrors.first?.publishedError is AOperationError.DeadlinePassed)
    }

    @Test func D34_operationThatFinishedBeforeItsStart_isNotRun() async {
        let foundation = OperationQueue()
        let failed = Attempted(.failing("a", 0)).condition { $0(.failure(AOperationError(Failed(text: "no")))) }
        let cancelled = Attempted(.failing("b", 0))
        cancelled.cancel()
        for operation in [failed, cancelled] { foundation.addOperation(operation) }
        await foundation.idle()
        failed.start()
        cancelled.start()
        #expect(failed.script.runs == 0)
        #expect(cancelled.script.runs == 0)
        #expect(failed.firstFailure == "no")
    }
}
