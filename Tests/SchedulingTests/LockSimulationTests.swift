import Scheduling
import Testing

/// Random graphs over few keys on executors that crash, vanish and come back, under a coordinator that is restarted.
@Suite struct LockSimulationTests {
    @Test(arguments: Seeds.first(60))
    func randomGraphWithKeys_underRandomFaults_keepsTheInvariants_andEnds(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed) + 50_000)
        var cluster = FakeCluster()
        var submissions = 0
        while submissions < 1 + seed % 4 {
            let graph = RandomGraph.make(&random, keys: 1 + random.below(4))
            // References out of groups that hold keys are refused; what remains must never wait for ever.
            guard graph.faults().isEmpty else { continue }
            cluster.submit(graph, key: "k\(submissions)")
            submissions += 1
        }
        for executor in 0..<(1 + random.below(4)) { cluster.attach(executor, slots: 1 + random.below(3)) }
        try Faults.run(20 + random.below(150), &cluster, &random)
        try Faults.stop(&cluster, &random, submissions: submissions)
        #expect(try cluster.hasFinished(submissions), "seed \(seed): work is left when faults have stopped")
    }

    /// What runs at one time under a key, executors that are cut off included, is never more than its limit; tokens rise.
    @Test(arguments: Seeds.first(40))
    func executions_neverOverlap_andTokensRise(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed) + 90_000)
        var cluster = FakeCluster()
        let limits = ["a": 1, "b": 1, "c": 2]
        cluster.limits = limits
        let submissions = 1 + random.below(3)
        for number in 0..<submissions {
            let operations = (0..<(2 + random.below(8))).map { index in
                let exclusive = limits.keys.sorted().filter { _ in random.below(3) == 0 }.map { Exclusion(key: $0, limit: limits[$0] ?? 1) }
                return Sketch.op("o\(index)", retries: random.below(3), exclusive: exclusive)
            }
            cluster.submit(Sketch.group("root", operations).graph(), key: "k\(number)")
        }
        for executor in 0..<(1 + random.below(4)) { cluster.attach(executor, slots: 1 + random.below(3)) }
        try Faults.run(150, &cluster, &random)
        try Faults.stop(&cluster, &random, submissions: submissions)
        #expect(try cluster.hasFinished(submissions), "seed \(seed): work is left when faults have stopped")
    }
}

/// What goes wrong in a simulation.
private enum Faults {
    static func run(_ steps: Int, _ cluster: inout FakeCluster, _ random: inout SeededRandom) throws {
        var nextExecutor = 100
        for _ in 0..<steps {
            let owners = cluster.peers.keys.sorted()
            switch random.below(22) {
            case 20:
                guard let path = random.pick([""] + cluster.operations().map(\.path)) else { continue }
                _ = cluster.ask(.pause(submission: "last", path: path))
                if random.below(2) == 0 { cluster.giveBackRecalled() }
            case 21:
                for path in [""] + cluster.operations().map(\.path) where random.below(2) == 0 {
                    _ = cluster.ask(.resume(submission: "last", path: path))
                }
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
                if random.below(4) == 0 { cluster.revoke(owner) } else { cluster.disconnect(owner) }
                cluster.advance(Int64(random.below(25_000)))
                if random.below(2) == 0 { cluster.reattach(owner, slots: 2) }
            case 3: cluster.advance(Int64(random.below(30_000)))
            case 4:
                let paths = cluster.operations().map(\.path)
                guard random.below(4) == 0, let path = random.pick(paths) else { continue }
                _ = cluster.ask(.cancel(submission: "last", path: path, reason: "", now: random.below(2) == 0))
            case 5:
                guard let owner = random.pick(owners), let peer = cluster.peers[owner] else { continue }
                cluster.step([.draining(peer)])
            default:
                guard let owner = random.pick(owners), let unit = random.pick(cluster.held[owner] ?? []) else { continue }
                cluster.end(unit.path, on: owner, outcome(of: unit, &random))
            }
        }
    }

    static func stop(_ cluster: inout FakeCluster, _ random: inout SeededRandom, submissions: Int) throws {
        for path in [""] + cluster.operations().map(\.path) { _ = cluster.ask(.resume(submission: "last", path: path)) }
        for round in 0..<200 where try !cluster.hasFinished(submissions) {
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

    private static func outcome(of unit: Assignment, _ random: inout SeededRandom) -> AttemptOutcome {
        if unit.kind == .evaluate { return .answers(answers(to: unit, &random)) }
        if unit.kind == .decide { return .elements((0..<random.below(4)).map { Array("\($0)".utf8) }) }
        return random.below(6) == 0 ? failure("bad luck") : .success(text(unit.path))
    }
}
