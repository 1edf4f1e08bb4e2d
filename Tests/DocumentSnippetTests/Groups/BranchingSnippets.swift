// Operations, Groups, "Adding child operations later", in Swift 5.

import AOperation
import Foundation
import Testing

// swift-format-ignore
private enum Document {
    class FooBarBazOperation: GroupOperation {
        /* etc */

        // was: override func operationDidFinish(operation: NSOperation, withErrors errors: [ErrorType]) {
        override func operationDidFinish(_ operation: Foundation.Operation, withErrors errors: [AOperationError]) {
            // was: if errors.isEmpty && !cancelled, let foo = operation as? FooOperation {
            if errors.isEmpty && !isCancelled, let foo = operation as? FooOperation {
               if foo.doBaz {
                  addOperation(BazOperation())
               }
               else {
                  addOperation(BarOperation())
               }
            }
        }
    }
}

private final class FooOperation: VoidOperation, @unchecked Sendable {
    let doBaz: Bool
    let isRefusing: Bool

    init(doBaz: Bool, isRefusing: Bool = false) {
        self.doBaz = doBaz
        self.isRefusing = isRefusing
        super.init()
    }

    override func execute() { isRefusing ? finish(with: AOperationError(Refused())) : finish() }
}

private final class BarOperation: SampleOperation, @unchecked Sendable {}
private final class BazOperation: SampleOperation, @unchecked Sendable {}

@Suite("Operations: Groups, Adding child operations later", .timeLimit(.minutes(1)))
struct BranchingSnippets {
    @Test(arguments: [(false, "BarOperation"), (true, "BazOperation")])
    func group_runsTheChosenChild_andEndsAfterIt(doBaz: Bool, chosen: String) async {
        // Often, for what is to be shown is that no run loses the branch.
        for _ in 0..<50 {
            let group = Document.FooBarBazOperation(operations: [FooOperation(doBaz: doBaz)])
            let result = await group.result(on: AOperationQueue())
            #expect(result.error == nil)
            #expect(group.operations.map(\.name) == ["FooOperation", chosen])
            #expect(group.operations.allSatisfy { $0.isFinished })
        }
    }

    @Test func failedChild_addsNothing() async {
        let group = Document.FooBarBazOperation(operations: FooOperation(doBaz: true, isRefusing: true))
        let result = await group.result(on: AOperationQueue())
        #expect(result.error?.publishedError as? Refused == Refused())
        #expect(group.operations.count == 1)
    }
}
