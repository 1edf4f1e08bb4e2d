import Foundation
import Testing

@testable import AOperation

/// What the library reports by itself. One after the other: the handler is the process's.
@Suite(.serialized, .timeLimit(Load.patience))
struct ErrorLineTests {
    @Test func bodyThatIgnoresCancellation_losesItsSlotAfterGrace_withAnErrorLine() async {
        let queue = AOperationQueue()
        queue.maxConcurrentOperationCount = 1
        let deaf = Gate("deaf-\(UUID())", isDeaf: true)
        deaf.grace = .milliseconds(50)
        let next = Step()
        queue.addOperations([deaf, next], waitUntilFinished: false)
        await deaf.started.wait()
        let lines = Log<String>()
        AOperation.Debugger.errorHandler = { lines.append($0) }
        deaf.cancel()
        await next.ended()
        AOperation.Debugger.errorHandler = nil
        #expect(lines.entries.contains { $0.contains(deaf.publisherName) })
        deaf.open()
    }

    @Test func additionToAnEndedGroup_isCancelled() async {
        let group = GroupOperation()
        _ = await group.result(on: AOperationQueue())
        let late = Step()
        let lines = Log<String>()
        AOperation.Debugger.errorHandler = { lines.append($0) }
        group.addOperation(late)
        AOperation.Debugger.errorHandler = nil
        #expect(late.outcome?.isCancelled == true)
        #expect(group.outcomes.isEmpty)
    }
}
