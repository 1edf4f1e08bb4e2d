import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct NetworkObserverTests {
    let queue = AOperationQueue()
    let shown = Log<Bool>()

    private func activity(hideDelay: Duration) -> NetworkActivity {
        let activity = NetworkActivity(hideDelay: hideDelay)
        activity.indicator = { [shown] in shown.append($0) }
        return activity
    }

    /// What was told while something used the network; nothing more is told afterwards.
    private func flush(_ activity: NetworkActivity) async {
        let flushed = Signal()
        activity.indicator = { _ in flushed.fire() }
        await flushed.wait()
    }

    @Test func indicator_goesOnWithTheFirst_andOffAfterTheLast() async {
        let activity = activity(hideDelay: .milliseconds(5))
        let off = Signal()
        activity.indicator = { [shown] isActive in
            shown.append(isActive)
            if !isActive { off.fire() }
        }
        let gates = [Gate("a"), Gate("b")]
        for gate in gates {
            gate.addObserver(NetworkObserver(activity: activity))
            queue.addOperation(gate)
            await gate.started.wait()
        }
        gates[0].open()
        await gates[0].ended()
        gates[1].open()
        await off.wait()
        #expect(shown.entries == [true, false])
    }

    @Test func operationThatFollowsWithinTheDelay_keepsItOn() async {
        let activity = activity(hideDelay: .seconds(50))
        for _ in 0..<3 {
            let step = Step()
            step.addObserver(NetworkObserver(activity: activity))
            await queue.run(step)
        }
        await flush(activity)
        #expect(shown.entries == [true])
    }

    @Test func operationThatNeverStarts_isNotCounted() async {
        let activity = activity(hideDelay: .seconds(50))
        let never = Step()
        never.addObserver(NetworkObserver(activity: activity))
        never.cancel()
        await queue.run(never)
        let gate = Gate()
        gate.addObserver(NetworkObserver(activity: activity))
        queue.addOperation(gate)
        await gate.started.wait()
        await flush(activity)
        gate.open()
        await gate.ended()
        #expect(shown.entries == [true])
    }

    @Test func operationThatIsOverBeforeItsStartIsTold_isNotCounted() async {
        let activity = NetworkActivity(hideDelay: .zero)
        let off = Signal()
        activity.indicator = { if !$0 { off.fire() } }
        let step = Step()
        step.cancel()
        NetworkObserver(activity: activity).operationDidStart(step)
        await off.wait()
    }

    @Test func indicatorThatIsSetMeanwhile_isToldAtOnce() async {
        let activity = NetworkActivity(hideDelay: .seconds(50))
        let gate = Gate()
        gate.addObserver(NetworkObserver(activity: activity))
        queue.addOperation(gate)
        await gate.started.wait()
        await flush(activity)
        gate.open()
        await gate.ended()
    }

    @Test func observers_shareTheCountOfTheProcess() async {
        let on = Signal()
        let gate = Gate()
        gate.addObserver(NetworkObserver())
        queue.addOperation(gate)
        await gate.started.wait()
        // Whoever else sets it in this process takes it away.
        await until {
            NetworkObserver.indicator = { if $0 { on.fire() } }
            return on.hasFired
        }
        gate.open()
        await gate.ended()
        NetworkObserver.indicator = nil
    }
}
