import Foundation
import Testing

@testable import AOperation

/// Locks in a delivery net whose end is tried again: what failed provisionally keeps its lock, and lends it to the others.
@Suite(.timeLimit(Load.patience))
struct LockRetryScopeTests {
    /// Fails as often as it is told; counts who is in.
    final class Producer: ResultableOperation<Int>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
        var receivedValue: Result<[Int], AOperationError>?
        let failures: Guarded<Int>
        let shared: Failures
        let gauge: Gauge?

        final class Failures: Sendable {
            private let left: Guarded<Int>
            init(_ count: Int) { left = Guarded(count) }
            func take() -> Bool {
                left.withLock { left in
                    left -= 1
                    return left >= 0
                }
            }
        }

        init(_ failures: Failures, _ gauge: Gauge?) {
            self.failures = Guarded(0)
            shared = failures
            self.gauge = gauge
            super.init()
        }
        required convenience init(shared: Failures, gauge: Gauge?) { self.init(shared, gauge) }

        override func execute() {
            gauge?.enter()
            let fails = shared.take()
            DispatchQueue.global().async { [self] in
                gauge?.leave()
                if fails { return finish(with: .failure(AOperationError(Failed(text: name ?? "")))) }
                if case .failure(let error)? = receivedValue { return finish(with: .failure(error)) }
                finish(with: .success(1))
            }
        }
        func new() -> Self { Self(shared: shared, gauge: gauge) }
    }

    private func producer(failures: Int, _ gauge: Gauge? = nil, _ keys: String...) -> Producer {
        let producer = Producer(Producer.Failures(failures), gauge)
        for key in keys { producer.exclusive(key) }
        return producer
    }

    @Test(arguments: [1, 4], [0, 1, 2])
    func producersAndTail_underOneKey_end(slots: Int, failures: Int) async {
        let key = freshKey()
        let gauge = Gauge()
        let queue = AOperationQueue(slots: slots)
        let producers = (0..<4).map { producer(failures: $0 == 3 ? 0 : failures, gauge, key) }
        let tail = producer(failures: failures, gauge, key)
        tail.retry(RetryPolicy(attempts: 8))
        producers.deliver(to: tail).add(to: queue)
        for _ in 0..<10 { LockTests.worker(gauge, key).add(to: queue) }
        await queue.idle()
        #expect(tail.publishedErrors == [])
        #expect(producers.flatMap(\.publishedErrors) == [])
        #expect(gauge.most == 1)
        #expect(!LockTable.shared.knows(key))
    }

    @Test func tailThatGivesUp_releasesEverything() async {
        let key = freshKey()
        let gauge = Gauge()
        let queue = AOperationQueue()
        let producers = (0..<3).map { _ in producer(failures: 100, gauge, key) }
        let tail = producer(failures: 100, gauge, key)
        tail.retry(RetryPolicy(attempts: 3))
        producers.deliver(to: tail).add(to: queue)
        await queue.idle()
        #expect(tail.outcome?.isFailure == true)
        #expect(producers.allSatisfy { $0.outcome?.isFailure == true })
        #expect(!LockTable.shared.knows(key))
    }

    /// The tail has borrowed the producer's lock: nobody else gets it while the tail's body runs.
    @Test func lockOfAProvisionalProducer_isHeldUntilTheBorrowersBodyHasEnded() async {
        let key = freshKey()
        let queue = AOperationQueue()
        let serial = AOperationQueue(slots: 1)
        final class DeafTail: ResultableOperation<Int>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
            var receivedValue: Result<Int, AOperationError>?
            let started = Signal()
            override func execute() { started.fire() }
            func new() -> Self { preconditionFailure("it is not tried again") }
        }
        let tail = DeafTail()
        tail.exclusive(key).retry(RetryPolicy(attempts: 2))
        let failing = producer(failures: 1, nil, key)
        failing.deliver(to: tail).add(to: queue)
        await tail.started.wait()
        let rival = Step().exclusive(key)
        serial.addOperation(rival)
        await serial.settled()
        tail.cancel()
        await failing.ended()
        await serial.settled()
        #expect(rival.outcome == nil)
        tail.finish(with: .success(1))
        await rival.ended()
        #expect(rival.outcome?.isSuccess == true)
    }

    /// A producer that is no part of the retry scope borrows what the scope keeps: the scope waits for it.
    @Test func producerOutsideOfTheScope_thatAsksForAProvisionalLock_borrowsIt() async {
        let key = freshKey()
        let queue = AOperationQueue()
        let failing = producer(failures: 100, nil, key)
        let shared = producer(failures: 0, nil, key)
        let blocker = Gate()
        shared.addDependency(blocker)
        let tail = producer(failures: 0)
        tail.retry(RetryPolicy(attempts: 2))
        let elsewhere = Keep<Int>()
        shared.deliver(to: elsewhere)
        [failing, shared].deliver(to: tail).add(to: queue)
        queue.addOperation(blocker)
        await until { failing.core.withLock { $0.state.isProvisional } }
        blocker.open()
        await tail.ended()
        await elsewhere.ended()
        #expect(shared.outcome?.isSuccess == true)
        #expect(tail.outcome?.isFailure == true)
        await queue.idle()
        #expect(!LockTable.shared.knows(key))
    }

    /// The scope comes to wait for it while it waits for what the scope keeps.
    @Test func operationOutsideOfTheScope_thatWaitsForAProvisionalLock_borrowsIt_whenTheTailComesToDependOnIt() async {
        let key = freshKey()
        let queue = AOperationQueue()
        let failing = producer(failures: 1, nil, key)
        let gate = Gate()
        let slow = producer(failures: 0)
        slow.addDependency(gate)
        let tail = producer(failures: 0)
        tail.retry(RetryPolicy(attempts: 2))
        [failing, slow].deliver(to: tail).add(to: queue)
        queue.addOperation(gate)
        await until { failing.core.withLock { $0.state.isProvisional } }
        let other = Step().exclusive(key)
        queue.addOperation(other)
        await hasAsked(other)
        tail.addDependency(other)
        gate.open()
        await queue.idle()
        #expect(tail.publishedErrors == [])
        #expect(other.outcome?.isSuccess == true)
        #expect(!LockTable.shared.knows(key))
    }

    /// What the group holds was lent to a member of it, then kept for its retry, then lent to somebody outside that the retry waited
    /// for: it does not come back before that one has ended, also when the retry and the group are long over.
    @Test func lockOfAGroup_thatWasLentOnByACancelledRetry_countsInCircles() async {
        let (key, other) = (freshKey("key"), freshKey("other"))
        let queue = AOperationQueue()
        let (holder, holdersGate) = await queue.runningGroup("holder", [other])
        let borrower = Step("borrower").exclusive(key).exclusive(other)
        let head = producer(failures: 1, nil, key)
        let tail = [head].deliver(to: producer(failures: 0)).retry(.times(3))
        tail.addDependency(borrower)
        let gate = Gate()
        let group = GroupOperation(head, tail, gate)
        queue.addOperation(group)
        await gate.started.wait()
        await until { head.core.withLock { $0.state.isProvisional } }
        queue.addOperation(borrower)
        let isLent = { borrower.core.withLock(\.lockRequest)?.lenders.isEmpty == false }
        await until { isLent() && borrower.core.withLock(\.isCrossing) }
        tail.cancel()
        let closes = Step("closes").exclusive(key)
        holder.addOperation(closes)
        // The borrower may find the circle first: it gives up what it was lent, and asks anew.
        await until { closes.isFinished || !isLent() }
        #expect(closes.isLockCycle || !isLent())
        gate.open()
        await group.ended()
        holdersGate.open()
        await borrower.ended()
        await closes.ended()
        #expect(borrower.outcome?.isSuccess == true)
        #expect(!LockTable.shared.knows(key))
    }

    @Test(arguments: 0..<8)
    func randomNets_withLocks_end(seed: Int) async {
        var random = SeededGenerator(UInt64(seed))
        let keys = (0..<3).map { freshKey("\($0)") }
        let gauges = keys.map { _ in Gauge() }
        let queue = AOperationQueue(slots: Int.random(in: 1...3, using: &random))
        var tails: [Producer] = []
        for _ in 0..<25 {
            func make() -> Producer {
                let index = Int.random(in: 0..<3, using: &random)
                return producer(failures: Int.random(in: 0...2, using: &random), gauges[index], keys[index])
            }
            let heads = (0..<Int.random(in: 1...3, using: &random)).map { _ in make() }
            let middles = (0..<Int.random(in: 1...2, using: &random)).map { _ in heads.deliver(to: make()) }
            let tail = make()
            tail.retry(RetryPolicy(attempts: 20))
            middles.deliver(to: tail).add(to: queue)
            if Int.random(in: 0..<5, using: &random) == 0 { tail.cancel() }
            tails.append(tail)
        }
        await queue.idle()
        #expect(tails.allSatisfy { $0.outcome?.isSuccess == true || $0.isCancelled })
        #expect(gauges.allSatisfy { $0.most <= 1 })
        #expect(keys.allSatisfy { !LockTable.shared.knows($0) })
    }
}
