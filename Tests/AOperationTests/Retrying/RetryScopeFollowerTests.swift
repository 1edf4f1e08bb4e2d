import Foundation
import Testing

@testable import AOperation

/// Who follows on an end that may be tried again: those of the scope, and those outside.
@Suite(.timeLimit(Load.patience))
struct RetryScopeFollowerTests {
    let queue = AOperationQueue()

    /// Passes on what it receives, under an id.
    private final class Shared: ResultableOperation<String>, ReceiverOperation, UniqueOperation, RetryableOperation, @unchecked Sendable {
        var receivedValue: Result<String, AOperationError>?
        let uniqueId: String
        let onDuplicate = DuplicatePolicy.join
        let runs: Log<Int>

        init(_ uniqueId: String, _ runs: Log<Int> = Log()) {
            (self.uniqueId, self.runs) = (uniqueId, runs)
            super.init()
        }

        func new() -> Shared { Shared(uniqueId, runs) }

        override func execute() {
            runs.append(1)
            finish(with: receivedValue ?? .success("nothing"))
        }
    }

    /// Fails with what it receives. Tells when it is made anew: after those above it.
    private final class End: ResultableOperation<String>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
        var receivedValue: Result<[String], AOperationError>?
        let isMadeAnew: Signal

        init(_ isMadeAnew: Signal) {
            self.isMadeAnew = isMadeAnew
            super.init()
        }

        func new() -> End {
            isMadeAnew.fire()
            return End(isMadeAnew)
        }

        override func execute() { finish(with: receivedValue.map { $0.map { $0.joined() } } ?? .success("")) }
    }

    // MARK: Of the scope

    /// Both deliver to the end, and one of them only waits for the other.
    @Test func memberThatDependsOnAnother_waitsForItsNextAttempt() async {
        queue.maxConcurrentOperationCount = 2
        let log = Log<String>()
        let second = Log<Script.Run>()
        let isSecond = Signal()
        let head = Attempted(
            Script("A") { run in
                log.append("A\(run.number)")
                guard run.number > 1 else { return run.fail() }
                second.append(run)
                isSecond.fire()
            })
        let follower = Attempted(
            Script("B") { run in
                log.append("B\(run.number)")
                run.number > 1 ? run.succeed() : run.fail()
            })
        follower.addDependency(head)
        let isMadeAnew = Signal()
        let tail = [head, follower].deliver(to: End(isMadeAnew))
        tail.retry(.times(2)).add(to: queue)
        await isSecond.wait()
        await isMadeAnew.wait()
        let probe = Step()  // takes the one slot that is free, behind whoever is ready
        queue.addOperation(probe)
        await probe.ended()
        log.append("A2 ends")
        second.entries.first?.succeed()
        await tail.ended()
        #expect(log.entries == ["A1", "B1", "A2", "A2 ends", "B2"])
        #expect(tail.outcome?.isSuccess == true)
    }

    /// The end of the follower is fixed, and only held back.
    @Test func producerOfOneWhoseEndIsFixed_isNotTriedAgain_evenWhileWillFinishHoldsIt() async {
        let chain = RetryChain(1, 0, 0)
        let (asked, isHeld) = (Signal(), Signal())
        let (decide, letGo) = (Log<Retry>(), Log<@Sendable () -> Void>())
        chain.last.retryOnFailure { retries, _, retry in
            guard retries == 0 else { return retry(false) }
            decide.append(retry)
            asked.fire()
        }
        chain.middle.willFinish { _, finish in
            letGo.append(finish)
            isHeld.fire()
        }
        chain.last.add(to: queue)
        await asked.wait()
        let outsider = Step()
        outsider.addDependency(chain.middle)
        queue.addOperation(outsider)
        await isHeld.wait()
        decide.entries.first?(true)
        letGo.entries.first?()
        await chain.ended()
        await outsider.ended()
        #expect(chain.runs == [1, 1, 2])
        #expect(chain.operations.allSatisfy { $0.firstFailure == "A 1" })
    }

    // MARK: Outside

    /// head → shared → tail, head → tail: who joins the one between has a part in its end.
    @Test(arguments: [false, true]) func producerOfOneThatAnotherHasJoined_isNotTriedAgain(isLate: Bool) async {
        let gate = Gate()
        let head = Attempted(.failing("A", 1))
        head.addDependency(gate)
        let shared = head.deliver(to: Shared(freshKey("shared")))
        let tail = [head, shared].deliver(to: Scripted<[String]>(.failing("T", 0)))
        let asked = Signal()
        let decide = Log<Retry>()
        tail.retryOnFailure { retries, _, retry in
            guard retries == 0 else { return retry(false) }
            decide.append(retry)
            asked.fire()
        }
        tail.add(to: queue)
        await gate.started.wait()
        let joiner = Shared(shared.uniqueId)
        if !isLate { queue.addOperation(joiner) }
        gate.open()
        await asked.wait()
        if isLate { queue.addOperation(joiner) }
        await joiner.ended()
        decide.entries.first?(true)
        await tail.ended()
        #expect(head.script.runs == 1)
        #expect(shared.runs.count == 1)
        #expect(joiner.runs.count == 0)
        #expect(tail.script.runs == 2)
    }

    /// Nobody tells of a plain operation in a plain queue; but the end of the net is known to wait for it.
    @Test func plainOneInAPlainQueue_thatTheEndWaitsFor_countsAmongThoseWhoWait() async {
        let head = Attempted(.failing("A", 1))
        let tail = head.deliver(to: Attempted(.failing("T", 0))).retry(.times(2))
        let plain = BlockOperation {}
        plain.addDependency(head)
        tail.addDependency(plain)
        let plainQueue = OperationQueue()
        plainQueue.addOperation(plain)
        tail.add(to: queue)
        await tail.ended()
        #expect(plain.isFinished)
        #expect(head.script.runs == 1)
        #expect(tail.script.runs == 2)
    }

    /// The end comes to wait for it when the first failure is held already.
    @Test func plainOneInAPlainQueue_thatTheEndWaitsForLater_countsAmongThoseWhoWait() async {
        let plain = BlockOperation {}
        let plainQueue = OperationQueue()
        let tail = Attempted(.failing("T", 0)).retry(.times(2))
        let head = Attempted(.failing("A", 1))
        let middle = Attempted(
            Script("B") { run in
                plain.addDependency(run.operation)
                tail.addDependency(plain)
                plainQueue.addOperation(plain)
                run.fail()
            })
        head.deliver(to: middle).deliver(to: tail)
        tail.add(to: queue)
        await tail.ended()
        #expect(plain.isFinished)
        #expect([head, middle, tail].map(\.script.runs) == [1, 1, 2])
    }

    /// Each member asks whether somebody waits below it.
    @Test func longChain_whoseLastMemberSomebodyWaitsFor_endsInLinearTime() async {
        let head = Attempted(.failing("A", 1))
        let script = Script("member") { run in
            if let error = run.received { run.operation.fail(error) } else { run.succeed() }
        }
        var last = head
        for _ in 0..<20_000 { last = last.deliver(to: Attempted(script)) }
        let tail = last.deliver(to: Attempted(.failing("T", 0))).retry(.times(2))
        let outsider = Step()
        outsider.addDependency(last)
        queue.addOperations([tail, outsider], waitUntilFinished: false)
        await tail.ended()
        await outsider.ended()
        #expect(head.script.runs == 1)
        #expect(tail.script.runs == 2)
    }
}
