import Foundation
import Testing

extension SystemTests {
    /// Workers that may have few files open.
    @Suite struct OpenFiles {
        @Test func moreSlotsThanFiles_commandsWaitInTurn_andNothingFails() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let worker = harness.start(
                    "/bin/bash", ["-c", #"ulimit -n 128; exec "$0" worker --connect "$1" --slots 60"#, BuiltProducts.aop, harness.endpoint])
                _ = try await harness.waitForExecutors(1)
                #expect(worker.stderr.contains("128 files open") && worker.stderr.contains("60"), "\(worker.stderr)")
                let items = (1...60).map { "'\($0)'" }.joined(separator: ", ")
                let graph = try harness.write(
                    "many.yaml", "vars: {all: [\(items)]}\ngroup: [{id: each, forEach: \"${all}\", run: \"sleep 0.2; echo ${item}\"}]\n")
                let ran = try await harness.aop("submit", graph, "--wait", "-o", "json")
                #expect(ran.status == 0, "\(ran) \(worker.stderr)")
                let state = try await harness.aop("workers", "-o", "json")
                #expect(try JSON(parsing: state.text)["workers"].elements.allSatisfy { $0["running"].number == 0 }, "\(state.text)")
            }
        }

        @Test(arguments: ["20", "40", "127"])
        func coordinatorThatMayOpenTooFewFiles_saysSo_andMakesNothing(_ limit: String) async throws {
            try await ProcessHarness.with { harness in
                let data = "\(harness.directory)/data-\(limit)"
                let ran = try await harness.start(
                    "/bin/bash",
                    [
                        "-c", #"ulimit -n "$2"; exec "$0" coordinator --listen "$1" --no-http --data "$3""#, BuiltProducts.aop,
                        harness.endpoint, limit, data,
                    ]
                ).finish()
                #expect(ran.status == 1)
                #expect(ran.stderr.contains("may open \(limit) files, and needs 128 (openFilesMin); raise that"), "\(ran.stderr)")
                #expect(!FileManager.default.fileExists(atPath: data))
            }
        }

        /// What waits for files does not begin when it is cancelled, and what comes after it does.
        @Test func cancelledWhileItWaits_itEndsAtOnce() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                // Room for one command at once.
                _ = harness.start(
                    "/bin/bash", ["-c", #"ulimit -n 64; exec "$0" worker --connect "$1" --slots 3"#, BuiltProducts.aop, harness.endpoint])
                _ = try await harness.waitForExecutors(1)
                let directory = harness.directory
                let first = try harness.write(
                    "first.yaml",
                    "group: [{id: a, run: \"touch \(directory)/begun; until [ -e \(directory)/go ]; do sleep 0.05; done\"}]\n")
                let second = try harness.write("second.yaml", "group: [{id: b, run: \"touch \(directory)/never\"}]\n")
                func submit(_ file: String) async throws -> String {
                    try await harness.aop("submit", file, "-o", "quiet").text.trimmingCharacters(in: .whitespacesAndNewlines)
                }
                let one = try await submit(first)
                try await eventually("it runs") { FileManager.default.fileExists(atPath: "\(directory)/begun") }
                let two = try await submit(second)
                try await eventually("the other has a slot") { try await harness.aop("show", two).text.contains("running") }
                #expect(try await harness.aop("cancel", two).status == 0)
                #expect(try await harness.aop("wait", two).status == 4)
                _ = try harness.write("go", "")
                #expect(try await harness.aop("wait", one).status == 0)
                #expect(!FileManager.default.fileExists(atPath: "\(directory)/never"))
                let third = try harness.write("third.yaml", "group: [{id: c, run: echo after}]\n")
                #expect(try await harness.aop("submit", third, "--wait").status == 0)
            }
        }

        /// Whatever call it is that finds no descriptor left: the command ends, and gives back its slot.
        @Test func withoutFiles_aCommandFails_andIsNotForgotten() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2")
                let executor = try #require(try await harness.waitForExecutors(1).first)
                let graph = try harness.write("one.yaml", "group: [{id: one, run: echo one}]\n")
                // What is loaded once is.
                #expect(try await harness.aop("submit", graph, "--wait").status == 0)
                let inUse = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(executor)/fd").count
                var failures = 0
                for spare in 1...12 {
                    #expect(try await harness.limitFiles(of: executor, to: "\(inUse + spare)") == 0)
                    let ran = try await harness.aop("submit", graph, "--wait", "--timeout", "30s", "-o", "json")
                    #expect([0, 2].contains(ran.status), "\(spare): \(ran)")
                    if ran.status == 2 {
                        failures += 1
                        #expect(ran.text.contains("\"code\":\"spawn\""), "\(spare): \(ran)")
                    }
                    #expect(try await harness.limitFiles(of: executor, to: "1000") == 0)
                }
                #expect((1...11).contains(failures))
                #expect(try await harness.aop("submit", graph, "--wait").status == 0)
                try await eventually("nothing is left of them") { try harness.children(of: executor).isEmpty }
            }
        }
    }
}

extension ProcessHarness {
    /// Sets the soft limit of a process.
    fileprivate func limitFiles(of process: Int32, to limit: String) async throws -> Int32 {
        try await start("/usr/bin/prlimit", ["--pid", "\(process)", "--nofile=\(limit):"]).finish().status
    }

    fileprivate func children(of process: Int32) throws -> [String] {
        let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")
        return tasks.flatMap { task in
            ((try? String(contentsOfFile: "/proc/\(process)/task/\(task)/children", encoding: .utf8)) ?? "").split(separator: " ").map(
                String.init)
        }
    }
}
