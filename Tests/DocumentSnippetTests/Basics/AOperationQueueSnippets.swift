// Basics, "AOperationQueue" and "AOperationQueue.shared".

import AOperation
import Foundation
import Testing

// swift-format-ignore
private enum Document {
    static func queue() -> AOperationQueue {
        let queue = AOperationQueue()
        return queue  // +
    }

    static func addition(to queue: AOperationQueue) -> SampleOperation {
        let operation = SampleOperation()
        queue.addOperation(operation)
        return operation  // +
    }

    static func declarativeAddition(to queue: AOperationQueue) -> SampleOperation {
        return  // +
            SampleOperation()
            .add(to: queue)
    }

    static func additionToShared() -> SampleOperation {
        return  // +
            SampleOperation()
            .add(to: .shared)
    }
}

@Suite("Basics: AOperationQueue", .timeLimit(.minutes(1)))
struct AOperationQueueSnippets {
    @Test func operation_runsHoweverItIsAdded() async {
        let queue = Document.queue()
        let operations = [Document.addition(to: queue), Document.declarativeAddition(to: queue), Document.additionToShared()]
        for operation in operations {
            #expect(await operation.result(on: queue).error == nil)
            #expect(operation.isFinished)
        }
    }
}
