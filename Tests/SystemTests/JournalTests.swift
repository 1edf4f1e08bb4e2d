import Foundation
import Testing

extension SystemTests {
    /// Snapshots at work, and `aop journal verify`.
    @Suite struct Journals {
        @Test func manyKilledCoordinators_goOnFromSnapshots_andTheJournalHolds() async throws {
            try await ProcessHarness.with { harness in
                _ = harness.startWorker("--slots", "2")
                let graph = try harness.write(
                    "steps.yaml",
                    """
                    group:
                      - {id: large, run: "head -c 300000 /dev/zero | tr '\\\\0' x"}
                      - id: lines
                        ordered:
                          - {id: a, run: "echo one"}
                          - {id: b, receives: a, run: "cat; echo two", retry: 2}
                      - {id: locked, run: "echo three", exclusive: k}

                    """)
                var ids: [String] = []
                for _ in 0..<6 {
                    // Each makes a snapshot as soon as it has something to say.
                    let coordinator = try await harness.startCoordinator("--snapshot-bytes", "1")
                    _ = try await harness.waitForExecutors(1)
                    for _ in 0..<3 {
                        ids.append(try await harness.aop("submit", graph, "-o", "quiet").text.trimmingCharacters(in: .newlines))
                    }
                    #expect(try await harness.aop("wait", ids[ids.count - 1], "-o", "quiet").status == 0)
                    try await coordinator.send(SIGKILL)
                    _ = try await coordinator.finish()
                }
                let seen = try await harness.aop("journal", "verify", "--data", "\(harness.directory)/data", "--values", "-o", "json")
                let found = try JSON(parsing: seen.text)
                #expect(seen.status == 0, "\(seen)")
                #expect(found["submissions"] == .number(18) && found["values"] == .number(1))
                #expect(found["snapshotFacts"] != .null, "\(seen)")
                let coordinator = try await harness.startCoordinator("--snapshot-bytes", "1")
                for id in ids {
                    #expect(try await harness.aop("wait", id, "-o", "quiet").status == 0)
                    #expect(try await harness.aop("result", "\(id)/lines/b", "-o", "json").text.contains("\"onetwo\""))
                }
                let running = try await harness.aop("journal", "verify", "--data", "\(harness.directory)/data")
                #expect(running.status == 1 && running.stderr.contains("in use by another coordinator"), "\(running)")
                try await coordinator.send(SIGTERM)
                _ = try await coordinator.finish()
                let text = try await harness.aop("journal", "verify", "--data", "\(harness.directory)/data")
                #expect(text.status == 0 && text.text.hasSuffix("everything holds\n"), "\(text)")
            }
        }

        /// The way out when a value was lost that somebody still waits for: everything else goes on.
        @Test func lostValue_isGivenUp_andWhatNeedsItFails() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                let worker = harness.startWorker("--slots", "2")
                _ = try await harness.waitForExecutors(1)
                let gate = "\(harness.directory)/gate"
                let graph = try harness.write(
                    "lost.yaml",
                    """
                    group:
                      - {id: large, run: "head -c 300000 /dev/zero | tr '\\\\0' x"}
                      - {id: gate, run: "until [ -e \(gate) ]; do sleep 0.05; done"}
                      - {id: reader, receives: large, after: gate, run: "wc -c"}
                      - {id: other, after: gate, run: "echo fine"}

                    """)
                let id = try await harness.aop("submit", graph, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                try await eventually("the value is there") {
                    try await harness.aop("result", "\(id)/large", "-o", "quiet").text.utf8.count >= 300_000
                }
                for process in [worker, coordinator] {
                    try await process.send(SIGKILL)
                    _ = try await process.finish()
                }
                let data = "\(harness.directory)/data"
                let none = try await harness.aop("journal", "give-up", "--data", data)
                #expect(none.status == 0 && none.text == "no large value is missing\n", "\(none)")
                let blobs = try #require(FileManager.default.enumerator(atPath: "\(data)/blobs")).compactMap { $0 as? String }
                let large = blobs.map { "\(data)/blobs/\($0)" }.filter { path in
                    (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) == 300_000
                }
                #expect(large.count == 1, "\(blobs)")
                for path in large { try FileManager.default.removeItem(atPath: path) }
                let refused = try await harness.aop("coordinator", "--no-http", "--data", data, "--listen", "ipc://\(harness.directory)/r")
                #expect(refused.status != 0 && refused.stderr.contains("aop journal give-up --dry-run lists them all"), "\(refused)")
                let dry = try await harness.aop("journal", "give-up", "--dry-run", "--data", data)
                #expect(dry.status == 0 && dry.text.contains("\(id)/large  300000 bytes  "), "\(dry)")
                #expect(dry.text.hasSuffix("1 large value would be given up: operations that need it fail\n"), "\(dry)")
                let stillMissing = try await harness.aop("journal", "verify", "--data", data)
                #expect(stillMissing.status == 1, "a dry run changes nothing")
                #expect(try await harness.aop("journal", "give-up", "--data", data).status == 0)
                let verified = try await harness.aop("journal", "verify", "--data", data, "--values")
                #expect(verified.status == 0 && verified.text.contains("given up: the value of \(id)/large"), "\(verified)")
                let copied = try await harness.aop("journal", "backup", "\(harness.directory)/copy", "--data", data)
                #expect(copied.status == 0, "\(copied)")
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2")
                _ = try harness.write("gate", "")
                let waited = try await harness.aop("wait", id)
                #expect(waited.status == 1, "\(waited)")
                let shown = try await harness.aop("show", id)
                #expect(shown.text.contains("is not held any more"), "\(shown)")
                let other = try await harness.aop("result", "\(id)/other")
                #expect(other.status == 0 && other.text.contains("fine"), "\(other)")
                let lost = try await harness.aop("result", "\(id)/large")
                #expect(lost.status != 0 && lost.stderr.contains("not held any more"), "\(lost)")
                // What makes the value anew brings it back.
                let again = try await harness.aop("submit", graph, "--wait", "-o", "quiet")
                #expect(again.status == 0, "\(again)")
                let found = try await harness.aop("result", "\(id)/large")
                #expect(found.status == 0 && found.text.utf8.count >= 300_000, "\(found.status) \(found.stderr)")
            }
        }

        @Test func dataDirectoryThatIsRemoved_endsTheCoordinator() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                let graph = try harness.write("one.yaml", "group:\n  - {id: a, run: \"true\"}\n")
                #expect(try await harness.aop("submit", graph, "-o", "quiet").status == 0)
                try FileManager.default.removeItem(atPath: "\(harness.directory)/data")
                async let ended = coordinator.finish()
                // Something has to come for it to look around.
                _ = try await harness.aop("submit", graph, "-o", "quiet", "--timeout", "5s")
                let end = try await ended
                #expect(end.status != 0 && end.stderr.contains("was removed, or replaced, under the coordinator"), "\(end)")
            }
        }

        @Test func whatIsDamaged_isNamed_andWhatIsNotThereIsNotFound() async throws {
            try await ProcessHarness.with { harness in
                let none = try await harness.aop("journal", "verify", "--data", "\(harness.directory)/nowhere")
                #expect(none.status == 5 && none.stderr.contains("there is no journal in \(harness.directory)/nowhere"), "\(none)")
                #expect(!FileManager.default.fileExists(atPath: "\(harness.directory)/nowhere"))
                let unrecorded = try await harness.aop("journal", "replay", "\(harness.directory)/none.flight")
                #expect(unrecorded.status == 5, "\(unrecorded)")
                #expect(unrecorded.stderr.contains("there is no recording \(harness.directory)/none.flight"), "\(unrecorded)")
                let folder = try await harness.aop("journal", "replay", harness.directory)
                #expect(folder.status == 64 && folder.stderr.contains("--data \(harness.directory)"), "\(folder)")
                let coordinator = try await harness.startCoordinator("--flight-recorder", "20")
                try await eventually("the log says that nothing is recorded") {
                    (coordinator.stdout + coordinator.stderr).contains("nothing is recorded: the state at the start has")
                }
                let empty = try await harness.aop("journal", "replay", "--data", "\(harness.directory)/data")
                #expect(empty.status == 5 && !empty.text.contains("the same decisions"), "\(empty)")
                #expect(empty.stderr.contains("nothing was recorded in \(harness.directory)/data/flight/"), "\(empty)")
                _ = harness.startWorker("--slots", "1")
                _ = try await harness.waitForExecutors(1)
                let graph = try harness.write(
                    "large.yaml", "group:\n  - {id: large, run: \"head -c 300000 /dev/zero | tr '\\\\0' x\"}\n")
                #expect(try await harness.aop("submit", graph, "--wait", "-o", "quiet").status == 0)
                try await coordinator.send(SIGTERM)
                _ = try await coordinator.finish()
                let data = "\(harness.directory)/data"
                let blobs = try #require(FileManager.default.enumerator(atPath: "\(data)/blobs")).compactMap { $0 as? String }
                let value = try #require(
                    blobs.map { "\(data)/blobs/\($0)" }.first { path in
                        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) == 300_000
                    })
                var content = try Data(contentsOf: URL(fileURLWithPath: value))
                content[1000] = 7
                try content.write(to: URL(fileURLWithPath: value))
                #expect(try await harness.aop("journal", "verify", "--data", data).status == 0, "its content is not looked at")
                let changed = try await harness.aop("journal", "verify", "--data", data, "--values", "-o", "json")
                #expect(changed.status == 1 && changed.text.contains("is not what was written"), "\(changed)")
                try FileManager.default.removeItem(atPath: value)
                let missing = try await harness.aop("journal", "verify", "--data", data)
                #expect(missing.status == 1 && missing.text.contains("is missing: \(value)"), "\(missing)")
                // A bit of a fact, wherever SQLite has put it.
                var journal = try Data(contentsOf: URL(fileURLWithPath: "\(data)/journal.sqlite"))
                let place = try #require(journal.range(of: Data("head -c 300000".utf8)))
                journal[place.lowerBound] ^= 1
                try journal.write(to: URL(fileURLWithPath: "\(data)/journal.sqlite"))
                let damaged = try await harness.aop("journal", "verify", "--data", data, "-o", "json")
                #expect(damaged.status == 1 && damaged.stderr.contains("damaged"), "\(damaged)")
                let refused = try await harness.aop("coordinator", "--data", data, "--no-http", "--listen", harness.endpoint)
                #expect(refused.status == 1 && refused.stderr.contains("damaged"), "\(refused)")
            }
        }

        /// One backup beside everything that runs, put in the place of what came after it.
        @Test func backupOfARunningCluster_isRestored_andGoesOn_withHigherTokens() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2")
                _ = try await harness.waitForExecutors(1)
                let fence = try harness.write("fence.yaml", "group:\n  - {id: f, run: 'echo $AOP_FENCE_K', exclusive: K}\n")
                let slow = try harness.write(
                    "slow.yaml",
                    """
                    group:
                      - {id: large, run: "head -c 300000 /dev/zero | tr '\\\\0' x"}
                      - {id: waits, run: "while [ ! -e \(harness.directory)/go ]; do sleep 0.05; done; echo gone"}

                    """)
                let running = try await harness.aop("submit", slow, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                let first = try await harness.aop("submit", fence, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                #expect(try await harness.aop("wait", first, "-o", "quiet").status == 0)
                let data = "\(harness.directory)/data"
                let made = try await harness.aop("journal", "backup", "\(harness.directory)/backup", "--data", data)
                #expect(made.status == 0 && made.text.contains("everything holds"), "\(made)")
                #expect(made.stderr.contains("aop journal restore \(harness.directory)/backup"), "\(made)")
                let again = try await harness.aop("journal", "backup", "\(harness.directory)/backup", "--data", data)
                #expect(again.status == 1 && again.stderr.contains("exists already"), "\(again)")

                // What the backup does not know.
                let late = try await harness.aop("submit", fence, "--key", "late", "-o", "quiet").text.trimmingCharacters(in: .newlines)
                let lateToken = try #require(UInt64(try await self.value(of: "\(late)/f", harness)))
                let busy = try await harness.aop("journal", "restore", "\(harness.directory)/backup", "--data", data)
                #expect(busy.status == 1 && busy.stderr.contains("in use by another coordinator"), "\(busy)")
                try await coordinator.send(SIGTERM)
                _ = try await coordinator.finish()
                let restored = try await harness.aop("journal", "restore", "\(harness.directory)/backup", "--data", data, "-o", "json")
                #expect(restored.status == 0, "\(restored)")
                let replaced = try #require(try JSON(parsing: restored.text)["replaced"].string)
                #expect(FileManager.default.fileExists(atPath: "\(replaced)/journal.sqlite"))

                _ = try await harness.startCoordinator()
                #expect(try await harness.aop("show", late, "-o", "json").status == 5)
                #expect(try await harness.aop("result", "\(first)/f", "-o", "json").status == 0)
                _ = try harness.write("go", "")
                #expect(try await harness.aop("wait", running, "-o", "quiet").status == 0)
                let next = try await harness.aop("submit", fence, "--key", "next", "-o", "quiet").text.trimmingCharacters(in: .newlines)
                let nextToken = try #require(UInt64(try await self.value(of: "\(next)/f", harness)))
                #expect(nextToken > lateToken)
            }
        }

        private func value(of operation: String, _ harness: ProcessHarness) async throws -> String {
            let id = operation.split(separator: "/")[0]
            #expect(try await harness.aop("wait", String(id), "-o", "quiet").status == 0)
            let shown = try await harness.aop("result", operation, "-o", "json")
            return try #require(try JSON(parsing: shown.text)["value"].string)
        }
    }
}
