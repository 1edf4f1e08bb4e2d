import Foundation
import Testing

extension SystemTests {
    /// A terminal that is closed, with a coordinator and a worker that were started in it.
    @Suite struct TerminalTests {
        private func start(_ harness: ProcessHarness, nohup: Bool, _ arguments: String...) -> RunningProcess {
            // What nohup(1) does, as far as signals are concerned.
            guard nohup else { return harness.start(BuiltProducts.aop, arguments) }
            return harness.start("/bin/sh", ["-c", "trap '' HUP; exec \"$0\" \"$@\"", BuiltProducts.aop] + arguments)
        }

        private func startCluster(_ harness: ProcessHarness, nohup: Bool) async throws -> [RunningProcess] {
            let coordinator = start(
                harness, nohup: nohup, "coordinator", "--listen", harness.endpoint, "--no-http", "--data", "\(harness.directory)/data")
            try await eventually("the coordinator listens", last: { coordinator.stderr }) { coordinator.stdout.contains("listening") }
            let worker = start(harness, nohup: nohup, "worker", "--connect", harness.endpoint)
            _ = try await harness.waitForExecutors(1)
            return [coordinator, worker]
        }

        @Test func whatIsStartedWithNohup_outlastsIt() async throws {
            try await ProcessHarness.with { harness in
                let processes = try await startCluster(harness, nohup: true)
                for process in processes { try await process.send(SIGHUP) }
                let file = try harness.write("one.yaml", "group: [{id: one, run: 'echo one'}]\n")
                let ran = try await harness.aop("submit", file, "--wait", "-o", "quiet", "--timeout", "30s")
                #expect(ran.status == 0, "\(ran)")
                #expect(!processes.contains { $0.stderr.contains("ending") }, "\(processes.map(\.stderr))")
            }
        }

        @Test func runWithNohup_outlastsIt() async throws {
            try await ProcessHarness.with { harness in
                let file = try harness.write(
                    "wait.yaml", "group: [{id: one, run: 'touch begun; until [ -e go ]; do sleep 0.05; done; echo one'}]\n")
                let run = start(harness, nohup: true, "run", file, "-o", "quiet")
                try await eventually("it runs", last: { run.stderr }) {
                    FileManager.default.fileExists(atPath: "\(harness.directory)/begun")
                }
                try await run.send(SIGHUP)
                _ = try harness.write("go", "")
                let ended = try await run.finish()
                #expect(ended.status == 0, "\(ended)")
            }
        }

        @Test func everythingElse_endsInOrder() async throws {
            try await ProcessHarness.with { harness in
                for process in try await startCluster(harness, nohup: false).reversed() {
                    try await process.send(SIGHUP)
                    let ended = try await process.finish()
                    #expect(ended.status == 0, "\(process.name): \(ended)")
                }
            }
        }
    }
}
