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
}
