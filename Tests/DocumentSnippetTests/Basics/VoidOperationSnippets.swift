// Basics, "VoidOperation".

import AOperation
import Foundation
import Testing

private let error = AOperationError(Refused())

// swift-format-ignore
private enum Document {
    class MyVoidOperation: VoidOperation {
        var taskIsDoneSuccessful = true  // +

        //1 You should override execute method
            override func execute() {
            //2 do your task
            //...

            if taskIsDoneSuccessful {
            //3 If it succeed finishing operation
            self.finish()
            }
            // was: else
            // slip: its brace is missing
            else {
            //4 Or if it failed, finish operation with an error
            // 1.16 1: an error is taken as it is
            self.finish(with: error)
            }
        }


    }

    static func observed(_ heard: Heard) -> MyVoidOperation {
        let operation = MyVoidOperation()
        operation.didFinish { result in
            if let error = result.error {
                // Handle error
                heard(error.localizedDescription)  // +
            }
            else {
            //do your tasks
                heard("done")  // +
            }

        }
        return operation  // +
    }

    static func heldBack(_ operation: MyVoidOperation, _ heard: Heard) {
        operation.willFinish { (result, finish)  in
            heard("will finish")  // +
            finish()
        }
    }
}

@Suite("Basics: VoidOperation", .timeLimit(.minutes(1)))
struct VoidOperationSnippets {
    let heard = Heard()

    @Test func success_isHeardByDidFinish() async {
        Document.observed(heard).add(to: AOperationQueue())
        await heard.wait(for: "done")
        #expect(heard.words == ["done"])
    }

    @Test func error_isHeardByDidFinish() async {
        let operation = Document.observed(heard)
        operation.taskIsDoneSuccessful = false
        operation.add(to: AOperationQueue())
        await heard.wait(for: "refused")
        #expect(heard.words == ["refused"])
        #expect(operation.publishedErrors.first?.publisher == "MyVoidOperation")
    }

    @Test func willFinish_isCalledBeforeDidFinish() async {
        let operation = Document.observed(heard)
        Document.heldBack(operation, heard)
        operation.add(to: AOperationQueue())
        await heard.wait(for: "done")
        #expect(heard.words == ["will finish", "done"])
    }
}
