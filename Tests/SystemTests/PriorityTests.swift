import Foundation
import Testing

extension SystemTests {
    /// `priority` in files and of submissions.
    @Suite struct Priority {
        @Test func submissionOfHigherPriority_goesFirst_andShowTellsIt() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                func graph(_ name: String) throws -> String {
                    let node = "  - {run: 'echo \(name) >> \"\(harness.directory)/log\"'}\n"
                    return try harness.write("\(name).yaml", "group:\n" + String(repeating: node, count: 3))
                }
                let plain = try await harness.aop("submit", graph("plain"), "-o", "quiet").text.trimmingCharacters(in: .newlines)
                let low = try await harness.aop("submit", graph("low"), "--priority", "-2", "-o", "quiet").text
                    .trimmingCharacters(in: .newlines)
                let high = try await harness.aop("submit", graph("high"), "--priority", "9", "-o", "quiet").text
                    .trimmingCharacters(in: .newlines)
                _ = harness.startWorker("--slots", "1")
                for id in [plain, low, high] { #expect(try await harness.aop("wait", id, "-o", "quiet").status == 0) }
                #expect(
                    harness.lines(of: "log") == Array(repeating: "high", count: 3) + Array(repeating: "plain", count: 3)
                        + Array(repeating: "low", count: 3))
                let shown = try JSON(parsing: try await harness.aop("show", low, "-o", "json").text)
                #expect(shown["operations"].elements.map { $0["priority"] } == [-2, -2, -2])
                let refused = try await harness.aop("submit", graph("low"), "--priority", "101")
                #expect(refused.status == 64 && refused.stderr.contains("--priority is 101: it must be from -100 to 100"), "\(refused)")
            }
        }
    }
}
