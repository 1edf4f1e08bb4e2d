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

        @Test func unitThatKillsItsWorkerEachTime_failsAndNamesTheWorkers_othersAreUnharmed() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2", "--processes", "3")
                _ = try await harness.waitForExecutors(3)
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
                let workers = try JSON(parsing: try await harness.aop("workers", "-o", "json").text)["workers"].elements
                let names = message.dropFirst(start.count).dropLast(end.count).replacing(" and ", with: ", ").split(separator: ", ")
                let hosts = Set(workers.compactMap { $0["id"].string?.split(separator: "/").first })
                #expect(!names.isEmpty && names.allSatisfy { name in hosts.contains { name.hasPrefix("\($0)/") } }, "\(message)")
                #expect(harness.lines(of: "poison").count >= 2)
                #expect(harness.processes(with: "sleep 655").isEmpty)
            }
        }
    }
}
