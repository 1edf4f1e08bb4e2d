// CompositeOperations, "COSimpleOperation", in Swift.
//
// translated: COSimpleOperation is a ResultableOperation, `main` is `execute`, finishWithResult: and rejectWithError:
// are `finish(with:)`, the `completion` block is `didFinish`. The three states of a finished operation are its
// `outcome`: success, failure, cancelled.

import AOperation
import Foundation
import Testing

// swift-format-ignore
private enum Document {
    class SimpleOperation: ResultableOperation<Any> {
        let answer: (result: Any?, error: Error?)  // +
        init(result: Any? = nil, error: Error? = nil) {  // +
            answer = (result, error)  // +
            super.init()  // +
        }  // +

        override func execute() {
            doSomethingAsynchronous(with: answer) { result, error in
                if let result = result {
                    self.finish(with: .success(result))
                } else if let error = error {
                    self.finish(with: .failure(AOperationError(error)))
                }
            }
        }
    }

    static func complete(_ simpleOperation: SimpleOperation, _ heard: Heard) {
        simpleOperation.didFinish { _ in
            switch simpleOperation.outcome {
            case .success(let result):
                // handle result
                heard("result \(result)")  // +

            case .failure(let errors):
                // handle error
                heard("error \(errors[0].localizedDescription)")  // +

            case .cancelled, nil:
                // operation was cancelled
                heard("cancelled")  // +
            }
        }
    }
}

private func doSomethingAsynchronous(
    with answer: (result: Any?, error: Error?), completionHandler: @escaping (Any?, Error?) -> Void
) {
    DispatchQueue.global().async { completionHandler(answer.result, answer.error) }
}

@Suite("CompositeOperations: COSimpleOperation", .timeLimit(.minutes(1)))
struct SimpleOperationSnippets {
    let heard = Heard()

    @Test func operation_endsInOneOfThreeStates() async {
        let operations = [
            Document.SimpleOperation(result: 42),
            Document.SimpleOperation(error: Refused()),
            Document.SimpleOperation(result: 42),
        ]
        operations[2].cancel()
        for operation in operations {
            Document.complete(operation, heard)
            operation.add(to: AOperationQueue())
        }
        await heard.wait(for: "result 42")
        await heard.wait(for: "error refused")
        await heard.wait(for: "cancelled")
        #expect(heard.words.count == 3)
    }

    /// "all operations are NSOperation subclasses and can be be run inside NSOperationQueue queues."
    @Test func operation_runsInAPlainQueue() async {
        let operation = Document.SimpleOperation(result: 42)
        Document.complete(operation, heard)
        OperationQueue().addOperation(operation)
        await heard.wait(for: "result 42")
    }
}
