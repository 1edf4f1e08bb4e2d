// Basics, "AOperationDebugger".

import AOperation
import Foundation
import Testing

// swift-format-ignore
private enum Document {
    static func track() {
        AOperation.Debugger.printOperationsState = true
    }
}

private final class MyOperation: SampleOperation, @unchecked Sendable {}

private final class MyUniqueOperation: VoidOperation, UniqueOperation, @unchecked Sendable {
    let uniqueId = "the one"
    override func execute() {}
}

private final class Forgetful: VoidOperation, @unchecked Sendable {}

/// Each runs in a process of its own: the lines go to standard output.
@Suite("Basics: AOperationDebugger", .timeLimit(.minutes(1)))
struct AOperationDebuggerSnippets {
    @Test func lifeOfAnOperation_isPrinted() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            Document.track()
            _ = await MyOperation().result(on: AOperationQueue())
        }
        let lines = try debuggerLines(of: result)
        #expect(
            lines.prefix(3) == [
                "AOperation MyOperation added to queue",
                "AOperation MyOperation executed",
                "AOperation MyOperation finished",
            ])
    }

    @Test func cancellation_isPrinted() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            Document.track()
            let operation = MyOperation()
            operation.cancel()
            _ = await operation.result(on: AOperationQueue())
        }
        let lines = try debuggerLines(of: result)
        #expect(lines.contains("AOperation MyOperation cancelled"))
        #expect(lines.contains("AOperation MyOperation finished"))
        #expect(!lines.contains("AOperation MyOperation executed"))
    }

    @Test func forgottenExecute_isHintedAt() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            Document.track()
            _ = await Forgetful().result(on: AOperationQueue())
        }
        let lines = try debuggerLines(of: result)
        // The document has one space after "AOperation", the library it describes has two.
        #expect(lines.contains("AOperation Forgetful must override `execute()`."))
    }

    @Test func ignoredDuplicate_isNamed() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            Document.track()
            let queue = AOperationQueue()
            MyUniqueOperation().add(to: queue)
            _ = await MyUniqueOperation().result(on: queue)
        }
        let lines = try debuggerLines(of: result)
        #expect(lines.contains("AOperation MyUniqueOperation ignored because of uniqueId the one"))
    }

    private func debuggerLines(of result: ExitTest.Result?) throws -> [String] {
        let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
        return output.split(separator: "\n").map(String.init).filter { $0.hasPrefix("AOperation ") }
    }
}
