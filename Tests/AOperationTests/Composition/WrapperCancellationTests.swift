import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct WrapperCancellationTests {
    let queue = AOperationQueue()

    @Test func beforeItsStart_theGeneratorIsNotCalled() async {
        let calls = Log<Int>()
        let wrapper = WrapperOperation<Void, Void> { _ -> ResultableOperation<Void> in
            calls.append(1)
            return Step()
        }
        wrapper.cancel()
        wrapper.add(to: queue)
        await wrapper.ended()
        await queue.idle()
        #expect(wrapper.outcome?.isCancelled == true)
        #expect(calls.count == 0)
    }

    @Test func whileTheGeneratorRuns_whatItMakesIsCancelled_notRun() async {
        let box = Box<WrapperOperation<Void, Void>>()
        let log = Log<String>()
        let inner = Step("inner") { log.append("ran") }.didFinish { log.append($0.error?.localizedDescription ?? "-") }
        let wrapper = WrapperOperation<Void, Void> { _ -> ResultableOperation<Void> in
            box.value?.cancel()
            return inner
        }
        box.value = wrapper
        wrapper.add(to: queue)
        await wrapper.ended()
        await inner.ended()
        await callbacksDelivered()
        box.value = nil
        #expect(wrapper.outcome?.isCancelled == true)
        #expect(log.entries == ["The Operation inner is Cancelled"])
    }

    @Test func whileTheInnerOnesRun_theOutcomeIsItsOwnAtOnce_theBodyEndsWithThem() async {
        let deaf = Gate("deaf", isDeaf: true)
        let waiting = deaf.deliver(to: Keep<Void>())
        let wrapper = WrapperOperation<Void, Result<Void, AOperationError>?> { _ in waiting }
        wrapper.name = "wrapper"
        let dependent = Step()
        dependent.addDependency(wrapper)
        queue.addOperations([wrapper, dependent], waitUntilFinished: false)
        await deaf.started.wait()
        wrapper.cancel()
        #expect(wrapper.result?.error?.localizedDescription == "The Operation wrapper is Cancelled")
        #expect(waiting.outcome?.isCancelled == true)
        #expect(deaf.outcome?.isCancelled == true)
        #expect(!wrapper.isEnded)
        #expect(!dependent.isFinished)
        deaf.open()
        await dependent.ended()
        #expect(wrapper.isEnded)
    }

    @Test func timedOut_itStopsWhatItWraps() async {
        let gate = Gate()
        let wrapper = WrapperOperation<Void, Void> { _ in gate }
        wrapper.add(to: queue)
        await gate.started.wait()
        wrapper.interrupt(with: .failure([AOperationError(Failed(text: "too late"))]))
        await wrapper.ended()
        #expect(wrapper.publishedErrors.map(\.localizedDescription) == ["too late"])
        #expect(gate.outcome?.isCancelled == true)
    }

    @Test func ofTheInnerOneAlone_isAFailureOfTheWrapper() async {
        let gate = Gate("inner")
        let wrapper = WrapperOperation<Void, Void> { _ in gate }
        wrapper.add(to: queue)
        await gate.started.wait()
        gate.cancel()
        await wrapper.ended()
        #expect(wrapper.outcome?.isFailure == true)
        #expect(wrapper.publishedErrors.map(\.publisher) == ["inner"])
        #expect(wrapper.publishedErrors.first?.publishedError is AOperationError.IsCancelled)
    }

    @Test func afterTheEnd_nothingChanges() async {
        let wrapper = WrapperOperation<Void, Int> { _ in Value(1) }
        _ = await wrapper.result(on: queue)
        wrapper.cancel()
        #expect(!wrapper.isCancelled)
        #expect(wrapper.outcome == .success(1))
    }

    @Test(arguments: 0..<30)
    func atAnyMoment_everyListenerIsToldOnce(round: Int) async {
        let ends = Log<String>()
        queue.maxConcurrentOperationCount = 1 + round % 3
        let wrapper = WrapperOperation<Void, Int> { _ in
            let first = Value(1).didFinish { _ in ends.append("first") }
            let second = first.deliver(to: PassOn<Int>()).didFinish { _ in ends.append("second") }
            let inner = WrapperOperation<Int, Int> { received in
                Value((try? received?.get()) ?? 0).didFinish { _ in ends.append("innermost") }
            }
            return second.deliver(to: inner).didFinish { _ in ends.append("third") }
        }
        wrapper.didFinish { _ in ends.append("wrapper") }
        wrapper.add(to: queue)
        Thread.detachNewThread {
            for _ in 0..<(round * 50) where wrapper.isFinished { return }
            wrapper.cancel()
        }
        await wrapper.ended()
        await queue.idle()
        await callbacksDelivered()
        #expect(Set(ends.entries).count == ends.count, "told twice: \(ends.entries) (round \(round))")
        #expect(ends.entries.contains("wrapper"))
        let generated = ends.entries.filter { ["first", "second", "third"].contains($0) }
        #expect(generated.isEmpty || generated.count == 3, "\(ends.entries) (round \(round))")
    }
}
