import Foundation
import Testing

extension SystemTests {
    /// Workers taken out of service, with real processes.
    @Suite struct Draining {
        private func workers(_ harness: ProcessHarness) async throws -> [JSON] {
            try JSON(parsing: try await harness.aop("workers", "-o", "json").text)["workers"].elements
        }

        private func state(of name: String, _ harness: ProcessHarness) async throws -> JSON? {
            try await workers(harness).first { $0["name"] == .string(name) }?["state"]
        }

        /// Waits until the operation at this place of the newest submission runs, and gives its worker.
        private func worker(of place: Int, _ harness: ProcessHarness) async throws -> String {
            try await eventually("it runs") { () -> String? in
                let shown = try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["operations"][place]
                return shown["state"] == "running" ? shown["worker"].string : nil
            }
        }

        /// A graph of operations that go on until the file is there.
        private func waiting(for file: String, count: Int, _ harness: ProcessHarness) throws -> String {
            let operation = "{run: 'while [ ! -e \(file) ]; do sleep 0.02; done', cwd: '\(harness.directory)'}"
            return try harness.write(
                "\(file).yaml", "group:\n" + String(repeating: "  - \(operation)\n", count: count))
        }

        @Test func drainedWorker_getsNothingNew_alsoAfterRestarts_untilItIsResumed() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                _ = harness.startWorker("--processes", "2", "--slots", "1")
                _ = try await harness.waitForExecutors(2)
                let names = Set(try await workers(harness).compactMap { $0["name"].string })
                _ = try await harness.aop("submit", try waiting(for: "go", count: 1, harness), "-o", "quiet")
                let drained = try await worker(of: 0, harness)
                let other = try #require(names.subtracting([drained]).first)

                let steered = try await harness.aop("workers", "drain", drained, "--reason", "new disks", "-o", "json")
                #expect(steered.status == 0, "\(steered)")
                let told = try JSON(parsing: steered.text)
                #expect(told.keys == ["schema", "name", "changed", "workers"])
                #expect(told["name"] == .string(drained) && told["changed"] == .bool(true) && told["workers"][0]["state"] == "draining")
                #expect(told["workers"][0]["drain"]["reason"] == "new disks")
                let again = try await harness.aop("workers", "drain", drained)
                #expect(again.text.hasPrefix("\(drained): was drained already; what it has goes on (1); `aop workers drain"), "\(again)")
                let waits = harness.startAOP("workers", "drain", drained, "--wait")

                try await coordinator.send(SIGKILL)
                _ = try await coordinator.finish()
                _ = try await harness.startCoordinator()
                _ = try await harness.waitForExecutors(1)
                let many = try harness.write("many.yaml", "group:\n" + String(repeating: "  - {run: echo x}\n", count: 6))
                let finished = try await harness.aop("submit", many, "--wait", "-o", "json")
                #expect(finished.status == 0, "\(finished)")
                let places = try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["operations"].elements
                #expect(places.map { $0["worker"] } == Array(repeating: .string(other), count: 6), "\(places)")
                try await eventually("it has come back, and goes on") { try await self.state(of: drained, harness) == "draining" }

                _ = try harness.write("go", "")
                let idle = try await waits.finish()
                #expect(idle.status == 0 && idle.text.contains("nothing runs there"), "\(idle)")
                #expect(try await state(of: drained, harness) == "drained")

                // The process is started anew under the same name.
                let pid = try #require(try await workers(harness).first { $0["name"] == .string(drained) }?["pid"].number.map { Int32($0) })
                kill(pid, SIGKILL)
                try await eventually("another process has the name") {
                    let listed = try await self.workers(harness).filter { $0["name"] == .string(drained) }
                    return listed.count == 1 && listed[0]["pid"].number.map { Int32($0) } != pid && listed[0]["state"] == "drained"
                        && listed[0]["slots"] == 1
                }
                _ = try await harness.aop("submit", try waiting(for: "both", count: 2, harness), "-o", "quiet")
                #expect(try await worker(of: 0, harness) == other)
                let resumed = try await harness.aop("workers", "resume", drained)
                #expect(resumed.status == 0 && resumed.text == "\(drained): takes work again\n", "\(resumed)")
                #expect(try await worker(of: 1, harness) == drained)
                #expect(try await harness.aop("workers", "resume", drained).text == "\(drained): was not drained\n")
                _ = try harness.write("both", "")
                #expect(try await harness.aop("wait", "last").status == 0)
            }
        }

        @Test func workThatWaitsForDrainedWorkers_isExplained_andShownWorkersSayWhy() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "1", "--label", "fast")
                _ = try await harness.waitForExecutors(1)
                let name = try #require(try await workers(harness)[0]["name"].string)
                #expect(try await harness.aop("workers", "drain", name, "--reason", "new disks", "--wait").status == 0)
                let graph = try harness.write("waits.yaml", "group: [{id: a, run: echo}]\n")
                let id = try await harness.aop("submit", graph, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                let blocker = try JSON(parsing: try await harness.aop("explain", "\(id)/a", "-o", "json").text)["blockers"][0]
                #expect(blocker["kind"] == "worker" && blocker["missing"] == "drained" && blocker["worker"] == .string(name), "\(blocker)")
                #expect(blocker["text"].string?.contains("by the coordinator's own user: new disks") == true, "\(blocker)")
                #expect(blocker["remedy"].string?.hasPrefix("`aop workers resume \(name)` lets it take work again") == true, "\(blocker)")
                let shown = try await harness.aop("workers", "show", name)
                for line in [
                    "state       drained\n", "drained     ", "labels      fast\n", "it has been given nothing that has not ended\n",
                ] {
                    #expect(shown.text.contains(line), "\(shown)")
                }
                let values = try JSON(parsing: try await harness.aop("workers", "show", name, "-o", "json").text)["workers"][0]
                #expect(values["drain"]["by"] == .null && values["drain"]["since"].string?.hasSuffix("Z") == true)
                #expect(values["heldCount"] == 0 && values["types"].elements.contains { $0["name"] == "shell" }, "\(values)")
                #expect(try await harness.aop("workers").text.contains(" drained "))
                #expect(try await harness.aop("workers", "resume", name).status == 0)
                #expect(try await harness.aop("wait", id).status == 0)
            }
        }

        @Test func unknownWorkers_prefixesOfSeveral_andConnectedOnes_areRefusedByName() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let supervisor = harness.startWorker("--processes", "2", "--slots", "1")
                _ = try await harness.waitForExecutors(2)
                let name = try #require(try await workers(harness)[0]["name"].string)
                for verb in ["show", "drain", "resume", "remove"] {
                    let unknown = try await harness.aop("workers", verb, "nowhere/0")
                    #expect(unknown.status == 5 && unknown.stderr.contains("no worker `nowhere/0` is known"), "\(unknown)")
                    let several = try await harness.aop("workers", verb, String(name.dropLast()))
                    #expect(several.status == 5 && several.stderr.contains("fits 2 workers (\(name.dropLast())0, "), "\(several)")
                    #expect(try await harness.aop("workers", verb, "").status == 64)
                }
                let connected = try await harness.aop("workers", "remove", name)
                #expect(connected.status == 6 && connected.stderr.contains("worker \(name) is connected; stop its"), "\(connected)")
                #expect(try await harness.aop("workers", "drain", name).status == 0)
                try await supervisor.send(SIGTERM)
                _ = try await supervisor.finish()
                #expect(try await state(of: name, harness) == "drained")
                let removed = try await harness.aop("workers", "remove", name)
                #expect(removed.status == 0 && removed.text == "\(name): removed\n", "\(removed)")
                #expect(try await workers(harness).isEmpty)
                #expect(try await harness.aop("workers", "show", name).status == 5)
            }
        }
    }
}
