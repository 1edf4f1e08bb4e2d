import Scheduling
import Testing

/// Random graphs with streams on executors that crash, vanish and come back, under a coordinator that is restarted.
@Suite struct StreamSimulationTests {
    @Test(arguments: Seeds.first(70))
    func randomStreams_underRandomFaults_keepTheInvariants_andEndOnOneAttempt(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed) + 350_000)
        var cluster = FakeCluster()
        let graph = graph(&random)
        try #require(graph.faults().isEmpty, "\(graph.faults())")
        cluster.submit(graph)
        for executor in 0..<(1 + random.below(3)) { cluster.attach(executor, slots: 1 + random.below(3)) }
        var readers = Readers(graph)
        try run(20 + random.below(100), &cluster, &random, &readers)
        for path in [""] + cluster.operations().map(\.path) { _ = cluster.ask(.resume(submission: "last", path: path)) }
        for round in 0..<200 where cluster.view()?.finishedAt == 0 {
            for owner in cluster.held.keys.sorted() where cluster.peers[owner] == nil { cluster.reattach(owner, slots: 2) }
            if round % 4 == 0 { cluster.attach(1_000 + round, host: .full) }
            for path in cluster.heldPaths { cluster.begin(path) }
            while let owner = cluster.peers.keys.sorted().first(where: { !(cluster.held[$0]?.isEmpty ?? true) }),
                let unit = cluster.held[owner]?.first
            {
                end(unit, on: owner, &cluster, &random, &readers)
            }
            cluster.advance(70_000)
        }
        #expect(cluster.view()?.finishedAt != 0, "seed \(seed): work is left when faults have stopped")
        let operations = cluster.operations(values: true)
        for (receiver, producer) in readers.edges {
            guard let view = operations.first(where: { $0.path == receiver }), view.state == .succeeded,
                let last = operations.first(where: { $0.path == producer })
            else { continue }
            #expect(view.value == text("\(last.attempts)"), "seed \(seed): \(receiver) has elements of another attempt of \(producer)")
        }
        try cluster.restart()
        #expect(cluster.operations(values: true) == operations, "the journal folded again gives another state")
    }

    /// Who receives from whom, by path.
    private struct Readers {
        var edges: [(receiver: String, producer: String)] = []

        init(_ graph: Graph) {
            for (index, node) in graph.nodes.enumerated() {
                if let producer = node.options.stream { edges.append((graph.path(of: index), graph.path(of: producer))) }
            }
        }
    }

    private func graph(_ random: inout SeededRandom) -> Graph {
        let count = 3 + random.below(5)
        let members = (0..<count).map { number in
            let after = number > 0 && random.below(5) == 0 ? ["o\(random.below(number))"] : []
            let keys = random.below(5) == 0 ? [Exclusion(key: "k\(random.below(2))")] : []
            return Sketch.op("o\(number)", after: after, retries: random.below(3), exclusive: keys)
        }
        let inner = Sketch.group(
            "g", members, ordered: random.below(6) == 0, stop: random.below(4) == 0, max: random.below(3) == 0 ? 1 + random.below(3) : 0,
            retries: random.below(4) == 0 ? 1 : 0)
        var graph = Sketch.group("root", [inner, .op("after", after: ["g"])]).graph()
        for number in 1..<count where random.below(2) == 0 {
            graph = graph.streaming("o\(number)", from: "o\(random.below(number))")
        }
        return graph
    }

    private func run(
        _ steps: Int, _ cluster: inout FakeCluster, _ random: inout SeededRandom, _ readers: inout Readers
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
                cluster.die(owner, crashed: random.below(4) == 0)
                cluster.attach(nextExecutor, slots: 1 + random.below(3))
                nextExecutor += 1
            case 2:
                guard let owner = random.pick(owners) else { continue }
                cluster.disconnect(owner)
                cluster.advance(Int64(random.below(25_000)))
                if random.below(2) == 0 { cluster.reattach(owner, slots: 2) }
            case 3: cluster.advance(Int64(random.below(30_000)))
            case 4:
                guard random.below(6) == 0, let path = random.pick(cluster.operations().map(\.path)) else { continue }
                _ = cluster.ask(.cancel(submission: "last", path: path, reason: "", now: random.below(2) == 0))
            case 5:
                guard let path = random.pick([""] + cluster.operations().map(\.path)) else { continue }
                _ = cluster.ask(.pause(submission: "last", path: path))
                if random.below(2) == 0 { cluster.giveBackRecalled() }
            case 6, 7:
                for path in [""] + cluster.operations().map(\.path) where random.below(2) == 0 {
                    _ = cluster.ask(.resume(submission: "last", path: path))
                }
            case 8, 9, 10, 11:
                guard let path = random.pick(cluster.heldPaths) else { continue }
                cluster.begin(path)
            default:
                guard let owner = random.pick(owners), let unit = random.pick(cluster.held[owner] ?? []) else { continue }
                end(unit, on: owner, &cluster, &random, &readers)
            }
        }
    }

    /// A success says whose elements it is made of.
    private func end(
        _ unit: Assignment, on owner: Int, _ cluster: inout FakeCluster, _ random: inout SeededRandom, _ readers: inout Readers
    ) {
        let value = text(unit.stream.map { "\($0.attemptNumber)" } ?? unit.path)
        cluster.end(unit.path, on: owner, random.below(5) == 0 ? failure("bad luck") : .success(value))
    }
}
