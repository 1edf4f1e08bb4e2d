import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct DelayOperationTests {
    let queue = AOperationQueue()

    static func delays<Value>(of type: Value.Type, _ seconds: TimeInterval) -> [DelayOperation<Value>] {
        [
            DelayOperation(seconds), DelayOperation(until: Date(timeIntervalSinceNow: seconds)),
            RemainedDelayOperation(timeOut: seconds), RemainedDelayOperation(seconds),
        ]
    }

    @Test(arguments: [-1, 0, 0.001])
    func passesOnWhatItReceives(seconds: Double) async throws {
        for delay in Self.delays(of: Int.self, seconds) {
            #expect(try await Value(3).deliver(to: delay).value(on: queue) == 3)
        }
        for delay in Self.delays(of: Void.self, seconds) {
            #expect(await delay.result(on: queue).error == nil)
        }
    }

    @Test func D22_withoutAProducer_itFails_andDoesNotTrap() async {
        for delay in Self.delays(of: Int.self, 0) {
            let error = await delay.result(on: queue).error
            #expect(error?.publishedError is AOperationError.ReceivedValueIsNil)
        }
    }

    @Test func D22_ofAProducerThatFailed_orWasCancelled_itForwardsTheError() async {
        for delay in Self.delays(of: Int.self, 0) {
            let error = await Failing<Int>("producer").deliver(to: delay).result(on: queue).error
            #expect(error?.publisher == "producer")
        }
        for delay in Self.delays(of: Int.self, 0) {
            let producer = Value(1)
            producer.cancel()
            let error = await producer.deliver(to: delay).result(on: queue).error
            #expect(error?.publishedError is AOperationError.IsCancelled)
        }
    }

    @Test(arguments: [3_600, .infinity, .greatestFiniteMagnitude])
    func D22_cancelled_itsBodyEndsAtOnce_withItsTimer(seconds: Double) async {
        let started = Signal()
        let delay = RemainedDelayOperation<Void>(timeOut: seconds).didStart { started.fire() }
        delay.grace = .seconds(3_600)  // else its end would be that of the grace
        delay.add(to: queue)
        await started.wait()
        delay.cancel()
        await delay.ended()
        #expect(delay.outcome?.isCancelled == true)
        await queue.idle()
    }

    @Test func notANumber_isNoDelay() async {
        #expect(await DelayOperation<Void>(.nan).result(on: queue).error == nil)
        #expect(await RemainedDelayOperation<Void>(.nan).result(on: queue).error == nil)
    }

    @Test func remainder_isWhatIsLeftOfTheTimeSinceItsCreation() {
        let start = ContinuousClock.now
        let left = DelayOperation<Void>.Delay.remainder(of: 100, since: start - .seconds(60)).seconds
        #expect(left <= 40 && left > 30)
        #expect(DelayOperation<Void>.Delay.remainder(of: 100, since: start - .seconds(101)).seconds <= 0)
    }

    @Test func remainder_isUpWhenWhatComesBeforeTookLonger() async throws {
        let first = DelayOperation<Void>(0.01)
        let remained = RemainedDelayOperation<Void>(0.001)
        _ = await first.deliver(to: remained).result(on: queue)
        #expect(remained.outcome?.isSuccess == true)
    }

    @Test func leeway_isAllowed_inEveryForm() async throws {
        let received = Value(3).deliver(to: DelayOperation<Int>(interval: 0.01, leeway: 0.01))
        #expect(try await received.value(on: queue) == 3)
        #expect(await DelayOperation<Void>(date: Date(timeIntervalSinceNow: 0.01), leeway: 0.01).result(on: queue).error == nil)
        #expect(await DelayOperation<Void>(interval: -1).result(on: queue).error == nil)
        #expect(await DelayOperation<Void>(interval: 0.001, leeway: -.infinity).result(on: queue).error == nil)
        let endless = DelayOperation<Void>(interval: 1_000_000_000, leeway: .infinity)
        queue.addOperation(endless)
        endless.cancel()
        await endless.ended()
        #expect(endless.outcome?.isCancelled == true)
    }
}
