// The examples of Errors.md.

import AOperation
import Foundation
import Testing

/// Joins the texts it receives to one.
final class JoinTexts: ResultableOperation<String>, ReceiverOperation, @unchecked Sendable {
    var receivedValue: Result<[String], AOperationError>?

    override func execute() {
        guard let receivedValue else { return finish(with: .failure(.receivedValueIsNil(in: self))) }
        finish(with: receivedValue.map { $0.joined(separator: "\n") })
    }
}

@Suite("Errors", .timeLimit(.minutes(1)))
struct ErrorsExamples {
    let queue = AOperationQueue()
    let path = "/no/such/file"

    @Test func error_namesPublisherAndState() async {
        let operation = ReadText(path: "/no/such/file")
        operation.didFinish { result in
            guard let error = result.error else { return }
            print(error.publisher ?? "", error.state, error.localizedDescription)
        }
        let error = await operation.result(on: queue).error
        #expect(error?.publisher == "ReadText")
        #expect(error?.state == .execution)
        #expect(error.map(AOperationError.init) == error)
    }

    @Test func error_isCaught() async throws {
        do {
            let text = try await ReadText(path: "/no/such/file").value(on: queue)
            print(text)
        } catch let error as AOperationError where error.publishedError is CocoaError {
            print("cannot be read:", error.localizedDescription)
        }
    }

    @Test func cancelledOperation_isNotFailed() async {
        let cancelled = ReadText(path: path)
        cancelled.cancel()
        let result = await cancelled.result(on: queue)
        print(cancelled.outcome?.isCancelled == true, result.error?.publishedError is AOperationError.IsCancelled)
        #expect(cancelled.outcome?.isCancelled == true)
        #expect(result.error?.publishedError is AOperationError.IsCancelled)
    }

    @Test func groupWithACancelledChild_fails() async {
        let child = Job()
        let group = GroupOperation(child, Job())
        child.cancel()
        let result = await group.result(on: queue)
        #expect(group.outcome?.isFailure == true)
        #expect(result.error?.publishedError is AOperationError.IsCancelled)
    }

    @Test func receiverWithoutProducer_tellsSo() async {
        let result = await JoinTexts().result(on: queue)
        #expect(result.error?.publishedError is AOperationError.ReceivedValueIsNil)
    }
}
