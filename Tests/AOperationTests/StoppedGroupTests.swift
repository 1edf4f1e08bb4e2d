import Foundation
import Testing

@testable import AOperation

/// Groups that stop at the first failure, and branch.
@Suite(.timeLimit(Load.patience))
struct StoppedGroupTests {
    /// Answers each failure with another operation.
    private final class FallingBack: GroupOperation, @unchecked Sendable {
        let told = Log<String>()
        override func operationDidFinish(_ operation: Foundation.Operation, withErrors errors: [AOperationError]) {
            told.append(operation.name ?? "")
            if !errors.isEmpty { addOperation(Step("fallback")) }
        }
    }

    private final class FallingBackInOrder: OrderedGroupOperation, @unchecked Sendable {
        let told = Log<String>()
        override func operationDidFinish(_ operation: Foundation.Operation, withErrors errors: [AOperationError]) {
            told.append(operation.name ?? "")
            if !errors.isEmpty { addOperation(Step("fallback")) }
        }
    }

    /// What it adds ends as cancelled, which is an error, too: told of that, it would never come to an end.
    @Test(arguments: [false, true])
    func branchingOnEveryFailure_endsWithTheGroup(isOrdered: Bool) async {
        let children = [Failing<Int>("a"), Gate("b"), Gate("c")]
        let ordered = FallingBackInOrder(children)
        let parallel = FallingBack(children)
        let group = (isOrdered ? ordered : parallel).onFailure(.stop)
        AOperationQueue().addOperation(group)
        await group.ended()
        let told = isOrdered ? ordered.told : parallel.told
        #expect(told.entries.sorted() == ["a", "b", "c"])
        #expect(group.publishedErrors.map(\.localizedDescription) == ["a"])
        #expect(group.operations.count == 6)
        #expect(group.outcomes.map(\.isCancelled) == [false, true, true, true, true, true])
    }
}
