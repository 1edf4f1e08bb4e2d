import Scheduling
import Testing

/// Units that only the process of their submitter can do.
@Suite struct HostingTests {
    static let here = 70

    private func hosted(_ id: String, receives: [String] = [], after: [String] = [], retries: Int = 0, keys: [String] = []) -> Sketch {
        Sketch.op(
            id, type: "AOperationBlock", receives: receives, after: after, retries: retries, exclusive: keys.map { Exclusion(key: $0) }
        ).having { $0.isHosted = true }
    }

    private func asked(_ sketch: Sketch) -> Sketch {
        sketch.having { $0.conditions = [Condition(.probe(Probe(type: "BlockCondition", parameters: 0, isHosted: true)))] }
    }

    private func cluster() -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 9)
        cluster.attach(Self.here, slots: 9, operations: [], isSubmitter: true)
        return cluster
    }

    /// Longer than a submitter that is not heard has to come back.
    private let longer: Int64 = 25_000

    @Test func hostedUnit_isGivenToItsSubmitterAlone_andNothingElseIs() throws {
        var cluster = cluster()
        let other = Self.here + 1
        cluster.attach(other, slots: 9, operations: ["AOperationBlock", "noop"], isSubmitter: true)
        cluster.submit(
            Sketch.group(
                "root", [.op("a"), hosted("h", receives: ["a"]), .op("b", receives: ["h"]), .forEach("f", of: "a", body: .op("x"))]
            ).graph(), submitter: Self.here)
        #expect(cluster.held[1]?.map(\.path) == ["a"])
        cluster.end("a", .success(text("[1]")))
        #expect(cluster.held[Self.here]?.map(\.path) == ["h"])
        #expect(cluster.held[Self.here]?.first.map { $0.isHosted && $0.inputs.isEmpty } == true)
        #expect(cluster.held[1]?.map(\.path) == ["f"])
        cluster.end("h", .success(text("value")))
        #expect(cluster.held[1]?.first { $0.path == "b" }?.inputs == [.value(text("value"))])
        #expect(cluster.held[other]?.isEmpty ?? true)
        #expect(cluster.ask(.workers).map { if case .workers(let views) = $0 { views.map(\.name) } else { [] } } == ["h/1"])
        #expect(cluster.operations().first { $0.path == "h" }?.isHosted == true)
    }

    /// Its conditions held, and it stands in the line of those who execute it; then they are to be evaluated again.
    @Test func conditionsOfTheSubmitter_areAskedThereAgain_afterAPause() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.attach(Self.here, slots: 9, operations: [], isSubmitter: true)
        cluster.submit(Sketch.group("root", [.op("first"), asked(.op("a"))]).graph(), submitter: Self.here)
        cluster.end("a", on: Self.here)
        #expect(cluster.heldPaths == ["first"])
        _ = cluster.ask(.pause(submission: "last", path: "a"))
        _ = cluster.ask(.resume(submission: "last", path: "a"))
        #expect(cluster.held[Self.here]?.map(\.path) == ["a"])
        cluster.end("first")
        #expect(cluster.held[1]?.isEmpty != false)
        cluster.end("a", on: Self.here)
        #expect(cluster.held[1]?.map(\.path) == ["a"])
        cluster.end("a", on: 1)
        #expect(cluster.view()?.state == .succeeded)
    }

    /// Some of the conditions are the submitter's, some workers': workers are asked first, all are asked, and errors are in their order.
    @Test(arguments: [false, true])
    func conditionsOfBoth_areAskedInBothPlaces_andErrorsAreInTheirOrder(isGroup: Bool) throws {
        var cluster = cluster()
        let conditions = [true, false, true].enumerated().map { place, isHosted in
            Condition(.probe(Probe(type: isHosted ? "Mine\(place)" : "probe", parameters: 0, isHosted: isHosted)))
        }
        let inner = isGroup ? Sketch.group("x", [.op("y")]) : .op("x", retries: 1)
        cluster.submit(
            Sketch.group("root", [inner.having { $0.conditions = conditions }]).graph(), submitter: Self.here)
        let asked = try #require(cluster.find("x", on: 1)?.1)
        #expect(asked.kind == .evaluate && asked.questions.map(\.condition) == [1])
        func answer(_ owner: Int, _ positions: [Int], failing: Set<Int> = []) {
            let answers = positions.map {
                ConditionAnswer(condition: $0, finding: failing.contains($0) ? .failed : .satisfied, reason: "no \($0)")
            }
            cluster.end("x", on: owner, .answers(answers))
        }
        answer(1, [1], failing: [1])
        // What workers have said stays said, whatever happens meanwhile.
        try cluster.restart()
        cluster.reattach(1, slots: 9)
        cluster.reattach(Self.here, slots: 9)
        let here = try #require(cluster.find("x", on: Self.here)?.1)
        #expect(here.kind == .evaluate && here.questions.map(\.condition) == [0, 2] && cluster.find("x", on: 1) == nil)
        answer(Self.here, [0, 2], failing: [0])
        if !isGroup {
            // Anew for each attempt.
            cluster.advance(70_000)
            #expect(cluster.find("x", on: 1)?.1.questions.map(\.condition) == [1])
            answer(1, [1], failing: [1])
            answer(Self.here, [0, 2], failing: [0])
        }
        let errors = cluster.operations().first { $0.path == "x" }?.errors ?? []
        #expect(errors.map(\.message) == ["no 0", "no 1"] && errors.map(\.host) == ["h/70", "h/1"])
    }

    @Test func conditionsOfBoth_thatHold_letItStart_onAWorker() throws {
        var cluster = cluster()
        let conditions = [false, true].map { Condition(.probe(Probe(type: "probe", parameters: 0, isHosted: $0))) }
        cluster.submit(Sketch.group("root", [Sketch.op("x").having { $0.conditions = conditions }]).graph(), submitter: Self.here)
        cluster.end("x", on: 1)
        cluster.end("x", on: Self.here)
        #expect(cluster.find("x", on: 1)?.1.kind == .execute)
        cluster.end("x", on: 1)
        #expect(cluster.view()?.state == .succeeded)
    }

    /// Workers have been asked when it is gone.
    @Test func conditionsOfBoth_failWithoutTheSubmitter() {
        var cluster = cluster()
        let conditions = [false, true].map { Condition(.probe(Probe(type: "probe", parameters: 0, isHosted: $0))) }
        cluster.submit(Sketch.group("root", [Sketch.op("x").having { $0.conditions = conditions }]).graph(), submitter: Self.here)
        cluster.depart(Self.here)
        cluster.end("x", on: 1)
        #expect(cluster.operations().first { $0.path == "x" }?.errors.map(\.code) == [.submitterGone])
    }

    @Test func submitterThatIsNotHeard_keepsWhatItRuns_andComesBackToIt() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [hosted("h", keys: ["k"]), hosted("later", after: ["h"])]).graph(), submitter: Self.here)
        cluster.begin("h")
        cluster.disconnect(Self.here)
        cluster.advance(10_000)
        let waiting = try #require(cluster.operations().first { $0.path == "h" }?.waiting)
        #expect(waiting.kind == .submitter)
        #expect(waiting.text == "waits for its submitter (h/70), which is not connected and has 10 s to come back")
        cluster.reattach(Self.here, slots: 9)
        #expect(cluster.heldPaths == ["h"])
        cluster.end("h")
        cluster.end("later")
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.dispatched == ["h", "later"])
    }

    @Test func submitterGoneForTooLong_whatRunsAndWaitsFails_theRestGoesOn_eachInItsTurn() {
        var cluster = cluster()
        let steps = Sketch.ordered("steps", [.op("first"), hosted("second"), .op("third")])
        cluster.submit(
            Sketch.group(
                "root", [hosted("runs", keys: ["k"]), hosted("queued", after: ["a"]), .op("a"), .op("b", after: ["runs"]), steps]
            ).graph(), submitter: Self.here)
        let other = cluster.submit(Sketch.group("root", [.op("next", exclusive: [Exclusion(key: "k")])]).graph(), key: "other")
        #expect(!cluster.holds("next"))
        cluster.begin("runs")
        cluster.disconnect(Self.here)
        cluster.end("a")
        cluster.advance(longer)
        #expect(cluster.state("next") == .running || cluster.holds("next"))
        let operations = cluster.operations(of: other == nil ? "last" : "key=key")
        func errors(_ path: String) -> [FailureCode] { operations.first { $0.path == path }?.errors.map(\.code) ?? [] }
        #expect(errors("runs") == [.submitterGone] && errors("queued") == [.submitterGone])
        // The one before it has not ended.
        #expect(operations.first { $0.path == "steps/second" }?.state == .blocked)
        #expect(cluster.holds("b"))
        cluster.end("steps/first")
        let after = cluster.operations(of: "key=key")
        #expect(
            after.first { $0.path == "steps/second" }?.errors.map(\.message) == [
                "the process that submitted it is gone, and it can run nowhere else"
            ])
        #expect(after.first { $0.path == "steps/third" }?.state == .cancelled)
        // It comes back too late.
        cluster.reattach(Self.here, slots: 9)
        #expect(cluster.peers[Self.here] == nil)
    }

    @Test func submitterThatSaysGoodbye_isGoneAtOnce_alsoForConditionsAndRetries() {
        var cluster = cluster()
        cluster.submit(
            Sketch.group(
                "root",
                [
                    hosted("tried", retries: 3), asked(.op("asked")), asked(.group("g", [.op("in")])), asked(.op("late", after: ["slow"])),
                    .op("slow"),
                ]
            ).graph(), submitter: Self.here)
        #expect(cluster.held[Self.here]?.map(\.path).sorted() == ["asked", "g", "tried"])
        cluster.end("asked")
        #expect(cluster.held[1]?.map(\.path).sorted() == ["asked", "slow"])
        cluster.end("tried", on: Self.here, failure("once"))
        #expect(cluster.state("tried") == .retrying)
        cluster.depart(Self.here)
        let operations = cluster.operations()
        #expect(operations.first { $0.path == "tried" }?.errors.map(\.code) == [.submitterGone])
        #expect(operations.first { $0.path == "g" }?.state == .failed)
        #expect(operations.first { $0.path == "g/in" }?.state == .cancelled)
        cluster.end("asked")
        cluster.end("slow")
        #expect(cluster.state("asked") == .succeeded)
        #expect(cluster.operations().first { $0.path == "late" }?.errors.map(\.isCondition) == [true])
        #expect(cluster.view()?.state == .failed)
    }

    @Test func groupUnderAKey_withHostedChildren_beginsThoughTheSubmitterIsGone_andTheyFail() {
        var cluster = cluster()
        cluster.submit(
            Sketch.group("root", [.op("first"), .group("g", [hosted("h"), .op("b")], after: ["first"], exclusive: [Exclusion(key: "k")])])
                .graph(), submitter: Self.here)
        cluster.depart(Self.here)
        cluster.end("first")
        #expect(cluster.state("g/h") == .failed)
        cluster.end("g/b")
        #expect(cluster.view()?.finishedAt ?? 0 > 0)
    }

    @Test func coordinatorRestart_hostedUnitGoesOn_andAnAbsentSubmitterIsWaitedFor() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [hosted("h"), hosted("waits", after: ["a"]), .op("a")]).graph(), submitter: Self.here)
        cluster.begin("h")
        try cluster.restart()
        cluster.reattach(1, slots: 9)
        cluster.reattach(Self.here, slots: 9)
        #expect(cluster.dispatched.count { $0 == "h" } == 1)
        cluster.end("h")
        #expect(cluster.state("h") == .succeeded)
        // Now it is gone, and holds nothing.
        try cluster.restart()
        cluster.reattach(1, slots: 9)
        cluster.end("a")
        #expect(cluster.state("waits") == .queued)
        cluster.advance(longer)
        #expect(cluster.operations().first { $0.path == "waits" }?.errors.map(\.code) == [.submitterGone])
    }

    @Test func hostedGraph_withoutAnOpenSession_isRefused_andSoIsWhatCannotBeHosted() {
        var cluster = cluster()
        let graph = Sketch.group("root", [hosted("h")]).graph()
        let unknown = cluster.ask(
            .submit(key: "a", name: "", graph: ExaminedGraph(graph), waitForWorkers: false, submitter: Incarnation(5)))
        guard case .failed(.sessionOver(let message))? = unknown else { return #expect(Bool(false), "\(String(describing: unknown))") }
        #expect(message == "the graph has hosted code, and the session of the process that submits it is not open; submit it again")
        func faults(_ sketch: Sketch) -> [String] { Sketch.group("root", [sketch]).graph().faults().map(\.message) }
        #expect(faults(hosted("h")) == [])
        #expect(faults(.forEach("f", of: nil, list: ["1"], body: hosted("h"))).count == 1)
        #expect(faults(Sketch.group("g", [.op("x")]).having { $0.isHosted = true }) == ["is hosted and no operation; only operations are"])
        let requiring = Sketch.op("x").having {
            $0.isHosted = true
            $0.requires = Requirements(labels: ["fast"])
        }
        #expect(faults(requiring) == ["is hosted and requires something of a worker; take `requires` off"])
        let mixed = [true, false].map { Condition(.probe(Probe(type: "p", parameters: 0, isHosted: $0))) }
        #expect(faults(Sketch.op("x").having { $0.conditions = mixed }) == [])
        let both = Sketch.op("x").having {
            $0.isHosted = true
            $0.conditions = mixed
        }
        #expect(
            faults(both) == ["is hosted and has conditions that workers evaluate (`p`); its submitter evaluates them all"])
    }

    @Test func sameKeyAndGraph_isTheFirstSubmission_whoeverSubmits() {
        var cluster = cluster()
        let graph = Sketch.group("root", [hosted("h")]).graph()
        let first = cluster.submit(graph, key: "one", submitter: Self.here)
        let again = cluster.ask(
            .submit(key: "one", name: "", graph: ExaminedGraph(graph), waitForWorkers: false, submitter: Incarnation(5)))
        guard case .submitted(let id, true)? = again else { return #expect(Bool(false), "\(String(describing: again))") }
        #expect(id == first)
    }

    @Test(arguments: Seeds.first(100))
    func randomGraph_withHostedCode_underRandomFaults_keepsTheInvariants_andEnds(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed) + 9_000)
        var cluster = FakeCluster()
        let submitters = [Self.here, Self.here + 1]
        for submitter in submitters { cluster.attach(submitter, slots: 2, operations: [], isSubmitter: true) }
        let submissions = 1 + random.below(3)
        for number in 0..<submissions {
            let keys = random.below(2) * 3
            var graph = RandomGraph.make(&random, keys: keys)
            while !graph.faults().isEmpty { graph = RandomGraph.make(&random, keys: keys) }
            cluster.submit(host(graph, &random), key: "k\(number)", submitter: random.pick(submitters))
        }
        for executor in 0..<2 { cluster.attach(executor, slots: 2) }
        for _ in 0..<(20 + random.below(120)) {
            switch random.below(16) {
            case 0:
                let owners = cluster.peers.keys.sorted()
                try cluster.restart(after: Int64(random.below(20_000)))
                for owner in owners where random.below(4) > 0 { cluster.reattach(owner, slots: 2) }
            case 1:
                guard let owner = random.pick(cluster.peers.keys.sorted()) else { continue }
                cluster.disconnect(owner)
                cluster.advance(Int64(random.below(random.below(2) == 0 ? 4_000 : 25_000)))
                if random.below(4) > 0 { cluster.reattach(owner, slots: 2) }
            case 2:
                guard random.below(3) == 0, let owner = random.pick(submitters) else { continue }
                cluster.depart(owner)
            case 3: cluster.advance(Int64(random.below(20_000)))
            case 4:
                guard let path = random.pick([""] + cluster.operations().map(\.path)) else { continue }
                let request: [Request] = [
                    .pause(submission: "last", path: path), .resume(submission: "last", path: path), .resume(submission: "last", path: ""),
                    .cancel(submission: "last", path: path, reason: "", now: random.below(2) == 0),
                ]
                if let request = random.pick(request) { _ = cluster.ask(request) }
                if random.below(2) == 0 { cluster.giveBackRecalled() }
            case 5:
                guard let path = random.pick(cluster.heldPaths) else { continue }
                cluster.begin(path)
            default:
                guard let owner = random.pick(cluster.peers.keys.sorted()), let unit = random.pick(cluster.held[owner] ?? [])
                else { continue }
                cluster.end(unit.path, on: owner, outcome(of: unit, &random))
            }
        }
        for number in 0..<submissions {
            for path in [""] + cluster.operations(of: "key=k\(number)").map(\.path) {
                _ = cluster.ask(.resume(submission: "key=k\(number)", path: path))
            }
        }
        // Submitters that are gone stay so.
        for round in 0..<200 where try !cluster.hasFinished(submissions) {
            for owner in cluster.held.keys.sorted() where cluster.peers[owner] == nil && !submitters.contains(owner) {
                cluster.reattach(owner, slots: 2)
            }
            cluster.attach(1_000 + round, host: .full)
            while let owner = cluster.peers.keys.sorted().first(where: { !(cluster.held[$0]?.isEmpty ?? true) }),
                let unit = cluster.held[owner]?.first
            {
                cluster.end(unit.path, on: owner, outcome(of: unit, &random))
            }
            cluster.advance(70_000)
        }
        #expect(try cluster.hasFinished(submissions), "seed \(seed): work is left when faults have stopped")
        let before = cluster.operations(values: true)
        try cluster.restart()
        #expect(cluster.operations(values: true) == before, "seed \(seed): the journal folded again gives another state")
    }

    /// Makes operations and conditions of the graph hosted, where they can be.
    private func host(_ graph: Graph, _ random: inout SeededRandom) -> Graph {
        var graph = graph
        var isRepeated = [Bool](repeating: false, count: graph.nodes.count)
        for index in graph.nodes.indices.dropFirst() {
            let parent = graph.nodes[index].parent
            if case .forEach = graph.nodes[parent].kind { isRepeated[index] = true }
            if isRepeated[parent] { isRepeated[index] = true }
            guard !isRepeated[index] else { continue }
            var isHosted = false
            if case .operation = graph.nodes[index].kind { isHosted = random.below(3) == 0 }
            if isHosted {
                graph.nodes[index].options.isHosted = true
                graph.nodes[index].options.requires = Requirements()
            }
            for condition in graph.nodes[index].options.conditions.indices {
                guard isHosted || random.below(2) == 0, case .probe(var probe) = graph.nodes[index].options.conditions[condition].kind
                else { continue }
                probe.isHosted = true
                graph.nodes[index].options.conditions[condition].kind = .probe(probe)
            }
        }
        // Conditions of the submitter may have parts.
        for index in graph.nodes.indices {
            guard let condition = graph.nodes[index].options.prepares,
                case .probe(let probe) = graph.nodes[graph.nodes[index].parent].options.conditions[condition].kind, probe.isHosted,
                random.below(2) == 0
            else { continue }
            graph.nodes[index].options.preparesPart = random.below(3)
        }
        return graph
    }

    private func outcome(of unit: Assignment, _ random: inout SeededRandom) -> AttemptOutcome {
        if unit.kind == .evaluate { return .answers(answers(to: unit, &random)) }
        if unit.kind == .decide, random.below(5) > 0 { return .elements((0..<random.below(4)).map { Array("\($0)".utf8) }) }
        return random.below(6) == 0 ? failure("bad luck") : .success(text(unit.path))
    }
}
