import Foundation
import Testing

extension SystemTests {
    /// What takes long, or goes wrong, at the beginning of processes.
    @Suite struct Starts {
        /// A pipe is in the place of SQLite's log, which nobody writes into.
        @Test func coordinatorWhoseStartIsBlocked_endsWithASignal() async throws {
            try await ProcessHarness.with { harness in
                let data = try harness.folders("data")[0]
                chmod(data, 0o700)
                try #require(mkfifo("\(data)/journal.sqlite-wal", 0o600) == 0)
                let coordinator = harness.startAOP("coordinator", "--no-http", "--listen", harness.endpoint, "--data", data)
                try await eventually("it looks for its journal", last: { coordinator.stderr }) {
                    FileManager.default.fileExists(atPath: "\(data)/journal.sqlite")
                }
                try await coordinator.send(SIGTERM)
                let end = try await coordinator.finish()
                #expect(end.status == 0 && end.stderr.contains("told to end before it listened"), "\(end)")
                #expect(end.text.isEmpty, "it has listened to nobody: \(end)")
            }
        }

        /// All of it at once, so that nobody is left who would remove its directory.
        @Test func directoryOfARunThatWasKilled_isRemovedByTheNextOne() async throws {
            try await ProcessHarness.with { harness in
                let long = try harness.write("long.yaml", "group:\n  - run: sleep 600\n")
                let run = harness.startAOP("run", long)
                try await eventually("it has a directory", last: { run.stderr }) {
                    harness.temporaryFiles.contains { name in
                        FileManager.default.fileExists(atPath: "\(harness.temporary)/\(name)/lock")
                    }
                }
                // Its coordinator must not see that the run is gone.
                try await eventually("no process is left") {
                    for process in harness.processes().keys { kill(process, SIGSTOP) }
                    for process in harness.processes().keys { kill(process, SIGKILL) }
                    return harness.processes().isEmpty
                }
                _ = try await run.finish()
                func left() -> [String] { harness.temporaryFiles.filter { $0.hasPrefix("aop-run-") } }
                try #require(!left().isEmpty)
                let short = try harness.write("short.yaml", "group:\n  - {id: a, op: noop}\n")
                // It does not wait for the removal, so that one that is over at once may leave it to another.
                try await eventually("it is removed", last: { "\(left())" }) {
                    let next = try await harness.aop("run", short)
                    #expect(next.status == 0, "\(next)")
                    return left().isEmpty
                }
            }
        }

        /// Whichever of its processes dies, the run is over, and says which.
        @Test(arguments: ["coordinator", "worker"]) func runWhoseProcessIsKilled_endsAtOnce(_ name: String) async throws {
            try await ProcessHarness.with { harness in
                let long = try harness.write("long.yaml", "group:\n  - run: echo began >> begun; sleep 600\n")
                let run = harness.startAOP("run", long)
                try await eventually("the work has begun", last: { run.stderr }) { !harness.lines(of: "begun").isEmpty }
                let process = try #require(harness.processes(with: "aop \(name) ").keys.first)
                kill(process, SIGKILL)
                let end = try await run.finish()
                #expect(end.status == 1, "\(end)")
                #expect(end.stderr.contains("the private \(name) process ") && end.stderr.contains("before the work was done"), "\(end)")
                try await eventually("nothing is left") { harness.processes().isEmpty }
                #expect(!harness.temporaryFiles.contains { $0.hasPrefix("aop-run-") })
            }
        }

        /// Nobody can say what is damaged.
        @Test func partialResultsThatCannotBeRead_areNotSaidToBeDamaged() async throws {
            try await ProcessHarness.with { harness in
                let data = "\(harness.directory)/data"
                let coordinator = try await harness.startCoordinator()
                try await coordinator.send(SIGTERM)
                _ = try await coordinator.finish()
                try FileManager.default.removeItem(atPath: "\(data)/elements.sqlite")
                try FileManager.default.createDirectory(atPath: "\(data)/elements.sqlite/x", withIntermediateDirectories: true)
                let verified = try await harness.aop("journal", "verify", "--data", data)
                #expect(verified.status == 1 && verified.text.hasSuffix("everything holds that could be looked at\n"), "\(verified)")
                #expect(verified.text.contains("not looked at: \(data)/elements.sqlite: cannot ") && !verified.text.contains("wrong:"))
                #expect(verified.stderr.contains("1 thing could not be looked at, the rest holds"), "\(verified)")
                let json = try JSON(parsing: try await harness.aop("journal", "verify", "--data", data, "-o", "json").text)
                #expect(json["notLookedAt"].elements.count == 1 && json["partialResultProblems"].elements.isEmpty, "\(json)")
            }
        }
    }
}
