import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct EventObserverTests {
    let queue = AOperationQueue()
    let log = Log<String>()

    private func observe(_ operation: AOperation) {
        operation.observers(
            StartedObserver { [log] in log.append("started \($0.name ?? "")") },
            CancelledObserver { [log] in log.append("cancelled \($0.name ?? "")") },
            ProducedOperationObserver { [log] in log.append("\($0.name ?? "") produced \($1.name ?? "")") },
            FinishedObserver { [log] in log.append("finished \($0.name ?? "") with \($1.count) errors") })
    }

    @Test func eachIsToldOfItsEvent() async {
        let maker = Gate("maker")
        observe(maker)
        queue.addOperation(maker)
        await maker.started.wait()
        maker.produce(Step("made"))
        maker.open()
        await maker.ended()
        #expect(log.entries == ["started maker", "maker produced made", "finished maker with 0 errors"])
    }

    @Test func cancellation_isToldOnce_beforeTheEnd() async {
        let gate = Gate("gate")
        observe(gate)
        queue.addOperation(gate)
        await gate.started.wait()
        gate.cancel()
        gate.cancel()
        await gate.ended()
        #expect(log.entries == ["started gate", "cancelled gate", "finished gate with 1 errors"])
    }

    @Test func cancelledChild_mayCancelItsGroup_byACancelledObserver() async {
        let child = Gate("child")
        let other = Gate("other")
        let group = GroupOperation(child, other)
        child.addObserver(CancelledObserver { [weak group] _ in group?.cancel() })
        queue.addOperation(group)
        await child.started.wait()
        await other.started.wait()
        child.cancel()
        await group.ended()
        #expect(group.outcome?.isCancelled == true)
        #expect(other.outcome?.isCancelled == true)
    }
}
