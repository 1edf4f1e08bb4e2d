import AOperation
import AOperationCombine
import Testing

/// Publishes what it is told to, whether somebody asked for it or not.
private final class Eager: Publisher, Sendable {
    typealias Output = Int
    typealias Failure = Failed

    private let subscriber = Guarded<AnySubscriber<Int, Failed>?>(nil)

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Int, Downstream.Failure == Failed {
        self.subscriber.withLock { $0 = AnySubscriber(subscriber) }
        subscriber.receive(subscription: Subscriptions.empty)
    }

    func send(_ number: Int) { _ = subscriber.withLock { $0 }?.receive(number) }
    func fail(_ text: String) { subscriber.withLock { $0 }?.receive(completion: .failure(Failed(text: text))) }
}

@Suite(.timeLimit(.minutes(1)))
struct DeliverTests {
    private let queue = AOperationQueue()

    @Test func eachValue_getsItsOwnOperation_inOrder() async {
        let recorder = Recorder<Int>()
        [1, 2, 3].publisher.deliver(to: Double(), on: queue).subscribe(recorder)
        recorder.request(.unlimited)
        #expect(await recorder.lines(4) == ["2", "4", "6", "finished"])
    }

    @Test func D26_demandIsRespected_throughThePipeline() async {
        let handed = Log<Int>()
        let recorder = Recorder<Int>()
        [1, 2, 3].publisher.handleEvents(receiveOutput: { handed.append($0) })
            .deliver(to: Double(), on: queue).subscribe(recorder)
        #expect(handed.entries.isEmpty)
        recorder.request(.max(1))
        #expect(await recorder.lines(1) == ["2"])
        #expect(handed.entries == [1])
        recorder.request(.max(2))
        #expect(await recorder.lines(4) == ["2", "4", "6", "finished"])
    }

    @Test func demandOfTheSubscriber_isAddedUp() async {
        let recorder = Recorder<Int>(demandPerValue: .max(1))
        [1, 2, 3].publisher.deliver(to: Double(), on: queue).subscribe(recorder)
        recorder.request(.max(1))
        #expect(await recorder.lines(4) == ["2", "4", "6", "finished"])
    }

    @Test func errorOfTheUpstream_isDelivered_andThePipelineFinishesAfterThatRun() async {
        let recorder = Recorder<String>()
        Fail<Int, Failed>(error: Failed(text: "torn")).deliver(to: Say(), on: queue).subscribe(recorder)
        recorder.request(.unlimited)
        #expect(await recorder.lines(2) == ["failed: torn", "finished"])
    }

    @Test func failureOfAnOperation_endsThePipeline() async {
        let recorder = Recorder<Int>()
        Fail<Int, Failed>(error: Failed(text: "torn")).deliver(to: Double(), on: queue).subscribe(recorder)
        recorder.request(.unlimited)
        #expect(await recorder.lines(1) == ["failure: torn"])
    }

    @Test func secondValue_forAnOperationThatCannotBeMadeAnew_isATypedError() async {
        let receiver = MapOperationBlock<Int, Int> { received, finish in finish(received ?? .success(0)) }
        receiver.name = "once"
        let recorder = Recorder<Int>()
        [1, 2].publisher.deliver(to: receiver, on: queue).subscribe(recorder)
        recorder.request(.unlimited)
        let expected = AOperationError.IsNotRetryable(operation: "once").localizedDescription
        #expect(await recorder.lines(2) == ["1", "failure: \(expected)"])
    }

    @Test func chain_runsOnTheSameQueue() async {
        let recorder = Recorder<String>()
        Flaky(failures: 0).publisher(on: queue).deliver(to: Double()).deliver(to: Double()).deliver(to: Say())
            .subscribe(recorder)
        recorder.request(.unlimited)
        #expect(await recorder.lines(2) == ["4", "finished"])
    }

    @Test func retry_ofTheWholeChain_runsFreshOperations() async {
        let recorder = Recorder<Int>()
        Flaky(failures: 1).publisher(on: queue).deliver(to: Double()).retry(1).subscribe(recorder)
        recorder.request(.unlimited)
        #expect(await recorder.lines(2) == ["4", "finished"])
    }

    @Test func D26_cancellingOnePipeline_leavesOthersOfTheSameTypeAlone() async {
        let one = Gate()
        let other = Gate()
        let cancelled = Recorder<Void>()
        let kept = Recorder<Void>()
        Just(1).deliver(to: one, on: queue).subscribe(cancelled)
        Just(1).deliver(to: other, on: queue).subscribe(kept)
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

    @Test func valuesThatNobodyAskedFor_areDeliveredInTheirTurn_theErrorLast() async {
        let upstream = Eager()
        let recorder = Recorder<String>()
        upstream.deliver(to: Say(), on: queue).subscribe(recorder)
        recorder.request(.max(1))
        for number in 1...3 { upstream.send(number) }
        upstream.fail("torn")
        #expect(await recorder.lines(1) == ["1"])
        recorder.request(.unlimited)
        #expect(await recorder.lines(5) == ["1", "2", "3", "failed: torn", "finished"])
    }

    @Test(arguments: 0..<50)
    func D26_cancelAtAnyMoment_isSafe_andSilencesThePipeline(round: Int) async {
        let recorder = Recorder<Int>()
        (0..<20).publisher.deliver(to: Double(), on: queue).deliver(to: Double()).subscribe(recorder)
        recorder.request(.unlimited)
        if round % 2 == 0 { _ = await recorder.lines(1) }
        recorder.cancel()
        recorder.cancel()
        let lines = recorder.lines
        #expect(!lines.contains { $0.hasPrefix("failure") })
    }
}
