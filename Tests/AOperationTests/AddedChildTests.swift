import Foundation
import Testing

@testable import AOperation

/// A child of a group runs in its group's turn, whoever adds it to a queue besides.
@Suite(.timeLimit(Load.patience))
struct AddedChildTests {
    let queue = AOperationQueue()

    enum Adding: CaseIterable {
        case method, queue, list

        func add(_ operation: AOperation, to queue: AOperationQueue) {
            switch self {
            case .method: operation.add(to: queue)
            case .queue: queue.addOperation(operation)
            case .list: queue.addOperations([operation], waitUntilFinished: false)
            }
        }
    }

    @Test(arguments: Adding.allCases)
    func aChildOfAGroupThatWaits_startsInItsTurn(_ adding: Adding) async {
        let log = Log<String>()
        let gate = Gate()
        let (first, second) = (Step { log.append("first") }, Step { log.append("second") })
        let group = OrderedGroupOperation(first, second).dependencies([gate])
        group.add(to: queue)
        await gate.started.wait()
        adding.add(second, to: queue)
        #expect(second.isInitialized, "its group has not started")
        gate.open()
        await group.ended()
        #expect(log.entries == ["first", "second"])
    }

    @Test func value_ofAChildThatIsInAGroup_waitsForThatOnly() async throws {
        let gate = Gate()
        let log = Log<String>()
        let child = MapOperationBlock<Void, Int> { _, finish in
            log.append("child")
            finish(.success(7))
        }
        let group = OrderedGroupOperation(gate, child)
        group.add(to: queue)
        await gate.started.wait()
        let waiting = Task { [queue] in try await child.value(on: queue) }
        await until { child.core.withLock { !$0.settleHandlers.isEmpty } }
        #expect(log.entries.isEmpty)
        gate.open()
        #expect(try await waiting.value == 7)
        await group.ended()
    }

    @Test(arguments: Adding.allCases)
    func aChildOfAGroupInNoQueue_bringsTheOutermostGroup(_ adding: Adding) async {
        let log = Log<String>()
        let (first, second) = (Step { log.append("first") }, Step { log.append("second") })
        let group = OrderedGroupOperation(GroupOperation(first), OrderedGroupOperation(second))
        adding.add(second, to: queue)
        await group.ended()
        #expect(log.entries == ["first", "second"])
    }

    @Test func aChildBehindAClosedGate_orAConditionThatFails_isNotRun() async {
        let gate = Gate()
        let log = Log<String>()
        let (gated, refused) = (Step { log.append("gated") }, Step { log.append("refused") })
        let around = GatedOperation(operation: gated) { false }.dependencies([gate])
        let group = GroupOperation(refused).condition { $0(.failure(AOperationError(Failed(text: "no")))) }.dependencies([gate])
        around.add(to: queue)
        group.add(to: queue)
        await gate.started.wait()
        for child in [gated, refused] { child.add(to: queue) }
        gate.open()
        for group in [around, group] as [AOperation] { await group.ended() }
        #expect(log.entries.isEmpty)
        #expect(gated.outcome?.isCancelled == true)
        #expect(refused.outcome?.isCancelled == true)
    }

    @Test func aChildThatIsInAQueueOfItsOwn_bringsNoGroup() async {
        let gate = Gate()
        queue.addOperation(gate)
        await gate.started.wait()
        let group = GroupOperation(gate)
        gate.add(to: queue)
        #expect(group.isInitialized)
        gate.open()
        await queue.idle()
        #expect(group.isInitialized)
    }

    /// What is in a plain queue is left to that, however one of its children is added.
    @Test(arguments: Adding.allCases)
    func aChildOfAGroupInAPlainQueue_startsInItsTurn(_ adding: Adding) async {
        let plain = OperationQueue()
        plain.isSuspended = true
        let child = Value(1)
        let group = GroupOperation(Step(), child)
        plain.addOperation(group)
        await until { group.core.withLock(\.wasAsked) }
        adding.add(child, to: queue)
        #expect(child.isInitialized)
        plain.isSuspended = false
        await group.ended()
        #expect(child.outcome?.value == 1)
    }

    @Test func whatDependsOnAChildOfAGroupInAPlainQueue_waitsForIt() async {
        let plain = OperationQueue()
        plain.isSuspended = true
        let child = Value(1)
        let group = GroupOperation(child)
        plain.addOperation(group)
        await until { group.core.withLock(\.wasAsked) }
        let (alone, inside) = (Step().dependencies([child]), Step().dependencies([child]))
        let other = GroupOperation(inside)
        alone.add(to: queue)
        other.add(to: queue)
        plain.isSuspended = false
        await other.ended()
        await alone.ended()
        #expect(child.outcome?.value == 1 && inside.outcome?.isSuccess == true && alone.outcome?.isSuccess == true)
    }
}
