import Foundation
import Testing

@testable import AOperation

/// Times that are no times, or last for ever.
@Suite(.timeLimit(Load.patience))
struct ExtremeTimeTests {
    let queue = AOperationQueue()

    @Test(arguments: [-1.0, 0, -.infinity, .nan, -1e300])
    func noTime_isNoDelay(seconds: TimeInterval) async {
        #expect(await DelayOperation<Void>(seconds).result(on: queue).error == nil)
        #expect(await RemainedDelayOperation<Void>(seconds).result(on: queue).error == nil)
        #expect(await DelayOperation<Void>(interval: seconds, leeway: seconds).result(on: queue).error == nil)
    }

    @Test func timesThatArePast_endNothing_andDelayNothing() async {
        let step = Step().delay(.seconds(-5)).notBefore(.distantPast)
        #expect(await step.result(on: queue).error == nil)
    }

    @Test(arguments: [1e9, 1e300, .greatestFiniteMagnitude, .infinity])
    func forEver_isNeverOver_andCanBeCancelled(seconds: TimeInterval) async {
        let timed = Gate()
        timed.observers(TimeoutObserver(seconds))
        let operations: [VoidOperation] = [
            timed, DelayOperation<Void>(seconds).inGroup, RemainedDelayOperation<Void>(seconds).inGroup,
            DelayOperation<Void>(until: Date(timeIntervalSinceNow: seconds)).inGroup,
            DelayOperation<Void>(until: .distantFuture).inGroup,
        ]
        await expectNoEnd(of: operations, before: timed)
    }

    @Test func longestLimits_areNeverOver() async {
        let limited = Gate()
        limited.timeout(.seconds(Int64.max)).queueTimeout(.seconds(Int64.max)).deadline(.seconds(Int64.max))
        limited.grace = .seconds(Int64.max)
        await expectNoEnd(
            of: [limited, Step().delay(.seconds(Int64.max)), Step().notBefore(.distantFuture)], before: limited)
    }

    private func expectNoEnd(of operations: [VoidOperation], before last: Gate) async {
        for operation in operations { queue.addOperation(operation) }
        await last.started.wait()
        _ = await DelayOperation<Void>(0.01).result(on: queue)
        for operation in operations {
            #expect(!operation.isFinished)
            operation.cancel()
            await operation.ended()
            #expect(operation.outcome?.isCancelled == true)
        }
    }
}

extension AOperation {
    fileprivate var inGroup: VoidOperation { GroupOperation(self) }
}
