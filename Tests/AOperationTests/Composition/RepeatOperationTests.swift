import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct RepeatOperationTests {
    let queue = AOperationQueue()

    @Test func repeats_upToTheMaximum() async {
        let repetition = RepeatOperation(max: 4) { Step() }
        #expect(await repetition.result(on: queue).error == nil)
        #expect(repetition.count == 4)
        #expect(repetition.outcomes.count == 4)
        #expect(await RepeatOperation(max: 0) { Step() }.result(on: queue).error == nil)
    }

    @Test func repeats_untilNil_oneAfterAnother_withWaits() async {
        let log = Log<Int>()
        let repetition = RepeatOperation(wait: .random(minimum: 0, maximum: 0.001), using: Dice(state: 1)) { () -> AOperation? in
            let number = log.count
            return number < 5 ? Step { log.append(number) } : nil
        }
        #expect(await repetition.result(on: queue).error == nil)
        #expect(log.entries == [0, 1, 2, 3, 4])
        #expect(repetition.count == 5)
    }

    @Test func repeats_whatAnIteratorMakes() async {
        let repetition = RepeatOperation(max: 2, iterator: [Value(1), Value(2), Value(3)].makeIterator())
        #expect(await repetition.result(on: queue).error == nil)
        #expect(repetition.results(of: Int.self) == [1, 2])
    }

    @Test func failure_doesNotKeepTheOthersFromRunning_andFailsTheWhole() async {
        let attempts = Backing([Failing<Int>("a"), Value(1), Failing<Int>("b")])
        let repetition = RepeatOperation { attempts.next() }
        _ = await repetition.result(on: queue)
        #expect(repetition.errorTexts == ["a", "b"])
        #expect(repetition.count == 3)

        let stopping = Backing([Failing<Int>("a"), Value(1)])
        let stopped = RepeatOperation { stopping.next() }
        stopped.onFailure = .stop
        _ = await stopped.result(on: queue)
        #expect(stopped.errorTexts == ["a"])
        #expect(stopped.count == 1)
    }

    @Test func wait_holdsNoSlot_andEndsWithACancellation() async {
        queue.maxConcurrentOperationCount = 1
        let second = Signal()
        let made = Log<Int>()
        let repetition = RepeatOperation(wait: .constant(3_600)) {
            made.append(1)
            if made.count == 2 { second.fire() }
            return Step()
        }
        repetition.add(to: queue)
        await second.wait()
        #expect(await Step().result(on: queue).error == nil)
        repetition.cancel()
        await repetition.ended()
        #expect(repetition.outcome?.isCancelled == true)
        #expect(repetition.count == 2)
        await queue.idle()
    }
}
