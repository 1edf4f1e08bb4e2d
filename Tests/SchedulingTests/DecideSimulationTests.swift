import Scheduling
import Testing

/// Random graphs whose groups decide what they do next, on executors that crash, vanish and come back, under a coordinator that
/// is restarted.
@Suite struct DecideSimulationTests {
    private static let operations: [OperationSignature] = ["noop", "brain"]
    private static let submitter = 900

    /// Every third seed has groups that their submitter decides, which comes and goes like the others.
    @Test(arguments: Seeds.first(70))
    func randomGraphsThatDecide_underRandomFaults_keepTheInvariants_andEnd(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed) + 320_000)
        var cluster = FakeCluster()
        let keys = random.below(3)
        let isHosted = seed % 3 == 0
        if isHosted { cluster.attach(Self.submitter, slots: 2, operations: [], isSubmitter: true) }
        var submissions = 0
        while submissions < 1 + seed % 2 {
            let graph = RandomGraph.make(&random, keys: keys).deciding(&random, isAddition: false, isHosted: isHosted)
            guard graph.faults().isEmpty else { continue }
            cluster.submit(graph, key: "k\(submissions)", submitter: isHosted ? Self.submitter : nil)
            submissions += 1
        }
        for executor in 0..<(1 + random.below(4)) { attach(executor, &cluster, &random) }
        var added = 0
        try run(20 + random.below(150), &cluster, &random, keys, &added)
        try stop(&cluster, &random, submissions, keys)
        #expect(try cluster.hasFinished(submissions), "seed \(seed): work is left when faults have stopped")
        let before = cluster.operations(values: true)
        try cluster.restart()
        #expect(cluster.operations(values: true) == before, "seed \(seed): the journal folded again gives another state")
    }

    /// However often decisions are lost, within and between: there is one for each child that has ended, in their order.
    @Test(arguments: Seeds.first(40))
    func eachEnd_isDecidedOnce(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed) + 330_000)
        var cluster = FakeCluster()
        let children = (0..<(1 + random.below(4))).map { Sketch.op("o\($0)") }
        cluster.submit(
            Sketch.group(
                "root", [.deciding(.group("g", children, ordered: random.below(2) == 0), DeciderNode(type: "brain", parameters: 0))]
            ).graph())
        attach(0, &cluster, &random)
        var asked: [String] = []
        var next = 1
        while cluster.view()?.finishedAt == 0 {
            cluster.advance(1_000)
            let owners = cluster.peers.keys.sorted()
            switch random.below(6) {
            case 0:
                guard let owner = random.pick(owners) else { continue }
                cluster.die(owner, crashed: false)
                attach(next, &cluster, &random)
                next += 1
            case 1:
                try cluster.restart()
                for owner in owners { cluster.reattach(owner, slots: 2, operations: Self.operations) }
                cluster.advance(10_000)
            default:
                guard let owner = random.pick(owners), let unit = random.pick(cluster.held[owner] ?? []) else { continue }
                guard let question = unit.decision else {
                    cluster.end(unit.path, on: owner, random.below(4) == 0 ? failure("no") : .success(.void))
                    continue
                }
                #expect(question.number == asked.count + 1)
                #expect(question.state ?? [] == Array("\(asked.count)".utf8) || asked.isEmpty)
                asked.append(question.child ?? "")
                let tops = asked.count < 12 ? (0..<random.below(3)).map { Sketch.op("x\($0)") } : []
                let addition = tops.isEmpty ? nil : Addition.of(list: tops)
                cluster.end(
                    unit.path, on: owner, .decided(GroupDecision(state: Array("\(asked.count)".utf8), addition: addition)))
            }
        }
        let ended = cluster.operations().filter { $0.kind == .operation }.sorted { $0.endNumber < $1.endNumber }.map(\.path)
        #expect(asked == ended, "seed \(seed)")
    }

    private func attach(_ executor: Int, _ cluster: inout FakeCluster, _ random: inout SeededRandom) {
        cluster.attach(executor, slots: 1 + random.below(3), operations: Self.operations)
    }

    private func run(
        _ steps: Int, _ cluster: inout FakeCluster, _ random: inout SeededRandom, _ keys: Int, _ added: inout Int
    ) throws {
        var nextExecutor = 100
        for _ in 0..<steps {
            let owners = cluster.peers.keys.sorted()
            switch random.below(14) {
            case 0:
                try cluster.restart(after: Int64(random.below(20_000)))
                for owner in owners where random.below(4) > 0 { cluster.reattach(owner, slots: 2, operations: Self.operations) }
            case 1:
                guard let owner = random.pick(owners) else { continue }
                cluster.die(owner, crashed: random.below(2) == 0)
                attach(nextExecutor, &cluster, &random)
                nextExecutor += 1
            case 2:
                guard let owner = random.pick(owners) else { continue }
                cluster.disconnect(owner)
                cluster.advance(Int64(random.below(25_000)))
                if random.below(2) == 0 { cluster.reattach(owner, slots: 2, operations: Self.operations) }
            case 3: cluster.advance(Int64(random.below(70_000)))
            case 4:
                guard random.below(4) == 0, let path = random.pick(cluster.operations().map(\.path)) else { continue }
                _ = cluster.ask(.cancel(submission: "last", path: path, reason: "", now: random.below(2) == 0))
            case 5:
                guard let path = random.pick([""] + cluster.operations().map(\.path)) else { continue }
                _ = cluster.ask(.pause(submission: "last", path: path))
                if random.below(2) == 0 { cluster.giveBackRecalled() }
            case 6:
                for path in [""] + cluster.operations().map(\.path) where random.below(2) == 0 {
                    _ = cluster.ask(.resume(submission: "last", path: path))
                }
            case 7:
                if let path = random.pick(cluster.heldPaths) { cluster.begin(path) }
            default:
                guard let owner = random.pick(owners), let unit = random.pick(cluster.held[owner] ?? []) else { continue }
                cluster.end(unit.path, on: owner, outcome(of: unit, &random, keys, &added))
            }
        }
    }

    private func stop(_ cluster: inout FakeCluster, _ random: inout SeededRandom, _ submissions: Int, _ keys: Int) throws {
        for number in 0..<submissions {
            for path in [""] + cluster.operations(of: "key=k\(number)").map(\.path) {
                _ = cluster.ask(.resume(submission: "key=k\(number)", path: path))
            }
        }
        var added = 1_000
        for round in 0..<300 where try !cluster.hasFinished(submissions) {
            for owner in cluster.held.keys.sorted() where cluster.peers[owner] == nil {
                cluster.reattach(owner, slots: 2, operations: Self.operations)
            }
            cluster.attach(1_000 + round, operations: Self.operations, host: .full)
            while let owner = cluster.peers.keys.sorted().first(where: { !(cluster.held[$0]?.isEmpty ?? true) }),
                let unit = cluster.held[owner]?.first
            {
                cluster.end(unit.path, on: owner, outcome(of: unit, &random, keys, &added))
            }
            cluster.advance(70_000)
        }
    }

    private func outcome(
        of unit: Assignment, _ random: inout SeededRandom, _ keys: Int, _ added: inout Int
    ) -> AttemptOutcome {
        if unit.kind == .evaluate { return .answers(answers(to: unit, &random)) }
        guard let question = unit.decision else {
            if unit.kind == .decide { return .elements((0..<random.below(4)).map { Array("\($0)".utf8) }) }
            return random.below(6) == 0 ? failure("bad luck") : .success(text(unit.path))
        }
        if random.below(12) == 0 { return failure("undecided") }
        var decision = GroupDecision(state: Array("\(question.number)".utf8))
        if added < 25, random.below(3) == 0 {
            added += 1
            let graph = RandomGraph.make(&random, keys: keys).deciding(&random, isAddition: true, isHosted: question.number % 4 == 0)
            let tops = graph.nodes.indices.filter { $0 > 0 && graph.nodes[$0].parent == 0 }
            decision.addition = Addition(graph: graph, products: tops)
            if random.below(3) == 0 { decision.forgivenNodes = [tops[0]] }
        }
        if random.below(12) == 0 { decision.failures = [Failure(code: .operation, message: "own")] }
        if random.below(4) == 0 { decision.forgiven = [random.below(20)] }
        return .decided(decision)
    }
}

extension Graph {
    /// With deciders in some of its groups.
    func deciding(_ random: inout SeededRandom, isAddition: Bool, isHosted: Bool) -> Graph {
        var graph = self
        var places: [Int] = []
        var made: [Node] = []
        for (index, node) in nodes.enumerated() {
            places.append(made.count)
            made.append(node)
            guard case .group = node.kind, index > 0 || !isAddition, random.below(2) == 0 else { continue }
            var decider = DeciderNode(
                type: "brain", parameters: 0, occasion: random.below(3) == 0 ? .failures : .eachChild,
                isAskedAtBegin: random.below(4) == 0)
            if decider.isAskedAtBegin, index % 2 == 0 { decider.occasion = .steps }
            var options = NodeOptions()
            options.isHosted = isHosted && random.below(2) == 0
            made.append(Node(id: "(decisions)", parent: -1 - index, kind: .decider(decider), options: options))
        }
        for index in made.indices {
            made[index].parent = made[index].parent < 0 ? places[-1 - made[index].parent] : places[made[index].parent]
            made[index].receives = made[index].receives.map { places[$0] }
            made[index].after = made[index].after.map { places[$0] }
        }
        graph.nodes = made
        return graph
    }
}
