import Scheduling
import Testing

/// Random nets that are tried again by their ends, on executors that crash, vanish and come back, under a coordinator that is
/// restarted.
@Suite struct RetryScopeSimulationTests {
    /// A net whose paths all lead to its last operation, and what each of it does.
    private struct Net {
        /// By operation: which ones deliver to it.
        var producers: [[Int]] = []
        /// How often it fails before it succeeds.
        var failures: [Int] = []
        /// Whether it succeeds although it received a failure.
        var handles: [Bool] = []
        var retries = 0
        var places = 0

        init(_ random: inout SeededRandom) {
            let count = 2 + random.below(6)
            for index in 0..<count {
                producers.append((0..<index).filter { _ in random.below(3) == 0 })
                failures.append(random.below(4) == 0 ? 1 + random.below(3) : 0)
                handles.append(random.below(6) == 0)
            }
            // What nobody receives from delivers to the last.
            let received = Set(producers.joined())
            producers[count - 1] = Set(producers[count - 1]).union((0..<count - 1).filter { !received.contains($0) }).sorted()
            retries = 1 + random.below(5)
            places = random.below(3)
        }

        func path(_ index: Int) -> String { "g/o\(index)" }

        var graph: Graph {
            let members = producers.indices.map { index -> Sketch in
                let receives = producers[index].map { "o\($0)" }
                return index == producers.count - 1
                    ? .tail("o\(index)", receives: receives, retries: retries) : .op("o\(index)", receives: receives)
            }
            // The order in which they stand in the graph says nothing.
            return Sketch.group("root", [.group("g", members.reversed(), max: places), .op("after", after: ["g"])]).graph()
        }

        /// How often each runs, and whether it succeeds in the end: round by round until the last one does, or may not be tried
        /// again.
        var expectation: (runs: [Int], succeeds: [Bool]) {
            var left = failures
            var runs = Array(repeating: 0, count: left.count)
            var succeeds = Array(repeating: false, count: left.count)
            var isFinal = succeeds
            for _ in 0...retries {
                for index in left.indices where !isFinal[index] {
                    runs[index] += 1
                    if !handles[index], producers[index].contains(where: { !succeeds[$0] }) {
                        succeeds[index] = false
                    } else if left[index] > 0 {
                        left[index] -= 1
                        succeeds[index] = false
                    } else {
                        succeeds[index] = true
                        isFinal[index] = producers[index].allSatisfy { isFinal[$0] }
                    }
                }
                if succeeds.last == true { break }
            }
            return (runs, succeeds)
        }
    }

    /// What the operations of a net do.
    private struct Play {
        let net: Net
        var left: [Int]
        var runs: [Int]
        /// Ends are as likely as successes, whatever the net says.
        var isRandom = false

        init(_ net: Net) {
            self.net = net
            left = net.failures
            runs = Array(repeating: 0, count: net.failures.count)
        }

        mutating func end(_ unit: Assignment, on owner: Int, _ cluster: inout FakeCluster, _ random: inout SeededRandom) {
            guard let index = net.failures.indices.first(where: { net.path($0) == unit.path }) else {
                return cluster.end(unit.path, on: owner)
            }
            runs[index] += 1
            if isRandom {
                cluster.end(unit.path, on: owner, random.below(3) == 0 ? failure("bad luck") : .success(text(unit.path)))
            } else if !net.handles[index], let received = unit.firstReceivedFailure {
                cluster.end(unit.path, on: owner, .failure(received))
            } else if left[index] > 0 {
                left[index] -= 1
                cluster.end(unit.path, on: owner, failure("not yet"))
            } else {
                cluster.end(unit.path, on: owner, .success(text(unit.path)))
            }
        }

        /// What runs is not lost.
        mutating func finish(_ cluster: inout FakeCluster, _ random: inout SeededRandom) {
            for path in [""] + cluster.operations().map(\.path) { _ = cluster.ask(.resume(submission: "last", path: path)) }
            for round in 0..<60 where cluster.view()?.finishedAt == 0 {
                for owner in cluster.held.keys.sorted() where cluster.peers[owner] == nil { cluster.reattach(owner, slots: 2) }
                if round.isMultiple(of: 4) { cluster.attach(1_000 + round, host: .full) }
                while let owner = cluster.peers.keys.sorted().first(where: { !(cluster.held[$0]?.isEmpty ?? true) }),
                    let unit = cluster.held[owner]?.first
                {
                    end(unit, on: owner, &cluster, &random)
                }
                cluster.advance(70_000)
            }
        }
    }

    @Test(arguments: Seeds.first(100))
    func randomNets_underRandomFaults_doWhatTheModelSays(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed) + 420_000)
        let net = Net(&random)
        var cluster = FakeCluster()
        try #require(net.graph.faults().isEmpty, "\(net.graph.faults())")
        cluster.submit(net.graph)
        for executor in 0..<(1 + random.below(3)) { cluster.attach(executor, slots: 1 + random.below(3)) }
        var play = Play(net)
        try disturb(&cluster, &random, &play, cancels: false)
        play.finish(&cluster, &random)
        let expected = net.expectation
        #expect(cluster.view()?.finishedAt != 0, "seed \(seed): work is left when faults have stopped")
        #expect(play.runs == expected.runs, "seed \(seed): \(net)")
        let operations = cluster.operations(values: true)
        let states = net.failures.indices.map { index in operations.first { $0.path == net.path(index) }?.state }
        #expect(states == expected.succeeds.map { $0 ? .succeeded : .failed }, "seed \(seed): \(net)")
        try cluster.restart()
        #expect(cluster.operations(values: true) == operations, "seed \(seed): the journal folded again gives another state")
    }

    @Test(arguments: Seeds.first(70))
    func randomNets_thatAreCancelledAndPaused_keepTheInvariants_andEnd(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed) + 430_000)
        let net = Net(&random)
        var cluster = FakeCluster()
        cluster.submit(net.graph)
        cluster.attach(0, slots: 1 + random.below(3))
        var play = Play(net)
        play.isRandom = true
        try disturb(&cluster, &random, &play, cancels: true)
        play.finish(&cluster, &random)
        #expect(cluster.view()?.finishedAt != 0, "seed \(seed): work is left when faults have stopped")
        #expect(cluster.view()?.counts.pending == 0)
        let operations = cluster.operations(values: true)
        try cluster.restart()
        #expect(cluster.operations(values: true) == operations, "seed \(seed): the journal folded again gives another state")
    }

    private func disturb(
        _ cluster: inout FakeCluster, _ random: inout SeededRandom, _ play: inout Play, cancels: Bool
    ) throws {
        var nextExecutor = 100
        for _ in 0..<(20 + random.below(80)) {
            let owners = cluster.peers.keys.sorted()
            switch random.below(14) {
            case 0:
                try cluster.restart(after: Int64(random.below(20_000)))
                for owner in owners where random.below(4) > 0 { cluster.reattach(owner, slots: 1 + random.below(3)) }
            case 1:
                guard let owner = random.pick(owners) else { continue }
                cluster.die(owner, crashed: false)
                cluster.attach(nextExecutor, slots: 1 + random.below(3))
                nextExecutor += 1
            case 2:
                guard let owner = random.pick(owners) else { continue }
                cluster.disconnect(owner)
                cluster.advance(Int64(random.below(25_000)))
                if random.below(2) == 0 { cluster.reattach(owner, slots: 2) }
            case 3: cluster.advance(Int64(random.below(30_000)))
            case 4:
                guard cancels, random.below(4) == 0, let path = random.pick(cluster.operations().dropFirst().map(\.path)) else { continue }
                _ = cluster.ask(.cancel(submission: "last", path: path, reason: "", now: random.below(2) == 0))
            case 5:
                guard cancels, let path = random.pick(cluster.operations().map(\.path)) else { continue }
                _ = cluster.ask(.pause(submission: "last", path: path))
            case 6:
                for path in [""] + cluster.operations().map(\.path) where random.below(2) == 0 {
                    _ = cluster.ask(.resume(submission: "last", path: path))
                }
            default:
                guard let owner = random.pick(owners), let unit = random.pick(cluster.held[owner] ?? []) else { continue }
                play.end(unit, on: owner, &cluster, &random)
            }
        }
    }
}
