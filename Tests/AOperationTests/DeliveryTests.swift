import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct DeliveryTests {
    let queue = AOperationQueue()

    @Test func success_isDelivered_addedByTheTail() async throws {
        let value = try await Value(2).deliver(to: Keep()).value(on: queue)
        #expect(value == .success(2))
    }

    @Test func addingTheHead_addsTheWholeNet() async throws {
        let head = Value(2)
        let tail = head.deliver(to: PassOn()).deliver(to: Keep())
        queue.addOperation(head)
        await tail.ended()
        #expect(try tail.result?.get() == .success(2))
    }

    @Test func ownError_isDelivered_andTheReceiverStillRuns() async throws {
        let received = try await Failing<Int>("no").deliver(to: Keep()).value(on: queue)
        #expect(received?.error?.localizedDescription == "no")
        #expect(received?.error?.publisher == "no")
    }

    @Test func D11_cancellation_isDeliveredAsFailure() async throws {
        let gate = Gate("g")
        let keep = gate.deliver(to: Keep<Void>())
        keep.add(to: queue)
        await gate.started.wait()
        gate.cancel()
        await keep.ended()
        let received = try #require(keep.outcome?.value ?? nil)
        #expect(received.error?.publishedError is AOperationError.IsCancelled)
    }

    @Test func valueOfAnotherType_isDeliveredAsAFailureThatNamesBothSides() async throws {
        let keep = Keep<String>()
        keep.name = "keep"
        keep.accept(Value(5, name: "five"))
        let received = try await keep.value(on: queue)
        let error = try #require(received?.error)
        #expect(error.publishedError is AOperationError.DeliveryMismatch)
        #expect(error.state == .execution)
        #expect(error.publisher == "keep")
        #expect((error as Error).localizedDescription == "The Operation five delivered Int, its receiver keep takes String")
    }

    @Test func acceptedValueThatFits_isDelivered() async throws {
        let keep = Keep<Int>()
        keep.accept(Value(5))
        #expect(try await keep.value(on: queue) == .success(5))
    }

    @Test func D11_fanOut_reachesEveryReceiver() async {
        let head = Value("x")
        let receivers = (0..<10).map { _ in head.deliver(to: Keep<String>()) }
        receivers[3].add(to: queue)
        await queue.idle()
        #expect(receivers.allSatisfy { (try? $0.result?.get()?.get()) == "x" })
    }

    @Test func fanIn_hasTheValuesInDeclaredOrder() async throws {
        let gate = Gate("slow")
        let slow = Value(1)
        slow.addDependency(gate)
        let keep = [slow, Value(2), Value(3)].deliver(to: Keep<[Int]>())
        keep.add(to: queue)
        await gate.started.wait()
        gate.open()
        await keep.ended()
        #expect(try keep.result?.get()?.get() == [1, 2, 3])
    }

    @Test func fanIn_awaitsAll_andDeliversTheFirstFailureInDeclaredOrder() async throws {
        let gate = Gate("slow")
        let slow = Failing<Int>("slow failure")
        slow.addDependency(gate)
        let keep = [slow, Failing<Int>("quick failure")].deliver(to: Keep<[Int]>())
        keep.add(to: queue)
        await gate.started.wait()
        #expect(keep.outcome == nil)
        gate.open()
        await keep.ended()
        #expect(try keep.result?.get()?.error?.localizedDescription == "slow failure")
    }

    @Test func fanIn_ofTwoTypes_deliversATuple() async throws {
        let keep = deliver(Value(1), Value("a"), to: Keep<(Int, String)>())
        let received = try await keep.value(on: queue)
        let pair = try #require(try received?.get())
        #expect(pair == (1, "a"))
    }

    @Test func fanIn_ofThreeTypesAndMore_deliversATuple() async throws {
        let three = deliver(Value(1), Value("a"), Value(true), to: Keep<(Int, String, Bool)>())
        let received = try await three.value(on: queue)
        #expect(try #require(try received?.get()) == (1, "a", true))
        let four = deliver(Value(1), Value("a"), Value(true), Value(2.5), to: Keep<(Int, String, Bool, Double)>())
        let more = try await four.value(on: queue)
        #expect(try #require(try more?.get()) == (1, "a", true, 2.5))
    }

    @Test func fanIn_ofThreeTypes_awaitsAll_andDeliversTheFirstFailureInDeclaredOrder() async throws {
        let gate = Gate("slow")
        let slow = Failing<String>("slow failure")
        slow.addDependency(gate)
        let keep = deliver(Value(1), slow, Failing<Bool>("quick failure"), to: Keep<(Int, String, Bool)>())
        keep.add(to: queue)
        await gate.started.wait()
        #expect(keep.outcome == nil)
        gate.open()
        await keep.ended()
        #expect(try keep.result?.get()?.error?.localizedDescription == "slow failure")
    }

    @Test func group_deliversItsChildrensValues_orItsFailure() async throws {
        let good = try await GroupOperation(Value(1), Value(2)).deliver(to: Keep<[Int]>()).value(on: queue)
        #expect(good == .success([1, 2]))
        let bad = try await GroupOperation(Value(1), Failing<Int>("x")).deliver(to: Keep<[Int]>()).value(on: queue)
        #expect(bad?.error?.localizedDescription == "x")
        let mixed = try await GroupOperation(Value(1), Value("2")).deliver(to: Keep<[Int]>()).value(on: queue)
        #expect(mixed?.error?.localizedDescription.contains("produced String") == true)
        let all = try await GroupOperation(Value(1), Failing<Int>("x")).deliver(to: Keep<GroupOutcomes>()).value(on: queue)
        let outcomes = try #require(try all?.get())
        #expect(outcomes.map(\.isSuccess) == [true, false])
        #expect(try await GroupOperation(Value(1)).deliver(to: Keep<Void>()).value(on: queue)?.error == nil)
    }

    @Test func D11_willFinish_andDelivery_areIndependent() async throws {
        let head = Value(1)
        let tail = head.deliver(to: Keep())
        head.willFinish { _, finish in DispatchQueue.global().async { finish() } }
        #expect(try await tail.value(on: queue) == .success(1))
    }

    @Test func cancellingTheTail_cancelsProducersThatNobodyElseNeeds() async {
        let gate = Gate("head")
        let middle = gate.deliver(to: PassOn<Void>())
        let one = middle.deliver(to: Keep<Void>())
        let two = middle.deliver(to: Keep<Void>())
        one.add(to: queue)
        await gate.started.wait()
        one.cancel()
        #expect(!middle.isCancelled)
        #expect(!gate.isCancelled)
        two.cancel()
        #expect(middle.isCancelled)
        #expect(gate.isCancelled)
        await queue.idle()
    }

    @Test func netInsideAGroup_runsInIt_producersFirst() async throws {
        let log = Log<String>()
        let head = Value(1).didStart { log.append("head") }
        let tail = head.deliver(to: Keep<Int>()).didStart { log.append("tail") }
        let group = OrderedGroupOperation(Step { log.append("before") }, tail, Step { log.append("after") })
        _ = await group.result(on: queue)
        #expect(log.entries == ["before", "head", "tail", "after"])
        #expect(group.outcomes.count == 4)
        #expect(try tail.result?.get() == .success(1))
    }

    @Test func netAcrossGroups_staysWhereItWasDeclared() async throws {
        let head = Value(1)
        let tail = head.deliver(to: Keep<Int>())
        let first = GroupOperation(head)
        let second = GroupOperation(tail)
        _ = await OrderedGroupOperation(first, second).result(on: queue)
        #expect(first.outcomes.count == 1)
        #expect(second.outcomes.count == 1)
        #expect(try tail.result?.get() == .success(1))
    }

    @Test func addTo_alsoAddsDeclaredDependencies_andNothingUnrelated() async {
        let first = Step("first")
        let second = Step("second")
        second.addDependency(first)
        let unrelated = Step("unrelated")
        unrelated.addDependency(first)
        let last = Step("last")
        last.dependencies([second]).add(to: queue)
        await last.ended()
        #expect(first.isFinished && second.isFinished)
        #expect(unrelated.isInitialized)
        last.add(to: queue)
        await queue.idle()
    }

    @Test func longDeliveryChain_isCancelledUpwards_withoutRecursion() async {
        let gate = Gate("head")
        var tail: AOperation = gate
        var last = gate.deliver(to: PassOn<Void>())
        for _ in 0..<Load.count(20_000) { last = last.deliver(to: PassOn<Void>()) }
        tail = last
        last.add(to: queue)
        await gate.started.wait()
        tail.cancel()
        await gate.ended()
        #expect(gate.outcome?.isCancelled == true)
        await queue.idle()
    }

    @Test func delay_passesTheReceivedValueOn() async throws {
        #expect(try await Value(4).deliver(to: DelayOperation<Int>(0.01)).value(on: queue) == 4)
        try await DelayOperation<Void>(until: Date(timeIntervalSinceNow: 0.01)).value(on: queue)
        let alone = await DelayOperation<Int>(0).result(on: queue)
        #expect(alone.error?.publishedError is AOperationError.ReceivedValueIsNil)
    }

    @Test func delay_endsAtOnceWhenItIsCancelled() async {
        let delay = DelayOperation<Void>(600)
        let started = Signal()
        delay.didStart { started.fire() }.add(to: queue)
        await started.wait()
        delay.cancel()
        await delay.ended()
        #expect(delay.outcome?.isCancelled == true)
    }
}

extension Result where Success: Equatable, Failure == AOperationError {
    static func == (left: Self?, right: Self) -> Bool { left.map { $0 == right } ?? false }
}
