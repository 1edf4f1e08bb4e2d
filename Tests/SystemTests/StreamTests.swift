import AOperation
import Cluster
import Foundation
import Testing
import TrialOperations
import Wire

extension SystemTests {
    /// What operations send while they run.
    @Suite(.timeLimit(.minutes(4))) struct Streams {
        private func drip(_ harness: ProcessHarness, _ count: Int, stopAfter: Int? = nil) -> Drip {
            Drip(
                .init(
                    count: count, log: "\(harness.directory)/log", stopAfter: stopAfter, until: "\(harness.directory)/go"))
        }

        @Test func progress_reachesTheMirror_andIsShown() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let drip = drip(harness, 4, stopAfter: 2)
                let heard = CallbackLog()
                drip.observers(BlockObserver(progressHandler: { heard.note("drip", "\($1.fraction) \($1.message ?? "")") }))
                drip.add(to: cluster)
                for await progress in drip.progressUpdates where progress.fraction == 0.5 { break }
                #expect(drip.latestProgress == OperationProgress(0.5, message: "2 sent"))
                let shown = try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)
                #expect(shown["operations"][0]["progress"]["fraction"].number == 0.5)
                #expect(shown["operations"][0]["progress"]["message"] == "2 sent")
                #expect(try await harness.aop("show", "last").text.contains("50 %: 2 sent"))
                _ = try harness.write("go", "")
                #expect(try await drip.value(on: cluster) == 4)
                #expect(drip.latestProgress == OperationProgress(1, message: "4 sent"))
                #expect(heard.byName["drip"]?.last == "1.0 4 sent")
                let ended = try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)
                #expect(ended["operations"][0]["progress"] == .null)
                await cluster.close()
            }
        }

        /// What a reader is told, as text.
        private func read(_ events: RemotePartialResultEvents<String>) async throws -> [String] {
            var told: [String] = []
            for try await event in events {
                let line =
                    switch event {
                    case .element(let element, let attempt, let index): "\(attempt)/\(index) \(element)"
                    case .restarted(let attempt): "restarted \(attempt)"
                    case .missed(let count): "missed \(count)"
                    }
                told.append(line)
            }
            return told
        }

        @Test func workerKilledInTheMiddle_readerIsTold_andEndsWithTheElementsOfOneAttempt() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let drip = drip(harness, 5, stopAfter: 3)
                var isKilled = false
                var told: [String] = []
                for try await event in drip.partialResultEvents(on: cluster) {
                    switch event {
                    case .element(let element, let attempt, let index): told.append("\(attempt)/\(index) \(element)")
                    case .restarted(let attempt): told.append("restarted \(attempt)")
                    case .missed(let count): told.append("missed \(count)")
                    }
                    guard !isKilled, told.count == 3 else { continue }
                    isKilled = true
                    for pid in try await harness.waitForExecutors(1) { kill(pid, SIGKILL) }
                    _ = try harness.write("go", "")
                }
                #expect(
                    told == ["1/0 1.0", "1/1 1.1", "1/2 1.2", "restarted 2", "2/0 2.0", "2/1 2.1", "2/2 2.2", "2/3 2.3", "2/4 2.4"])
                #expect(drip.outcome?.value == 5)
                await cluster.close()
            }
        }

        @Test func lateReaders_ofAnyProcess_readFromTheFirstElement() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let drip = drip(harness, 5, stopAfter: 3)
                drip.add(to: cluster)
                for await progress in drip.progressUpdates where progress.fraction == 0.6 { break }
                // Nobody has read anything: it was not held back. Now two begin while it runs.
                let other = try await harness.connect()
                let submission = try await other.connection.submission("last")
                let following = harness.startAOP("result", "last/Drip", "--partial", "-f", "-o", "jsonl")
                async let remote = read(submission.partialResultEvents(of: "Drip", as: String.self))
                try await eventually("the other process has read three") { following.stdout.split(separator: "\n").count == 3 }
                _ = try harness.write("go", "")
                #expect(try await drip.value(on: cluster) == 5)
                let all = (0..<5).map { "1/\($0) 1.\($0)" }
                #expect(try await remote == all)
                // And others when it has ended: of the local object, and of another process.
                var late: [String] = []
                for try await element in drip.partialResults() { late.append(element) }
                #expect(late == (0..<5).map { "1.\($0)" })
                #expect(try await read(submission.partialResultEvents(of: "Drip", as: String.self)) == all)
                let followed = try await following.finish()
                #expect(followed.status == 0, "\(followed)")
                #expect(followed.text.split(separator: "\n").count == 5)
                let shown = try JSON(parsing: try await harness.aop("result", "last/Drip", "--partial", "-o", "json").text)
                #expect(shown["partialResults"].elements == (0..<5).map { .string("1.\($0)") })
                #expect(shown["attempt"].number == 1)
                #expect(try await harness.aop("result", "last/nothing", "--partial").status == 5)
                await other.close()
                await cluster.close()
            }
        }

        @Test func coordinatorKilledInTheMiddle_nothingIsLostOrDoubled() async throws {
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let cluster = try await harness.connect()
                let drip = drip(harness, 500, stopAfter: 250)
                drip.add(to: cluster)
                var read: [String] = []
                for try await element in drip.partialResults() {
                    read.append(element)
                    guard read.count == 200 else { continue }
                    try await first.send(SIGKILL)
                    _ = try await first.finish()
                    _ = try harness.write("go", "")
                    // It sends on while nobody is there.
                    try await eventually("it has sent all") { harness.lines(of: "log").contains("-drip") }
                    _ = try await harness.startCoordinator()
                }
                #expect(read == (0..<500).map { "1.\($0)" })
                #expect(drip.outcome?.value == 500)
                #expect(harness.lines(of: "log") == ["+drip", "-drip"])
                await cluster.close()
            }
        }

        @Test func fullSpool_holdsTheOperationBack_saysWhy_andGoesOnWhenThereIsRoom() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator("--partial-result-bytes", "100000")
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let cluster = try await harness.connect()
                func drip(_ count: Int, _ name: String) -> Drip {
                    let drip = Drip(.init(count: count, log: "\(harness.directory)/\(name)", padding: 9_000))
                    drip.name = name
                    return drip
                }
                // Takes most of the room, and has not ended when the next one wants more.
                let first = Drip(
                    .init(count: 8, log: "\(harness.directory)/first", padding: 9_000))
                let holder = GroupOperation(first, Emit("hold", until: "\(harness.directory)/end"))
                holder.add(to: cluster)
                for await progress in first.progressUpdates where progress.fraction == 1 { break }
                let second = drip(8, "second")
                second.add(to: cluster)
                try await eventually("it is said why it is held back") {
                    try await harness.aop("show", "last").text.contains("held back: the coordinator's spool of partial results is full")
                }
                let shown = try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)
                #expect(shown["operations"][0]["waiting"]["kind"] == "partialResults")
                #expect(!second.isFinished)
                _ = try harness.write("end", "")
                var read = 0
                for try await _ in second.partialResults() { read += 1 }
                #expect(read == 8)
                #expect(second.outcome?.value == 8)
                // The elements of the one that had ended have given way, and its late reader is told so.
                await #expect(throws: AOperationError.self) { for try await _ in first.partialResults() {} }
                // One that never fits can be cancelled.
                let large = drip(20, "large")
                large.add(to: cluster)
                try await eventually("it is held back") {
                    try await harness.aop("show", "last").text.contains("held back")
                }
                large.cancel()
                try await eventually("it is cancelled there") {
                    try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["operations"][0]["state"].string
                        == "cancelled"
                }
                await cluster.close()
            }
        }

        @Test func elementThatIsTooLarge_failsTheOperation_behindThoseBefore() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let drip = Drip(.init(count: 3, log: "\(harness.directory)/log", padding: Limits.partialResultBytes))
                var read = 0
                do {
                    for try await _ in drip.partialResults(on: cluster) { read += 1 }
                    Issue.record("it has succeeded")
                } catch {
                    #expect(error.localizedDescription.contains("(partialResultBytes)"), "\(error)")
                }
                #expect(read == 0)
                await cluster.close()
            }
        }

        @Test func readerThatLeaves_cancelsTheOperation_there() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let drip = drip(harness, 5, stopAfter: 2)
                for try await element in drip.partialResults(on: cluster) where element == "1.1" { break }
                try await eventually("it is cancelled here") { drip.outcome?.isCancelled == true }
                try await eventually("it is cancelled there") {
                    try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["operations"][0]["state"].string
                        == "cancelled"
                }
                await cluster.close()
            }
        }

        @Test func lateReaderOfLogs_readsFromTheFirstLine_andAFollowerIsTold() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker()
                let graph = try harness.write(
                    "graph.yaml",
                    """
                    name: lines
                    group:
                      - id: talk
                        run: for i in 1 2 3; do echo "line $i"; done; while ! test -e '\(harness.directory)/go'; do sleep 0.02; done; echo last
                      - id: other
                        run: while ! test -e '\(harness.directory)/end'; do sleep 0.02; done

                    """)
                let submitted = try await harness.aop("submit", graph, "-o", "quiet")
                #expect(submitted.status == 0, "\(submitted)")
                let whole = harness.startAOP("logs", "last", "-f")
                let one = harness.startAOP("logs", "last/talk", "-f")
                for follower in [whole, one] {
                    try await eventually("the first lines are there") { follower.stdout.contains("line 3") }
                }
                _ = try harness.write("go", "")
                try await eventually("more is told") { whole.stdout.contains("last") }
                // It ends with its operation, not with the submission.
                #expect(try await one.finish().text == "line 1\nline 2\nline 3\nlast\n")
                let late = try await harness.aop("logs", "last/talk")
                #expect(late.text == "line 1\nline 2\nline 3\nlast\n")
                _ = try harness.write("end", "")
                #expect(try await whole.finish().text == ["line 1", "line 2", "line 3", "last"].map { "talk: \($0)\n" }.joined())
            }
        }

        @Test func linesOfSwiftOperations_areOutput_ofAStreamOfTheirOwn() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                let graph = try harness.write(
                    "graph.yaml",
                    """
                    name: lines
                    group:
                      - id: talk
                        op: Emit
                        with: {text: line, says: 2}

                    """)
                let ended = try await harness.aop("submit", graph, "--wait", "--wait-for-workers", "-o", "quiet")
                #expect(ended.status == 0, "\(ended)")
                #expect(try await harness.aop("logs", "last/talk").text == "line 1\nline 2\n")
                let records = try await harness.aop("logs", "last", "-o", "jsonl").text
                #expect(records.contains(#""stream":"log""#), "\(records)")
            }
        }

        @Test func progress_isSaidAgain_toACoordinatorThatHasRestarted() async throws {
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let cluster = try await harness.connect()
                let drip = drip(harness, 4, stopAfter: 3)
                drip.add(to: cluster)
                for await progress in drip.progressUpdates where progress.fraction == 0.75 { break }
                try await first.send(SIGKILL)
                _ = try await first.finish()
                _ = try await harness.startCoordinator()
                try await eventually("the new coordinator knows it") {
                    let shown = try await harness.aop("show", "last", "-o", "json")
                    guard shown.status == 0 else { return false }
                    return try JSON(parsing: shown.text)["operations"][0]["progress"]["fraction"].number == 0.75
                }
                _ = try harness.write("go", "")
                #expect(try await drip.value(on: cluster) == 4)
                await cluster.close()
            }
        }
    }
}
