import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct SequenceCancellationTests {
    let queue = AOperationQueue()

    @Test func beforeItsStart_nobodyAsksForAStep() async {
        let asked = Log<Int>()
        let sequence = OperationSequence { _ -> AOperation? in
            asked.append(1)
            return nil
        }
        sequence.cancel()
        sequence.add(to: queue)
        await sequence.ended()
        await queue.idle()
        #expect(sequence.outcome?.isCancelled == true)
        #expect(asked.count == 0)
    }

    @Test func whileAStepRuns_thatIsCancelled_andNoOtherIsAskedFor() async {
        let deaf = Gate("deaf", isDeaf: true)
        let asked = Log<Int>()
        let sequence = OperationSequence { _ -> AOperation? in
            asked.append(1)
            return asked.count == 1 ? deaf : Step()
        }
        sequence.add(to: queue)
        await deaf.started.wait()
        sequence.cancel()
        #expect(sequence.outcome == nil, "it waits for its step")
        deaf.open()
        await sequence.ended()
        #expect(sequence.outcome?.isCancelled == true)
        #expect(sequence.outcomes.map(\.isCancelled) == [true])
        #expect(asked.count == 1)
    }

    @Test(arguments: [1, 2])
    func whileAStepIsDecided_thatIsCancelled_andToldSo(atStep: Int) async {
        let box = Box<OperationSequence>()
        let asked = Log<Int>()
        let told = Log<String>()
        let sequence = OperationSequence { _ -> AOperation? in
            asked.append(1)
            guard asked.count == atStep else { return Step() }
            box.value?.cancel()
            return Step("late") { told.append("ran") }.didFinish { told.append($0.error?.localizedDescription ?? "-") }
        }
        box.value = sequence
        sequence.add(to: queue)
        await sequence.ended()
        await callbacksDelivered()
        box.value = nil
        #expect(sequence.outcome?.isCancelled == true)
        #expect(told.entries == ["The Operation late is Cancelled"])
        #expect(asked.count == atStep)
    }

    @Test func timedOut_itEndsItsStep() async {
        let gate = Gate()
        let sequence = OperationSequence { previous in previous == nil ? gate : Step() }
        sequence.add(to: queue)
        await gate.started.wait()
        sequence.abandon(with: .failure([AOperationError(Failed(text: "too late"))]))
        await sequence.ended()
        #expect(sequence.errorTexts == ["too late"])
        #expect(sequence.outcomes.map(\.isCancelled) == [true])
    }

    @Test(arguments: 0..<30)
    func atAnyMoment_everyStepIsToldOnce_theSequenceLast(round: Int) async {
        let ends = Log<Int>()
        let made = Log<Int>()
        queue.maxConcurrentOperationCount = 1 + round % 2
        let sequence = OperationSequence { _ -> AOperation? in
            let number = made.count
            guard number < 20 else { return nil }
            made.append(number)
            return GroupOperation(Step().deliver(to: PassOn<Void>())).didFinish { _ in ends.append(number) }
        }
        sequence.didFinish { _ in ends.append(100) }
        sequence.add(to: queue)
        Thread.detachNewThread {
            for _ in 0..<(round * 200) where sequence.isFinished { return }
            sequence.cancel()
        }
        await sequence.ended()
        await queue.idle()
        await callbacksDelivered()
        #expect(ends.entries == made.entries + [100], "round \(round)")
        #expect(sequence.outcomes.count == made.count)
    }
}
