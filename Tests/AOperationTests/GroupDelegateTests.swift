import Foundation
import Testing

@testable import AOperation

/// A group's errors while it runs, and a group as the delegate of a queue.
@Suite(.timeLimit(Load.patience))
struct GroupDelegateTests {
    let queue = AOperationQueue()

    private final class Counting: GroupOperation, @unchecked Sendable {
        let seen = Log<[String]>()

        override func operationDidFinish(_ operation: Foundation.Operation, withErrors errors: [AOperationError]) {
            seen.append(aggregateErrors.map(\.localizedDescription))
        }
    }

    @Test func aggregateErrors_areThoseOfTheChildrenSoFar_andTheGroupsOwn() async {
        let group = Counting([Failing<Void>("first"), Step(), Failing<Void>("second")])
        group.maxConcurrentOperationCount = 1
        group.addObserver(StartedObserver { ($0 as? GroupOperation)?.aggregateError(AOperationError(Failed(text: "own"))) })
        queue.addOperation(group)
        await group.ended()
        #expect(group.seen.entries == [["first", "own"], ["first", "own"], ["first", "second", "own"]])
        #expect(group.aggregateErrors == group.publishedErrors)
    }

    @Test func aggregateErrors_ofAGroupWithoutFailures_areNone() async {
        let group = GroupOperation(Step(), BlockOperation {})
        queue.addOperation(group)
        await group.ended()
        #expect(group.aggregateErrors == [])
    }

    /// Follows each operation of a queue with a child of its own.
    private final class Follower: GroupOperation, @unchecked Sendable {
        let told = Log<String>()
        let gate = Gate()

        init() { super.init([gate]) }

        override func operationDidFinish(_ operation: Foundation.Operation, withErrors errors: [AOperationError]) {
            told.append("\(operation.name ?? "") \(errors.count)")
            if operation.name == "other" || operation.name == "broken" { addOperation(Step("follows")) }
        }
    }

    @Test func groupThatIsAQueuesDelegate_hearsOfWhatEndsThere_once() async {
        let group = Follower()
        queue.delegate = group
        group.add(to: queue)
        await group.gate.started.wait()
        let others = [Step("other"), Failing<Void>("broken")]
        queue.addOperations(others, waitUntilFinished: false)
        for other in others { await other.ended() }
        group.gate.open()
        await group.ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(group.operations.count == 3)
        #expect(Set(group.told.entries.filter { $0 != "follows 0" }) == ["other 0", "broken 1", "Gate 0"])
        #expect(group.told.entries.filter { $0 == "follows 0" }.count == 2)
    }
}
