import Foundation
import Testing

@testable import AOperation

/// Plain operations that wait for one of a retry scope: those in a plain queue tell nobody.
@Suite(.timeLimit(Load.patience))
struct RetryPlainWaiterTests {
    let queue = AOperationQueue()
    let plainQueue = OperationQueue()

    /// Between the end of the net and the plain operation.
    enum Way: CaseIterable { case operation, group, joiner, wrapper }

    /// Passes on what it receives, under an id.
    private final class SharedEnd: ResultableOperation<String>, ReceiverOperation, UniqueOperation, RetryableOperation, @unchecked Sendable
    {
        var receivedValue: Result<String, AOperationError>?
        let uniqueId: String
        let onDuplicate = DuplicatePolicy.join
        init(_ uniqueId: String) {
            self.uniqueId = uniqueId
            super.init()
        }
        func new() -> SharedEnd { SharedEnd(uniqueId) }
        override func execute() { finish(with: receivedValue ?? .success("")) }
    }

    private final class Shared: VoidOperation, UniqueOperation, @unchecked Sendable {
        let uniqueId: String
        let onDuplicate = DuplicatePolicy.join
        init(_ uniqueId: String) {
            self.uniqueId = uniqueId
            super.init()
        }
        override func execute() { finish() }
    }

    /// The end waits for others who come to wait for a plain one, when the head is held and nobody has seen anybody
    /// outside: that one waits for the head, and all are held; or for the one between, which runs.
    @Test(arguments: Way.allCases, [false, true])
    func oneThatComesLate_countsAmongThoseWhoWait(_ way: Way, isAllHeld: Bool) async throws {
        let gate = Gate()
        let head = Attempted(.failing("A", 1))
        let runs = Log<Script.Run>()
        let hasBegun = Signal()
        let middle = Attempted(
            Script("B") { run in
                runs.append(run)
                if run.number > 1 { run.succeed() } else { hasBegun.fire() }
            })
        let tail = head.deliver(to: middle).deliver(to: Attempted(.failing("T", 0))).retry(.times(2))
        let step = Step()
        let (waiting, between) = chain(way, before: step)
        waiting.addDependency(gate)
        tail.addDependency(between[between.count - 1])
        for operation in between + [gate] { queue.addOperation(operation) }
        tail.add(to: queue)
        await hasBegun.wait()
        if isAllHeld {
            runs.entries[0].fail()
            await until { middle.core.withLock { $0.state.isProvisional } }
        }
        let plain = BlockOperation {}
        plain.addDependency(isAllHeld ? head : middle)
        waiting.addDependency(plain)
        plainQueue.addOperation(plain)
        gate.open()
        if !isAllHeld { runs.entries[0].fail() }
        await tail.ended()
        #expect(plain.isFinished)
        #expect(head.script.runs == 1)
        #expect(tail.outcome != nil)
    }

    /// Who comes to wait for the plain one, and what the end waits for.
    private func chain(_ way: Way, before step: Step) -> (waiting: AOperation, between: [AOperation]) {
        switch way {
        case .operation: return (step, [step])
        case .group: return (step, [GroupOperation([step])])
        case .wrapper: return (step, [WrapperOperation<Void, Void> { _ in step }])
        case .joiner:
            let key = freshKey("joined")
            let first = Shared(key)
            return (first, [first, Shared(key)])
        }
    }

    /// Foundation tells nobody of a plain operation's `cancel()`.
    @Test(arguments: [false, true]) func oneThatWasCancelled_hasNoSay(isInOurQueue: Bool) async {
        let gate = Gate()
        let chain = RetryChain(1, 0, 0)
        chain.first.addDependency(gate)
        chain.last.retry(.times(3))
        let plain = BlockOperation {}
        plain.addDependency(chain.middle)
        let follower = Step()
        follower.addDependency(plain)
        if isInOurQueue { queue.addOperation(plain) } else { plainQueue.addOperation(plain) }
        queue.addOperation(follower)
        chain.last.add(to: queue)
        await gate.started.wait()
        plain.cancel()
        gate.open()
        await chain.ended()
        await follower.ended()
        #expect(chain.runs == [2, 2, 2])
        #expect(chain.last.outcome?.isSuccess == true)
    }

    /// One that joined it, and was cancelled, has no say any more.
    @Test func oneThatHasJoined_andWasCancelled_hasNoSay() async {
        let gate = Gate()
        let key = freshKey("joined")
        let head = Attempted(.failing("A", 1))
        head.addDependency(gate)
        let tail = head.deliver(to: SharedEnd(key)).deliver(to: Attempted(.failing("T", 0))).retry(.times(2))
        tail.add(to: queue)
        await gate.started.wait()
        let joiner = SharedEnd(key)
        queue.addOperation(joiner)
        joiner.cancel()
        await joiner.ended()
        gate.open()
        await tail.ended()
        #expect(head.script.runs == 2)
        #expect(tail.outcome?.isSuccess == true)
    }

    /// Is asked when one that waits for it comes into a queue, which takes long by that. Who else asks meanwhile is answered.
    private final class Slow: Foundation.Operation, @unchecked Sendable {
        private let isLongEnough: @Sendable () -> Bool
        private let state = Guarded((isAsked: false, patience: 20))
        init(until isLongEnough: @escaping @Sendable () -> Bool) { self.isLongEnough = isLongEnough }
        override var isFinished: Bool {
            let isPatient = state.withLock { state in
                guard !state.isAsked, state.patience > 0 else { return false }
                state = (true, state.patience - 1)
                return true
            }
            guard isPatient else { return super.isFinished }
            for _ in 0..<50 where !isLongEnough() { usleep(200) }
            state.withLock { $0.isAsked = false }
            return super.isFinished
        }
    }

    /// Where the operations come to, and whether others have time to run between them.
    enum Entrance: CaseIterable { case queue, slowQueue, slowGroup }

    /// The way to whom somebody waits for led over one that was cancelled since.
    @Test(arguments: Entrance.allCases) func oneThatWasCancelled_isNoWayToThoseWhoWait(_ entrance: Entrance) async {
        let later = Gate()
        let runs = Log<Script.Run>()
        let hasBegun = Signal()
        let head = Attempted(
            Script("B") { run in
                runs.append(run)
                if run.number > 1 { run.succeed() } else { hasBegun.fire() }
            })
        let above = Attempted(.failing("A", 1))
        above.deliver(to: head)
        let way = Attempted(.failing("W", 0))
        if entrance != .queue { way.addDependency(Slow { above.core.withLock { $0.state.isProvisional } }) }
        way.addDependency(head)
        let goal = Attempted(.failing("G", 0))
        goal.addDependency(way)
        goal.addDependency(later)
        let tail = Scripted<[String]>(
            Script("T") { run in if run.number > 1 { run.succeed() } else { run.fail() } })
        _ = [head, way, goal].deliver(to: tail)
        tail.retry(.times(2))
        let outsider = Step()
        outsider.addDependency(goal)
        switch entrance {
        case .queue, .slowQueue: queue.addOperations([outsider, tail, later], waitUntilFinished: false)
        case .slowGroup: queue.addOperation(GroupOperation([outsider, tail, later]))
        }
        await hasBegun.wait()
        #expect(above.script.runs == 1)
        way.cancel()
        await way.ended()
        runs.entries[0].fail()
        later.open()
        await tail.ended()
        await outsider.ended()
        #expect(above.script.runs == 1, "it counted for whoever waits by way of the others")
        #expect(head.script.runs == 2)
    }

    /// Each end asks anew whom a plain one waits for by now.
    @Test func longChain_besideAPlainOneThatTheEndWaitsFor_endsInLinearTime() async {
        let head = Attempted(.failing("A", 1))
        let script = Script("member") { run in
            if let error = run.received { run.operation.fail(error) } else { run.succeed() }
        }
        var last = head
        for _ in 0..<20_000 { last = last.deliver(to: Attempted(script)) }
        let tail = last.deliver(to: Attempted(.failing("T", 0))).retry(.times(2))
        let plain = BlockOperation {}
        tail.addDependency(plain)
        plainQueue.isSuspended = true
        plainQueue.addOperation(plain)
        queue.addOperation(tail)
        await until { last.core.withLock { $0.state.isProvisional } }
        plainQueue.isSuspended = false
        await tail.ended()
        #expect(head.script.runs == 2)
        #expect(tail.script.runs == 2)
    }
}
