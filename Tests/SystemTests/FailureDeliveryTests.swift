import AOperation
import Foundation
import Testing

extension SystemTests {
    /// What becomes of receivers whose producer fails, in every way in which one can.
    @Suite struct FailureDelivery {
        /// The ways, with the code of the error and what its text has.
        private static let ways: [(id: String, code: String, text: String)] = [
            ("own", "exit", "exited with 3"), ("condition", "condition", "there is no"), ("timeout", "timeout", "timed out"),
            ("cancelled", "cancelled", "The Operation cancelled is Cancelled"), ("lost", "workerLost", "worker"),
        ]

        private func graph(_ directory: String) -> String {
            var lines = [
                "group:",
                "  - {id: own, run: exit 3}",
                "  - {id: condition, run: 'true', conditions: [{fileExists: /nonexistent/file}]}",
                "  - {id: timeout, run: exec sleep 600, timeout: 200ms}",
                "  - {id: cancelled, run: 'touch \"\(directory)/started\"; exec sleep 600'}",
                "  - id: lost",
                "    run: 'while [ ! -e \"\(directory)/go\" ]; do sleep 0.02; done; kill -9 $PPID; exec sleep 600'",
                "    atMostOnce: true",
            ]
            for way in Self.ways {
                lines += [
                    "  - {id: \(way.id)-op, op: Witness, with: {log: '\(directory)/\(way.id)-op'}, receives: \(way.id)}",
                    "  - {id: \(way.id)-not, run: 'echo ran >> \"\(directory)/\(way.id)-not\"', receives: \(way.id)}",
                    "  - id: \(way.id)-run",
                    "    run: 'cat > \"\(directory)/\(way.id)-run\"'",
                    "    receives: \(way.id)",
                    "    whenReceivedFails: run",
                ]
            }
            return lines.joined(separator: "\n") + "\n"
        }

        @Test func receiversSeeTheVeryError_onceEach() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let directory = harness.directory
                let file = try harness.write("failures.yaml", graph(directory))
                let id = try await harness.aop("submit", file, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                try await eventually("it runs") { FileManager.default.fileExists(atPath: "\(directory)/started") }
                _ = try await harness.aop("cancel", "\(id)/cancelled", "--wait")
                try await eventually("those that do not need the loss of the worker have ended") {
                    let shown = try JSON(parsing: try await harness.aop("show", id, "-o", "json").text)
                    let operations = shown["operations"].elements
                    return operations.count == 4 * Self.ways.count
                        && operations.filter { $0["path"].string?.hasPrefix("lost") != true }
                            .allSatisfy { ["succeeded", "failed", "cancelled"].contains($0["state"].string ?? "") }
                }
                _ = try harness.write("go", "")
                _ = try await harness.aop("wait", id)
                let shown = try JSON(parsing: try await harness.aop("show", id, "-o", "json").text)
                for way in Self.ways {
                    let states = Dictionary(
                        shown["operations"].elements.map { ($0["path"].string ?? "", $0) }, uniquingKeysWith: { first, _ in first })
                    // A cancelled operation has no errors of its own; its receivers are told of it.
                    let own = states[way.id]?["errors"][0]["message"].string
                    let text = own ?? states["\(way.id)-not"]?["errors"][0]["message"].string ?? "no error"
                    #expect(text.contains(way.text), "\(way.id): \(text)")
                    let seen = harness.lines(of: "\(way.id)-op")
                    // The library's own errors have the library's words in a program.
                    let told = way.id == "timeout" ? TimeoutObserver.Error(seconds: 0.2).localizedDescription : text
                    #expect(seen.count == 1 && seen[0].hasSuffix(": \(told)"), "\(seen)")
                    #expect(states["\(way.id)-op"]?["errors"][0]["message"].string == text)
                    #expect(harness.lines(of: "\(way.id)-not").isEmpty)
                    #expect(states["\(way.id)-not"]?["errors"][0]["message"].string == text)
                    let received = try JSON(parsing: harness.lines(of: "\(way.id)-run").joined(separator: "\n"))
                    #expect(received["code"].string == way.code, "\(received)")
                    #expect(received["message"].string == text)
                    #expect(received["publisher"].string != nil, "\(received)")
                    #expect(states["\(way.id)-run"]?["state"].string == "succeeded")
                }
                #expect(harness.processes(with: "sleep 600").isEmpty)
            }
        }
    }
}
