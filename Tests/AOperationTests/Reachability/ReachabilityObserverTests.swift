import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct ReachabilityObserverTests {
    let queue = AOperationQueue()
    let network = FakeNetwork(.any)
    let told = Log<Connection>()

    private func observer(
        _ handler: @escaping @Sendable (AOperation, Connection) -> Void = { _, _ in }
    ) -> ReachabilityObserver {
        ReachabilityObserver(network.reachability(), every: .milliseconds(2)) { [told] operation, connection in
            told.append(connection)
            handler(operation, connection)
        }
    }

    @Test func D23_observer_tellsTheInitialStateOnce_andThenChanges() async {
        let gate = Gate()
        let changed = Signal()
        network.onLook { [network] look in
            if look == 5 { network.setUp([]) }
            if look == 9 { network.setUp([.wifi]) }
        }
        gate.addObserver(observer { _, connection in if connection == .wifi { changed.fire() } })
        queue.addOperation(gate)
        await changed.wait()
        gate.open()
        await gate.ended()
        #expect(told.entries == [.any, .none, .wifi])
    }

    @Test func state_isToldBeforeTheWork_alsoIfThereIsNoConnection() async {
        network.setUp([])
        let before = Log<Int>()
        let step = Step { [told] in before.append(told.count) }
        step.addObserver(observer())
        await queue.run(step)
        #expect(told.entries == [.none])
        #expect(before.entries == [1])
    }

    @Test func handler_isNeverCalledAfterTheEnd() async {
        for _ in 0..<Load.rounds(100) {
            let gate = Gate()
            let late = Log<Connection>()
            let isOver = Signal()
            gate.addObserver(
                ReachabilityObserver(network.reachability(), every: .microseconds(1)) { _, connection in
                    if isOver.hasFired { late.append(connection) }
                })
            network.onLook { [network] look in network.setUp(look.isMultiple(of: 2) ? [.any] : []) }
            gate.addObserver(FinishedObserver { _, _ in isOver.fire() })
            queue.addOperation(gate)
            await gate.started.wait()
            gate.open()
            await gate.ended()
            #expect(late.entries.isEmpty)
        }
    }

    @Test func watching_endsWithTheOperation() async {
        let watches = ReachabilityWatches(network.reachability(), every: .milliseconds(1)) { _, _ in }
        let looked = Signal()
        network.onLook { look in if look == 3 { looked.fire() } }
        let gate = Gate()
        gate.addObserver(BlockObserver(startHandler: watches.begin, finishHandler: { operation, _ in watches.end(operation) }))
        queue.addOperation(gate)
        await looked.wait()
        #expect(watches.count == 1)
        gate.open()
        await gate.ended()
        #expect(watches.count == 0)
    }

    @Test func operationThatIsOverBeforeItsStartIsTold_isNotWatched() {
        let watches = ReachabilityWatches(network.reachability(), every: .milliseconds(1)) { [told] _, connection in
            told.append(connection)
        }
        let step = Step()
        step.cancel()
        watches.begin(step)
        #expect(watches.count == 0)
        #expect(told.entries.isEmpty)
    }

    @Test func handler_mayCancelTheOperation() async {
        let gate = Gate()
        gate.addObserver(observer { operation, connection in if connection == .none { operation.cancel() } })
        network.onLook { [network] look in if look == 3 { network.setUp([]) } }
        queue.addOperation(gate)
        await gate.ended()
        #expect(gate.outcome?.isCancelled == true)
        #expect(told.entries == [.any, .none])
    }

    @Test func handlersThatCancelEachOthersOperations_doNotWaitForEachOther() async {
        for _ in 0..<50 {
            let network = FakeNetwork(.any)
            let gates = (0..<8).map { Gate("\($0)") }
            let observer = ReachabilityObserver(network.reachability(), every: .microseconds(100)) { _, connection in
                if connection == .none { for gate in gates.shuffled() { gate.cancel() } }
            }
            for gate in gates {
                gate.addObserver(observer)
                queue.addOperation(gate)
            }
            for gate in gates { await gate.started.wait() }
            network.setUp([])
            for gate in gates { await gate.ended() }
            #expect(gates.allSatisfy { $0.outcome != nil })
        }
    }

    @Test func didChangeReachability_looksAtThisMachine() async {
        let gate = Gate()
        let told = self.told
        let heard = Signal()
        gate.didChangeReachability { operation, connection in
            told.append(connection)
            heard.fire()
        }
        gate.add(to: queue)
        await heard.wait()
        gate.open()
        await gate.ended()
        #expect(told.count == 1)
    }
}
