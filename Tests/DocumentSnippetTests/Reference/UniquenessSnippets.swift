// Uniqueness: the form that the reference describes (1.5).

import AOperation
import Foundation
import Testing

// swift-format-ignore
private enum Document {
    class MyOperation: VoidOperation, UniqueOperation {
        let uniqueId: String
        let started = Heard()

        init(uniqueId: String) {
            self.uniqueId = uniqueId
            super.init()
        }

        override func execute() {
            started("started")
        }
    }
}

@Suite("Uniqueness", .timeLimit(.minutes(1)))
struct UniquenessSnippets {
    let queue = AOperationQueue()

    @Test func duplicate_isIgnored_whileTheFirstIsActive() async throws {
        let id = UUID().uuidString
        let first = Document.MyOperation(uniqueId: id).add(to: queue)
        await first.started.wait(for: "started")
        let duplicate = Document.MyOperation(uniqueId: id)
        let result = await duplicate.result(on: AOperationQueue())
        #expect(try #require(result.error).publishedError is AOperationError.IgnoredDuplicate)
        #expect(duplicate.started.words == [])

        first.finish()
        let next = Document.MyOperation(uniqueId: id).dependencies([first]).add(to: queue)
        await next.started.wait(for: "started")
        next.finish()
    }
}
