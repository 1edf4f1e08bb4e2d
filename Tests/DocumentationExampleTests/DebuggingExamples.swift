// The examples of Debugging.md.

import AOperation
import Foundation
import Logging
import Testing

/// Each runs in a process of its own: the debugger is the process's.
@Suite("Debugging", .timeLimit(.minutes(1)))
struct DebuggingExamples {
    @Test func lines_areThoseOfTheArticle() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            AOperation.Debugger.printOperationsState = true
            _ = await ReadText(path: "/no/such/file").result(on: AOperationQueue())
        }
        let lines = try lines(of: result)
        #expect(
            lines.prefix(3) == [
                "AOperation ReadText added to queue",
                "AOperation ReadText executed",
                "AOperation ReadText finished",
            ])
    }

    @Test func logger_takesTheLines() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            var logger = Logger(label: "operations")
            logger.logLevel = .debug
            AOperation.Debugger.logger = logger
            _ = await Publish().result(on: AOperationQueue())
        }
        let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(output.contains("AOperation Publish finished"))
        #expect(output.contains("stage=ready"))
    }

    @Test func timings_areTakenAtTheEnd() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            AOperation.Debugger.timingsHandler = { operation, timings in
                print(operation.name ?? "", timings.queued ?? .zero, timings.executing ?? .zero)
            }
            let group = GroupOperation(Publish())
            _ = await group.result(on: AOperationQueue())
        }
        #expect(try lines(of: result).contains { $0.hasPrefix("Publish ") && $0.hasSuffix(" seconds") })
    }

    @Test func errorLines_areTaken() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            AOperation.Debugger.errorHandler = { line in print("look:", line) }
            let group = GroupOperation()
            _ = await group.result(on: AOperationQueue())
            group.addOperation(Publish())
        }
        #expect(try lines(of: result).contains { $0.hasPrefix("look:") && $0.contains("which has ended") })
    }

    private func lines(of result: ExitTest.Result?) throws -> [String] {
        let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
        return output.split(separator: "\n").map(String.init)
    }
}
