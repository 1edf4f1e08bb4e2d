import Foundation
import Testing

extension SystemTests {
    /// What systemd is told, by the real processes.
    @Suite struct ServiceManagerNews {
        @Test func worker_isReadyWithoutACoordinator_saysWhenItIsAttached_showsThatItLives_andThatItEnds() async throws {
            try await ProcessHarness.with { harness in
                let systemd = try NotifySocket("\(harness.directory)/notify")
                let worker = harness.start(
                    BuiltProducts.aop, ["worker", "--connect", harness.endpoint, "--grace", "90s"],
                    environment: ["NOTIFY_SOCKET": systemd.path, "WATCHDOG_USEC": "400000"])
                func waitFor(_ prefix: String, from first: Int = 0) async throws {
                    try await eventually("\(prefix) is told", last: { "\(systemd.lines) \(worker.stderr)" }) {
                        systemd.read().dropFirst(first).contains { $0.hasPrefix(prefix) }
                    }
                }
                try await waitFor("STATUS=no coordinator at \(harness.endpoint) since 20")
                // Its start waits for no other host.
                try await waitFor("READY=1")
                let coordinator = try await harness.startCoordinator()
                try await waitFor("STATUS=attached to \(harness.endpoint)")
                // Again and again: not only at the start.
                let soFar = systemd.lines.count
                try await eventually("it lives") { systemd.read().dropFirst(soFar).count { $0 == "WATCHDOG=1" } >= 3 }
                _ = try await harness.waitForExecutors(1)
                let executor = try #require(harness.processes(with: "executor").keys.first)
                let environment = String(
                    decoding: FileManager.default.contents(atPath: "/proc/\(executor)/environ") ?? Data(), as: UTF8.self)
                #expect(
                    environment.contains("AOP_EXECUTOR=") && !environment.contains("NOTIFY_SOCKET") && !environment.contains("WATCHDOG_"))
                try await coordinator.send(SIGKILL)
                try await waitFor("STATUS=no coordinator at ", from: soFar)
                try await worker.send(SIGTERM)
                try await waitFor("EXTEND_TIMEOUT_USEC=")
                // Nobody reads any more: that keeps nothing from ending.
                let ended = try await worker.finish()
                #expect(ended.status == 0, "\(ended)")
                let told = systemd.read()
                #expect(told.contains("STOPPING=1") && told.contains("STATUS=ending: what runs has 90 s"), "\(told)")
                let extended = told.first { $0.hasPrefix("EXTEND_TIMEOUT_USEC=") }.flatMap { Int64($0.dropFirst(20)) }
                #expect((100_000_000...200_000_000).contains(extended ?? 0), "more than the grace: \(told)")
                #expect(told.filter { $0 == "READY=1" }.count == 1)
                let afterTheEnd = try #require(told.firstIndex(of: "STOPPING=1"))
                #expect(!told[afterTheEnd...].contains { $0.hasPrefix("STATUS=attached") || $0.hasPrefix("STATUS=no coordinator") })
            }
        }

        @Test func workerThatIsRefusedAtItsStart_isNeverReady_andSaysWhy() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Security.Cluster.start(harness)
                let systemd = try NotifySocket("\(harness.directory)/notify")
                let worker = try await harness.start(
                    BuiltProducts.aop, ["worker", "--connect", cluster.endpoint, "--key-file", cluster.key("submit")],
                    environment: ["NOTIFY_SOCKET": systemd.path]
                ).finish()
                #expect(worker.status == 77, "\(worker)")
                let told = systemd.read()
                #expect(!told.contains("READY=1"))
                #expect(told.contains { $0.hasPrefix("STATUS=refused by ") && $0.contains("may not work") }, "\(told)")
            }
        }

        /// Of its executors: they have labels, and its supervisor has none.
        @Test func workerWhoseLabelIsRefused_isNotReady_beforeItIsLetIn() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Security.Cluster.start(harness)
                let systemd = try NotifySocket("\(harness.directory)/notify")
                #expect(try await cluster.authorize("worker", ["--role", "work", "--label", "slow"]).status == 0)
                let worker = harness.start(
                    BuiltProducts.aop,
                    ["worker", "--connect", cluster.endpoint, "--key-file", cluster.key("worker"), "--label", "fast"],
                    environment: ["NOTIFY_SOCKET": systemd.path])
                try await eventually("it says that it is not let in", last: { "\(systemd.lines) \(worker.stderr)" }) {
                    systemd.read().contains { $0.hasPrefix("STATUS=not let in since 20") && $0.contains("label `fast`") }
                }
                #expect(!systemd.lines.contains("READY=1"), "\(systemd.lines)")
                #expect(try await cluster.authorize("worker", ["--role", "work"]).status == 0)
                try await eventually("it is ready", last: { "\(systemd.lines) \(worker.stderr)" }) { systemd.read().contains("READY=1") }
                #expect(systemd.lines.filter { $0 == "READY=1" }.count == 1)
            }
        }

        @Test func coordinatorThatGoesAwayFromADeniedWorker_isSeenInTheStatus() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Security.Cluster.start(harness)
                let systemd = try NotifySocket("\(harness.directory)/notify")
                #expect(try await cluster.keysTool("generate", "host2").status == 0)
                let worker = harness.start(
                    BuiltProducts.aop, ["worker", "--connect", cluster.endpoint, "--key-file", cluster.key("host2")],
                    environment: ["NOTIFY_SOCKET": systemd.path])
                func status(_ prefix: String) async throws {
                    try await eventually(prefix, last: { "\(systemd.lines) \(worker.stderr)" }) {
                        systemd.read().last { $0.hasPrefix("STATUS=") }?.hasPrefix("STATUS=\(prefix)") == true
                    }
                }
                try await status("not let in since 20")
                #expect(!systemd.lines.contains("READY=1"), "who is not let in has not started")
                try await cluster.coordinator.send(SIGKILL)
                try await status("no coordinator at \(cluster.endpoint) since 20")
                #expect(worker.stderr.split(separator: "\n").count == 1, "\(worker.stderr)")
            }
        }

        @Test func linesOfTheJournal_haveTheirPriority_andOthersHaveNone() async throws {
            try await ProcessHarness.with { harness in
                func start(_ stream: String, _ arguments: String...) -> RunningProcess {
                    harness.start("/bin/sh", ["-c", "JOURNAL_STREAM=\(stream) exec \"$0\" \"$@\"", BuiltProducts.aop] + arguments)
                }
                let own = "$(stat -L -c %d:%i /proc/self/fd/2)"
                let worker = start(own, "worker", "--connect", harness.endpoint)
                try await eventually("the worker logs", last: { worker.stderr }) { worker.stderr.contains("no coordinator at") }
                #expect(worker.stderr.hasPrefix("<5>20"), "\(worker.stderr)")
                let data = "\(harness.directory)/data"
                for (stream, prefix) in [(own, "<3>"), ("1:1", "")] {
                    let refused = try await start(stream, "coordinator", "--listen", "tcp://0.0.0.0:0", "--data", data).finish()
                    #expect(refused.status == 77 && refused.stderr.hasPrefix("\(prefix)aop: refusing"), "\(refused)")
                }
            }
        }

        @Test func coordinator_isReadyWhenItListens() async throws {
            try await ProcessHarness.with { harness in
                let systemd = try NotifySocket("\(harness.directory)/notify")
                _ = harness.start(
                    BuiltProducts.aop, ["coordinator", "--listen", harness.endpoint, "--no-http", "--data", "\(harness.directory)/data"],
                    environment: ["NOTIFY_SOCKET": systemd.path])
                try await eventually("it is ready") { systemd.read().count == 2 }
                #expect(systemd.lines == ["READY=1", "STATUS=listening on \(harness.endpoint)"])
            }
        }
    }
}
