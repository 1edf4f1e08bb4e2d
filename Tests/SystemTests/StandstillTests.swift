import Foundation
import Testing

extension SystemTests {
    /// A coordinator that is stopped and goes on.
    @Suite struct Standstill {
        @Test func whatEndedInTime_counts_thoughTheCoordinatorStoodStill() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "4")
                _ = try await harness.waitForExecutors(1)
                let (began, ended) = ("\(harness.directory)/began", "\(harness.directory)/ended")
                let body = "echo x >> \(began); sleep 3; echo x >> \(ended)"
                let graph = try harness.write(
                    "limits.yaml",
                    """
                    group:
                      - {id: deadline, run: "\(body)", deadline: 8s}
                      - {id: timeout, run: "\(body)", timeout: 8s}
                      - {id: members, timeout: 8s, group: [{id: member, run: "\(body)"}]}
                    """)
                #expect(try await harness.aop("submit", graph, "-o", "quiet").status == 0)
                try await eventually("they run") { harness.lines(of: "began").count == 3 }
                try await coordinator.send(SIGSTOP)
                // Longer than any limit, and than workers keep up a connection on which nothing is answered.
                let over = Date(timeIntervalSinceNow: 14)
                try await eventually("they have ended, and the limits are over") { harness.lines(of: "ended").count == 3 && Date() > over }
                try await coordinator.send(SIGCONT)
                let waited = try await harness.aop("wait", "last")
                #expect(waited.status == 0, "\(waited)")
            }
        }
    }
}
