import AOperation
import Cluster
import Foundation
import Testing
import TrialOperations

extension SystemTests {
    /// `unique` in files and `UniqueOperation`s on a `ClusterQueue`.
    @Suite struct Uniqueness {
        @Test func ofManySubmissionsWithOneId_oneRuns_othersJoinOrAreIgnored_alsoOverARestartOfTheCoordinator() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                _ = harness.startWorker("--processes", "2", "--slots", "4")
                _ = try await harness.waitForExecutors(2)
                func graph(_ name: String, _ policy: String) throws -> String {
                    let command =
                        "echo \(name) >> \"\(harness.directory)/log\"; until [ -e \"\(harness.directory)/go\" ]; do sleep 0.05; done; echo \(name)"
                    return try harness.write(
                        "\(name).yaml", "group:\n  - {id: only, run: '\(command)', unique: refresh, onDuplicate: \(policy)}\n")
                }
                let first = try await harness.aop("submit", graph("first", "ignore"), "-o", "quiet").text.trimmingCharacters(in: .newlines)
                try await eventually("the first runs") { harness.lines(of: "log") == ["first"] }
                var joiners: [String] = []
                for number in 0..<3 {
                    joiners.append(
                        try await harness.aop("submit", graph("joiner\(number)", "join"), "-o", "quiet").text
                            .trimmingCharacters(in: .newlines))
                }
                let ignored = try await harness.aop("submit", graph("ignored", "ignore"), "--wait", "-o", "json")
                #expect(ignored.status == 2, "\(ignored)")
                let error = try JSON(parsing: ignored.text)["errors"][0]
                #expect(error["code"] == "duplicate" && error["duplicateOf"].string == "\(first)/only", "\(ignored)")
                let shown = try await harness.aop("show", joiners[0])
                #expect(shown.text.contains("joined to \(first)/only, which has the unique id `refresh`"), "\(shown)")

                try await coordinator.send(SIGKILL)
                _ = try await coordinator.finish()
                _ = try await harness.startCoordinator()
                let operation = try JSON(parsing: try await harness.aop("show", joiners[1], "-o", "json").text)["operations"][0]
                #expect(operation["joinedTo"].string == "\(first)/only" && operation["uniqueId"] == "refresh", "\(operation)")
                _ = try harness.write("go", "")
                for id in joiners + [first] {
                    let result = try await harness.aop("wait", id, "-o", "json")
                    #expect(result.status == 0, "\(result)")
                    #expect(try JSON(parsing: result.text)["value"][0] == "first")
                }
                #expect(harness.lines(of: "log") == ["first"])
                let after = try await harness.aop("submit", graph("after", "ignore"), "--wait", "-o", "json")
                #expect(after.status == 0, "\(after)")
                #expect(harness.lines(of: "log") == ["first", "after"])
            }
        }

        @Test func elements_areTakenOnceEach_andJoinersGetTheValue() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write(
                    "each.yaml",
                    """
                    group:
                      - id: pages
                        forEach: [{n: a}, {n: b}, {n: a}]
                        run: 'echo "$item_n" | tee -a "\(harness.directory)/log"'
                        unique: page ${item.n}
                        onDuplicate: join

                    """)
                let finished = try await harness.aop("run", graph, "-o", "json")
                #expect(finished.status == 0, "\(finished)")
                #expect(try JSON(parsing: finished.text)["value"][0] == ["a", "b", "a"])
                #expect(harness.lines(of: "log").sorted() == ["a", "b"])
            }
        }

        /// Each holds an id while an element of it, whose id nobody knew before, wants to join the other one.
        @Test func joinerThatWouldCloseACircle_isIgnoredByName_andBothEnd() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2")
                func graph(_ name: String, _ id: String, joins other: String) throws -> String {
                    let gate = "echo in >> '\(harness.directory)/log'; until [ -e '\(harness.directory)/go' ]; do sleep 0.05; done"
                    return try harness.write(
                        "\(name).yaml",
                        """
                        group:
                          - id: outer
                            unique: \(id)
                            ordered:
                              - {id: gate, run: "\(gate)"}
                              - {id: joiner, forEach: [\(other)], unique: '${item}', onDuplicate: join, run: 'true'}

                        """)
                }
                var ids: [String] = []
                for (name, id, other) in [("one", "u1", "u2"), ("two", "u2", "u1")] {
                    let submitted = try await harness.aop("submit", try graph(name, id, joins: other), "-o", "quiet")
                    ids.append(submitted.text.trimmingCharacters(in: .newlines))
                }
                try await eventually("both hold their ids") { harness.lines(of: "log").count == 2 }
                _ = try harness.write("go", "")
                var messages: [String] = []
                for id in ids {
                    let ended = try await harness.aop("wait", id, "--timeout", "60s", "-o", "quiet")
                    #expect(ended.status != 124, "\(ended)")
                    messages.append(try await harness.aop("show", id).text)
                }
                #expect(messages.contains { $0.contains("/outer has the same unique id `u") }, "\(messages)")
            }
        }

        @Test func wholeSubmissionThatJoins_hasTheFirstOnesValue() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2")
                let graph = try harness.write(
                    "nightly.yaml",
                    """
                    unique: nightly
                    onDuplicate: join
                    group:
                      - {id: a, run: 'until [ -e "\(harness.directory)/go" ]; do sleep 0.05; done; echo x | tee -a "\(harness.directory)/log"'}
                      - {id: b, run: 'echo 2', output: json}

                    """)
                var ids: [String] = []
                for _ in 0..<2 {
                    ids.append(try await harness.aop("submit", graph, "-o", "quiet").text.trimmingCharacters(in: .newlines))
                }
                _ = try harness.write("go", "")
                for id in ids {
                    let result = try await harness.aop("wait", id, "-o", "json")
                    #expect(result.status == 0, "\(result)")
                    #expect(try JSON(parsing: result.text)["value"] == ["x", 2])
                }
                #expect(harness.lines(of: "log") == ["x"])
            }
        }

        @Test func uniqueOperations_onAClusterQueue_areUniqueInTheCluster() async throws {
            try await ProcessHarness.with { harness in
                let (cluster, log) = (try await harness.trialCluster(), "\(harness.directory)/log")
                let other = try await harness.connect()
                let first = Only("id", "first", log: log, until: "\(harness.directory)/go")
                first.add(to: cluster)
                try await eventually("the first runs") { harness.lines(of: "log") == ["+first"] }
                let joined = Only("id", "joined", joins: true, log: log)
                let shout = joined.deliver(to: Shout())
                let ignored = Only("id", "ignored", log: log)
                let loud = Task { try await shout.value(on: other) }
                let result = await ignored.result(on: other)
                let error = try #require(result.error?.publishedError as? AOperationError.IgnoredDuplicate)
                #expect(error.uniqueId == "id" && error.operation == "Only" && error.first?.hasSuffix("/Only") == true)
                _ = try harness.write("go", "")
                #expect(try await loud.value == "FIRST")
                #expect(joined.outcome == .success("first"))
                #expect(harness.lines(of: "log") == ["+first", "-first"])
                // The worker that ran it runs the next one with this id.
                #expect(try await Only("id", "next").value(on: cluster) == "next")
                await other.close()
                await cluster.close()
            }
        }
    }
}

extension Result {
    fileprivate var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}
