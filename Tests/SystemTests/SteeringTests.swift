import Foundation
import Testing

extension SystemTests {
    /// What operators do to running work, with real processes.
    @Suite struct Steering {
        @Test func retryForce_letsAnOperationGoThatIsKeptFromWorkers() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startTrialWorker(slots: 1)
                _ = try await harness.waitForExecutors(1)
                let graph = try harness.write(
                    "crash.yaml", "group: [{id: a, op: Crash, with: {unless: '\(harness.directory)/mended'}}]\n")
                let first = try await harness.aop("submit", graph, "--wait", "-o", "json")
                #expect(first.status == 2, "\(first)")
                #expect(try JSON(parsing: first.text)["errors"][0]["code"] == "workerLost")
                let id = try #require(try JSON(parsing: first.text)["id"].string)
                let second = try await harness.aop("submit", graph, "--wait", "-o", "json")
                #expect(try JSON(parsing: second.text)["errors"][0]["code"] == "quarantined", "\(second)")

                _ = try harness.write("mended", "")
                let again = try await harness.aop("retry", id, "--force", "-o", "json")
                #expect(again.status == 0, "\(again)")
                #expect(try JSON(parsing: again.text)["lifted"] == 1)
                let new = try #require(try JSON(parsing: again.text)["id"].string)
                let outcome = try await harness.aop("wait", new, "-o", "json")
                #expect(outcome.status == 0, "\(outcome)")
                #expect(try JSON(parsing: outcome.text)["value"][0] == "survived")
            }
        }

        @Test func retryFailed_runsOnlyWhatHasNotSucceeded_withTheValuesOfTheRest() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2")
                let graph = try harness.write(
                    "failed.yaml",
                    """
                    group:
                      - {id: fine, run: 'echo ran >> fine; echo 41', cwd: '\(harness.directory)'}
                      - {id: bad, run: '[ -e mended ] && echo 1', cwd: '\(harness.directory)'}
                      - {id: sum, receives: [fine, bad], run: cat}

                    """)
                let first = try await harness.aop("submit", graph, "--wait", "-o", "json")
                #expect(first.status == 2, "\(first)")
                _ = try harness.write("mended", "")
                let id = try #require(try JSON(parsing: first.text)["id"].string)
                let retried = try JSON(parsing: try await harness.aop("retry", id, "--failed", "--key", "mine", "-o", "json").text)
                #expect(retried["existing"].bool == false, "\(retried)")
                let repeated = try JSON(parsing: try await harness.aop("retry", id, "--failed", "--key", "mine", "-o", "json").text)
                #expect(repeated["existing"].bool == true && repeated["id"].string == retried["id"].string, "\(repeated)")
                let second = try await harness.aop("wait", "last", "-o", "json")
                #expect(second.status == 0, "\(second)")
                let values = try JSON(parsing: second.text)["value"]
                #expect(values[0] == "41" && values[1] == "1", "\(second)")
                #expect(values[2].string?.contains("41") == true, "\(second)")
                #expect(harness.lines(of: "fine") == ["ran"])
                let refused = try await harness.aop("retry", "last", "--failed")
                #expect(refused.status == 6 && refused.stderr.contains("has failed; `aop retry"), "\(refused)")
            }
        }

        @Test func lockReleasedByForce_cancelsItsHolder_andWaitsForItsEnd() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2")
                let graph = try harness.write(
                    "force.yaml",
                    """
                    group:
                      - {id: a, exclusive: db, run: 'touch here; exec sleep 3600', cwd: '\(harness.directory)'}
                      - {id: b, after: x, exclusive: db, run: echo ran}
                      - {id: x, run: 'while [ ! -e here ]; do sleep 0.02; done', cwd: '\(harness.directory)'}

                    """)
                let submit = harness.startAOP("submit", graph, "--wait", "-o", "json")
                try await eventually("`a` holds the lock and `b` waits for it") {
                    let locks = try JSON(parsing: try await harness.aop("locks", "-o", "json").text)["locks"]
                    return locks[0]["waitingCount"] == 1 && locks[0]["holders"][0]["operation"].string?.hasSuffix("/a") == true
                }
                let refused = try await harness.aop("locks", "release", "db")
                #expect(refused.status == 64, "\(refused)")
                let released = try await harness.aop("locks", "release", "db", "--force", "--reason", "stuck", "-o", "json")
                #expect(released.status == 0, "\(released)")
                #expect(try JSON(parsing: released.text)["holders"].elements.count == 1)
                #expect(harness.processes(with: "sleep 3600").isEmpty)
                let finished = try await submit.finish()
                let counts = try JSON(parsing: finished.text)["counts"]
                #expect(counts["cancelled"] == 1 && counts["succeeded"] == 2, "\(finished)")
                let nobody = try await harness.aop("locks", "release", "db", "--force")
                #expect(nobody.status == 5 && nobody.stderr.contains("nobody holds the lock `db`"), "\(nobody)")
            }
        }

        @Test func lockReleasedNow_failsItsHolder_refusesItsResult_andTheNextHasAHigherToken() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let workers = [harness.startWorker("--slots", "2"), harness.startWorker("--slots", "2")]
                let executors = try await harness.waitForExecutors(2)
                let graph = try harness.write(
                    "now.yaml",
                    """
                    vars: {dir: '\(harness.directory)'}
                    group:
                      - {id: a, exclusive: db, run: 'echo $AOP_FENCE_DB > "$dir/first"; while [ ! -e "$dir/go" ]; do sleep 0.02; done; echo late'}
                      - {id: b, after: x, exclusive: db, run: 'echo $AOP_FENCE_DB'}
                      - {id: x, run: 'while [ ! -e "$dir/first" ]; do sleep 0.02; done'}

                    """)
                let submit = harness.startAOP("submit", graph, "--wait", "-o", "json")
                let owner = try await eventually("`a` holds the lock, and where it runs is known") { () -> String? in
                    let operations = try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["operations"]
                    guard operations[1]["state"] == "locking" else { return nil }
                    return operations[0]["worker"].string
                }
                // The holder's process does not hear of it, and its command goes on to its end.
                let listed = try JSON(parsing: try await harness.aop("workers", "-o", "json").text)["workers"].elements
                let pid = try #require(listed.first { $0["id"].string == owner }?["pid"].number.map { Int32($0) })
                #expect(executors.contains(pid))
                kill(pid, SIGSTOP)
                let released = try await harness.aop("locks", "release", "db", "--now", "--reason", "host is gone", "-o", "json")
                #expect(released.status == 0, "\(released)")
                _ = try harness.write("go", "")
                try await eventually("the command has ended") { harness.processes(with: "echo late").isEmpty }
                kill(pid, SIGCONT)
                let finished = try await submit.finish()
                #expect(finished.status == 2, "\(finished)")
                let outcome = try JSON(parsing: finished.text)
                #expect(outcome["errors"][0]["code"] == "fenced")
                #expect(outcome["errors"][0]["message"].string?.contains("(host is gone)") == true)
                let second = try #require(outcome["value"][1].string.flatMap { UInt64($0) })
                let first = try #require(harness.lines(of: "first").first.flatMap { UInt64($0) })
                #expect(second > first)
                try await eventually("what came of it is refused by name") {
                    let shown = try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["operations"][0]
                    return shown["state"] == "failed" && shown["history"].elements.contains { $0["event"] == "lateResultRefused" }
                }
                _ = workers
            }
        }

        @Test func cancelThatWaits_saysForWhom() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let worker = harness.startWorker("--slots", "1")
                let executor = try #require(try await harness.waitForExecutors(1).first)
                let graph = try harness.write(
                    "deaf.yaml", "{group: [{id: a, exclusive: db, run: 'touch \(harness.directory)/begun; sleep 1000'}]}\n")
                let id = try JSON(parsing: try await harness.aop("submit", graph, "-o", "json").text)["id"].string ?? ""
                try await eventually("the command runs") { FileManager.default.fileExists(atPath: "\(harness.directory)/begun") }
                kill(executor, SIGSTOP)
                let cancel = harness.startAOP("cancel", id, "--wait")
                try await eventually("it says for whom it waits", last: { cancel.stderr }) {
                    cancel.stderr.contains("\(id)/a has not stopped yet on ")
                }
                let explained = try await harness.aop("explain", "\(id)/a")
                #expect(explained.text.contains("stopping"), "\(explained)")
                kill(executor, SIGCONT)
                #expect(try await cancel.finish().status == 4)
                _ = worker
            }
        }

        /// Only the one whose body does not end is given up, in its time; the process goes when the others have ended.
        @Test func deafBodyWhoseTimeIsOver_harmsNoneOfItsNeighbours() async throws {
            try await ProcessHarness.with { harness in
                mkfifo("\(harness.directory)/pipe", 0o600)
                let graph = try harness.write(
                    "deaf.yaml",
                    """
                    group:
                      - {id: deaf, op: readFile, with: {path: '\(harness.directory)/pipe'}, timeout: 300ms, grace: 100ms}
                      - {id: innocent, run: sleep 6; echo done, atMostOnce: true}

                    """)
                let outcome = try await harness.aop("run", graph, "--workers", "1", "--slots", "2", "-o", "json")
                let value = try JSON(parsing: outcome.text)
                #expect(outcome.status == 2, "\(outcome)")
                #expect(value["errors"].elements.map { $0["path"].string } == ["deaf"] && value["errors"][0]["code"] == "timeout")
            }
        }

        /// Nothing ends it but the end of its process, and that has a healthy neighbour.
        @Test func whatDoesNotStop_isToldAsThat_andItsNeighbourIsNamed() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let worker = harness.startWorker("--processes", "1", "--slots", "2")
                _ = try await harness.waitForExecutors(1)
                mkfifo("\(harness.directory)/pipe", 0o600)
                let graph = try harness.write(
                    "deaf.yaml",
                    """
                    group:
                      - {id: deaf, op: readFile, with: {path: '\(harness.directory)/pipe'}, grace: 100ms}
                      - {id: healthy, run: 'while [ ! -e \(harness.directory)/go ]; do sleep 0.02; done'}

                    """)
                let id = try JSON(parsing: try await harness.aop("submit", graph, "-o", "json").text)["id"].string ?? ""
                func operations() async throws -> [JSON] {
                    try JSON(parsing: try await harness.aop("show", id, "-o", "json").text)["operations"].elements
                }
                try await eventually("both run") { try await operations().count { $0["state"] == "running" && $0["type"] != "group" } == 2 }
                _ = try await harness.aop("cancel", "\(id)/deaf")
                try await eventually("it is told that it does not stop") {
                    try await operations().flatMap { $0["history"].elements }.compactMap { $0["event"].string }
                        == ["requested", "delivered", "stopping", "overdue"]
                }
                let shown = try await harness.aop("show", id)
                #expect(shown.text.contains("does not stop; its process ends when the other one in it has ended"), "\(shown)")
                #expect(!shown.text.contains("ended by force"), "\(shown)")
                let explained = try await harness.aop("explain", "\(id)/deaf")
                #expect(explained.text.contains("its process ends when \(id)/healthy has ended"), "\(explained)")
                _ = try harness.write("go", "")
                _ = try await harness.aop("wait", id)
                let events = try await operations().flatMap { $0["history"].elements }.compactMap { $0["event"].string }
                // What a process says as it ends may be lost with it.
                #expect(["killed", "stopped"].contains(events.dropLast().last ?? "") && events.last == "acknowledged", "\(events)")
                _ = worker
            }
        }

        @Test func cancelOfAGroupThatWaits_endsWithTheGroup() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let worker = harness.startWorker("--slots", "2")
                _ = try await harness.waitForExecutors(1)
                let graph = try harness.write(
                    "groups.yaml",
                    """
                    group:
                      - {id: g, grace: 500ms, group: [{id: a, run: 'trap "" TERM; touch \(harness.directory)/begun; while :; do sleep 0.05; done'}]}
                      - {id: other, run: 'while [ ! -e \(harness.directory)/go ]; do sleep 0.02; done'}

                    """)
                let id = try JSON(parsing: try await harness.aop("submit", graph, "-o", "json").text)["id"].string ?? ""
                try await eventually("it runs") { FileManager.default.fileExists(atPath: "\(harness.directory)/begun") }
                let cancelled = try await harness.aop("cancel", "\(id)/g", "--wait")
                #expect(cancelled.status == 4, "\(cancelled)")
                let again = try await harness.aop("cancel", "\(id)/g", "--wait")
                #expect(again.status == 4 && again.text == "\(id)/g: cancelled; it had already ended\n", "\(again)")
                #expect(try JSON(parsing: try await harness.aop("show", id, "-o", "json").text)["state"] == "running")
                _ = try harness.write("go", "")
                _ = try await harness.aop("wait", id)
                _ = worker
            }
        }

        private static func lastEvent(of path: String, in text: String) throws -> JSON {
            var last = JSON.null
            for line in text.split(separator: "\n") {
                let event = try JSON(parsing: String(line))
                if event["path"].string == path { last = event }
            }
            return last
        }

        @Test func cancellation_isSeenStageByStage() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2")
                let graph = try harness.write(
                    "stages.yaml",
                    """
                    group:
                      - {id: willing, run: 'touch willing; exec sleep 3600', cwd: '\(harness.directory)'}
                      - {id: deaf, grace: 300ms, run: 'trap "" TERM; touch deaf; while true; do sleep 0.05; done', cwd: '\(harness.directory)'}

                    """)
                let watcher = harness.startAOP("submit", graph, "--wait", "-o", "jsonl")
                try await eventually("both run") {
                    ["willing", "deaf"].allSatisfy { FileManager.default.fileExists(atPath: "\(harness.directory)/\($0)") }
                }
                let cancelled = try await harness.aop("cancel", "last", "--wait", "--reason", "enough")
                #expect(cancelled.status == 4, "\(cancelled)")
                // Whoever follows is told the same, and each stage as it comes.
                let last = try Self.lastEvent(of: "deaf", in: try await watcher.finish().text)
                #expect(last["state"] == "cancelled")
                #expect(
                    last["history"].elements.map { $0["event"].string } == ["requested", "delivered", "stopping", "killed", "acknowledged"])
                let shown = try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["operations"]
                let stages = shown.elements.map { $0["history"].elements }
                #expect(stages[0].map { $0["event"].string } == ["requested", "delivered", "stopping", "stopped", "acknowledged"])
                #expect(stages[1].map { $0["event"].string } == ["requested", "delivered", "stopping", "killed", "acknowledged"])
                for stage in stages {
                    let times = stage.compactMap { $0["at"].string }
                    #expect(times.count == 5 && times == times.sorted())
                    #expect(stage.first?["text"] == "cancelled: enough")
                }
                let text = try await harness.aop("show", "last").text
                #expect(text.contains("requested: cancelled: enough") && text.contains("killed: ended by force"), "\(text)")
            }
        }
    }
}
