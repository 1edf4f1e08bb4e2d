import Foundation
import Testing

extension SystemTests {
    /// What becomes of the files of a process that runs: they are taken away, have no place, or must not be so large.
    @Suite struct RunningFiles {
        /// Nobody is connected, either.
        @Test(arguments: ["journal.sqlite", "journal.sqlite-wal", "journal.acknowledged", "blobs"])
        func fileThatIsMovedAway_endsTheCoordinator_andAllIsThereWhenItIsBack(name: String) async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                let graph = try harness.write("one.yaml", "group:\n  - {id: a, run: \"true\"}\n")
                let submitted = try await harness.aop("submit", graph, "-o", "quiet")
                #expect(submitted.status == 0, "\(submitted)")
                let id = submitted.text.trimmingCharacters(in: .whitespacesAndNewlines)
                let (path, aside) = ("\(harness.directory)/data/\(name)", "\(harness.directory)/aside")
                try FileManager.default.moveItem(atPath: path, toPath: aside)
                let end = try await coordinator.finish()
                #expect(end.status == 1, "\(end)")
                #expect(end.stderr.contains("\(path) was removed, or replaced, under the coordinator that runs on it"), "\(end)")
                #expect(!end.stderr.contains("does not get its room"), "\(end)")
                try FileManager.default.moveItem(atPath: aside, toPath: path)
                _ = try await harness.startCoordinator()
                let listed = try await harness.aop("list", "-o", "json")
                #expect(listed.status == 0 && listed.text.contains(id), "\(listed)")
            }
        }

        /// Files and sockets would get these numbers, and what is logged be written into them.
        @Test func processesWithoutStandardDescriptors_haveNothingElseInTheirPlace() async throws {
            try await ProcessHarness.with { harness in
                func start(_ arguments: String...) -> RunningProcess {
                    harness.start("/bin/bash", ["-c", #"exec "$0" "$@" <&- >&- 2>&-"#, BuiltProducts.aop] + arguments)
                }
                let coordinator = start(
                    "coordinator", "--listen", harness.endpoint, "--no-http", "--data", "\(harness.directory)/data", "--log-level", "debug"
                )
                try await eventually("the coordinator listens") { FileManager.default.fileExists(atPath: "\(harness.directory)/aop.sock") }
                let worker = start("worker", "--connect", harness.endpoint)
                let executors = try await harness.waitForExecutors(1)
                for process in [try await coordinator.pid(), try await worker.pid()] + executors {
                    for descriptor in 0...2 {
                        let opened = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\(descriptor)")
                        #expect(opened == "/dev/null", "\(descriptor) of \(process): \(harness.processes()[process] ?? "")")
                    }
                }
                let graph = try harness.write("one.yaml", "group:\n  - {id: a, run: \"echo out; echo err >&2\"}\n")
                let submitted = try await harness.aop("submit", graph, "--wait", "-o", "quiet")
                #expect(submitted.status == 0, "\(submitted)")
                try await coordinator.send(SIGTERM)
                #expect(try await coordinator.finish().status == 0)
                let verified = try await harness.aop("journal", "verify", "--data", "\(harness.directory)/data")
                #expect(verified.status == 0, "\(verified)")
            }
        }

        @Test func outputLargerThanAFileOfTheWorkerMayBe_failsItsOperation_andTheWorkerSaysSoAtItsStart() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let worker = harness.start(
                    "/bin/bash", ["-c", #"ulimit -f 5120; exec "$0" worker --connect "$1" --slots 2"#, BuiltProducts.aop, harness.endpoint])
                _ = try await harness.waitForExecutors(1)
                let limit = "a file of this process may have 5242880 bytes, its limit; raise that (LimitFSIZE=, ulimit -f)"
                #expect(worker.stderr.contains(limit), "\(worker.stderr)")
                let graph = try harness.write(
                    "large.yaml", "group:\n  - {id: large, run: head -c 20000000 /dev/zero, output: bytes}\n")
                let ran = try await harness.aop("submit", graph, "--wait", "-o", "json")
                let error = try JSON(parsing: ran.text)["errors"][0]
                #expect(ran.status == 2 && error["code"] == "limit" && ran.text.contains("ulimit -f"), "\(ran) \(worker.stderr)")
                let small = try harness.write("small.yaml", "group:\n  - {id: a, run: \"true\"}\n")
                #expect(try await harness.aop("submit", small, "--wait").status == 0)
            }
        }

        @Test func valueLargerThanAFileMayBe_failsItsOperation_andTheCoordinatorGoesOn() async throws {
            try await ProcessHarness.with { harness in
                // In units of 1,024 bytes: more than the journal's log gets.
                let coordinator = harness.start(
                    "/bin/bash",
                    [
                        "-c", #"ulimit -f 20480; exec "$0" "$@""#, BuiltProducts.aop, "coordinator", "--listen", harness.endpoint,
                        "--no-http", "--data", "\(harness.directory)/data",
                    ])
                try await eventually("the coordinator listens", last: { coordinator.stderr }) { coordinator.stdout.contains("listening") }
                _ = harness.startWorker("--slots", "2")
                _ = try await harness.waitForExecutors(1)
                let file = "\(harness.directory)/large"
                try Data(repeating: 0x78, count: 30 << 20).write(to: URL(fileURLWithPath: file))
                let graph = try harness.write("large.yaml", "group:\n  - {id: large, op: readFile, with: {path: \(file)}}\n")
                let id = try await harness.aop("submit", graph, "-o", "quiet").text.trimmingCharacters(in: .whitespacesAndNewlines)
                let waited = try await harness.aop("wait", id, "-o", "json")
                let error = try JSON(parsing: waited.text)["errors"][0]
                #expect(waited.status != 0 && error["path"] == "large" && error["code"] == "limit", "\(waited)")
                #expect(waited.text.contains("cannot store a value of 31457280 bytes: File too large"), "\(waited)")
                #expect(waited.text.contains("a file of this process may have 20971520 bytes, its limit"), "\(waited)")
                let small = try harness.write("small.yaml", "group:\n  - {id: a, run: \"true\"}\n")
                let other = try await harness.aop("submit", small, "--wait", "-o", "quiet")
                #expect(other.status == 0, "\(other)")
                try await coordinator.send(SIGTERM)
                let end = try await coordinator.finish()
                #expect(end.status == 0 && end.stderr.contains("raise that (LimitFSIZE=, ulimit -f)"), "\(end)")
            }
        }
    }
}
