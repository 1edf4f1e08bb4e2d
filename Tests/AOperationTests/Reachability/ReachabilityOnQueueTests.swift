import Foundation
import Testing

@testable import AOperation

/// Reachability conditions on operations that a queue runs.
@Suite(.timeLimit(Load.patience))
struct ReachabilityOnQueueTests {
    let queue = AOperationQueue()
    let network = FakeNetwork()

    private var waiting: ReachabilityCondition {
        ReachabilityCondition(network.reachability(), waitToConnect: true, interval: .milliseconds(2))
    }

    @Test func unreachable_failsTheOperation() async {
        let executed = Signal()
        let target = Step { executed.fire() }.conditions(ReachabilityCondition(network.reachability()))
        await queue.run(target)
        #expect(target.errors.first?.publishedError is ReachabilityCondition.Error)
        #expect(target.errors.first?.state == .condition)
        #expect(!executed.hasFired)
    }

    @Test func D23_waitToConnect_runsTheOperation_whenAnyConnectionIsThere() async {
        network.onLook { [network] look in if look == 3 { network.setUp([.any]) } }
        let target = Step().conditions(waiting)
        await queue.run(target)
        #expect(target.outcome?.isSuccess == true)
        #expect(network.looks >= 3)
    }

    @Test func waitToConnect_holdsNoSlot() async {
        queue.maxConcurrentOperationCount = 1
        let target = Step("target").conditions(waiting)
        let connect = Step("connect") { [network] in network.setUp([.any]) }
        queue.addOperations([target, connect], waitUntilFinished: false)
        await target.ended()
        #expect(target.outcome?.isSuccess == true)
    }

    @Test func waitToConnect_endsWithACancellation() async {
        let looked = Signal()
        network.onLook { _ in looked.fire() }
        let target = Step().conditions(waiting)
        queue.addOperation(target)
        await looked.wait()
        target.cancel()
        await target.ended()
        #expect(target.outcome?.isCancelled == true)
    }
}
