// Basics, "ResultableOperation".

import AOperation
import Foundation
import Testing

/// Answers later, on another thread.
private func someTask(failing failure: Error?, _ completion: @escaping (Data, Error?) -> Void) {
    DispatchQueue.global().async { completion(Data("output".utf8), failure) }
}

// swift-format-ignore
private enum Document {
    class MyOperation: ResultableOperation<Data> {
        var failure: Error?  // +

        //1 You should override execute method
            override func execute() {
            //2 do your task

            // was: someTask { taskOutput, error
            // slip: the closure's "in" is missing
            someTask(failing: failure) { taskOutput, error in
            if let taskError = error {
            //3 Finish operation with error if task produced an error
            let operationError = AOperationError(taskError)
            self.finish(with: .failure(operationError))
            }
            else {
            self.finish(with: .success(taskOutput))
            }

            }



        }


    }

    static func observed(_ heard: Heard) -> MyOperation {
        let operation = MyOperation()
        operation.didFinish { result in

            switch result {
                case .success(let data):
                // do your task here
                heard(String(decoding: data, as: UTF8.self))  // +

                case .failure(let error):
                // handle error here
                heard(error.localizedDescription)  // +

            }

        }
        return operation  // +
    }

    static func heldBack(_ operation: MyOperation) {
        operation.willFinish { (result, finish)  in
            finish()
        }
    }
}

@Suite("Basics: ResultableOperation", .timeLimit(.minutes(1)))
struct ResultableOperationSnippets {
    let heard = Heard()

    @Test func output_isHeardByDidFinish() async throws {
        let operation = Document.observed(heard)
        Document.heldBack(operation)
        #expect(try await operation.value(on: AOperationQueue()) == Data("output".utf8))
        await heard.wait(for: "output")
        #expect(heard.words == ["output"])
    }

    @Test func taskError_isThePublishedError() async {
        let operation = Document.observed(heard)
        operation.failure = Refused(text: "no output")
        let result = await operation.result(on: AOperationQueue())
        #expect(result.error?.publishedError as? Refused == Refused(text: "no output"))
        #expect(result.error?.state == .execution)
        await heard.wait(for: "no output")
        #expect(heard.words == ["no output"])
    }
}
