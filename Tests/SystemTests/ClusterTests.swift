import Foundation
import GRDB
import Testing

extension SystemTests {
    /// `aop coordinator`, `aop worker` and `aop submit` as separate processes, some of which die.
    @Suite struct Cluster {
        @Test func coordinatorTwoWorkersAndSubmit_giveTheRightCount() async throws {
            try await ProcessHarness.with { harness in
                _ = harness.startWorker("--slots", "2")
                let coordinator = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2")
                _ = try await harness.waitForExecutors(2)
                let texts = "\(harness.directory)/texts"
                try FileManager.default.createDirectory(atPath: texts, withIntermediateDirectories: true)
                for number in 0..<5 { _ = try harness.write("texts/\(number)", String(repeating: "word ", count: 10 + number)) }
                let graph = try harness.write("word-count.yaml", Graphs.wordCount)
                let finished = try await harness.aop("submit", graph, "--set", "dir=\(texts)", "--wait", "-o", "json")
                #expect(finished.status == 0, "\(finished)")
                #expect(try JSON(parsing: finished.text)["value"][2] == 60)
                try await coordinator.send(SIGTERM)
                #expect(try await coordinator.finish().status == 0)
            }
        }

        @Test func kill9OfAnExecutor_thenOfAWorker_stillGivesTheRightAnswer() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let first = harness.startWorker("--processes", "2", "--slots", "2")
                _ = try await harness.waitForExecutors(2)
                let second = harness.startWorker("--slots", "2")
                let executors = try await harness.waitForExecutors(3)
                _ = second
                let graph = try harness.write("started.yaml", Graphs.started(60, file: "\(harness.directory)/lines", moment: "0.1"))
                let submit = harness.startAOP("submit", graph, "--wait", "-o", "json")
                try await eventually("some operations have started") { harness.lines(of: "lines").count >= 8 }
                kill(executors[0], SIGKILL)
                try await eventually("work goes on") { harness.lines(of: "lines").count >= 20 }
                let worker = try await first.pid()
                let commandsOfFirst = descendants(of: worker)
                kill(worker, SIGKILL)
                try await eventually("no command of the dead worker is left") { commandsOfFirst.allSatisfy { !isAlive($0) } }
                let finished = try await submit.finish()
                #expect(finished.status == 0, "\(finished)")
                let result = try JSON(parsing: finished.text)
                #expect(result["counts"]["succeeded"] == 60)
                #expect(result["value"][0].elements == (0..<60).map { JSON.number(Double($0 * 2)) })
            }
        }

        /// Cleaners of temporary files do that to a worker that was idle for long.
        @Test func aTemporaryDirectoryThatIsRemoved_isMadeAgain_alsoForAnotherExecutor() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker()
                var executors = try await harness.waitForExecutors(1)
                let graph = try harness.write("here.yaml", "group:\n  - {id: a, run: 'touch file && ls'}\n")
                for isKilled in [false, true] {
                    for name in try FileManager.default.contentsOfDirectory(atPath: harness.temporary) where name.hasPrefix("aop-worker-") {
                        try FileManager.default.removeItem(atPath: "\(harness.temporary)/\(name)")
                    }
                    if isKilled {
                        let before = executors
                        kill(before[0], SIGKILL)
                        executors = try await eventually("another executor is there") {
                            let now = try await harness.waitForExecutors(1)
                            return now == before ? nil : now
                        }
                    }
                    let finished = try await harness.aop("submit", graph, "--wait")
                    #expect(finished.status == 0, "\(finished)")
                }
            }
        }

        @Test func kill9OfTheCoordinator_disturbsNoWork_oneStartPerOperation() async throws {
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                _ = harness.startWorker("--processes", "2", "--slots", "2")
                _ = try await harness.waitForExecutors(2)
                let graph = try harness.write("started.yaml", Graphs.started(40, file: "\(harness.directory)/lines"))
                let submit = harness.startAOP("submit", graph, "--wait", "-o", "json")
                try await eventually("some operations have started") { harness.lines(of: "lines").count >= 6 }
                try await first.send(SIGKILL)
                #expect(try await first.finish().status == 137)
                let second = try await harness.startCoordinator()
                try await eventually("work goes on") { harness.lines(of: "lines").count >= 20 }
                try await second.send(SIGKILL)
                _ = try await second.finish()
                _ = try await harness.startCoordinator()
                let finished = try await submit.finish()
                #expect(finished.status == 0, "\(finished)")
                let result = try JSON(parsing: finished.text)
                #expect(result["value"][0].elements == (0..<40).map { JSON.number(Double($0 * 2)) })
                #expect(harness.lines(of: "lines").count == 40)
                #expect(Set(harness.lines(of: "lines")).count == 40)
            }
        }

        /// As when who reads its log has gone.
        @Test func coordinatorWithoutHTTP_outlivesABrokenPipe() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator("--no-http")
                try await coordinator.send(SIGPIPE)
                #expect(try await harness.aop("list").status == 0)
                try await coordinator.send(SIGTERM)
                #expect(try await coordinator.finish().status == 0)
            }
        }

        @Test func ctrlCOfSubmitWait_saysThatTheWorkGoesOn() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker()
                let graph = try harness.write("slow.yaml", "group:\n  - run: touch '\(harness.directory)/started'; sleep 1; echo done\n")
                let submit = harness.startAOP("submit", graph, "--wait")
                try await eventually("the command runs") { FileManager.default.fileExists(atPath: "\(harness.directory)/started") }
                try await submit.send(SIGINT)
                let interrupted = try await submit.finish()
                #expect(interrupted.status == 130, "\(interrupted)")
                #expect(interrupted.stderr.contains("the work goes on"))
                #expect(interrupted.stderr.contains("`aop watch ") && interrupted.stderr.contains("`aop wait "), "\(interrupted)")
                let waited = try await harness.aop("wait", "last", "-o", "json")
                #expect(waited.status == 0, "\(waited)")
                #expect(try JSON(parsing: waited.text)["value"] == ["done"])
            }
        }

        /// Another process holds its journal's lock.
        @Test(arguments: [
            ([], "whether it was accepted is not known: `aop list` shows it if it was"),
            (["--key", "one"], "submit it again with the same --key, and it runs once"),
        ])
        func submitThatIsNotAnswered_saysSo_andWhatIsNotKnownWhenItIsInterrupted(_ key: [String], remedy: String) async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let graph = try harness.write("one.yaml", "group:\n  - run: echo once\n")
                var configuration = GRDB.Configuration()
                configuration.allowsUnsafeTransactions = true
                let journal = try DatabaseQueue(path: "\(harness.directory)/data/journal.sqlite", configuration: configuration)
                try await journal.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
                let submit = harness.start(BuiltProducts.aop, ["submit", graph, "--coordinator", harness.endpoint] + key)
                try await eventually("it says that nobody answers", last: { submit.stderr }) {
                    submit.stderr.contains("the coordinator does not answer; trying again")
                }
                try await submit.send(SIGINT)
                #expect(try await submit.finish().status == 130)
                #expect(submit.stderr.contains(remedy), "\(submit.stderr)")
                try await journal.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            }
        }

        @Test func deadlineOfSubmit_endsTheWork_exit3() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let graph = try harness.write("long.yaml", "group:\n  - run: sleep 600\n")
                let submit = try await harness.aop("submit", graph, "--wait", "--deadline", "300ms", "-o", "json")
                #expect(submit.status == 3, "\(submit)")
                #expect(try JSON(parsing: submit.text)["errors"][0]["code"] == "deadline")
                #expect(try await harness.aop("submit", graph, "--deadline", "soon").status == 64)
            }
        }

        @Test func timeoutOfSubmitWait_exits124_andTheWorkGoesOn() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let graph = try harness.write("waits.yaml", "group:\n  - run: echo later\n")
                let submit = try await harness.aop("submit", graph, "--wait", "--timeout", "500ms")
                #expect(submit.status == 124, "\(submit)")
                #expect(submit.stderr.contains("the work goes on"))
                _ = harness.startWorker()
                let waited = try await harness.aop("wait", "last", "-o", "quiet")
                #expect(waited.status == 0)
            }
        }

        @Test func sameKeyAndGraph_isOneSubmission() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let graph = try harness.write("one.yaml", "group:\n  - run: echo once\n")
                let first = try await harness.aop("submit", graph, "--key", "nightly", "-o", "quiet")
                let second = try await harness.aop("submit", graph, "--key", "nightly", "-o", "quiet")
                #expect(first.status == 0, "\(first)")
                #expect(first.text == second.text)
                // Programs are told as people are.
                let told = try await harness.aop("submit", graph, "--key", "nightly")
                #expect(told.stderr.contains("the key was used before: this is submission"), "\(told)")
                let id = JSON.string(first.text.trimmingCharacters(in: .newlines))
                for (key, isExisting) in [("nightly", true), ("daily", false)] {
                    let known = try JSON(parsing: try await harness.aop("submit", graph, "--key", key, "-o", "json").text)
                    #expect(known["existing"] == .bool(isExisting) && (known["id"] == id) == isExisting, "\(known)")
                }
                _ = harness.startWorker()
                for (key, isExisting) in [("nightly", true), ("weekly", false)] {
                    let waited = try JSON(parsing: try await harness.aop("submit", graph, "--key", key, "--wait", "-o", "json").text)
                    #expect(waited["existing"] == .bool(isExisting) && waited["value"] == ["once"], "\(waited)")
                }
                let listed = try JSON(parsing: try await harness.aop("list", "-o", "json").text)
                #expect(listed["submissions"].elements.count == 3)
            }
        }

        @Test func usersOwnWorker_runsItsOwnOperations() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let text = try harness.write("text.txt", "eight words are in this text of words")
                let graph = try harness.write(
                    "own.yaml",
                    """
                    ordered:
                      - {id: read, op: ReadText, with: {path: "\(text)"}}
                      - {id: count, op: CountWords, with: {minimumLength: 3}, receives: read}

                    """)
                let refused = try await harness.aop("submit", graph)
                #expect(refused.status == 6, "\(refused)")
                #expect(refused.stderr.contains("own.yaml:2:"))
                let waiting = try await harness.aop("submit", graph, "--wait-for-workers", "-o", "quiet")
                #expect(waiting.status == 0, "\(waiting)")
                _ = harness.start(BuiltProducts.textWorker, ["--connect", harness.endpoint])
                let finished = try await harness.aop("wait", "last", "-o", "json")
                #expect(finished.status == 0, "\(finished)")
                #expect(try JSON(parsing: finished.text)["value"][1] == 6)
                let misspelled = try harness.write(
                    "misspelled.yaml",
                    """
                    ordered:
                      - {id: read, op: ReadText, with: {pth: "\(text)"}}
                      - {id: count, op: CountWords, with: {minimumLength: three}, receives: read}

                    """)
                let unreadable = try await harness.aop("submit", misspelled)
                #expect(unreadable.status == 6, "\(unreadable)")
                #expect(unreadable.stderr.contains("`ReadText` cannot read: `path` is missing"))
                #expect(unreadable.stderr.contains("`CountWords` cannot read: `minimumLength` is text, not an integer"))
            }
        }

        @Test func diskWithoutRoom_admitsNothingNew_andSaysWhatToDo() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator("--disk-reserve", "\(1 << 60)")
                let graph = try harness.write("small.yaml", "group:\n  - {id: a, exec: [\"true\"]}\n")
                let busy = try await harness.aop("submit", graph)
                #expect(busy.status == 75, "\(busy)")
                #expect(busy.stderr.contains("less than its reserve"))
                #expect(busy.stderr.contains("--disk-reserve"))
            }
        }

        @Test func graphLargerThanAMessageMayCarryInline_isSubmittedWhole() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let padding = String(repeating: "x", count: 6000)
                let nodes = (0..<300).map { "  - {id: n\($0), op: noop, with: {}, env: {}}\n".replacing(", env: {}", with: "") }
                // Comments do not travel: the size must be in the graph itself.
                let large = (0..<300).map {
                    "  - {id: big\($0), op: writeFile, with: {path: /dev/null/\(padding)\($0)}, receives: n\($0), whenReceivedFails: run}\n"
                }
                let graph = try harness.write("large.yaml", "group:\n" + nodes.joined() + large.joined())
                let submitted = try await harness.aop("submit", graph, "-o", "json")
                #expect(submitted.status == 0, "\(submitted)")
                let listed = try JSON(parsing: try await harness.aop("list", "-o", "json").text)
                #expect(listed["submissions"][0]["counts"]["total"] == 600)
            }
        }

        @Test func offLoopback_isRefusedWithExit77() async throws {
            try await ProcessHarness.with { harness in
                let refused = try await harness.aop("coordinator", "--listen", "tcp://0.0.0.0:7600", "--data", "\(harness.directory)/data")
                #expect(refused.status == 77, "\(refused)")
                #expect(refused.stderr.contains("run `aop keys init`"))
            }
        }

        @Test func standardTCPConnection_usesTheCookie() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = harness.startAOP(
                    "coordinator", "--listen", "tcp://127.0.0.1:0", "--http", "127.0.0.1:0", "--data", "\(harness.directory)/data")
                let line: String = try await eventually("the coordinator listens") {
                    coordinator.stdout.split(separator: "\n").first.map(String.init)
                }
                let address = try #require(line.split(separator: " ").last.map(String.init))
                #expect(address.hasPrefix("tcp://127.0.0.1:"))
                let mine = try await harness.aop("list", "--coordinator", address)
                #expect(mine.status == 0, "\(mine)")
                let stranger = try await harness.aop(
                    "list", "--coordinator", address, "--connect-timeout", "5s",
                    environment: ["XDG_STATE_HOME": "\(harness.directory)/other"])
                #expect(stranger.status == 77, "\(stranger)")
            }
        }

        @Test func noCoordinator_exits69() async throws {
            try await ProcessHarness.with { harness in
                let finished = try await harness.aop("list", "--connect-timeout", "200ms", "-o", "json")
                #expect(finished.status == 69, "\(finished)")
                #expect(try JSON(parsing: finished.stderr)["code"] == "unreachable")
                #expect(try JSON(parsing: finished.text)["error"]["code"] == "unreachable")
            }
        }

        private func isAlive(_ pid: Int32) -> Bool {
            let status = FileManager.default.contents(atPath: "/proc/\(pid)/stat") ?? Data()
            let fields = String(decoding: status, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
            return !fields.isEmpty && fields[0] != "Z"
        }

        private func descendants(of root: Int32) -> [Int32] {
            var children: [Int32: [Int32]] = [:]
            for entry in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
                guard let pid = Int32(entry), let stat = FileManager.default.contents(atPath: "/proc/\(pid)/stat") else { continue }
                let fields = String(decoding: stat, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
                if fields.count > 1, let parent = Int32(fields[1]) { children[parent, default: []].append(pid) }
            }
            var found: [Int32] = []
            var open = [root]
            while let next = open.popLast() {
                let below = children[next] ?? []
                found += below
                open += below
            }
            return found
        }
    }
}
