// Basics, "AOperationError".

import AOperation
import Foundation
import Testing

// swift-format-ignore
private enum Document {
    class MyOperation: VoidOperation {  // +
        override func execute() {  // +
            let receivedError = Refused(text: "received")  // +
            let error = AOperationError(receivedError)
            self.finish(error)
        }  // +
    }  // +
}

private final class Receiver: VoidOperation, ReceiverOperation, @unchecked Sendable {
    var receivedValue: Result<Data, AOperationError>?

    override func execute() { finish(with: .receivedValueIsNil(in: self)) }
}

@Suite("Basics: AOperationError", .timeLimit(.minutes(1)))
struct AOperationErrorSnippets {
    let queue = AOperationQueue()

    @Test func error_tellsStatePublisherAndPublishedError() async throws {
        let error = try #require(await Document.MyOperation().result(on: queue).error)
        #expect(error.state == .execution)
        #expect(error.publisher == "MyOperation")
        #expect(error.publishedError as? Refused == Refused(text: "received"))
        #expect(error.localizedDescription == "received")
        #expect((error as Error).localizedDescription == "received")
    }

    @Test func cancelledOperation_publishesIsCancelled() async throws {
        let operation = SampleOperation()
        operation.cancel()
        let error = try #require(await operation.result(on: queue).error)
        #expect(error.publishedError is AOperationError.IsCancelled)
        #expect(error.localizedDescription == "The Operation SampleOperation is Cancelled")
    }

    @Test func receiverWithoutProducer_canPublishReceivedValueIsNil() async throws {
        let error = try #require(await Receiver().result(on: queue).error)
        #expect(error.publishedError is AOperationError.ReceivedValueIsNil)
        #expect(error.localizedDescription == "The received value to operation Receiver is nil")
    }
}
