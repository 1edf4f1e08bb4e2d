import AOperation
import Cluster
import Foundation
import Testing
import TrialOperations
import Wire

extension SystemTests {
    /// `priority` in files and of submissions, and whose turn it is without one.
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

        /// By what the coordinator has written down of the ends: how long this took us to ask for says nothing.
        @Test func flood_letsTenOperationsThrough_afterFewOfIt() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator("--snapshot-bytes", "4000000")
                _ = harness.startTrialWorker(slots: 2)
                _ = try await harness.waitForExecutors(1)
                let cluster = try await harness.connect()
                let count = 20_000
                let file = try harness.write("flood.yaml", "name: flood\ngroup:\n" + String(repeating: "  - {op: noop}\n", count: count))
                let flood = try await harness.aop("submit", file, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                let before: UInt64 = try await eventually("the flood runs") {
                    let ended = try await cluster.connection.show(flood).counts.succeeded
                    return ended > 0 ? ended : nil
                }
                let few = try await cluster.submit(GroupOperation((0..<10).map { Emit("\($0)") }))
                let outcome = try await few.outcome()
                let after = try await cluster.connection.show(flood).counts.succeeded
                #expect(outcome.isSuccess, "\(outcome.errors)")
                #expect(before < after && after < UInt64(count), "the flood runs on: \(before), then \(after)")
                #expect(try await harness.aop("wait", flood, "-o", "quiet").status == 0)

                let view = try await cluster.connection.show(few.id)
                #expect(view.counts.succeeded == 10)
                var (meanwhile, later) = (0, 0)
                for try await page in cluster.connection.operations(of: flood) {
                    let ends = page.filter { $0.kind == .operation }.map(\.finishedAt)
                    meanwhile += ends.count { $0 >= view.submittedAt && $0 <= view.finishedAt }
                    later += ends.count { $0 > view.finishedAt }
                }
                #expect(meanwhile < count / 10, "\(meanwhile) of the flood ended while ten others were through")
                #expect(later > 0)
                await cluster.close()
            }
        }
    }
}
