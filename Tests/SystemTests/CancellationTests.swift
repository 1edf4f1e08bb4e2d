import AOperation
import Cluster
import Foundation
import Testing
import TrialOperations

extension SystemTests {
    /// What a cancellation stops, and what has happened when it is told.
    @Suite struct Cancellation {
        /// How each operation of a submission is shown to have ended.
        private func shown(_ id: String, _ harness: ProcessHarness) async throws -> [String: String] {
            let operations = try JSON(parsing: try await harness.aop("show", id, "-o", "json").text)["operations"].elements
            return Dictionary(operations.map { ($0["path"].string ?? "", $0["state"].string ?? "") }) { $1 }
        }

        private func state(_ operation: ResultableOperation<String>) -> String {
            switch operation.outcome {
            case .success?: "succeeded"
            case .failure?: "failed"
            case .cancelled?: "cancelled"
            case nil: "open"
            }
        }

        @Test func whatEndsAndIsCancelledAtOnce_isToldToTheProgram_asItIsShown_andAsReceiversGetIt() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let pairs = (0..<48).map { (emit: Emit("\($0)"), join: Join()) }
                for (index, pair) in pairs.enumerated() {
                    (pair.emit.name, pair.join.name) = ("emit\(index)", "join\(index)")
                    [pair.emit].deliver(to: pair.join)
                    let other = pairs[(index + index % 3) % pairs.count]
                    pair.emit.didStart { index % 2 == 0 ? other.emit.cancel() : other.join.cancel() }
                }
                let submission = try await cluster.submit(GroupOperation(pairs.flatMap { [$0.emit, $0.join] as [AOperation] }))
                _ = try await submission.outcome()
                let shown = try await shown(submission.id, harness)
                for (index, pair) in pairs.enumerated() {
                    #expect(shown["emit\(index)"] == state(pair.emit) && shown["join\(index)"] == state(pair.join))
                    #expect(pair.join.outcome?.isSuccess != true || pair.emit.outcome?.isSuccess == true)
                }
                await cluster.close()
            }
        }

        @Test func cancelWhileTheCoordinatorIsAway_isAskedForWhenItIsBack_andItDecides() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let cluster = try await harness.connect()
                let (log, go, never) = ("\(harness.directory)/log", "\(harness.directory)/go", "\(harness.directory)/never")
                let (ends, waits, join) = (Emit("ends", log: log, until: go), Emit("waits", log: log, until: never), Join())
                (ends.name, waits.name, join.name) = ("ends", "waits", "join")
                [ends].deliver(to: join)
                let submission = try await cluster.submit(GroupOperation(ends, waits, join))
                try await eventually("both run") { harness.lines(of: "log").count == 2 }
                try await coordinator.send(SIGKILL)
                _ = try await coordinator.finish()
                _ = try harness.write("go", "")
                try await eventually("one has ended, and nobody knows") { harness.lines(of: "log").contains("-ends") }
                for operation in [ends, waits] { operation.cancel() }
                #expect(ends.isCancelled && ends.outcome == nil && waits.isCancelled && waits.outcome == nil)
                _ = try await harness.startCoordinator()
                _ = try await submission.outcome()
                let shown = try await shown(submission.id, harness)
                #expect(waits.outcome?.isCancelled == true)
                #expect([ends, waits, join].map(state) == ["ends", "waits", "join"].map { shown[$0] ?? "" }, "\(shown)")
                #expect(
                    (join.outcome?.value == "ends") == (ends.outcome?.isSuccess == true) && ends.isCancelled == ends.outcome?.isCancelled)
                await cluster.close()
            }
        }

        @Test func waiterThatIsCancelled_waitsNoLonger_alsoWhileTheCoordinatorIsAway_andTheWorkGoesOn() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let cluster = try await harness.connect()
                let (log, go) = ("\(harness.directory)/log", "\(harness.directory)/go")
                let (emit, later) = (Emit("a", log: log, until: go), Emit("later", log: log))
                let submission = try await cluster.submit(emit, key: "one")
                let found = try await cluster.connection.submission(key: "one")
                try await eventually("it runs") { harness.lines(of: "log") == ["+a"] }
                try await coordinator.send(SIGKILL)
                _ = try await coordinator.finish()
                let waiters: [Task<Void, any Error>] = [
                    Task { _ = try await submission.outcome() }, Task { _ = try await found.outcome() },
                    Task { for try await _ in submission.events {} }, Task { for try await _ in found.events {} },
                    Task { _ = try await cluster.submit(later) },
                ]
                try await eventually("it is in the queue") { cluster.operations.contains(later) }
                for waiter in waiters {
                    waiter.cancel()
                    await #expect(throws: CancellationError.self) { try await waiter.value }
                }
                _ = try await harness.startCoordinator()
                _ = try harness.write("go", "")
                #expect(try await submission.outcome()[emit]?.value == "a")
                #expect(try await found.outcome().state == .succeeded)
                try await eventually("the other one has run, too") { harness.lines(of: "log").contains("-later") }
                await cluster.close()
            }
        }

        @Test func cancelOfASubmission_throughItsProgramOrAnother_endsWhatRuns_andAWaiterIsToldOfACancellation() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let (log, never) = ("\(harness.directory)/log", "\(harness.directory)/never")
                for (count, isFound) in [(1, false), (2, true)] {
                    let emit = Emit("a", log: log, until: never)
                    let submission = try await cluster.submit(emit)
                    let found = try await cluster.connection.submission(submission.id)
                    try await eventually("it runs") { harness.lines(of: "log").count { $0 == "+a" } == count }
                    let hadNotEnded = try await (isFound ? found.cancel(reason: "enough") : submission.cancel(reason: "enough"))
                    #expect(hadNotEnded)
                    let states = [try await submission.outcome().state, try await found.outcome().state]
                    #expect(states == [.cancelled, .cancelled] && emit.outcome?.isCancelled == true)
                    #expect(try await shown(submission.id, harness).values.contains("cancelled"))
                }
                await cluster.close()
            }
        }

        @Test func aThousandCommands_areGoneWhenItIsTold_andAnotherSubmissionIsUntouched() async throws {
            // Of the thousand so many run when they are cancelled, and the others wait.
            let slots = 150
            let running = 2 * slots - 4
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                for _ in 0..<2 { _ = harness.startWorker("--slots", "\(slots)") }
                _ = try await harness.waitForExecutors(2)
                let directory = harness.directory
                let other = try harness.write(
                    "other.yaml",
                    "priority: 10\ngroup:\n"
                        + (0..<4).map {
                            "  - {id: o\($0), run: 'echo o >> \"\(directory)/others\"; while [ ! -e \"\(directory)/go\" ]; do sleep 0.05; done'}\n"
                        }.joined())
                let many = try harness.write(
                    "many.yaml",
                    "group:\n" + (0..<1_000).map { "  - {id: n\($0), run: 'echo n >> \"\(directory)/log\"; exec sleep 654'}\n" }.joined())
                let kept = try await harness.aop("submit", other, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                try await eventually("the others run") { harness.lines(of: "others").count == 4 }
                let id = try await harness.aop("submit", many, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                try await eventually("all other slots are taken") { harness.processes(with: "sleep 654").count == running }
                let cancelled = try await harness.aop("cancel", id, "--wait")
                #expect(cancelled.status == 4, "\(cancelled)")
                #expect(harness.processes(with: "sleep 654").isEmpty)
                let begun = harness.lines(of: "log").count
                #expect(begun == running)
                let shown = try JSON(parsing: try await harness.aop("show", kept, "-o", "json").text)
                #expect(shown["counts"]["running"] == 4)
                _ = try harness.write("go", "")
                #expect(try await harness.aop("wait", kept).status == 0)
                #expect(harness.lines(of: "log").count == begun, "something has started since")
                let counts = try JSON(parsing: try await harness.aop("show", id, "-o", "json").text)["counts"]
                #expect(counts["cancelled"] == 1_000)
            }
        }

        /// What its worker leaves has that worker's mark, and nothing of the command's: its guardian sees to it.
        @Test func clusterThatACommandHasStarted_isGoneWhenItIsTold_withAllThatItRuns() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "1")
                _ = try await harness.waitForExecutors(1)
                let inner = try harness.write(
                    "inner.yaml", "group:\n  - {id: s, run: 'export TMPDIR=\(harness.directory); setsid sleep 656 & sleep 656'}\n")
                let outer = try harness.write(
                    "outer.yaml", "group:\n  - {id: o, run: 'TMPDIR=\(harness.temporary) \(BuiltProducts.aop) run \(inner)'}\n")
                for _ in 0..<5 {
                    let id = try await harness.aop("submit", outer, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                    try await eventually("both run", last: { "\(harness.processes())" }) {
                        harness.processes(with: "sleep 656").values.count { $0.hasPrefix("sleep") } == 2
                    }
                    #expect(try await harness.aop("cancel", id, "--now", "--wait").status == 4)
                    #expect(harness.processes(with: "sleep 656").isEmpty)
                }
            }
        }

        /// A shell whose child is killed first would go on to its next command.
        @Test func scriptsThatAreKilled_doNotGoOn() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "10")
                _ = try await harness.waitForExecutors(1)
                let script = "sleep 657; touch \(harness.directory)/next"
                let nodes = (0..<10).map { "  - {id: s\($0), run: '\(script)-\($0)'}\n" }.joined()
                let graph = try harness.write("scripts.yaml", "group:\n\(nodes)")
                for _ in 0..<4 {
                    let id = try await harness.aop("submit", graph, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                    try await eventually("all run", last: { "\(harness.processes())" }) {
                        harness.processes(with: "sleep 657").values.count { $0.hasPrefix("sleep") } == 10
                    }
                    #expect(try await harness.aop("cancel", id, "--now", "--wait").status == 4)
                }
                let begun = try FileManager.default.contentsOfDirectory(atPath: harness.directory).filter { $0.hasPrefix("next-") }
                #expect(begun == [])
            }
        }

        @Test func swiftOperationThatIgnoresIt_keepsItsLockUntilItsProcessIsGone() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let (executor, log) = (try #require(try await harness.waitForExecutors(1).first), "\(harness.directory)/log")
                let deaf = Emit(.init(text: "deaf", log: log, until: "\(harness.directory)/never", lingers: "\(harness.directory)/never"))
                let next = Emit("next", log: log)
                deaf.grace = .milliseconds(300)
                for operation in [deaf, next] { operation.exclusive("key") }
                let first = try await cluster.submit(deaf)
                try await eventually("it runs") { harness.lines(of: "log") == ["+deaf"] }
                let second = try await cluster.submit(next)
                deaf.cancel()
                #expect(deaf.isCancelled && deaf.outcome == nil)
                try await eventually("the next one begins") { harness.lines(of: "log").contains("+next") }
                #expect(kill(executor, 0) == -1 && errno == ESRCH, "the body of the first one could still run")
                #expect(try await second.outcome().isSuccess)
                _ = try await first.outcome()
                #expect(deaf.outcome?.isCancelled == true)
                #expect(!harness.lines(of: "log").contains("-deaf"))
                await cluster.close()
            }
        }
    }
}
