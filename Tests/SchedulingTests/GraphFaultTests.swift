import Scheduling
import Testing

@Suite struct GraphFaultTests {
    private func messages(_ sketch: Sketch) -> [String] { sketch.graph().faults().map { "\($0.path): \($0.message)" } }

    @Test func cycle_isNamedWithItsMembers() {
        #expect(
            messages(.group("root", [.op("a", after: ["c"]), .op("b", receives: ["a"]), .op("c", receives: ["b"])]))
                .map { $0.contains("cycle: ") } == [true])
    }

    @Test func cycle_throughGroupMembership_isFound() {
        let sketch = Sketch.group("root", [.group("g", [.op("inner", after: ["out"])]), .op("out", after: ["g"])])
        #expect(messages(sketch).count == 1)
    }

    @Test func cycle_throughOrder_isFound() {
        let sketch = Sketch.ordered("root", [.op("a", after: ["b"]), .op("b")])
        #expect(messages(sketch).count == 1)
    }

    @Test func waitingForWhatContainsIt_isRefused() {
        #expect(
            messages(.group("root", [.group("g", [.op("a", after: ["g"])])]))
                == ["g/a: waits for `g`, which contains it; it would wait for ever"])
    }

    @Test func referenceIntoAForEach_isRefused() {
        let sketch = Sketch.group("root", [.forEach("each", of: nil, list: ["1"], body: .group("b", [.op("x")])), .op("y", after: ["x"])])
        #expect(messages(sketch).map { $0.contains("made once per element") } == [true])
    }

    @Test func referenceIntoARetriedGroup_isRefused() {
        let sketch = Sketch.group("root", [.group("g", [.op("x")], retries: 1), .op("y", after: ["x"])])
        #expect(messages(sketch).map { $0.contains("may begin anew") } == [true])
    }

    /// A group that its submitter may try again begins anew as one with retries does.
    @Test func whatMayNotBeginAnew_isRefused_inAGroupThatItsSubmitterMayTryAgain() {
        let tried = Sketch.group("g", [.op("x")]).having { $0.say = SubmitterSay(retries: true) }
        #expect(messages(.group("root", [tried, .op("y", after: ["x"])])).map { $0.contains("may begin anew") } == [true])
        let once = Sketch.op("x").having { $0.atMostOnce = true }
        let group = Sketch.group("g", [once]).having { $0.say = SubmitterSay(retries: true) }
        #expect(messages(.group("root", [group])).map { $0.contains("a group around it has `retry`") } == [true])
        // What is done at most once as a whole is not tried again, whatever its submitter says.
        let whole = Sketch.group("g", [.op("x")]).having {
            $0.say = SubmitterSay(retries: true)
            $0.atMostOnce = true
        }
        #expect(messages(.group("root", [whole, .op("y", after: ["x"])])) == [])
    }

    @Test func duplicateIDs_areRefused() {
        #expect(messages(.group("root", [.op("a"), .op("a")])).map { $0.contains("duplicate id `a`") } == [true])
    }

    @Test func limits_areNamed() {
        let graph = Sketch.group("root", [.group("a", [.group("b", [.op("c")])])]).graph()
        #expect(graph.faults(limits: GraphLimits(depthMax: 2)).first?.message.contains("limit of 2") == true)
        #expect(graph.faults(limits: GraphLimits(nodesMax: 2)).first?.message.contains("limit of 2") == true)
    }

    @Test func rootIsOneOfTheNodes_andAMillionMayBeBelowIt() {
        let graph = Sketch.group("root", [.op("a"), .op("b")]).graph()
        #expect(graph.faults(limits: GraphLimits(nodesMax: 3)).isEmpty)
        let fault = graph.faults(limits: GraphLimits(nodesMax: 2)).first
        #expect(fault?.message.contains("has 3 nodes, more than the limit of 2 with its root") == true)
        #expect(GraphLimits().nodesMax == 1 + 1_000_000)
    }

    /// None of them has passed admission, wherever it comes from.
    private static let malformed: [Graph] = {
        let op = Node(id: "x", parent: 0, kind: .operation(OperationNode(type: "noop", parameters: 0)))
        let root = Node(id: "", parent: 0, kind: .group(GroupNode(isOrdered: false)))
        var orphan = op
        orphan.parent = 7
        var dangling = op
        dangling.receives = [9]
        var negative = op
        negative.receives = [-1]
        let child = Node(id: "y", parent: 1, kind: .operation(OperationNode(type: "noop", parameters: 0)))
        let lists: [[Node]] = [[], [op], [root, orphan], [root, dangling], [root, negative], [root, op, child]]
        return lists.map { Graph(name: "", nodes: $0, parameters: [[]]) } + [Graph(name: "", nodes: [root, op], parameters: [])]
    }()

    @Test(arguments: malformed) func malformedNodeLists_areRefused_notTrapped(graph: Graph) {
        #expect(!graph.faults().isEmpty)
    }

    /// The hashes of such a row may be right. Bytes have no negative numbers of nodes.
    @Test(arguments: malformed.filter { $0.nodes.allSatisfy { $0.receives.allSatisfy { $0 >= 0 } } })
    func malformedNodeLists_areRefused_inTheJournal(graph: Graph) {
        let fact = Fact.submitted(Admission(number: SubmissionNumber(0), id: "i", key: "k", name: "n", graph: graph, at: 1))
        #expect(throws: DecodingFailure.self) { try FactCodec.decode(FactCodec.encode(fact)[...]) }
    }
}

@Suite struct FactCodecTests {
    @Test func facts_surviveTheirBytes() throws {
        let unit = UnitID(SubmissionNumber(3), 9)
        let attempt = Attempt(epoch: 1_700_000_000, counter: 5)
        let failure = Failure(
            code: .exit, publisher: "p", message: "m", exitCode: 3, signal: nil, stderr: "e", host: "h", image: [1], origin: "a/b"
        )
        let facts: [Fact] = [
            .epochStarted(epoch: 7, incarnation: Incarnation(.max), at: -5),
            .epochStarted(epoch: 8, incarnation: Incarnation(1), at: 5, rules: 1),
            .typesRegistered(["a", "ü"]),
            .workerMet(WorkerNumber(0), WorkerIdentity(incarnation: Incarnation(1), name: "h/0", host: "h", pid: 4)),
            .workerMet(
                WorkerNumber(1),
                WorkerIdentity(incarnation: Incarnation(1), name: "h/0", host: "h", pid: 4, supervisor: Incarnation(.max))),
            .offersRegistered([
                Offer(labels: ["zone=a", "fast"], resources: [ResourceAmount(name: "memory", amount: 1 << 50)]),
                Offer(labels: [], resources: []),
            ]),
            .workerEnded(WorkerNumber(2)),
            .submitted(
                Admission(
                    number: SubmissionNumber(1), id: "i", key: "k", name: "n",
                    graph: Sketch.group(
                        "root",
                        [
                            Sketch.op("a", receives: []).having {
                                $0.requires = Requirements(labels: ["b", "a"], resources: [ResourceAmount(name: "gpus", amount: 0)])
                            },
                            Sketch.op("say").having {
                                $0.say = SubmitterSay(holds: true, retries: false)
                                $0.hostedTimeoutMilliseconds = 5_000
                            },
                            Sketch.op("end", receives: ["a"], retries: 2).having { $0.retriesNet = true },
                            .forEach("f", of: nil, list: ["1"], body: .op("b", after: ["a"], retries: 2, timeout: 9)),
                        ]
                    ).graph(), at: 1
                )),
            .assigned(unit, attempt, WorkerNumber(1), at: 2),
            .attemptEnded(unit, attempt, .success(text("x")), startedAt: 1, at: 2),
            .attemptEnded(
                unit, attempt, .success(Payload(encoding: .bytes, storage: .blob(digest: [1, 2], size: 99))), startedAt: 1, at: 2),
            .attemptEnded(unit, attempt, .failure([failure]), startedAt: 1, at: 2),
            .attemptEnded(unit, attempt, .stopped, startedAt: 0, at: 2),
            .attemptEnded(unit, attempt, .stopped, startedAt: 1_000, endedAt: 1_500, at: 90_000),
            .attemptEnded(unit, attempt, .elements([[1], []]), startedAt: 0, at: 2),
            .judged(unit, [Verdict(condition: 1, finding: .ignored, reason: "r", at: 3)], at: 4),
            .attemptEnded(
                unit, attempt, .answers([ConditionAnswer(condition: 2, finding: .ignored)]), startedAt: 0, at: 2),
            .attemptEnded(unit, attempt, .concluded(nil), startedAt: 0, at: 2),
            .attemptEnded(unit, attempt, .concluded(1_500), startedAt: 0, at: 2),
            .attemptLost(unit, attempt, .suspected, at: 3), .attemptLost(unit, attempt, .crashed, startedAt: 1, at: 3),
            .attemptLost(unit, attempt, .revoked, at: 3), .attemptLost(unit, attempt, .limited, at: 3),
            .deathProven(unit, attempt, WorkerNumber(3), .crashed, isEvaluation: true, at: 3),
            .cancelRequested(unit, reason: "r", now: true, at: 4),
            .timedOut(unit, at: 5),
            .groupRestarted(unit, at: 6),
            .scopeRestarted(unit, at: 6),
            .paused(unit, at: 7),
            .resumed(unit, at: 8),
            .preparationDue(unit, at: 9),
            .quarantineLifted(unit, at: 10),
            .lockSeized(unit, key: "db", reason: "stuck", at: 11),
            .lateResultRefused(unit, attempt, at: 12),
            .orphanEnded(unit, attempt, at: 12),
            .attemptStrayed(unit, attempt, WorkerNumber(3), at: 12),
            .linked(unit, attempt, WorkerNumber(3), at: 12),
            .strayEnded(unit, attempt, at: 13),
            .strayEnded(unit, attempt, isUnbegun: true, at: 13),
            .outcomesKept(SubmissionNumber(3), from: SubmissionNumber(2), at: 12),
            .outcomesKept(SubmissionNumber(3), from: SubmissionNumber(2), withElements: false, at: 12),
            .stopBegun(unit, attempt, forced: true, since: 12, at: 13),
            .attemptTimedOut(unit, attempt, since: 12, at: 13),
            .submitted(
                Admission(
                    number: SubmissionNumber(2), id: "j", key: "l", name: "n",
                    graph: Sketch.group(
                        "root",
                        [.preparing(Sketch.op("a").having { $0.conditions = [Condition(.noFailedDependencies)] }, [0: .op("?NoFailed.0")])]
                    ).graph(), at: 1)),
            .submitted(
                Admission(
                    number: SubmissionNumber(3), id: "k", key: "l", name: "n", graph: Sketch.group("root", [.op("a")]).graph(), at: 1,
                    submitter: Incarnation(4), waitsForWorkers: true, principal: "ann", operations: ["noop", "shell"])),
        ]
        for fact in facts { #expect(try FactCodec.decode(FactCodec.encode(fact)[...]) == fact) }
    }

    @Test(arguments: 0..<200)
    func damagedBytes_areRefused_notTrapped(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let graph = RandomGraph.make(&random)
        var bytes = FactCodec.encode(.submitted(Admission(number: SubmissionNumber(1), id: "i", key: "k", name: "n", graph: graph, at: 1)))
        for _ in 0..<(1 + random.below(8)) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
        if let fact = try? FactCodec.decode(bytes[...]), case .submitted(let admission) = fact { _ = admission.graph.faults() }
        _ = try? FactCodec.decode(bytes.prefix(random.below(bytes.count)))
    }
}
