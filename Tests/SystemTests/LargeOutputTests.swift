import Foundation
import Testing

extension SystemTests {
    /// Commands that print more than memory should hold.
    @Suite struct LargeOutputs {
        /// It fails, so that its value need not travel: what is looked at is the executor's loop, from which the coordinator hears.
        @Test func outputOfMoreThanAGibibyte_losesNoLease_andItsCommandRunsOnce() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2")
                _ = try await harness.waitForExecutors(1)
                let graph = try harness.write(
                    "large.yaml",
                    """
                    group:
                      - id: big
                        run: "echo x >> '\(harness.directory)/runs'; head -c 1300000000 /dev/zero; exit 3"
                        output: bytes
                        maxOutput: 4GiB

                    """)
                let finished = try await harness.aop("submit", graph, "--wait", "-o", "json")
                #expect(finished.status == 2, "\(finished)")
                let error = try JSON(parsing: finished.text)["errors"][0]
                #expect(error["code"] == "exit", "\(error)")
                #expect(error["message"].string?.hasPrefix("exited with 3") == true, "\(error)")
                #expect(harness.lines(of: "runs").count == 1)
            }
        }

        /// Those that an executor has are at hand at once, in the very step in which they are asked for.
        @Test func manyLargeValues_whoseReceiversRunWhereTheyWereMade_allArrive() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2")
                _ = try await harness.waitForExecutors(1)
                let pairs = try (0..<1_000).map { number in
                    let file = "\(harness.directory)/v\(number)"
                    try (Data("\(number) ".utf8) + Data(count: 100 << 10)).write(to: URL(fileURLWithPath: file))
                    return
                        "  - {id: r\(number), op: readFile, with: {path: \(file)}}\n  - {id: n\(number), op: noop, receives: r\(number)}\n"
                }
                let graph = try harness.write("values.yaml", "group:\n" + pairs.joined())
                let finished = try await harness.aop("submit", graph, "--wait", "-o", "quiet")
                #expect(finished.status == 0, "\(finished.stderr.prefix(2_000))")
            }
        }
    }
}
