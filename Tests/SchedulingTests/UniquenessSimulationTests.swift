import Scheduling
import Testing

/// Several submissions with few unique ids, on executors that come and go. That never two are active with one id, that none
/// is kept, and that nobody waits in a circle, is checked after every step.
@Suite struct UniquenessSimulationTests {
    @Test(arguments: Seeds.first(40))
    func joiners_endLikeTheFirst_andEverythingEnds(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed) + 120_000)
        var cluster = FakeCluster()
        var ids: [String] = []
        while ids.count < 2 + seed % 4 {
            let graph = Self.graph(&random, joinsOnly: seed.isMultiple(of: 3))
            // Who holds a key must not wait for one that joins.
            guard graph.faults().isEmpty else { continue }
            ids.append(cluster.submit(graph, key: "k\(ids.count)") ?? "")
        }
        for executor in 0..<(1 + random.below(3)) { cluster.attach(executor, slots: 1 + random.below(3)) }
        var joined: [String: String] = [:]
        for step in 0..<400 where try step == 0 || !cluster.hasFinished(ids.count) {
            let before = joined
            joined = Self.joined(&cluster, ids)
            for (joiner, first) in before where joined[joiner] == nil {
                // In an ordered group it may still wait for its turn.
                if !Self.expectSame(joiner, first, &cluster, seed) { joined[joiner] = first }
            }
            switch random.below(12) {
            case 0:
                let owners = cluster.peers.keys.sorted()
                try cluster.restart(after: Int64(random.below(3_000)))
                for owner in owners { cluster.reattach(owner, slots: 2) }
            case 1: cluster.advance(Int64(random.below(20_000)))
            default:
                guard let owner = random.pick(cluster.peers.keys.sorted()), let unit = random.pick(cluster.held[owner] ?? []) else {
                    cluster.advance(70_000)
                    continue
                }
                cluster.end(unit.path, on: owner, Self.outcome(of: unit, &random))
            }
        }
        #expect(try cluster.hasFinished(ids.count), "seed \(seed): work is left")
        // All ids are free again.
        let last = Sketch.group("root", (0..<3).map { .op("n\($0)").unique("\($0)") }).graph()
        cluster.submit(last, key: "last")
        #expect(cluster.operations().allSatisfy { $0.state != .failed }, "seed \(seed): an id is kept")
    }

    /// Submission and path of those that have joined, with those of whom they have joined.
    private static func joined(_ cluster: inout FakeCluster, _ ids: [String]) -> [String: String] {
        var found: [String: String] = [:]
        for id in ids {
            for view in cluster.operations(of: id) where !view.joinedTo.isEmpty {
                found[view.path.isEmpty ? id : "\(id)/\(view.path)"] = view.joinedTo
            }
        }
        return found
    }

    /// - Returns: whether the joiner has ended.
    private static func expectSame(_ joiner: String, _ first: String, _ cluster: inout FakeCluster, _ seed: Int) -> Bool {
        guard let one = view(joiner, &cluster), let other = view(first, &cluster), one.state.isFinal else { return false }
        #expect(one.state == other.state, "seed \(seed): \(joiner) did not end like \(first)")
        if other.kind == .operation || other.state != .succeeded {
            #expect(one.value == other.value, "seed \(seed): \(joiner) has another value than \(first)")
        }
        if other.kind == .operation { #expect(one.errors.map(\.message) == other.errors.map(\.message), "seed \(seed): \(joiner)") }
        #expect(one.attempts == 0)
        return true
    }

    private static func view(_ name: String, _ cluster: inout FakeCluster) -> OperationView? {
        let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
        return cluster.operations(of: parts[0], values: true).first { $0.path == (parts.count > 1 ? parts[1] : "") }
    }

    private static func outcome(of unit: Assignment, _ random: inout SeededRandom) -> AttemptOutcome {
        if unit.kind == .decide { return .elements((0..<random.below(4)).map { Array("\($0)".utf8) }) }
        return random.below(5) == 0 ? failure("bad luck in \(unit.path)") : .success(text(unit.path))
    }

    /// Nothing that ends a joiner by itself: no cancellation, no deadline, no group that stops, none that begins anew.
    private static func graph(_ random: inout SeededRandom, joinsOnly: Bool) -> Graph {
        var names = 0
        var before: [String] = []
        let children = (0..<(2 + random.below(4))).map { _ in node(&random, &names, &before, depth: 0, joinsOnly) }
        return Sketch.group("root", children, ordered: random.below(4) == 0, max: random.below(3)).graph()
    }

    private static func node(
        _ random: inout SeededRandom, _ names: inout Int, _ before: inout [String], depth: Int, _ joinsOnly: Bool
    ) -> Sketch {
        names += 1
        let name = "n\(names)"
        let references = (0..<random.below(3)).compactMap { _ in random.pick(before) }
        let key = random.below(6) == 0 ? [Exclusion(key: "k\(random.below(2))")] : []
        defer { before.append(name) }
        var sketch: Sketch
        switch depth < 3 ? random.below(5) : 0 {
        case 1, 2:
            var inner = before
            let children = (0..<random.below(4)).map { _ in node(&random, &names, &inner, depth: depth + 1, joinsOnly) }
            sketch = .group(
                name, children, ordered: random.below(3) == 0, max: random.below(3), after: references, exclusive: key)
        case 3:
            var inner = before
            let body = node(&random, &names, &inner, depth: depth + 1, joinsOnly)
            return .forEach(name, of: random.pick(before), list: before.isEmpty ? ["0", "1", "2"] : nil, body: body, max: random.below(3))
        default:
            sketch = .op(name, receives: references, retries: random.below(3), forwards: random.below(3) == 0, exclusive: key)
        }
        guard random.below(3) > 0 else { return sketch }
        var unique = RandomGraph.uniqueness(&random)
        if joinsOnly { unique.joins = true }
        sketch = sketch.having { $0.unique = unique }
        return sketch
    }
}

extension OperationState {
    fileprivate var isFinal: Bool {
        switch self {
        case .succeeded, .failed, .cancelled: true
        case .blocked, .locking, .evaluating, .queued, .running, .stopping, .retrying, .paused: false
        }
    }
}
