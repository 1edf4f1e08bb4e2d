import Foundation
import Testing

@testable import AOperation

/// Duplicates that share the first one's outcome.
@Suite(.timeLimit(Load.patience))
struct JoinTests {
    let id = freshKey("id")
    let queue = AOperationQueue()

    private func running(_ configure: (UniqueGate) -> Void = { _ in }) async -> UniqueGate {
        let first = UniqueGate(id, "first")
        configure(first)
        queue.addOperation(first)
        await first.started.wait()
        return first
    }

    private func joiner(_ name: String = "joiner") -> UniqueGate { UniqueGate(id, name, onDuplicate: .join) }

    @Test func outcomeIsShared_success() async {
        let first = await running()
        let log = Log<String>()
        let joiner = joiner()
            .observers(BlockObserver(startHandler: { _ in log.append("start") }, finishHandler: { _, _ in log.append("finish") }))
            .didFinish { log.append("\($0)") }
        let receiver = joiner.deliver(to: Keep())
        receiver.add(to: queue)
        #expect(joiner.outcome == nil)
        first.open(7)
        await receiver.ended()
        await callbacksDelivered()
        #expect(joiner.outcome == .success(7))
        #expect(receiver.outcome?.value == .success(7))
        #expect(log.entries == ["finish", "success(7)"])
    }

    @Test func joinersDeadline_endsItAlone() async {
        let first = await running()
        let joiner = joiner().deadline(.milliseconds(20))
        queue.addOperation(joiner)
        await joiner.ended()
        #expect(joiner.publishedErrors.first?.publishedError is AOperationError.DeadlinePassed)
        #expect(joiner.publishedErrors.first?.publisher == "joiner")
        #expect(first.outcome == nil)
        first.open(7)
        await first.ended()
        #expect(first.outcome == .success(7))
        #expect(joiner.outcome?.isFailure == true)
    }

    @Test func joiningGroupsDeadline_endsItAndItsChildren() async {
        let first = UniqueGroup(id, [Gate()])
        let child = Step()
        let joiner = UniqueGroup(id, onDuplicate: .join, [child]).deadline(.milliseconds(20))
        queue.addOperations([first, joiner], waitUntilFinished: false)
        await joiner.ended()
        #expect(joiner.publishedErrors.first?.publishedError is AOperationError.DeadlinePassed)
        #expect(child.outcome?.isCancelled == true)
        #expect(first.outcome == nil)
        first.cancel()
        await first.ended()
    }

    @Test func outcomeIsShared_failure() async {
        let failure = AOperationError(Failed(text: "no"))
        let first = await running()
        let joiner = joiner()
        queue.addOperation(joiner)
        first.finish(with: .failure(failure))
        await joiner.ended()
        #expect(joiner.publishedErrors == first.publishedErrors)
        #expect(joiner.publishedErrors.first?.publisher == "first")
    }

    @Test func outcomeIsShared_cancelled() async {
        let first = await running()
        let joiner = joiner()
        queue.addOperation(joiner)
        first.cancel()
        #expect(joiner.outcome == nil, "it ends when the first one's body has ended")
        first.open()
        await joiner.ended()
        #expect(joiner.outcome?.isCancelled == true)
        #expect(joiner.isCancelled)
    }

    @Test func joinerTakesNoSlotNoLockNoCondition() async {
        let key = freshKey()
        let evaluated = Log<Int>()
        let first = await running { $0.exclusive(key) }
        let joiner = joiner().exclusive(key).conditions(Rule(.failed("no")) { evaluated.append(1) })
        let serial = AOperationQueue(slots: 1)
        serial.addOperation(joiner)
        await serial.settled()
        first.open(1)
        await joiner.ended()
        #expect(joiner.outcome == .success(1))
        #expect(evaluated.count == 0)
    }

    @Test func joinerCanBeCancelled_byItself() async {
        let first = await running()
        let joiner = joiner()
        queue.addOperation(joiner)
        joiner.cancel()
        await joiner.ended()
        #expect(joiner.outcome?.isCancelled == true)
        #expect(first.outcome == nil)
        first.open(2)
        await first.ended()
        #expect(first.outcome == .success(2))
    }

    @Test func manyJoiners_shareOneRun() async {
        let first = await running()
        let joiners = (0..<100).map { joiner("\($0)") }
        for joiner in joiners { queue.addOperation(joiner) }
        first.open(5)
        for joiner in joiners { await joiner.ended() }
        #expect(joiners.allSatisfy { $0.outcome == .success(5) })
    }

    @Test func differentOutput_isIgnored() async {
        final class Text: ResultableOperation<String>, UniqueOperation, @unchecked Sendable {
            let uniqueId: String
            var onDuplicate: DuplicatePolicy { .join }
            init(_ id: String) {
                uniqueId = id
                super.init()
            }
        }
        let first = await running()
        let text = Text(id)
        await queue.run(all: [text])
        #expect(text.isIgnoredDuplicate)
        first.open()
    }

    @Test func firstThatWaitsForTheJoiner_leavesItIgnored() async {
        let joiner = joiner()
        let first = UniqueGate(id, "first")
        let middle = Step()
        middle.addDependency(joiner)
        first.addDependency(middle)
        queue.addOperations([first, middle], waitUntilFinished: false)
        queue.addOperation(joiner)
        await joiner.ended()
        #expect(joiner.isIgnoredDuplicate)
        await first.started.wait()
        first.open()
    }

    @Test func childOfTheFirst_isIgnored() async {
        let inner = UniqueGroup(id, onDuplicate: .join, [Step()])
        let first = UniqueGroup(id, [inner])
        await queue.run(all: [first])
        #expect(inner.isIgnoredDuplicate)
        #expect(first.outcome?.isFailure == true)
    }

    @Test func firstThatComesToWaitForTheJoinerLater_isNotHung() async {
        let gate = Gate()
        let first = UniqueGroup(id, [gate])
        queue.addOperation(first)
        await gate.started.wait()
        let joiner = UniqueGroup(id, onDuplicate: .join, [Step()])
        queue.addOperation(joiner)
        #expect(joiner.outcome == nil)
        let child = Step()
        child.addDependency(joiner)
        first.addOperation(child)
        gate.open()
        await first.ended()
        #expect(first.outcome?.isSuccess == true)
        await joiner.ended()
        #expect(joiner.isIgnoredDuplicate)
    }

    @Test func joinerInsideAHeldLockScope_isIgnored() async {
        let first = await running()
        let joiner = joiner()
        let group = GroupOperation(joiner)
        group.exclusive(freshKey())
        await queue.run(all: [group])
        #expect(joiner.isIgnoredDuplicate)
        first.open()
    }

    @Test func joinerInAGroup_orAChain_orWithADependent_sharesTheOutcome() async {
        let first = await running()
        let inGroup = joiner("in a group")
        let group = OrderedGroupOperation(inGroup, Step())
        let inChain = joiner("in a chain")
        let tail = inChain.deliver(to: Keep())
        let dependent = Step()
        let third = joiner("with a dependent")
        dependent.addDependency(third)
        queue.addOperation(group)
        tail.add(to: queue)
        queue.addOperations([third, dependent], waitUntilFinished: false)
        await until { inGroup.core.withLock { $0.uniqueness != nil } }
        first.open(4)
        await group.ended()
        await tail.ended()
        await dependent.ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(inGroup.outcome == .success(4))
        #expect(tail.outcome?.value == .success(4))
    }

    @Test func joinersOfOneThatEndsMeanwhile_neverHang() async {
        for index in 0..<300 {
            let id = freshKey("id")
            let first = UniquePass(id)
            let joiner = UniquePass(id, onDuplicate: .join)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { queue.addOperation(first) }
                group.addTask { queue.addOperation(joiner) }
                if index.isMultiple(of: 3) { group.addTask { first.cancel() } }
            }
            await first.ended()
            await joiner.ended()
            if !index.isMultiple(of: 3) {
                #expect(joiner.outcome?.isSuccess == true || joiner.isIgnoredDuplicate || first.isIgnoredDuplicate)
            }
        }
        await queue.idle()
    }

    @Test func nothingIsLeft_whenTheJoinerHasEnded() async {
        let first = await running()
        let joined = await {
            let joiner = joiner()
            queue.addOperation(joiner)
            first.open(1)
            await joiner.ended()
            return Weak(joiner)
        }()
        await queue.idle()
        await callbacksDelivered()
        #expect(joined.object == nil || joined.object?.isEnded == true)
        let after = UniqueStep(id)
        await queue.run(all: [after])
        #expect(after.outcome?.isSuccess == true)
    }

    /// A chain that is added from its end, while somebody waits who has joined another one: what is searched for circles is what the
    /// joiner leads to, and not the chain, for each of its operations.
    @Test(.timeLimit(.minutes(2))) func whileAJoinerWaits_aLongChainIsAddedAsEver() async {
        let first = await running()
        let joiner = joiner()
        queue.addOperation(joiner)
        let chain = (0..<10_000).map { _ in Step() }
        for (operation, before) in zip(chain.dropFirst(), chain) { operation.addDependency(before) }
        for operation in chain.reversed() { queue.addOperation(operation) }
        for operation in chain { await operation.ended() }
        #expect(chain.allSatisfy { $0.outcome?.isSuccess == true })
        #expect(joiner.outcome == nil)
        first.open(7)
        await queue.idle()
        #expect(joiner.outcome == .success(7))
    }

    /// Fails as often as it is told, then succeeds with the number of its runs; unique, and tried again.
    private final class Trying: ResultableOperation<Int>, UniqueOperation, RetryableOperation, @unchecked Sendable {
        let uniqueId: String
        let onDuplicate: DuplicatePolicy
        let (failures, runs): (Int, Log<Int>)

        required init(_ id: String, failing failures: Int = 0, runs: Log<Int> = Log(), onDuplicate: DuplicatePolicy = .join) {
            (uniqueId, self.failures, self.runs, self.onDuplicate) = (id, failures, runs, onDuplicate)
            super.init()
        }

        func new() -> Self { Self(uniqueId, failing: failures, runs: runs, onDuplicate: onDuplicate) }

        override func execute() {
            runs.append(1)
            let run = runs.count
            finish(with: run > failures ? .success(run) : .failure(AOperationError(Failed(text: "run \(run)"))))
        }
    }

    /// Who comes between two attempts is ignored, or joins; who joins hears of the outcome, once, however often that was tried, and is
    /// not tried again himself.
    @Test(arguments: [1, -1], [1, 9])
    func outcomeIsShared_ofOneThatIsTriedAgain(slots: Int, failures: Int) async {
        let queue = AOperationQueue(slots: slots)
        let (runs, asked) = (Log<Int>(), Signal())
        let answer = Guarded<Retry?>(nil)
        let first = Trying(id, failing: failures, runs: runs).retryOnFailure { retries, _, retry in
            guard retries == 0 else { return retry(retries < 2) }
            answer.withLock { $0 = retry }
            asked.fire()
        }
        queue.addOperation(first)
        await asked.wait()
        let ignored = Trying(id, onDuplicate: .ignore)
        await queue.run(all: [ignored])
        #expect(ignored.isIgnoredDuplicate)
        let joinersRuns = Log<Int>()
        let joiners = (0..<4).map { _ in Trying(id, runs: joinersRuns).retry(.times(3)) }
        let ears = joiners.map { Ears.on($0) }
        let group = OrderedGroupOperation(joiners[1], Step())
        let receiver = joiners[2].deliver(to: Keep<Int>())
        let plain = OperationQueue()
        queue.addOperations([joiners[0], group, receiver], waitUntilFinished: false)
        plain.addOperation(joiners[3])
        await until { joiners.allSatisfy { $0.core.withLock { $0.uniqueness != nil } } }
        #expect(joiners.allSatisfy { $0.outcome == nil })
        answer.withLock { $0 }?(true)
        for operation in joiners + [first, group, receiver] as [AOperation] { await operation.ended() }
        await callbacksDelivered()
        for ear in ears { #expect(ear.wereToldOnce, "\(ear.summary)") }
        #expect(runs.count == (failures == 1 ? 2 : 3))
        #expect(joinersRuns.count == 0)
        for joiner in joiners {
            #expect(joiner.outcome?.value == (failures == 1 ? 2 : nil))
            #expect(joiner.publishedErrors == first.publishedErrors)
        }
    }

    @Test func outcomeIsShared_ofOneThatIsCancelledBetweenTwoAttempts() async {
        let asked = Signal()
        let first = Trying(id, failing: 9).retryOnFailure { _, _, _ in asked.fire() }
        queue.addOperation(first)
        await asked.wait()
        let joiner = Trying(id)
        let ears = Ears.on(joiner)
        queue.addOperation(joiner)
        first.cancel()
        await joiner.ended()
        await callbacksDelivered()
        #expect(joiner.outcome?.isCancelled == true)
        #expect(ears.wereToldOnce, "\(ears.summary)")
    }
}
