import Foundation
import Testing

extension SystemTests {
    /// What is shown of work: shapes that scripts rely on.
    @Suite struct Inspection {
        static let resultKeys: Set<String> = ["schema", "id", "name", "state", "counts", "duration", "value", "errors"]

        @Test func jsonShapes_areStable() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker()
                let graph = try harness.write("failing.yaml", Graphs.failing)
                let detached = try await harness.aop("submit", graph, "-o", "json", "--name", "named")
                #expect(detached.status == 0, "\(detached)")
                let submitted = try JSON(parsing: detached.text)
                #expect(submitted.keys == ["schema", "id", "existing"] && submitted["existing"].bool == false)
                let id = try #require(submitted["id"].string)

                let waited = try await harness.aop("wait", id, "-o", "json")
                #expect(waited.status == 2)
                let outcome = try JSON(parsing: waited.text)
                #expect(outcome.keys == Self.resultKeys)
                #expect(outcome["schema"] == 1)
                #expect(outcome["id"] == .string(id))
                #expect(outcome["name"] == "named")
                #expect(outcome["counts"].keys == ["total", "succeeded", "failed", "cancelled", "running", "pending"])
                #expect(
                    outcome["errors"][0].keys
                        == ["path", "origin", "code", "state", "publisher", "message", "exitCode", "stderr", "host"])

                let result = try await harness.aop("result", id, "-o", "json")
                #expect(result.status == 2)
                #expect(try JSON(parsing: result.text).keys == Self.resultKeys)

                let both = try await harness.aop("wait", id, id, "-o", "json")
                #expect(both.status == 2)
                #expect(try JSON(parsing: both.text)["submissions"].elements.count == 2)

                let shown = try JSON(parsing: try await harness.aop("show", id, "-o", "json").text)
                #expect(shown.keys == Self.resultKeys.union(["submittedAt", "finishedAt", "principal", "cancelReason", "operations"]))
                #expect(
                    shown["operations"][0].keys
                        == [
                            "path", "type", "state", "attempts", "worker", "queuedAt", "startedAt", "finishedAt", "errors", "locks",
                            "retryAt", "lastError", "atMostOnce", "priority", "crashes", "crashLimit", "conditions", "waiting", "uniqueId",
                            "joinedTo", "hosted",
                            "added", "producedBy", "progress", "history", "earlierAttempts",
                        ])
                #expect(shown["operations"].elements.map { $0["path"] } == ["good", "bad"])
                #expect(shown["submittedAt"].string?.hasSuffix("Z") == true)
                let failed = try JSON(parsing: try await harness.aop("show", id, "--operations", "failed", "-o", "json").text)
                #expect(failed["operations"].elements.map { $0["path"] } == ["bad"])

                let listed = try JSON(parsing: try await harness.aop("list", "-o", "json").text)
                #expect(listed["submissions"][0].keys == ["id", "name", "state", "counts", "submittedAt", "duration"])

                let workers = try JSON(parsing: try await harness.aop("workers", "-o", "json").text)
                #expect(
                    workers["workers"][0].keys
                        == [
                            "id", "host", "pid", "state", "slots", "running", "operations", "labels", "resources", "lastHeard", "version",
                            "name", "drain", "clockOffset",
                        ])
            }
        }

        @Test func resultOfAnOperation_ofAGroup_andOfNothing() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker()
                let graph = try harness.write("nested.yaml", Graphs.nested)
                let id = try await harness.aop("submit", graph, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                #expect(try await harness.aop("wait", id, "-o", "quiet").status == 0)

                let one = try await harness.aop("result", "\(id)/letters/a")
                #expect(one.text == "A\n", "\(one)")
                let bytes = try await harness.aop("result", "\(id)/letters/c")
                #expect(bytes.text == "hi")
                let group = try JSON(parsing: try await harness.aop("result", "\(id)/letters", "-o", "json").text)
                #expect(group.keys == ["schema", "id", "path", "state", "value", "errors"])
                #expect(group["path"] == "letters")
                #expect(group["value"] == ["A", .object(["x": 1]), "aGk=", .null])
                // A prefix of the id is as good as the id, and so is `last`.
                #expect(try await harness.aop("result", "\(id.prefix(4))/letters/a").text == "A\n")
                #expect(try await harness.aop("result", "last/letters/a").text == "A\n")

                let none = try await harness.aop("result", "\(id)/letters/z")
                #expect(none.status == 5, "\(none)")
                let nobody = try await harness.aop("show", "zzzz", "-o", "json")
                #expect(nobody.status == 5)
                #expect(try JSON(parsing: nobody.stderr)["code"] == "notFound")
            }
        }

        @Test func logs_showWhatCommandsWrote() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker()
                let graph = try harness.write(
                    "talk.yaml", "ordered:\n  - {id: a, run: echo out of a; echo err of a >&2}\n  - {id: b, run: echo out of b}\n")
                let id = try await harness.aop("submit", graph, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                let followed = try await harness.aop("logs", id, "-f")
                #expect(followed.status == 0, "\(followed)")
                #expect(followed.text.contains("a: out of a\n"))
                #expect(followed.text.contains("a: err of a\n"))
                #expect(followed.text.contains("b: out of b\n"))
                let one = try await harness.aop("logs", "\(id)/b")
                #expect(one.text == "out of b\n")
                let json = try JSON(parsing: try await harness.aop("logs", "\(id)/b", "-o", "json").text)
                #expect(json["records"][0].keys == ["path", "attempt", "stream", "at", "text", "truncated"])
                #expect(json["records"][0]["stream"] == "stdout")
            }
        }

        @Test func cancel_ofASubmission_endsItsCommands() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker()
                let graph = try harness.write(
                    "long.yaml",
                    "group:\n  - {id: long, run: touch '\(harness.directory)/started'; sleep 600}\n  - {id: quick, run: echo quick}\n")
                let id = try await harness.aop("submit", graph, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                try await eventually("the command runs") { FileManager.default.fileExists(atPath: "\(harness.directory)/started") }
                let cancelled = try await harness.aop("cancel", id, "--reason", "test", "--wait")
                #expect(cancelled.status == 4, "\(cancelled)")
                #expect(harness.processes(with: "sleep 600").isEmpty)
                let waited = try await harness.aop("wait", id)
                #expect(waited.status == 4)
                let again = try await harness.aop("cancel", id)
                #expect(again.status == 0)
                #expect(again.text.contains("already ended"))
            }
        }

        @Test func cancel_ofOneOperation_leavesTheOthers() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker()
                let graph = try harness.write(
                    "two.yaml",
                    "group:\n  - {id: long, run: touch '\(harness.directory)/started'; sleep 600}\n  - {id: quick, run: echo quick}\n")
                let id = try await harness.aop("submit", graph, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                try await eventually("the command runs") { FileManager.default.fileExists(atPath: "\(harness.directory)/started") }
                let cancelled = try await harness.aop("cancel", "\(id)/long", "--wait")
                #expect(cancelled.status == 4, "\(cancelled)")
                let waited = try await harness.aop("wait", id, "-o", "json")
                let outcome = try JSON(parsing: waited.text)
                // A group is cancelled only if it was cancelled itself; a cancelled child makes it fail.
                #expect(outcome["state"] == "failed")
                #expect(outcome["counts"]["cancelled"] == 1)
                #expect(outcome["value"] == [.null, "quick"])
                #expect(waited.status == 2)
            }
        }

        /// Why a command failed is said at its end.
        @Test func logs_haveTheEnd_ofWhatIsTooLongToBeKept() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker()
                let graph = try harness.write(
                    "long.yaml", "group: [{id: a, run: 'echo begin; yes 0123456789abcde | head -c 3200000; echo the cause; exit 1'}]\n")
                _ = try await harness.aop("submit", graph, "--wait")
                let whole = try await harness.aop("logs", "last/a").text
                #expect(whole.hasPrefix("begin\n0123456789abcde\n") && whole.hasSuffix("\n0123456789abcde\nthe cause\n"))
                let gap = whole.split(separator: "\n").filter { $0.hasPrefix("[") }
                let missing = gap.first.flatMap { $0.dropFirst().split(separator: " ").first }.flatMap { Int($0) } ?? 0
                #expect(gap.count == 1 && gap[0].contains(" bytes of stdout are missing here"), "\(gap)")
                let kept = whole.utf8.count - (gap.first?.utf8.count ?? 0)
                // The line stands for itself, with its own line break and the one before it.
                #expect(abs(kept + missing - 3_200_016) <= 2, "\(kept) and \(missing)")
                let records = try JSON(parsing: try await harness.aop("logs", "last/a", "-o", "json").text)["records"].elements
                #expect(records.count { $0["truncated"].bool == true } == 1)
            }
        }

        /// What was on its way is sent again: each line is there once.
        @Test func logs_haveEveryLine_whenTheCoordinatorIsKilledTwice() async throws {
            try await ProcessHarness.with { harness in
                var coordinator = try await harness.startCoordinator()
                _ = harness.startWorker()
                _ = try await harness.waitForExecutors(1)
                let file = "\(harness.directory)/printed"
                let graph = try harness.write(
                    "count.yaml",
                    "group: [{id: a, run: 'for i in $(seq 600); do echo line $i; echo $i >> \(file); sleep 0.01; done'}]\n")
                let submit = try await harness.aop("submit", graph, "-o", "quiet")
                #expect(submit.status == 0, "\(submit)")
                for count in [100, 300] {
                    try await eventually("\(count) lines are printed") { harness.lines(of: "printed").count >= count }
                    // What it does not read any more is in no process, and lost with the connection.
                    try await coordinator.send(SIGSTOP)
                    try await eventually("more lines are printed") { harness.lines(of: "printed").count >= count + 100 }
                    try await coordinator.send(SIGKILL)
                    _ = try await coordinator.finish()
                    coordinator = try await harness.startCoordinator()
                }
                let waited = try await harness.aop("wait", "last")
                #expect(waited.status == 0, "\(waited)")
                let printed = try await harness.aop("logs", "last/a").text
                #expect(printed == (1...600).map { "line \($0)\n" }.joined())
                let records = try JSON(parsing: try await harness.aop("logs", "last/a", "-o", "json").text)["records"].elements
                #expect(records.allSatisfy { $0["attempt"] == 1 && $0["truncated"].bool == false })
            }
        }

        @Test func submitCheck_submitsNothing() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker()
                _ = try await harness.waitForExecutors(1)
                let good = try harness.write("good.yaml", "group:\n  - run: echo hi\n")
                let checked = try await harness.aop("submit", good, "--check")
                #expect(checked.status == 0, "\(checked)")
                let planned = try JSON(parsing: try await harness.aop("check", good, "--plan", "-o", "json").text)
                #expect(planned["plan"][0]["workers"].elements.count == 1)
                let picky = try harness.write(
                    "picky.yaml", "group:\n  - {run: echo hi, requires: {label: fast, gpus: 2}}\n")
                let needs = JSON.object(["labels": ["fast"], "resources": .object(["gpus": 2])])
                let offline = try JSON(
                    parsing: try await harness.aop(
                        "check", picky, "--plan", "-o", "json", environment: ["AOP_COORDINATOR": ""]
                    ).text)
                #expect(offline["plan"][0]["needs"] == needs && offline["plan"][0]["workers"] == .null, "\(offline)")
                let table = try await harness.aop("check", picky, "--plan", environment: ["AOP_COORDINATOR": ""])
                #expect(table.text.contains("fast gpus=2"), "\(table)")
                let wrong = try harness.write("unknown.yaml", "group:\n  - op: NoSuchOperation\n")
                #expect(try await harness.aop("check", wrong).status == 6)
                let listed = try JSON(parsing: try await harness.aop("list", "-o", "json").text)
                #expect(listed["submissions"].elements.isEmpty)
            }
        }

        @Test(arguments: [
            ["lst"], ["submit"], ["run", "x.yaml", "--workers", "0"], ["show"], ["wait"], ["list", "--connect-timeout", "soon"],
        ])
        func wrongUsage_exits64(_ arguments: [String]) async throws {
            try await ProcessHarness.with { harness in
                let finished = try await harness.start(BuiltProducts.aop, arguments).finish()
                #expect(finished.status == 64, "\(finished)")
                #expect(finished.stderr.contains("Usage"))
            }
        }

        @Test(arguments: [
            "run", "dev", "coordinator", "worker", "submit", "check", "list", "show", "explain", "graph", "timeline", "events", "watch",
            "wait", "result", "logs", "cancel", "retry", "pause", "resume", "workers", "locks", "keys", "bench", "doctor",
        ]) func everyCommand_hasHelpWithAnExample(_ command: String) async throws {
            try await ProcessHarness.with { harness in
                let finished = try await harness.aop(command, "--help")
                #expect(finished.status == 0)
                #expect(finished.text.contains("aop \(command)"))
                #expect(finished.text.contains("Example"), "\(finished)")
            }
        }

        @Test func help_offersTheCommandsOfThisRelease_only() async throws {
            try await ProcessHarness.with { harness in
                let help = try await harness.aop("--help").text
                let offered = help.split(separator: "\n").drop { $0 != "SUBCOMMANDS:" }.compactMap { line -> String? in
                    guard line.hasPrefix("  "), !line.hasPrefix("   "), !line.contains("See 'aop") else { return nil }
                    return line.split(separator: " ").first.map(String.init)
                }
                #expect(
                    Set(offered) == [
                        "run", "dev", "coordinator", "worker", "submit", "check", "list", "show", "explain", "watch", "wait", "result",
                        "logs", "cancel", "retry", "pause", "resume", "workers", "locks", "keys", "config", "doctor", "journal", "bench",
                        "graph", "timeline", "events",
                    ])
            }
        }
    }
}
