import Foundation
import Testing

@testable import AOperation

/// Dependencies that are taken back, many of them.
@Suite(.timeLimit(Load.patience))
struct RemovedDependencyTests {
    private final class Named: Waiter {
        let name: Int
        init(_ name: Int) { self.name = name }
        func dependencyEnded() {}
        var stillWaits: Bool { true }
    }

    private func names(_ waiters: [any Waiter]) -> [Int] { waiters.compactMap { ($0 as? Named)?.name } }

    @Test(arguments: [4, 16, 17, 200])
    func whoIsLeft_keepsItsPlaceInLine(count: Int) {
        var list = WaiterList()
        let waiters = (0..<count).map { Named($0) }
        for waiter in waiters { list.append(waiter) }
        var mark = count / 2
        for waiter in waiters where waiter.name % 3 != 0 { #expect(list.remove(waiter, keeping: &mark)) }
        #expect(names(list.all) == (0..<count).filter { $0 % 3 == 0 })
        #expect(names(Array(list.places.prefix(mark))) == (0..<(count / 2)).filter { $0 % 3 == 0 })
        #expect(!list.remove(waiters[1], keeping: &mark))
        let late = Named(1_000)
        list.append(late)
        #expect(names(list.all).last == 1_000)
        #expect(list.remove(late, keeping: &mark))
        for waiter in waiters where waiter.name % 3 == 0 { #expect(list.remove(waiter, keeping: &mark)) }
        #expect(list.isEmpty && list.takeAll().isEmpty)
    }

    @Test func removing_looksAtFewOthers() {
        var list = WaiterList()
        let waiters = (0..<200_000).map { Named($0) }
        for waiter in waiters { list.append(waiter) }
        var mark = 0
        // One by one from behind: looked for from the front, that would be 20,000,000,000 comparisons.
        for waiter in waiters.reversed() { #expect(list.remove(waiter, keeping: &mark)) }
        #expect(list.isEmpty)
    }

    @Test func dependentsOfOneOperation_maySeparateFromIt_manyOfThem() async {
        let queue = AOperationQueue()
        let gate = Gate()
        let dependents = (0..<Load.count(100_000)).map { _ in Step() }
        for dependent in dependents { dependent.addDependency(gate) }
        queue.addOperation(gate)
        queue.addOperations(dependents, waitUntilFinished: false)
        for dependent in dependents.reversed() { dependent.removeDependency(gate) }
        for dependent in dependents { await dependent.ended() }
        #expect(!gate.isFinished)
        #expect(dependents.allSatisfy { $0.outcome?.isSuccess == true })
        gate.open()
        await queue.idle()
    }

    @Test func producer_isCancelledWithItsLastReceiver_alsoAfterOthersHaveSeparated() async {
        let queue = AOperationQueue()
        let producer = Gate()
        let receivers = (0..<40).map { _ in Keep<Void>() }
        let others = (0..<40).map { _ in Step() }
        for receiver in receivers { producer.deliver(to: receiver) }
        for other in others { other.addDependency(producer) }
        producer.add(to: queue)
        queue.addOperations(others, waitUntilFinished: false)
        await producer.started.wait()
        for receiver in receivers.dropLast() { receiver.cancel() }
        for other in others { other.removeDependency(producer) }
        for other in others { await other.ended() }
        #expect(!producer.isCancelled)
        receivers.last?.cancel()
        await producer.ended()
        #expect(producer.outcome?.isCancelled == true)
        await queue.idle()
    }
}
