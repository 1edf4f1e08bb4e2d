import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct WrapperOperationTests {
    let queue = AOperationQueue()

    @Test func value_ofTheGeneratedChain_becomesTheWrappersOwn() async throws {
        let wrapper = WrapperOperation<Int, String> { received -> ResultableOperation<String>? in
            Value(received).deliver(
                to: MapOperationBlock<Result<Int, AOperationError>?, String> { value, finish in
                    finish((value ?? .success(nil)).map { "\((try? $0?.get()) ?? -1)" })
                })
        }
        let text = try await Value(7).deliver(to: wrapper).value(on: queue)
        #expect(text == "7")
    }

    @Test func generator_runsOnce_whenTheWrapperIsExecuted_withNilIfNothingDelivers() async throws {
        let calls = Log<Bool>()
        let first = Gate()
        let wrapper = WrapperOperation<Int, Void> { received -> ResultableOperation<Void> in
            calls.append(received == nil)
            return Step()
        }
        wrapper.addDependency(first)
        wrapper.add(to: queue)
        await first.started.wait()
        #expect(calls.count == 0)
        first.open()
        await wrapper.ended()
        #expect(calls.entries == [true])
        #expect(wrapper.outcome?.isSuccess == true)
    }

    @Test func errors_keepStateAndPublisher_andAllOfThemCome() async {
        let wrapper = WrapperOperation<Void, Void> { _ in
            GroupOperation(
                Failing<Int>("one"), GatedOperation(operation: Step()) { false }, Failing<Int>("two"))
        }
        wrapper.name = "wrapper"
        _ = await wrapper.result(on: queue)
        #expect(wrapper.publishedErrors.map(\.publisher) == ["one", "GatedOperation", "two"])
        #expect(wrapper.publishedErrors.map(\.state) == [.execution, .condition, .execution])
        #expect(wrapper.outcome?.isFailure == true)
    }

    /// It would wait for its own end.
    @Test func generatorThatReturnsTheWrapper_orWhatItIsInsideOf_failsAtOnce() async {
        let made = Log<WrapperOperation<Void, Void>>()
        let wrapper = WrapperOperation<Void, Void> { _ in made.entries.last }
        wrapper.name = "W"
        made.append(wrapper)
        #expect(
            await wrapper.result(on: queue).error?.localizedDescription
                == "The Operation W would wait for itself: its generator returned W, let that be a new one")
        #expect(wrapper.publishedErrors.map(\.publisher) == ["W"])

        let groups = Log<GroupOperation>()
        let inner = WrapperOperation<Void, Void> { _ in groups.entries.last }
        let outer = GroupOperation(GroupOperation(inner))
        outer.name = "outer"
        groups.append(outer)
        let error = await outer.result(on: queue).error?.publishedError as? AOperationError.WaitsForItself
        #expect(error?.operation == "WrapperOperation<(), ()>")
        #expect(error?.part == "outer")
        #expect(error?.condition == nil)
    }

    @Test func anotherAttempt_thatReturnsTheWrapper_failsToo() async {
        final class Self_: WrapperOperation<Void, Void>, RetryableOperation, @unchecked Sendable {
            let made: Log<Self_>
            init(_ made: Log<Self_>) {
                self.made = made
                super.init { _ -> ResultableOperation<Void>? in made.entries.first }
                made.append(self)
            }
            func new() -> Self_ { Self_(made) }
        }
        let made = Log<Self_>()
        let wrapper = Self_(made).retry(RetryPolicy(attempts: 2))
        #expect(await wrapper.result(on: queue).error?.publishedError is AOperationError.WaitsForItself)
        #expect(made.count == 2)
    }

    @Test func D21_nilFromTheGenerator_isAFailure_andDidFinishIsTold() async {
        let told = Log<String>()
        let wrapper = WrapperOperation<Void, Int> { _ in nil }
        let empty = WrapperOperation<Void, Void> { _ in nil }
        for operation: AOperation in [wrapper, empty] { operation.name = "W" }
        wrapper.didFinish { told.append($0.error?.localizedDescription ?? "success") }
        empty.didFinish { told.append($0.error?.localizedDescription ?? "success") }
        #expect(await wrapper.result(on: queue).error?.publishedError is AOperationError.NothingToRun)
        #expect(await empty.result(on: queue).error?.publishedError is AOperationError.NothingToRun)
        await callbacksDelivered()
        #expect(told.entries == Array(repeating: "The Operation W has nothing to run: its generator returned nil", count: 2))
    }

    @Test func onASerialQueue_aChainInsideDoesNotHang() async throws {
        queue.maxConcurrentOperationCount = 1
        let wrappers = (0..<20).map { index in
            WrapperOperation<Void, Int> { _ in Value(index).deliver(to: PassOn()).deliver(to: PassOn()) }
        }
        let sum = MapOperationBlock<[Int], Int> { received, finish in
            finish((received ?? .success([])).map { $0.reduce(0, +) })
        }
        #expect(try await wrappers.deliver(to: sum).value(on: queue) == 190)
    }

    @Test func plainDependencies_ofTheGeneratedOperation_runToo() async {
        let log = Log<String>()
        let wrapper = WrapperOperation<Void, Void> { _ in
            let last = Step { log.append("last") }
            last.addDependency(Step { log.append("first") })
            return last
        }
        _ = await wrapper.result(on: queue)
        #expect(log.entries == ["first", "last"])
    }

    @Test func wrapperInWrapper_inAnOrderedGroup_keepsTheOrder() async {
        queue.maxConcurrentOperationCount = 1
        let log = Log<String>()
        func wrapped(_ name: String) -> AOperation {
            WrapperOperation<Void, Void> { _ in
                WrapperOperation<Void, Void> { _ in
                    let first = Step { log.append("\(name) first") }
                    return first.deliver(
                        to: MapOperationBlock<Void, Void> { _, finish in
                            log.append("\(name) last")
                            finish(.success(()))
                        })
                }
            }
        }
        let group = OrderedGroupOperation(wrapped("a"), wrapped("b"), Step { log.append("c") })
        _ = await group.result(on: queue)
        #expect(log.entries == ["a first", "a last", "b first", "b last", "c"])
    }

    @Test func nestedAThousandDeep_runsOnOneSlot_andIsCancelled() async {
        queue.maxConcurrentOperationCount = 1
        @Sendable func nested(_ depth: Int, around innermost: ResultableOperation<Void>) -> ResultableOperation<Void> {
            guard depth > 0 else { return innermost }
            return WrapperOperation<Void, Void> { _ in nested(depth - 1, around: innermost) }
        }
        #expect(await nested(1_000, around: Step()).result(on: queue).error == nil)
        let gate = Gate()
        let outer = nested(1_000, around: gate)
        outer.add(to: queue)
        await gate.started.wait()
        outer.cancel()
        await outer.ended()
        #expect(gate.outcome?.isCancelled == true)
        await queue.idle()
    }

    @Test func nestedFarDeeper_needsNoDeepStack() async {
        @Sendable func nested(_ depth: Int) -> ResultableOperation<Int> {
            depth == 0 ? Value(1) : WrapperOperation<Void, Int> { _ in nested(depth - 1) }
        }
        #expect(await nested(Load.count(5_000)).result(on: queue) == .success(1))
    }

    @Test func operationsOfOtherQueues_areWaitedFor() async {
        let gate = Gate()
        let other = AOperationQueue()
        gate.add(to: other)
        let wrapper = WrapperOperation<Void, Void> { _ in gate }
        wrapper.add(to: queue)
        await gate.started.wait()
        gate.open()
        await wrapper.ended()
        #expect(wrapper.outcome?.isSuccess == true)
    }

    @Test func willFinish_andListeners_workAsOfAnyOperation() async throws {
        let log = Log<String>()
        let wrapper = WrapperOperation<Void, Int> { _ in Value(3) }
            .willFinish { result, finish in
                log.append("will \((try? result.get()) ?? 0)")
                finish()
            }
            .didFinish { log.append("did \((try? $0.get()) ?? 0)") }
        _ = await wrapper.result(on: queue)
        await callbacksDelivered()
        #expect(log.entries == ["will 3", "did 3"])
    }

    @Test func byHand_withoutAQueue_itRuns() async {
        let wrapper = WrapperOperation<Void, Int> { _ in Value(3).deliver(to: PassOn()) }
        wrapper.start()
        await wrapper.ended()
        #expect(wrapper.outcome == .success(3))
    }

    /// They end from the last to the first when the wrapper is cancelled: each finds its place at once.
    @Test(arguments: [false, true])
    func netOfVeryManyOperations_ends_orIsCancelled(isCancelled: Bool) async {
        let last = Signal()
        let count = Load.count(60_000)
        let wrapper = WrapperOperation<Void, Result<[Int], AOperationError>?> { _ in
            let producers = (0..<count).map { number in
                Value(number).delay(isCancelled ? .seconds(3_600) : .zero).observers(
                    BlockObserver(finishHandler: { _, _ in if number == count - 1 { last.fire() } }))
            }
            return producers.deliver(to: Keep<[Int]>())
        }
        queue.addOperation(wrapper)
        if isCancelled {
            await until { wrapper.core.withLock { !$0.parts.isEmpty } }
            wrapper.cancel()
        }
        await wrapper.ended()
        await last.wait()
        #expect(wrapper.outcome?.isCancelled == isCancelled)
    }
}
