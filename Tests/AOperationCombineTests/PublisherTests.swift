import AOperation
import AOperationCombine
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PublisherTests {
    private let queue = AOperationQueue()

    @Test func D26_success_sendsTheValueAndFinished() async {
        let recorder = Recorder<Int>()
        Flaky(failures: 0).publisher(on: queue).subscribe(recorder)
        recorder.request(.unlimited)
        #expect(await recorder.lines(2) == ["1", "finished"])
    }

    @Test func failure_isTheCompletion() async {
        let recorder = Recorder<Int>()
        Flaky(failures: 1).publisher(on: queue).subscribe(recorder)
        recorder.request(.max(1))
        #expect(await recorder.lines(1) == ["failure: attempt 1"])
    }

    @Test func D26_demandIsRespected_nothingRunsBeforeItIsAskedFor() async {
        let operation = Flaky(failures: 0)
        let recorder = Recorder<Int>()
        operation.publisher(on: queue).subscribe(recorder)
        #expect(operation.isInitialized)
        recorder.request(.max(1))
        recorder.request(.max(1))
        #expect(await recorder.lines(2) == ["1", "finished"])
        #expect(operation.made.entries.isEmpty)
    }

    @Test func D26_cancellingOnePipeline_leavesOthersOfTheSameTypeAlone() async {
        let one = Gate()
        let other = Gate()
        let cancelled = Recorder<Void>()
        let kept = Recorder<Void>()
        one.publisher(on: queue).subscribe(cancelled)
        other.publisher(on: queue).subscribe(kept)
        cancelled.request(.unlimited)
        kept.request(.unlimited)
        await one.started()
        await other.started()
        cancelled.cancel()
        #expect(one.outcome?.isCancelled == true)
        #expect(!other.isCancelled)
        other.open()
        #expect(await kept.lines(2) == ["()", "finished"])
        #expect(cancelled.lines.isEmpty)
    }

    @Test func D26_queueIsHeld_whilePipelinesNeedIt() async {
        let recorder = Recorder<Int>()
        do {
            let queue = AOperationQueue()
            Flaky(failures: 0).publisher(on: queue).subscribe(recorder)
        }
        recorder.request(.unlimited)
        #expect(await recorder.lines(2) == ["1", "finished"])
    }

    @Test func cancelledBeforeDemand_neverRuns() {
        let operation = Flaky(failures: 0)
        let recorder = Recorder<Int>()
        operation.publisher(on: queue).subscribe(recorder)
        recorder.cancel()
        recorder.request(.unlimited)
        #expect(operation.isInitialized)
    }

    @Test func cancelledOperation_failsThePipeline() async {
        let gate = Gate()
        gate.name = "gate"
        let recorder = Recorder<Void>()
        gate.publisher(on: queue).subscribe(recorder)
        recorder.request(.unlimited)
        await gate.started()
        gate.cancel()
        #expect(await recorder.lines(1) == ["failure: The Operation gate is Cancelled"])
    }

    @Test func retry_runsFreshOperations_withTheSameObservers() async {
        let operation = Flaky(failures: 2)
        let ends = Log<Int>()
        operation.observers(BlockObserver(finishHandler: { _, errors in ends.append(errors.count) }))
        let recorder = Recorder<Int>()
        operation.publisher(on: queue).retry(3).subscribe(recorder)
        recorder.request(.unlimited)
        #expect(await recorder.lines(2) == ["3", "finished"])
        #expect(ends.entries == [1, 1, 0])
    }

    @Test func retry_ofAnOperationThatCannotBeMadeAnew_isATypedError() async {
        let operation = MapOperationBlock<Void, Int> { _, finish in
            finish(.failure(AOperationError(Failed(text: "no"))))
        }
        operation.name = "once"
        let recorder = Recorder<Int>()
        operation.publisher(on: queue).retry(1).subscribe(recorder)
        recorder.request(.unlimited)
        let expected = AOperationError.IsNotRetryable(operation: "once").localizedDescription
        #expect(await recorder.lines(1) == ["failure: \(expected)"])
    }

    @Test func operationThatIsInAQueue_isOnlyWaitedFor() async {
        let gate = Gate()
        gate.add(to: queue)
        await gate.started()
        let recorder = Recorder<Void>()
        gate.publisher(on: AOperationQueue()).subscribe(recorder)
        recorder.request(.unlimited)
        gate.open()
        #expect(await recorder.lines(2) == ["()", "finished"])
    }

    @Test func sink_worksWithTheOperators() async {
        let sink = Guarded<AnyCancellable?>(nil)
        let value = await withCheckedContinuation { continuation in
            let made = Flaky(failures: 0).publisher(on: queue).map { $0 + 1 }.catch { _ in Just(-1) }
                .sink { value in continuation.resume(returning: value) }
            sink.withLock { $0 = made }
        }
        sink.withLock { $0 = nil }
        #expect(value == 2)
    }

    @Test func updateOperation_letsTheSubscriptionFollowAnother() async throws {
        let (first, second) = (Gate(), Gate())
        let recorder = Recorder<Void>()
        first.publisher(on: queue).subscribe(recorder)
        recorder.request(.unlimited)
        await first.started()
        let subscription = try #require(recorder.subscription as? any BaseOperationSubscription)
        subscription.updateOperation(with: Flaky(failures: 0))  // of another type
        subscription.updateOperation(with: second)
        second.add(to: queue)
        await second.started()
        first.open()
        _ = await first.result(on: queue)
        #expect(recorder.lines.isEmpty)
        second.open()
        #expect(await recorder.lines(2) == ["()", "finished"])
    }

    @Test func updatedSubscription_cancelsTheOneThatItFollows() async throws {
        let (first, second) = (Gate(), Gate())
        let recorder = Recorder<Void>()
        first.publisher(on: queue).subscribe(recorder)
        recorder.request(.unlimited)
        await first.started()
        try #require(recorder.subscription as? any BaseOperationSubscription).updateOperation(with: second)
        second.add(to: queue)
        await second.started()
        recorder.cancel()
        #expect(second.outcome?.isCancelled == true)
        #expect(!first.isCancelled)
        first.open()
    }
}
