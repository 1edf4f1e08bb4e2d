import Scheduling
import Testing

/// Random graphs whose operations produce others, with keys, on executors that crash, vanish and come back, under a
/// coordinator that is restarted.
@Suite struct ProduceSimulationTests {
    @Test(arguments: Seeds.first(60))
    func randomGraphsThatGrow_underRandomFaults_keepTheInvariants_andEnd(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed) + 220_000)
        var cluster = FakeCluster()
        let keys = random.below(4)
        var submissions = 0
        while submissions < 1 + seed % 3 {
            let graph = RandomGraph.make(&random, keys: keys, prepares: random.below(3) == 0)
            guard graph.faults().isEmpty else { continue }
            cluster.submit(graph, key: "k\(submissions)")
            submissions += 1
        }
        for executor in 0..<(1 + random.below(4)) { cluster.attach(executor, slots: 1 + random.below(3)) }
        var produced = 0
        try run(20 + random.below(120), &cluster, &random, keys, &produced)
        try stop(&cluster, &random, submissions: submissions)
        #expect(try cluster.hasFinished(submissions), "seed \(seed): work is left when faults have stopped")
    }

    /// However often an attempt is repeated: what it adds is there once for each success, and once for each id.
    @Test(arguments: Seeds.first(60))
    func whatIsProduced_isThereOnce(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed) + 230_000)
        var cluster = FakeCluster()
        let operations = (0..<4).map { Sketch.op("o\($0)", type: "maker", retries: 20) }
        cluster.submit(Sketch.group("root", operations).graph())
        cluster.attach(1, slots: 2, operations: ["maker"])
        cluster.attach(2, slots: 2, operations: ["maker"])
        for round in 0..<60 {
            switch random.below(6) {
            case 0:
                try cluster.restart()
                for owner in [1, 2, 3] where cluster.held[owner] != nil || owner < 3 {
                    cluster.reattach(owner, slots: 2, operations: ["maker"])
                }
            case 1:
                guard let owner = random.pick(cluster.peers.keys.sorted()) else { continue }
                cluster.die(owner, crashed: false)
                cluster.attach(100 + round, slots: 2, operations: ["maker"])
            default:
                cluster.advance(70_000)
                guard let owner = random.pick(cluster.peers.keys.sorted()), let unit = random.pick(cluster.held[owner] ?? []),
                    !unit.path.contains("+"), !unit.path.contains("once")
                else { continue }
                let name = "once-\(unit.path)"
                #expect(cluster.produce(unit.path, on: owner, .of(.op("p", type: "maker"), id: name))?.problem == nil)
                cluster.end(
                    unit.path, on: owner, random.below(3) == 0 ? .production(.void, .of(.op(unit.path, type: "maker"))) : failure("no"))
            }
        }
        cluster.advance(100_000)
        let paths = cluster.operations().map(\.path)
        #expect(Set(paths).count == paths.count)
        for operation in cluster.operations() where (0..<4).map({ "o\($0)" }).contains(operation.path) {
            let added = paths.count { $0.hasPrefix("\(operation.path)+") }
            #expect(added == (operation.state == .succeeded ? 1 : 0), "\(operation.path) is \(operation.state)")
            #expect(paths.count { $0 == "once-\(operation.path)" } <= 1)
        }
    }

    private func run(
        _ steps: Int, _ cluster: inout FakeCluster, _ random: inout SeededRandom, _ keys: Int, _ produced: inout Int
    ) throws {
        var nextExecutor = 100
        for _ in 0..<steps {
            let owners = cluster.peers.keys.sorted()
            switch random.below(16) {
            case 0:
                try cluster.restart(after: Int64(random.below(20_000)))
                for owner in owners where random.below(4) > 0 { cluster.reattach(owner, slots: 1 + random.below(3)) }
            case 1:
                guard let owner = random.pick(owners) else { continue }
                cluster.die(owner, crashed: random.below(2) == 0)
                cluster.attach(nextExecutor, slots: 1 + random.below(3))
                nextExecutor += 1
            case 2:
                guard let owner = random.pick(owners) else { continue }
                cluster.disconnect(owner)
                cluster.advance(Int64(random.below(25_000)))
                if random.below(2) == 0 { cluster.reattach(owner, slots: 2) }
            case 3: cluster.advance(Int64(random.below(30_000)))
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
            case 7, 8:
                guard produced < 30, let owner = random.pick(owners), let unit = random.pick(cluster.held[owner] ?? []),
                    unit.kind == .execute
                else { continue }
                produced += 1
                _ = cluster.produce(unit.path, on: owner, addition(&random, keys, id: "id\(random.below(6))"))
            default:
                guard let owner = random.pick(owners), let unit = random.pick(cluster.held[owner] ?? []) else { continue }
                if unit.kind == .execute, produced < 30, random.below(3) == 0 {
                    produced += 1
                    cluster.end(unit.path, on: owner, .production(text(unit.path), addition(&random, keys, id: nil)))
                } else {
                    cluster.end(unit.path, on: owner, outcome(of: unit, &random))
                }
            }
        }
    }

    private func addition(_ random: inout SeededRandom, _ keys: Int, id: String?) -> Addition {
        let graph = RandomGraph.make(&random, keys: keys, prepares: random.below(2) == 0)
        return Addition(id: id, graph: graph, products: graph.nodes.indices.filter { $0 > 0 && graph.nodes[$0].parent == 0 })
    }

    private func stop(_ cluster: inout FakeCluster, _ random: inout SeededRandom, submissions: Int) throws {
        for number in 0..<submissions {
            for path in [""] + cluster.operations(of: "key=k\(number)").map(\.path) {
                _ = cluster.ask(.resume(submission: "key=k\(number)", path: path))
            }
        }
        for round in 0..<300 where try !cluster.hasFinished(submissions) {
            for owner in cluster.held.keys.sorted() where cluster.peers[owner] == nil { cluster.reattach(owner, slots: 2) }
            cluster.attach(1_000 + round, host: .full)
            while let owner = cluster.peers.keys.sorted().first(where: { !(cluster.held[$0]?.isEmpty ?? true) }),
                let unit = cluster.held[owner]?.first
            {
                cluster.end(unit.path, on: owner, outcome(of: unit, &random))
            }
            cluster.advance(70_000)
        }
        let before = cluster.operations(values: true)
        try cluster.restart()
        #expect(cluster.operations(values: true) == before, "the journal folded again gives another state")
    }

    private func outcome(of unit: Assignment, _ random: inout SeededRandom) -> AttemptOutcome {
        if unit.kind == .evaluate { return .answers(answers(to: unit, &random)) }
        if unit.kind == .decide { return .elements((0..<random.below(4)).map { Array("\($0)".utf8) }) }
        return random.below(6) == 0 ? failure("bad luck") : .success(text(unit.path))
    }
}
