// Basics, "AOperationDelegate".

import AOperation
import Foundation
import Testing

private final class MyOperation: SampleOperation, @unchecked Sendable {}

// swift-format-ignore
private enum Document {
    class OperationDelegateManager: AOperationDelegate {
        let heard = Heard()  // +

        func operationDidStart(_ operation: AOperation) {
            heard("started")  // +
        }

        func operationDidFinish(_ operation: AOperation, with errors: [AOperationError]) {
            heard("finished with \(errors.count) errors")  // +
        }

    }

    static func accompanied() -> AOperation {
        let operation = MyOperation()
        operation.delegate = OperationDelegateManager()
        return operation  // +
    }
}

@Suite("Basics: AOperationDelegate", .timeLimit(.minutes(1)))
struct AOperationDelegateSnippets {
    @Test func delegate_isToldOfStartAndFinish() async {
        let operation = MyOperation()
        let manager = Document.OperationDelegateManager()
        operation.delegate = manager
        _ = await operation.result(on: AOperationQueue())
        #expect(manager.heard.words == ["started", "finished with 0 errors"])
    }

    /// 1.16 8: the operation does not keep its delegate alive, as the document has it.
    @Test func delegateThatNobodyKeeps_isGone() async {
        #expect(Document.accompanied().delegate == nil)
    }
}
