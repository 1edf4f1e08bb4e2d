// The example of AOperation.md.

import AOperation
import Foundation
import Testing

@Suite("AOperation", .timeLimit(.minutes(1)))
struct AOperationExamples {
    @Test func chain_isAwaited() async throws {
        let files = try TemporaryFiles()
        let path = try files.file("a.txt", "one two three").path()
        let queue = AOperationQueue()
        let counted = ReadText(path: path)
            .deliver(to: CountWords())
            .conditions(NoCancelledDependencies())
            .didFinish { result in print(result) }

        let count = try await counted.value(on: queue)
        #expect(count == 3)
    }
}
