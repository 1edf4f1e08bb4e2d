import AOperation
import Cluster
import Foundation
import Testing
import TrialOperations

extension SystemTests {
    /// Retries at the ends of delivery nets, on a `ClusterQueue`.
    @Suite struct RetryScopes {
        /// Producers, one of which is behind another one, and an end that is tried again.
        private struct Net {
            let log = CallbackLog()
            let end: Join
            let operations: [AOperation]

            init(_ directory: String, attempts: Int, failures: [Int], until: String? = nil) {
                let heads = failures.enumerated().map { index, failures in
                    Emit("\(index)", log: "\(directory)/\(index)", until: index == 1 ? until : nil, failures: failures)
                }
                let loud = heads[0].deliver(to: Shout())
                end = Join().retry(RetryPolicy(attempts: attempts))
                let others: [ResultableOperation<String>] = Array(heads.dropFirst())
                ([loud] + others).deliver(to: end)
                operations = heads + [loud, end]
                for (index, head) in heads.enumerated() { log.listen(to: head, as: "\(index)") }
                log.listen(to: loud, as: "loud")
                log.listen(to: end, as: "end")
            }

            func ended() async throws {
                for operation in operations { await operation.over() }
                try await eventually("all listeners have been told") {
                    log.byName.count == operations.count && log.byName.values.allSatisfy { $0.last?.hasPrefix("didFinish") == true }
                }
            }

            /// How often each of the producers ran.
            func runs(_ directory: String) -> [Int] {
                operations.indices.dropLast(2).map { index in
                    let lines = try? String(contentsOfFile: "\(directory)/\(index)", encoding: .utf8)
                    return lines?.split(separator: "\n").count { $0.hasPrefix("+") } ?? 0
                }
            }
        }

        /// Whatever fails above the end begins anew with it; what succeeded is kept; each listener hears once.
        @Test(arguments: [3, 2])
        func sameNet_onBothQueues_runsAsOften_endsAlike_andTellsTheSame(attempts: Int) async throws {
            PortableErrors.register(TrialError.self)
            try await ProcessHarness.with { harness in
                let folders = try harness.folders("here", "there")
                let (here, there) = (
                    Net(folders[0], attempts: attempts, failures: [2, 0, 1]), Net(folders[1], attempts: attempts, failures: [2, 0, 1])
                )
                here.end.add(to: AOperationQueue())
                try await here.ended()
                let cluster = try await harness.trialCluster()
                there.end.add(to: cluster)
                try await there.ended()
                #expect(there.log.byName == here.log.byName)
                #expect(there.runs(folders[1]) == here.runs(folders[0]))
                #expect(there.runs(folders[1]) == [attempts, 1, 2])
                #expect(there.end.outcome?.isSuccess == (attempts == 3))
                await cluster.close()
            }
        }

        /// What somebody in another queue waits for has ended with its first failure, for him and for the net.
        @Test func producerThatIsAwaitedInAnotherQueue_isNotTriedAgain_onEitherQueue() async throws {
            PortableErrors.register(TrialError.self)
            try await ProcessHarness.with { harness in
                let folders = try harness.folders("here", "there")
                let (here, there) = (Net(folders[0], attempts: 3, failures: [1]), Net(folders[1], attempts: 3, failures: [1]))
                let (elsewhere, cluster) = (AOperationQueue(), try await harness.trialCluster())
                for (net, isHere) in [(here, true), (there, false)] {
                    let outside = AOperationBlock { finish in finish() }
                    outside.addDependency(net.operations[0])
                    elsewhere.addOperation(outside)
                    if isHere { net.end.add(to: AOperationQueue()) } else { net.end.add(to: cluster) }
                    try await net.ended()
                    await outside.over()
                }
                #expect(there.log.byName == here.log.byName)
                #expect(here.runs(folders[0]) == [1] && there.runs(folders[1]) == [1])
                #expect(there.end.outcome?.isSuccess == false)
                await cluster.close()
            }
        }

        /// Nets of any shape, whose heads fail a few times.
        private struct RandomNet {
            let heads: [Emit]
            let operations: [AOperation]
            let log: String

            init(seed: UInt64, _ directory: String) {
                var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
                func below(_ bound: Int) -> Int {
                    state ^= state << 13
                    state ^= state >> 7
                    state ^= state << 17
                    return Int(state % UInt64(bound))
                }
                log = "\(directory)/\(seed)"
                let heads = (0..<(1 + below(3))).map { [log] in Emit("\($0)", log: log, failures: below(3) == 0 ? 0 : below(3)) }
                var producers: [ResultableOperation<String>] = heads
                var open = producers
                for _ in 0..<below(3) {
                    let join = Join(.init(separator: ","))
                    let some = producers.filter { _ in below(2) == 0 }
                    guard !some.isEmpty else { continue }
                    some.deliver(to: join)
                    open.removeAll { producer in some.contains { $0 === producer } }
                    producers.append(join)
                    open.append(join)
                }
                let end = Join().retry(RetryPolicy(attempts: 1 + below(4)))
                open.deliver(to: end)
                self.heads = heads
                operations = producers + [end]
            }

            /// How often heads ran, and how each operation ended.
            var result: [String] {
                let lines = ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n")
                let runs = heads.map { head in "\(lines.count { $0 == "+\(head.parameters.text)" })" }
                return runs
                    + operations.map { operation in
                        let value = (operation as? ResultableOperation<String>)?.outcome?.value
                        return value ?? operation.publishedErrors.map(\.localizedDescription).joined(separator: ";")
                    }
            }
        }

        @Test func randomNets_onBothQueues_runAsOften_andEndAlike() async throws {
            PortableErrors.register(TrialError.self)
            try await ProcessHarness.with { harness in
                let folders = try harness.folders("here", "there")
                let cluster = try await harness.trialCluster()
                let (here, there) = (
                    (0..<24).map { RandomNet(seed: $0, folders[0]) }, (0..<24).map { RandomNet(seed: $0, folders[1]) }
                )
                let queue = AOperationQueue()
                for net in here { net.operations.last?.add(to: queue) }
                for net in there { net.operations.last?.add(to: cluster) }
                for operation in (here + there).flatMap(\.operations) { await operation.over() }
                for (seed, (here, there)) in zip(here, there).enumerated() {
                    #expect(there.result == here.result, "net \(seed)")
                }
                #expect(Set(here.map { $0.operations.last?.publishedErrors.isEmpty }) == [true, false])
                await cluster.close()
            }
        }

        @Test func graphFile_scopeNet_triesTheWholeChainAgain_alsoForForwardedFailures() async throws {
            try await ProcessHarness.with { harness in
                let directory = harness.directory
                let graph = try harness.write(
                    "net.yaml",
                    """
                    group:
                      - {id: kept, run: 'echo x >> "\(directory)/kept"; echo k'}
                      - id: fetch
                        receives: kept
                        run: 'echo x >> "\(directory)/fetch"; test $(wc -l < "\(directory)/fetch") -ge 3 || exit 9'
                      - {id: unpack, receives: fetch, run: 'echo x >> "\(directory)/unpack"'}
                      - id: check
                        receives: unpack
                        run: 'true'
                        retry: {attempts: 2, scope: net, backoff: {kind: constant, initial: 1ms}}

                    """)
                let finished = try await harness.aop("run", graph, "-o", "json")
                #expect(finished.status == 0, "\(finished)")
                #expect(harness.lines(of: "kept").count == 1)
                #expect(harness.lines(of: "fetch").count == 3)
                #expect(harness.lines(of: "unpack").count == 1)
            }
        }

        /// While the end has not decided nobody is told of failures, also over a crash of the coordinator.
        @Test func heldFailures_areToldToNobody_andSurviveTheCoordinator() async throws {
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let cluster = try await harness.connect()
                let net = Net(harness.directory, attempts: 2, failures: [1, 0], until: "\(harness.directory)/go")
                net.end.add(to: cluster)
                func shown() async throws -> [String: String] {
                    let shown = try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["operations"]
                    return Dictionary(shown.elements.map { ($0["path"].string ?? "", $0["state"].string ?? "") }) { $1 }
                }
                try await eventually("the head has failed, and what follows on it too") {
                    let states = try await shown()
                    return states.values.count { $0 == "retrying" } == 2 && harness.lines(of: "1") == ["+1"]
                }
                #expect(net.log.ends.isEmpty)
                try await first.send(SIGKILL)
                _ = try await first.finish()
                _ = try await harness.startCoordinator()
                try await eventually("they are held again") { try await shown().values.count { $0 == "retrying" } == 2 }
                #expect(net.log.ends.isEmpty)
                _ = try harness.write("go", "")
                try await net.ended()
                #expect(net.runs(harness.directory) == [2, 1])
                #expect(net.end.outcome?.value == "0+1")
                for lines in net.log.byName.values { #expect(lines.count == 4, "\(net.log.byName)") }
                await cluster.close()
            }
        }

        /// All children begin anew, of a group of their own and with the end of a net; what counts is the last attempt.
        @Test func groups_beginAnewWithAllChildren_alsoOverARestartOfTheCoordinator() async throws {
            try await ProcessHarness.with { harness in
                let first = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(1)
                let cluster = try await harness.connect()
                let log = CallbackLog()
                func emit(_ name: String, failures: Int = 0, until: String? = nil) -> Emit {
                    let emit = Emit(name, log: "\(harness.directory)/\(name)", until: until, failures: failures)
                    log.listen(to: emit, as: name)
                    return emit
                }
                let own = GroupOperation(emit("a"), emit("b", failures: 2)).retry(RetryPolicy(attempts: 3))
                let part = GroupOperation(emit("c"), emit("d", failures: 1))
                let end = part.deliver(to: Join()).retry(RetryPolicy(attempts: 3))
                let gate = emit("gate", until: "\(harness.directory)/go")
                end.addDependency(gate)
                let root = GroupOperation(own, part, end, gate)
                root.add(to: cluster)
                try await eventually("one group has ended, the other has failed once") {
                    harness.lines(of: "a").count == 6 && harness.lines(of: "b").count == 6 && harness.lines(of: "d") == ["+d", "-d"]
                        && log.byName["b"]?.last?.hasPrefix("didFinish") == true
                }
                #expect(log.byName["c"]?.contains { $0.hasPrefix("finished") } != true)
                try await first.send(SIGKILL)
                _ = try await first.finish()
                _ = try harness.write("go", "")
                _ = try await harness.startCoordinator()
                await root.over()
                #expect(root.outcome?.isSuccess == true, "\(root.publishedErrors)")
                #expect(end.outcome?.value == "c+d")
                #expect(own.outcomes.map(\.isSuccess) == [true, true])
                try await eventually("all listeners have been told") {
                    log.byName.values.allSatisfy { $0.last?.hasPrefix("didFinish") == true }
                }
                for name in ["a", "b", "c", "d"] {
                    #expect(log.byName[name] == ["started", "didStart", "finished []", "didFinish \(name)"])
                }
                #expect(harness.lines(of: "c").count == 4 && harness.lines(of: "d").count == 4)
                await cluster.close()
            }
        }

        @Test func whatCannotBeTriedAgain_isRefusedByName() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await harness.trialCluster()
                let tail = Emit("a").exclusive("key").deliver(to: Shout()).retry(RetryPolicy(attempts: 2))
                tail.add(to: cluster)
                await tail.over()
                let text = tail.publishedErrors.map(\.localizedDescription).joined()
                #expect(text.contains("names a lock") && text.contains("`Shout`"), "\(text)")
                await cluster.close()
            }
        }
    }
}
