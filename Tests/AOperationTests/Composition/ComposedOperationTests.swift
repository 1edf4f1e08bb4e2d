import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct ComposedOperationTests {
    let queue = AOperationQueue()

    @Test func plainOperation_hasObservers_andDependenciesInBothDirections() async {
        let log = Log<String>()
        let before = BlockOperation { log.append("before") }
        let inside = BlockOperation { log.append("inside") }
        let after = BlockOperation { log.append("after") }
        let last = Step { log.append("last") }
        let composed = ComposedOperation(operation: inside).observers(
            BlockObserver(
                startHandler: { _ in log.append("start") },
                finishHandler: { _, errors in log.append("finish \(errors.count)") }))
        composed.addDependency(before)
        after.addDependency(composed)
        last.addDependency(after)
        queue.addOperations([last, after, composed, before], waitUntilFinished: false)
        await queue.idle()
        #expect(log.entries == ["before", "start", "inside", "finish 0", "after", "last"])
        #expect(composed.operation === inside)
    }

    @Test func dependencies_ofTheWrappedPlainOperation_hold() async {
        let gate = Gate()
        let log = Log<String>()
        let inside = BlockOperation { log.append("inside") }
        inside.addDependency(gate)
        let composed = ComposedOperation(operation: inside)
        queue.maxConcurrentOperationCount = 1
        queue.addOperations([composed, gate], waitUntilFinished: false)
        await gate.started.wait()
        #expect(log.count == 0)
        gate.open()
        await composed.ended()
        #expect(log.entries == ["inside"])
    }

    @Test func cancelled_itCancelsThePlainOperation() async {
        let first = Gate()
        let log = Log<String>()
        let inside = BlockOperation { log.append("inside") }
        let composed = ComposedOperation(operation: inside)
        composed.addDependency(first)
        composed.add(to: queue)
        await first.started.wait()
        composed.cancel()
        first.open()
        await composed.ended()
        #expect(inside.isCancelled)
        #expect(composed.outcome?.isCancelled == true)
        #expect(log.count == 0)
        await queue.idle()
    }

    @Test func failure_isTheWrappedOnes() async {
        let result = await ComposedOperation(operation: Failing<Int>("inside")).result(on: queue)
        #expect(result.error?.publisher == "inside")
    }

    @Test func openGate_letsTheOperationThrough_askedWhenItsTurnHasCome() async {
        let isOpen = Box<Bool>()
        let first = Step { isOpen.value = true }
        let gated = GatedOperation(operation: Value(1)) { isOpen.value == true }
        gated.addDependency(first)
        queue.addOperations([first, gated], waitUntilFinished: false)
        await gated.ended()
        #expect(gated.outcome?.isSuccess == true)
        #expect(gated.results(of: Int.self) == [1])
    }

    @Test func closedGate_isAFailedCondition_andTheOperationIsToldOfItsCancellation() async {
        let log = Log<String>()
        let inside = Step("inside") { log.append("ran") }.didFinish { log.append($0.error?.localizedDescription ?? "-") }
        let plain = BlockOperation { log.append("plain ran") }
        let gated = GatedOperation(operation: inside, gate: { false })
        let gatedPlain = GatedOperation(operation: plain, gate: { false })
        queue.addOperations([gated, gatedPlain], waitUntilFinished: false)
        await queue.idle()
        await callbacksDelivered()
        #expect(log.entries == ["The Operation inside is Cancelled"])
        #expect(gated.errorTexts == ["The Operation inside was not run: its gate is closed"])
        #expect(gated.publishedErrors.first?.state == .condition)
        #expect(gated.outcome?.isFailure == true)
        #expect(gatedPlain.publishedErrors.first?.publishedError is AOperationError.GateIsClosed)
    }

    @Test func ignoredErrors_doNotFailTheGroupAround() async {
        let ignoring = IgnoreErrorsOperation(operation: Failing<Int>("a").deliver(to: PassOn<Int>()))
        let log = Log<Int>()
        let group = OrderedGroupOperation(ignoring, Step { log.append(1) }, onFailure: .stop)
        #expect(await group.result(on: queue).error == nil)
        #expect(ignoring.outcomes.map(\.isSuccess) == [false, false])
        #expect(log.count == 1)
    }

    @Test func ignoredErrors_doNotHideACancellation() async {
        let gate = Gate()
        let ignoring = IgnoreErrorsOperation(operation: gate)
        ignoring.add(to: queue)
        await gate.started.wait()
        ignoring.cancel()
        await ignoring.ended()
        #expect(ignoring.outcome?.isCancelled == true)
    }
}
