import Foundation
import Testing

extension SystemTests {
    /// `aop watch ID` and `aop submit FILE --watch`.
    @Suite struct Watch {
        /// Operations that each wait until the test lets them go on.
        private func gated(_ harness: ProcessHarness, count: Int = 3) throws -> String {
            let nodes = (0..<count).map { number in
                "  - {id: op\(number), run: 'touch begun\(number); until [ -e \"$GO/go\(number)\" ]; do sleep 0.05; done; [ ! -e \"$GO/bad\(number)\" ]'}\n"
                    .replacing("$GO", with: harness.directory)
                    .replacing("begun", with: "\(harness.directory)/begun")
            }
            return try harness.write("gated.yaml", "name: gated\ngroup:\n" + nodes.joined())
        }

        private func begun(_ harness: ProcessHarness, _ count: Int = 3) async throws {
            try await eventually("all have begun") {
                (0..<count).allSatisfy { FileManager.default.fileExists(atPath: "\(harness.directory)/begun\($0)") }
            }
        }

        private func letGo(_ harness: ProcessHarness, _ number: Int, fails: Bool = false) throws {
            if fails { _ = try harness.write("bad\(number)", "") }
            _ = try harness.write("go\(number)", "")
        }

        private func start(_ harness: ProcessHarness) async throws -> String {
            _ = try await harness.startCoordinator()
            _ = harness.startWorker("--slots", "4")
            let id = try await harness.aop("submit", try gated(harness), "-o", "quiet").text.trimmingCharacters(in: .newlines)
            try await begun(harness)
            return id
        }

        @Test func elsewhereThanOnATerminal_aLinePerChange_fromWhatRunsToTheEnd() async throws {
            try await ProcessHarness.with { harness in
                let id = try await start(harness)
                try letGo(harness, 0, fails: true)
                try letGo(harness, 1)
                try await eventually("two have ended") {
                    try JSON(parsing: try await harness.aop("show", id, "-o", "json").text)["counts"]["running"] == 1
                }
                let watch = harness.startAOP("watch", "last")
                try await eventually("it tells what runs", last: { watch.stderr }) { watch.stderr.contains("running    op2") }
                try letGo(harness, 2)
                let ended = try await watch.finish()
                #expect(ended.status == 2, "\(ended)")
                // What had failed before is told as well, and once more at the end, with the results.
                #expect(
                    ended.stderr.split(separator: "\n").map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
                        == ["failed op0:", "running op2", "succeeded op2", "failed op0:"], "\(ended)")
                #expect(ended.text.contains("failed: 3 operations, 1 failed in "), "\(ended)")
                #expect(!ended.stderr.contains("\u{1B}") && !ended.text.contains("\u{1B}"), "\(ended)")
                let again = try await harness.aop("watch", id, "-o", "json")
                #expect(again.status == 2, "\(again)")
                #expect(try JSON(parsing: again.text)["counts"]["failed"] == 1)
            }
        }

        @Test func restartsOfTheCoordinator_loseNoChange_andTellNoneTwice() async throws {
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2")
                let graph = try harness.write("many.yaml", Graphs.started(60, file: "\(harness.directory)/lines"))
                let watch = harness.startAOP("submit", graph, "--watch", "-o", "jsonl")
                var coordinator = first
                for enough in [10, 30] {
                    try await eventually("work goes on") { harness.lines(of: "lines").count >= enough }
                    try await coordinator.send(SIGKILL)
                    _ = try await coordinator.finish()
                    // Meanwhile the worker ends what it has.
                    try await eventually("the watcher has noticed", last: { watch.stderr }) {
                        watch.stderr.components(separatedBy: "not heard").count > (enough == 10 ? 1 : 2)
                    }
                    coordinator = try await harness.startCoordinator()
                }
                let ended = try await watch.finish()
                #expect(ended.status == 0, "\(ended.stderr)")
                let values = try ended.text.split(separator: "\n").map { try JSON(parsing: String($0)) }
                #expect(values.last?["state"] == "succeeded")
                let ends = values.dropLast().filter { $0["state"] == "succeeded" }.compactMap { $0["path"].string }
                #expect(ends.sorted() == (0..<60).map { "each/\($0)" }.sorted())
                let changes = values.dropLast().map { "\($0["path"]) \($0["state"]) \($0["attempt"])" }
                #expect(Set(changes).count == changes.count, "\(changes)")
            }
        }

        /// Until its worker is back, a coordinator that has started anew does not know what it goes on with.
        @Test func workerThatComesBackBehindTheWatcher_isNoNews() async throws {
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                _ = harness.startWorker()
                let executor = try #require(try await harness.waitForExecutors(1).first)
                let watch = harness.startAOP("submit", try gated(harness, count: 1), "--watch", "-o", "jsonl")
                try await begun(harness, 1)
                try await eventually("it is told", last: { watch.stdout }) { watch.stdout.contains("running") }
                kill(executor, SIGSTOP)
                try await first.send(SIGKILL)
                _ = try await first.finish()
                try await eventually("the watcher has noticed", last: { watch.stderr }) { watch.stderr.contains("not heard") }
                _ = try await harness.startCoordinator()
                try await eventually("the watcher is back", last: { watch.stderr }) { watch.stderr.contains("the coordinator is back") }
                kill(executor, SIGCONT)
                try await eventually("the worker is back") {
                    try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["counts"]["running"] == 1
                }
                try letGo(harness, 0)
                let ended = try await watch.finish()
                #expect(ended.status == 0, "\(ended.stderr)")
                let changes = try ended.text.split(separator: "\n").dropLast().map { try JSON(parsing: String($0))["state"].string }
                #expect(changes.filter { $0 == "running" }.count == 1, "\(changes)")
                #expect(changes.last == "succeeded", "\(changes)")
            }
        }

        @Test(arguments: [SIGINT, SIGTERM]) func interrupted_exits130_saysHowToReattach_andTheWorkGoesOn(_ signal: Int32) async throws {
            try await ProcessHarness.with { harness in
                let id = try await start(harness)
                let watch = harness.startAOP("watch", id)
                try await eventually("it watches") { watch.stderr.contains("op2") }
                try await watch.send(signal)
                let ended = try await watch.finish()
                #expect(ended.status == 130, "\(ended)")
                #expect(ended.stderr.contains("the work goes on: `aop watch \(id)` shows it again"), "\(ended)")
                let over = try await harness.aop("watch", id, "--timeout", "300ms")
                #expect(over.status == 124 && over.stderr.contains("the work goes on: `aop watch \(id)`"), "\(over)")
                for number in 0..<3 { try letGo(harness, number) }
                #expect(try await harness.aop("watch", id, "-o", "quiet").status == 0)
            }
        }

        @Test func whatIsNotThere_isSaidAtOnce() async throws {
            try await ProcessHarness.with { harness in
                let nobody = try await harness.aop("watch", "last", "--connect-timeout", "200ms")
                #expect(nobody.status == 69, "\(nobody)")
                _ = try await harness.startCoordinator()
                let nothing = try await harness.aop("watch", "nonesuch")
                #expect(nothing.status == 5 && nothing.stderr.contains("nonesuch"), "\(nothing)")
                let both = try await harness.aop("submit", try gated(harness), "--watch", "--check")
                #expect(both.status == 64 && both.stderr.contains("--watch and --check"), "\(both)")
                let cancelled = try await harness.aop("submit", try gated(harness), "-o", "quiet")
                _ = try await harness.aop("cancel", "last")
                #expect(try await harness.aop("watch", cancelled.text.trimmingCharacters(in: .newlines), "-o", "quiet").status == 4)
            }
        }

        /// The whole life of a live view: bar, counts and what runs, another width, a failure above it, the end.
        @Test func onATerminal_itIsALiveView() async throws {
            try await ProcessHarness.with { harness in
                let id = try await start(harness)
                let terminal = Terminal(harness, "live", columns: 100, rows: 20, "watch", id)
                try await eventually("what runs is shown", last: { terminal.text }) {
                    terminal.text.contains("▸ op0") && terminal.text.contains("0/3  3 running")
                }
                #expect(terminal.text.contains("\u{1B}[1mgated\u{1B}[0m"), "colours: \(terminal.text.debugDescription)")
                try letGo(harness, 1, fails: true)
                try await eventually("the failure is told, and counted", last: { terminal.text }) {
                    terminal.text.contains("op1\u{1B}[0m: exited with 1") && terminal.text.contains("1/3  2 running  1 failed")
                }
                try await terminal.resize(columns: 40)
                try await eventually("a picture for the narrow one", last: { terminal.text }) {
                    let lines = Self.lastPicture(terminal.text)
                    return lines.contains { $0.contains("▸ op0") } && lines.allSatisfy { $0.count < 40 }
                }
                for number in [0, 2] { try letGo(harness, number) }
                let ended = try await terminal.process.finish()
                #expect(ended.status == 2, "\(ended)")
                #expect(terminal.text.components(separatedBy: "\u{1B}[?25l").count == 2, "the cursor is hidden once")
                #expect(terminal.text.components(separatedBy: "\u{1B}[?25h").count == 2, "and comes back")
                #expect(terminal.text.contains("3 operations, 1 failed in "), "\(terminal.text)")
            }
        }

        @Test(arguments: ["NO_COLOR", "--color"]) func onATerminalWithoutColours_nothingIsColoured_andCtrlCGivesItBack(
            _ how: String
        ) async throws {
            try await ProcessHarness.with { harness in
                let id = try await start(harness)
                let terminal =
                    how == "--color"
                    ? Terminal(harness, "plain", columns: 100, rows: 20, "watch", id, "--color", "never")
                    : Terminal(harness, "plain", columns: 100, rows: 20, environment: ["NO_COLOR": "1"], "watch", id)
                try await eventually("what runs is shown", last: { terminal.text }) { terminal.text.contains("▸ op0") }
                try await terminal.send(SIGINT)
                let ended = try await terminal.process.finish()
                #expect(ended.status == 130, "\(ended)")
                #expect(!terminal.text.contains(/\u{1B}\[[0-9;]*m/), "\(terminal.text.debugDescription)")
                #expect(terminal.text.contains("\u{1B}[?25h"), "the cursor is back: \(terminal.text.debugDescription)")
                let last = try #require(terminal.text.components(separatedBy: "\u{1B}[J").last)
                #expect(last.contains("the work goes on: `aop watch \(id)`"), "\(terminal.text.debugDescription)")
            }
        }

        /// On a terminal that knows no movements of its cursor.
        @Test func onADumbTerminal_itIsLines() async throws {
            try await ProcessHarness.with { harness in
                let id = try await start(harness)
                let terminal = Terminal(harness, "dumb", columns: 100, rows: 20, environment: ["TERM": "dumb"], "watch", id)
                try await eventually("what runs is told", last: { terminal.text }) { terminal.text.contains("running    op2") }
                for number in 0..<3 { try letGo(harness, number) }
                let ended = try await terminal.process.finish()
                #expect(ended.status == 0, "\(ended)")
                #expect(!terminal.text.contains("\u{1B}"), "\(terminal.text.debugDescription)")
            }
        }

        /// Its lines, as they are seen.
        private static func lastPicture(_ text: String) -> [String] {
            let picture = text.components(separatedBy: "\u{1B}[J").dropLast().last ?? ""
            return picture.replacing(/\u{1B}\[[0-9;?]*[a-zA-Z]/, with: "").components(separatedBy: .newlines)
                .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty }
        }
    }
}
