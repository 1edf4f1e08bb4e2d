import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct GroupResultsTests {
    @Test func results_andErrors_areAlignedWithTheChildren() async {
        let cancelled = Step()
        cancelled.cancel()
        let group = GroupOperation(operations: Value(1), Failing<Int>("x"), cancelled, Value("s"), BlockOperation {})
        _ = await group.result(on: AOperationQueue())
        #expect(group.results(of: Int.self) == [1, nil, nil, nil, nil])
        #expect(group.results.map { $0 != nil } == [true, false, false, true, true])
        #expect(group.errorsByChild.map { $0.map(\.localizedDescription) } == [[], ["x"], [], [], []])
    }

    @Test func stop_isTheFailFastParallelComposition() async {
        let gate = Gate()
        let group = GroupOperation([gate, Failing<Int>("fails"), Value(1)]).onFailure(.stop)
        let result = await group.result(on: AOperationQueue())
        #expect(result.error?.localizedDescription == "fails")
        #expect(group.outcomes[0].isCancelled)
        #expect(group.errorsByChild.map(\.count) == [0, 1, 0])
    }

    /// Four levels of branching: every child that ends adds two, until names are four letters long.
    final class Tree: GroupOperation, @unchecked Sendable {
        override func operationDidFinish(_ operation: Foundation.Operation, withErrors errors: [AOperationError]) {
            guard let name = (operation as? Value<String>)?.value(as: String.self), name.count < 4 else { return }
            addOperations([Value(name + "l"), Value(name + "r")])
        }
    }

    @Test func fourLevelsOfBranching_ofWrappersInComposedGroups() async {
        let queue = AOperationQueue()
        queue.maxConcurrentOperationCount = 2
        for _ in 0..<50 {
            let tree = Tree(operations: [Value("x")])
            let wrapper = WrapperOperation<Void, Void> { _ in ComposedOperation(operation: tree) }
            #expect(await wrapper.result(on: queue).error == nil)
            #expect(tree.results(of: String.self).count == 15)
            #expect(tree.results(of: String.self).compactMap { $0 }.count { $0.count == 4 } == 8)
        }
    }

    @Test func labelledInitialisers_ofGroups_makeTheSameGroups() async {
        let log = Log<Int>()
        let list: [Foundation.Operation] = [Step { log.append(1) }, Step { log.append(2) }]
        let group = OrderedGroupOperation(operations: list)
        #expect(await group.result(on: AOperationQueue()).error == nil)
        #expect(log.entries == [1, 2])
        #expect(OrderedGroupOperation(operations: Step(), Step()).isOrdered)
        #expect(GroupOperation(operations: Step()).operations.count == 1)
    }
}
