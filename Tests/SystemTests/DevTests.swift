import Foundation
import Testing

extension SystemTests {
    /// `aop dev`: a cluster that stays until it is ended.
    @Suite struct Dev {
        private struct Started {
            let process: RunningProcess
            let http: RawHTTP
            let coordinator: String
            let token: String
        }

        private func start(_ harness: ProcessHarness, _ arguments: String...) async throws -> Started {
            let process = harness.start(BuiltProducts.aop, ["dev", "-o", "json"] + arguments)
            let said = try await eventually("it says where it is", last: { process.stderr }) {
                process.stdout.contains("\n") ? try JSON(parsing: process.stdout) : nil
            }
            return Started(
                process: process, http: try RawHTTP(try #require(said["http"].string)),
                coordinator: try #require(said["coordinator"].string),
                token: try #require(said["httpToken"].string))
        }

        /// Nothing of it is left.
        private func expectNothing(_ harness: ProcessHarness) {
            #expect(harness.processes().isEmpty, "\(harness.processes())")
            #expect(harness.temporaryFiles.isEmpty, "\(harness.temporaryFiles)")
        }

        @Test(arguments: [SIGINT, SIGTERM]) func withoutAGraph_itServesDashboardAndClients_untilCtrlC(_ signal: Int32) async throws {
            try await ProcessHarness.with { harness in
                let dev = try await start(harness, "--workers", "1", "--slots", "3")
                #expect(try dev.http.send("GET", "/healthz").status == 200)
                #expect(try dev.http.send("GET", "/").text.contains("<html"))
                let graph = try harness.write("one.yaml", "group: [{id: one, run: echo one}]\n")
                let ran = try await harness.aop(
                    "submit", graph, "--watch", "-o", "quiet", environment: ["AOP_COORDINATOR": dev.coordinator])
                #expect(ran.status == 0 && ran.text == "one\n", "\(ran)")
                let listed = try await harness.aop("workers", "-o", "json", environment: ["AOP_COORDINATOR": dev.coordinator])
                #expect(try JSON(parsing: listed.text)["workers"].elements.map { $0["slots"] } == [3])
                // What changes something takes the token.
                let token = try String(contentsOfFile: dev.token, encoding: .utf8).trimmingCharacters(in: .newlines)
                let id = try #require(
                    try JSON(parsing: try dev.http.send("GET", "/api/v1/submissions").text)["submissions"][0]["id"].string)
                let path = "/api/v1/submissions/\(id)/cancel"
                #expect(try dev.http.send("POST", path, ["Content-Type": "application/json"], body: "{}").status == 401)
                let allowed = try dev.http.send(
                    "POST", path, ["Content-Type": "application/json", "Authorization": "Bearer \(token)"], body: "{}")
                #expect(allowed.status == 200, "\(allowed)")
                try await dev.process.send(signal)
                let ended = try await dev.process.finish()
                #expect(ended.status == 0, "\(ended)")
                expectNothing(harness)
            }
        }

        @Test func graph_isRun_andItsOutcomeIsTheExitCode_whenItIsEnded() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write("failing.yaml", Graphs.failing)
                let dev = harness.startAOP("dev", graph)
                try await eventually("it stays", last: { dev.stderr }) { dev.stderr.contains("stays until Ctrl-C") }
                #expect(dev.stdout.firstMatch(of: /^dashboard at http:\/\/127\.0\.0\.1:[1-9][0-9]*\/\n/) != nil, "\(dev.stdout)")
                #expect(
                    dev.stdout.contains("failed: 2 operations, 1 failed in ") && dev.stderr.contains("bad: exited with 3"), "\(dev.stdout)")
                #expect(dev.stderr.contains("export AOP_COORDINATOR=ipc:///"), "\(dev.stderr)")
                try await dev.send(SIGINT)
                let ended = try await dev.finish()
                #expect(ended.status == 2, "\(ended)")
                expectNothing(harness)
            }
        }

        /// A desktop's opener that keeps the address it was given, and then ends as it is told.
        private func writeOpener(_ harness: ProcessHarness, exitCode: Int) throws {
            let path = try harness.write("xdg-open", "#!/bin/sh\necho \"$@\" >\(harness.directory)/opened\nexit \(exitCode)\n")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }

        @Test(arguments: ["DISPLAY", "WAYLAND_DISPLAY"]) func open_givesTheDashboardToTheDesktop(_ display: String) async throws {
            try await ProcessHarness.with { harness in
                try writeOpener(harness, exitCode: 0)
                let graph = try harness.write("one.yaml", "group: [{id: one, run: echo one}]\n")
                let environment = [display: ":7", "PATH": "\(harness.directory):/usr/bin:/bin"]
                let dev = harness.startAOP("dev", graph, "--open", environment: environment)
                try await eventually("it stays", last: { dev.stderr }) { dev.stderr.contains("stays until Ctrl-C") }
                let opened = try await eventually("it is opened") { harness.lines(of: "opened").first }
                #expect(opened.hasPrefix("http://127.0.0.1:") && dev.stdout.hasPrefix("dashboard at \(opened)\n"), "\(dev.stdout)")
                #expect(!dev.stderr.contains("--open"), "\(dev.stderr)")
                try await dev.send(SIGINT)
                #expect(try await dev.finish().status == 0)
                expectNothing(harness)
            }
        }

        /// What cannot be opened is said, and nothing fails by it.
        @Test(arguments: ["no display", "opener fails", "no opener"]) func open_whereThatCannotBe_saysWhatToDo(_ why: String) async throws {
            try await ProcessHarness.with { harness in
                if why != "no opener" { try writeOpener(harness, exitCode: 3) }
                let path = why == "no opener" ? harness.directory : "\(harness.directory):/usr/bin:/bin"
                let dev = harness.startAOP("dev", "--open", environment: ["DISPLAY": why == "no display" ? "" : ":7", "PATH": path])
                let expected =
                    switch why {
                    case "no display": "--open: there is no display here (DISPLAY, WAYLAND_DISPLAY are not set); open http://127.0.0.1:"
                    case "opener fails": "--open: xdg-open exited with 3; open http://127.0.0.1:"
                    default: "--open: xdg-open could not be started (Debian: xdg-utils); open http://127.0.0.1:"
                    }
                try await eventually("it says so", last: { dev.stderr }) { dev.stderr.contains(expected) }
                #expect(harness.lines(of: "opened").isEmpty == (why != "opener fails"))
                try await dev.send(SIGINT)
                #expect(try await dev.finish().status == 0)
                expectNothing(harness)
            }
        }

        @Test func ctrlCWhileItRuns_endsTheWorkToo_with130() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write("long.yaml", "group: [{run: 'touch begun; sleep 600 & sleep 600; wait'}]\n")
                let dev = harness.startAOP("dev", graph)
                try await eventually("it runs") { FileManager.default.fileExists(atPath: "\(harness.directory)/begun") }
                try await dev.send(SIGINT)
                let ended = try await dev.finish()
                #expect(ended.status == 130, "\(ended)")
                expectNothing(harness)
            }
        }

        @Test func kill9_leavesNoProcessAndNoFile() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write("long.yaml", "group: [{run: 'touch begun; sleep 600'}]\n")
                let dev = harness.startAOP("dev", graph)
                try await eventually("it runs") { FileManager.default.fileExists(atPath: "\(harness.directory)/begun") }
                try await dev.send(SIGKILL)
                try await eventually("no process is left") { harness.processes().isEmpty }
                try await eventually("no file is left") { harness.temporaryFiles.isEmpty }
            }
        }

        @Test func dataDirectory_isKept_andTakenUpAgain() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write("one.yaml", "name: kept\ngroup: [{id: one, run: echo one}]\n")
                let first = harness.startAOP("dev", graph, "--data", "kept")
                try await eventually("it stays", last: { first.stderr }) { first.stderr.contains("stays until Ctrl-C") }
                try await first.send(SIGINT)
                #expect(try await first.finish().status == 0)
                let second = try await start(harness, "--data", "kept")
                let listed = try JSON(parsing: try second.http.send("GET", "/api/v1/submissions").text)
                #expect(listed["submissions"].elements.map { $0["name"] } == ["kept"], "\(listed)")
                try await second.process.send(SIGINT)
                _ = try await second.process.finish()
                expectNothing(harness)
            }
        }

        @Test func whatCannotBe_isRefusedByName() async throws {
            try await ProcessHarness.with { harness in
                let address = try await harness.aop("dev", "--http", "nonsense")
                #expect(address.status == 64 && address.stderr.contains("--http is `nonsense`; write HOST:PORT"), "\(address)")
                let lone = try await harness.aop("dev", "--set", "a=b")
                #expect(lone.status == 64 && lone.stderr.contains("--set a=b is for a graph"), "\(lone)")
                let unseen = try await harness.aop("dev", "--http", "off", "--open")
                #expect(unseen.status == 64 && unseen.stderr.contains("--http off leaves it out"), "\(unseen)")
                let workers = try await harness.aop("dev", "--workers", "0")
                #expect(workers.status == 64 && workers.stderr.contains("--workers 0: use 1 to 256"), "\(workers)")
                let wrong = try await harness.aop("dev", try harness.write("wrong.yaml", Graphs.wrong))
                #expect(wrong.status == 6 && wrong.stderr.contains("wrong.yaml:5:5"), "\(wrong)")
                let over = try await harness.aop("dev", "--timeout", "300ms", "--http", "off")
                #expect(over.status == 124, "\(over)")
                let coordinator = try await harness.startCoordinator()
                let taken = try await eventually("the dashboard's address") {
                    coordinator.stderr.firstMatch(of: /http:\/\/([0-9.:]+)\//).map { String($0.output.1) }
                }
                let second = try await harness.aop("dev", "--http", taken)
                #expect(second.status == 1 && second.stderr.contains("another process listens on \(taken), where HTTP is"), "\(second)")
                #expect(harness.temporaryFiles.isEmpty, "\(harness.temporaryFiles)")
            }
        }
    }
}
