import Foundation
import Testing

@testable import AOperation

/// Receives a number, and runs until it is opened.
private final class Receiving: ResultableOperation<Int>, ReceiverOperation, @unchecked Sendable {
    var receivedValue: Result<Int, AOperationError>?
    let started = Signal()
    override func execute() { started.fire() }
    func open() { finish(with: receivedValue ?? .failure(.receivedValueIsNil(in: self))) }
}

/// Delivers a number when it is told to.
private final class Sending: ResultableOperation<Int>, @unchecked Sendable {
    let started = Signal()
    override func execute() { started.fire() }
}

/// Defects of delivery and of `didFinish` in the reference, each shown not to be here.
@Suite(.timeLimit(Load.patience))
struct DeliveryDefectTests {
    let queue = AOperationQueue()

    @Test func D11_failedCondition_isDelivered() async throws {
        let refused = Value(1).conditions(Rule(.failed("refused")))
        let received = try await refused.deliver(to: Keep()).value(on: queue)
        #expect(received?.error?.localizedDescription == "refused")
        #expect(received?.error?.state == .condition)
    }

    @Test func D11_cancellation_ofAProducerThatHasNotBegun_isDelivered() async throws {
        let before = Value(1)
        let afterBefore = before.deliver(to: Keep())
        before.cancel()
        let never = Gate()
        let waiting = Value(1)
        waiting.addDependency(never)
        let afterWaiting = waiting.deliver(to: Keep())
        queue.addOperation(waiting)
        waiting.cancel()
        for keep in [afterBefore, afterWaiting] {
            let received = try await keep.value(on: queue)
            #expect(received?.error?.publishedError is AOperationError.IsCancelled)
        }
    }

    @Test func D11_timeout_isDelivered() async throws {
        let gate = Gate()
        let keep = gate.deliver(to: Keep())
        keep.add(to: queue)
        await gate.started.wait()
        gate.timeOut(with: AOperationError(Failed(text: "too late")))
        await keep.ended()
        #expect(try keep.result?.get()?.error?.localizedDescription == "too late")
    }

    @Test func D11_failure_reachesEveryReceiver_throughAChain() async throws {
        let head = Failing<Int>("no")
        let chains = (0..<10).map { _ in head.deliver(to: PassOn<Int>()).deliver(to: Keep()) }
        head.willFinish { _, finish in finish() }
        chains[7].add(to: queue)
        for chain in chains { await chain.ended() }
        #expect(chains.map { (try? $0.result?.get())??.error?.localizedDescription } == Array(repeating: "no", count: 10))
    }

    @Test func D11_lateFinish_afterACancellation_changesNothingOfWhatWasReceived() async {
        for round in 0..<50 {
            let sending = Sending()
            sending.grace = .zero
            let receiving = sending.deliver(to: Receiving())
            receiving.add(to: queue)
            await sending.started.wait()
            if round.isMultiple(of: 2) {
                // Its body goes on while the receiver runs.
                sending.cancel()
                await receiving.started.wait()
                sending.finish(with: .success(1))
            } else {
                sending.cancel()
                sending.finish(with: .success(1))
                await receiving.started.wait()
            }
            receiving.open()
            await receiving.ended()
            let error = receiving.outcome?.errors.first?.publishedError
            #expect(error is AOperationError.IsCancelled, "round \(round)")
            #expect(sending.outcome == .cancelled, "round \(round)")
        }
    }

    @Test func D17_didFinishOfAnOperationThatFinishesMeanwhile_isCalledOnce() async {
        let gates = (0..<1_000).map { Gate("\($0)", isDeaf: true) }
        let ends = Log<Int>()
        queue.addOperations(gates, waitUntilFinished: false)
        for gate in gates { await gate.started.wait() }
        await onThread {
            DispatchQueue.concurrentPerform(iterations: 2 * gates.count) { iteration in
                let index = iteration / 2
                if iteration.isMultiple(of: 2) { gates[index].open() } else { gates[index].didFinish { _ in ends.append(index) } }
            }
        }
        for gate in gates { await gate.ended() }
        await callbacksDelivered()
        #expect(ends.entries.sorted() == Array(0..<1_000))
    }

    @Test func D17_didFinishSetAfterTheAddition_isCalledOnce_howeverQuickTheOperationIs() async {
        let ends = Log<Int>()
        var operations: [Value<Int>] = []
        for number in 0..<2_000 {
            let operation = Value(number).add(to: queue)
            operation.didFinish { result in ends.append((try? result.get()) ?? -1) }
            operations.append(operation)
        }
        for operation in operations { await operation.ended() }
        await callbacksDelivered()
        #expect(ends.entries.sorted() == Array(0..<2_000))
    }
}
