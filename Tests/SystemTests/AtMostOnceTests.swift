import Foundation
import Testing

extension SystemTests {
    /// What must not run twice.
    @Suite struct AtMostOnce {
        @Test func operationWhoseWorkerIsKilled_failsWithWorkerLost_andItsNeighbourRunsAgain() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2")
                let executors = try await harness.waitForExecutors(1)
                let directory = harness.directory
                let graph = try harness.write(
                    "once.yaml",
                    """
                    group:
                      - {id: once, run: 'echo x >> "\(directory)/once"; exec sleep 600', atMostOnce: true}
                      - id: again
                        run: 'echo x >> "\(directory)/again"; test $(wc -l < "\(directory)/again") -ge 2 || exec sleep 600'

                    """)
                let submit = harness.startAOP("submit", graph, "--wait", "-o", "json")
                try await eventually("both run") { !harness.lines(of: "once").isEmpty && !harness.lines(of: "again").isEmpty }
                kill(executors[0], SIGKILL)
                let finished = try await submit.finish()
                #expect(finished.status == 2, "\(finished)")
                let result = try JSON(parsing: finished.text)
                #expect(result["counts"]["succeeded"] == 1)
                #expect(result["errors"][0]["path"] == "once" && result["errors"][0]["code"] == "workerLost")
                #expect(harness.lines(of: "once").count == 1)
                #expect(harness.processes(with: "sleep 600").isEmpty)
            }
        }

        @Test func retryAroundIt_isRefused_atItsPlaceInTheFile() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write(
                    "refused.yaml", "group:\n  - {id: g, retry: 1, group: [{id: a, run: 'true', atMostOnce: true}]}\n")
                let refused = try await harness.aop("run", graph)
                #expect(refused.status == 6, "\(refused)")
                #expect(refused.stderr.contains("g/a: has `atMostOnce`, and a group around it has `retry`"), "\(refused)")
            }
        }
    }
}
