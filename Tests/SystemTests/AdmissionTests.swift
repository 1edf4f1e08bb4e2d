import Foundation
import Testing

extension SystemTests {
    /// What is refused before anything of it runs.
    @Suite struct Admission {
        @Test func everythingThatIsWrong_isToldAtOnce() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let graph = try harness.write(
                    "wrong.yaml",
                    """
                    group:
                      - {id: unknown, op: NobodyHasThis}
                      - {id: numbers, op: Drip, with: {count: 1}}
                      - {id: mismatch, op: "JSONDecoderOperation<User>", receives: numbers}
                      - {id: huge, run: 'true', requires: {cpus: 100000}}
                      - {id: first, run: 'true', after: second}
                      - {id: second, run: 'true', after: first}

                    """)
                for command in ["submit", "check"] {
                    let refused = try await harness.aop(command, graph)
                    #expect(refused.status == 6, "\(refused)")
                    for text in ["NobodyHasThis", "mismatch", "cpus", "cycle"] {
                        #expect(refused.stderr.contains(text), "\(text): \(refused)")
                    }
                }
                #expect(try JSON(parsing: try await harness.aop("list", "-o", "json").text)["submissions"].elements.isEmpty)
            }
        }

        /// Errors that the file has by itself hide none that the coordinator finds, and make none.
        @Test func errorsOfTheFile_areToldTogetherWithAllOthers_andNoFalseOnes() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let graph = try harness.write(
                    "wrong.yaml",
                    """
                    group:
                      - {id: unknown, op: NobodyHasThis}
                      - {id: numbers, op: Drip, with: {count: 1, log: "x"}, retires: 2}
                      - {id: mismatch, op: "JSONDecoderOperation<User>", receives: numbers}
                      - {id: huge, run: 'true', requires: {cpus: 100000}}
                      - {id: lost, run: 'true', after: nobody}
                      - {id: first, run: 'true', after: second}
                      - {id: second, run: 'true', after: first}
                      - {id: locked, run: 'true', exclusive: [{key: a-b}, {key: a.b}]}

                    """)
                for command in ["submit", "check"] {
                    let refused = try await harness.aop(command, graph)
                    #expect(refused.status == 6, "\(refused)")
                    for text in ["NobodyHasThis", "retires", "mismatch", "cpus", "nobody", "cycle", "AOP_FENCE_A_B"] {
                        #expect(refused.stderr.contains(text), "\(text): \(refused)")
                    }
                    #expect(!refused.stderr.contains("is missing"), "\(refused)")
                    #expect(refused.stderr.split(separator: "\n").count { $0.contains("wrong.yaml:") } == 7, "\(refused)")
                }
            }
        }

        /// In the order of the file, each once: of what a group requires the group is told, not each of its members.
        @Test func errors_areToldInTheOrderOfTheFile_andOnce() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let graph = try harness.write(
                    "order.yaml",
                    """
                    group:
                      - {id: unknown, op: NobodyHasThis}
                      - {id: numbers, op: Drip, with: {count: 1}}
                      - id: labelled
                        requires: {label: nowhere}
                        group:
                          - {id: x, run: 'true'}
                          - {id: y, run: 'true'}
                      - {id: condition, run: 'true', conditions: [{type: NobodysCondition}]}
                      - {id: huge, run: 'true', requires: {cpus: 100000}}

                    """)
                for command in ["submit", "check"] {
                    let refused = try await harness.aop(command, graph)
                    #expect(refused.status == 6, "\(refused)")
                    let told = refused.stderr.split(separator: "\n").filter { $0.contains("order.yaml:") }
                        .compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }
                    #expect(told == ["unknown:", "numbers:", "labelled:", "condition:", "huge:"], "\(refused)")
                }
            }
        }

        /// Groups that decide, sequences, and receivers of streams: as one operation they would be something else.
        @Test func whatNoGraphFileCanName_isRefused_andItIsSaidWhoCan() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let decide = try harness.write(
                    "decide.yaml", "group: [{id: a, op: BuildOrSkip, with: {project: p, log: '\(harness.directory)/log'}}]\n")
                let early = try await harness.aop("submit", decide, "--wait-for-workers", "-o", "quiet").text
                    .trimmingCharacters(in: .newlines)
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let waited = try await harness.aop("wait", early)
                #expect(waited.status == 2 && waited.stderr.contains("`BuildOrSkip` is a group that decides"), "\(waited)")
                let graph = try harness.write(
                    "swift.yaml",
                    """
                    group:
                      - {id: group, op: BuildOrSkip, with: {project: p, log: l}}
                      - {id: sequence, op: Steps, with: {log: l, steps: []}}
                      - {id: each, forEach: [1], op: Line}
                      - {id: numbers, op: Drip, with: {count: 1, log: l}}
                      - {id: stream, op: Gather, with: {log: l}, receives: numbers}

                    """)
                let refused = try await harness.aop("submit", graph)
                #expect(refused.status == 6, "\(refused)")
                let told = refused.stderr.split(separator: "\n").filter { $0.contains("swift.yaml:") }
                #expect(told.count == 4, "\(refused)")
                for (line, id) in zip(told, ["group", "sequence", "each/*"]) {
                    #expect(line.contains(": \(id): ") && line.contains("submit it from Swift with a ClusterQueue"), "\(line)")
                }
                #expect(told.last?.contains("submit both from Swift with `stream(to:)`") == true, "\(refused)")
                #expect(harness.lines(of: "log").isEmpty)
            }
        }

        /// Locks and places need no workers; what needs them is named.
        @Test func withoutACoordinator_locksAndPlacesAreChecked_andTheRestIsNamed() async throws {
            try await ProcessHarness.with { harness in
                let good = try harness.write("good.yaml", "group: [{id: a, run: 'true', requires: {label: fast}}]\n")
                let checked = try await harness.aop("check", good, "--connect-timeout", "200ms")
                #expect(checked.status == 0 && checked.text.contains("good.yaml: ok, 1 node"), "\(checked)")
                let unchecked = checked.stderr.split(separator: "\n").filter { $0.hasPrefix("not checked: ") }
                #expect(unchecked.count == 3 && unchecked.allSatisfy { $0.hasSuffix("no coordinator was reached") }, "\(checked)")
                let locks = """
                    group:
                      - {id: locked, run: 'true', exclusive: [{key: a-b}, {key: a.b}]}
                      - id: narrow
                        maxConcurrent: 1
                        group:
                          - {id: outer, group: [{id: late, run: 'true', after: other}, {id: now, run: 'true'}]}
                          - {id: other, run: 'true'}

                    """
                for (name, text, count) in [("locks.yaml", locks, 2), ("both.yaml", locks + "  - {id: c, run: 'true', retires: 1}\n", 2)] {
                    let refused = try await harness.aop("check", try harness.write(name, text), "--connect-timeout", "200ms")
                    #expect(refused.status == 6 && refused.stderr.contains("AOP_FENCE_A_B"), "\(refused)")
                    #expect(refused.stderr.split(separator: "\n").count { $0.contains("\(name):") } >= count, "\(refused)")
                }
            }
        }

        @Test func unitThatKillsItsWorkerEachTime_failsAndNamesTheWorkers_othersAreUnharmed() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2", "--processes", "3")
                _ = try await harness.waitForExecutors(3)
                // Afterwards they may all be on their way back.
                let workers = try JSON(parsing: try await harness.aop("workers", "-o", "json").text)["workers"].elements
                let hosts = Set(workers.compactMap { $0["id"].string?.split(separator: "/").first })
                #expect(hosts.count == 1, "\(workers)")
                let directory = harness.directory
                let graph = try harness.write(
                    "poison.yaml",
                    "group:\n  - {id: poison, run: 'echo p >> \"\(directory)/poison\"; kill -9 $PPID; exec sleep 655'}\n"
                        + (0..<20).map { "  - {id: n\($0), run: 'sleep 0.05; echo n\($0)'}\n" }.joined())
                let submitted = try await harness.aop("submit", graph, "--wait", "-o", "json")
                #expect(submitted.status == 2, "\(submitted)")
                let result = try JSON(parsing: submitted.text)
                #expect(result["counts"]["succeeded"] == 20 && result["counts"]["failed"] == 1)
                #expect(result["errors"][0]["path"] == "poison")
                let message = result["errors"][0]["message"].string ?? ""
                let (start, end) = ("its worker process died under it 5 times, on ", "; see the log there for the cause")
                #expect(message.hasPrefix(start) && message.hasSuffix(end), "\(message)")
                let names = message.dropFirst(start.count).dropLast(end.count).replacing(" and ", with: ", ").split(separator: ", ")
                #expect(!names.isEmpty && names.allSatisfy { name in hosts.contains { name.hasPrefix("\($0)/") } }, "\(message)")
                #expect(harness.lines(of: "poison").count >= 2)
                #expect(harness.processes(with: "sleep 655").isEmpty)
            }
        }
    }
}
