import Foundation
import Testing
import Wire

@testable import Worker

/// What commands are told of the trace that they are in.
@Suite struct CommandTraceTests {
    private static let trace = ["traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "a=1", "own": "x"]

    private func environment(
        _ parameters: ShellParameters, _ trace: [String: String], passesEverything: Bool = false
    ) throws -> [String: String] {
        let runner = try CommandRunner()
        var context = runner.context()
        context.trace = trace
        return try CommandEnvironment(passesEverything: passesEverything, inherited: ["TRACEPARENT": "the worker's", "OTHER": "o"])
            .make(for: parameters, context: context)
    }

    @Test func commands_haveTheTraceOfTheirSubmission() throws {
        let environment = try environment(.init(run: "env"), Self.trace)
        #expect(environment["TRACEPARENT"] == Self.trace["traceparent"])
        #expect(environment["TRACESTATE"] == "a=1")
        #expect(!environment.values.contains("x"))
    }

    @Test(arguments: [false, true]) func commandsOfASubmissionWithoutATrace_haveNone_notEvenTheWorkers(_ passesEverything: Bool) throws {
        let environment = try environment(.init(run: "env"), [:], passesEverything: passesEverything)
        #expect(environment["TRACEPARENT"] == nil && environment["TRACESTATE"] == nil)
        #expect(environment["OTHER"] == (passesEverything ? "o" : nil))
    }

    @Test func whatTheNodeSays_counts() throws {
        #expect(try environment(.init(run: "env", environment: ["TRACEPARENT": "own"]), Self.trace)["TRACEPARENT"] == "own")
    }
}
