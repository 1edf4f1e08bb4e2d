import Scheduling
import Testing

/// Random graphs on random executors that crash, vanish and come back, under a coordinator that is restarted. The
/// invariants are checked after every step; when faults stop, everything ends.
@Suite struct SimulationTests {
    @Test(arguments: Seeds.first(150))
    func randomGraph_underRandomFaults_keepsTheInvariants_andEnds(seed: Int) throws {
        try simulate(seed: seed) { RandomGraph.make(&$0) }
    }

    @Test(arguments: Seeds.first(60))
    func randomDependentOperations_underRandomFaults_keepTheInvariants_andEnd(seed: Int) throws {
        try simulate(seed: seed + 10_000) { RandomGraph.make(&$0, keys: $0.below(3), prepares: true) }
    }

    private func simulate(seed: Int, _ make: (inout SeededRandom) -> Graph) throws {
        var random = SeededRandom(seed: UInt64(seed))
        var cluster = FakeCluster()
        let submissions = 1 + random.below(3)
        for number in 0..<submissions { cluster.submit(make(&random), key: "k\(number)") }
        let executors = 1 + random.below(4)
        for executor in 0..<executors { cluster.attach(executor, slots: 1 + random.below(3)) }
        var nextExecutor = executors
        var paused: [String] = []

        for _ in 0..<(20 + random.below(150)) {
            let owners = cluster.peers.keys.sorted()
            switch random.below(22) {
            case 20:
                guard let path = random.pick([""] + cluster.operations().map(\.path)) else { continue }
                _ = cluster.ask(.pause(submission: "last", path: path))
                if random.below(2) == 0 { cluster.giveBackRecalled() }
                paused.append(path)
            case 21:
                guard let path = random.pick(paused) else { continue }
                _ = cluster.ask(.resume(submission: "last", path: path))
            case 0: try restart(&cluster, &random)
            case 1:
                guard let owner = random.pick(owners) else { continue }
                cluster.die(owner, crashed: random.below(2) == 0)
                cluster.attach(nextExecutor, slots: 1 + random.below(3))
                nextExecutor += 1
            case 2:
                guard let owner = random.pick(owners) else { continue }
                if random.below(4) == 0 { cluster.revoke(owner) } else { cluster.disconnect(owner) }
                cluster.advance(Int64(random.below(5_000)), hearing: true)
                guard random.below(3) == 0 else {
                    cluster.reattach(owner, slots: 2)
                    continue
                }
                // It was dying all the time.
                cluster.die(owner)
                cluster.attach(nextExecutor, slots: 1 + random.below(3))
                nextExecutor += 1
            case 3:
                if random.below(4) == 0 { cluster.stepWallClock(Int64(random.below(10_000)) - 5_000) }
                cluster.advance(Int64(random.below(30_000)))
            case 4:
                let paths = cluster.operations().map(\.path)
                guard random.below(4) == 0, let path = random.pick(paths) else { continue }
                _ = cluster.ask(.cancel(submission: "last", path: path, reason: "", now: random.below(2) == 0))
            case 5:
                guard let path = random.pick(cluster.heldPaths) else { continue }
                cluster.begin(path)
            default:
                guard let owner = random.pick(owners), let unit = random.pick(cluster.held[owner] ?? []) else { continue }
                cluster.end(unit.path, on: owner, outcome(of: unit, &random))
            }
        }
        // Faults stop.
        for path in paused { _ = cluster.ask(.resume(submission: "last", path: path)) }
        for round in 0..<200 where try !cluster.hasFinished(submissions) {
            for owner in cluster.held.keys.sorted() where cluster.peers[owner] == nil { cluster.reattach(owner, slots: 2) }
            if cluster.peers.isEmpty { cluster.attach(nextExecutor + round) }
            if cluster.peers[Self.full] == nil { cluster.attach(Self.full, host: .full) }
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

    /// An executor that can take everything.
    private static let full = 100_000

    @Test(arguments: [3, 17, 99])
    func sameSeed_givesTheSameJournal(seed: Int) throws {
        func run() -> [[UInt8]] {
            var random = SeededRandom(seed: UInt64(seed))
            var cluster = FakeCluster()
            cluster.submit(RandomGraph.make(&random))
            cluster.attach(1, slots: 3)
            cluster.attach(2, slots: 2)
            cluster.drain { assignment in assignment.kind == .decide ? .elements([[0x31], [0x32]]) : .success(.void) }
            return cluster.journal.map(FactCodec.encode)
        }
        #expect(run() == run())
    }

    private func restart(_ cluster: inout FakeCluster, _ random: inout SeededRandom) throws {
        let owners = cluster.peers.keys.sorted()
        try cluster.restart(after: Int64(random.below(20_000)))
        for owner in owners where random.below(4) > 0 { cluster.reattach(owner, slots: 1 + random.below(3)) }
        if cluster.peers.isEmpty, let owner = owners.first { cluster.reattach(owner) }
    }

    private func outcome(of unit: Assignment, _ random: inout SeededRandom) -> AttemptOutcome {
        if unit.kind == .evaluate { return .answers(answers(to: unit, &random)) }
        if unit.kind == .decide, random.below(5) > 0 {
            return .elements((0..<random.below(4)).map { Array("\($0)".utf8) })
        }
        return random.below(6) == 0 ? failure("bad luck") : .success(text(unit.path))
    }
}

extension FakeCluster {
    mutating func hasFinished(_ submissions: Int) throws -> Bool {
        guard case .submissions(let views, _)? = ask(.list(before: "", limit: 0)) else { return false }
        try #require(views.count == submissions)
        return views.allSatisfy { $0.finishedAt > 0 }
    }
}

/// What a worker says of conditions: mostly that they hold.
func answers(to unit: Assignment, _ random: inout SeededRandom) -> [ConditionAnswer] {
    unit.questions.map { question in
        let finding: ConditionAnswer.Finding =
            switch random.below(8) {
            case 0: .failed
            case 1: .retryAfter(milliseconds: Int64(random.below(5_000)))
            default: .satisfied
            }
        return ConditionAnswer(condition: question.condition, finding: finding, reason: "r")
    }
}

struct SeededRandom {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func below(_ bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(bound))
    }

    mutating func pick<Element>(_ list: [Element]) -> Element? { list.isEmpty ? nil : list[below(list.count)] }
}

enum RandomGraph {
    /// - Parameters:
    ///   - keys: how many keys there are; nodes name them, and refer to nodes outside of their groups as well.
    ///   - prepares: conditions may have dependent operations; then nodes refer to nothing outside of their groups.
    static func make(_ random: inout SeededRandom, keys: Int = 0, prepares: Bool = false) -> Graph {
        var names = 0
        var producers: [String] = []
        let children = (0..<(1 + random.below(5))).map { _ in
            optioned(&random, &names, &producers, depth: 0, keys: keys, prepares: prepares)
        }
        var graph = Sketch.group(
            "root", children, ordered: random.below(2) == 0, stop: random.below(3) == 0, max: random.below(3),
            exclusive: keys > 0 && random.below(10) == 0 ? exclusive(&random, keys) : []
        ).graph()
        limitToOnce(&graph, &random)
        freeRetried(&graph)
        return graph
    }

    /// In what may begin anew nothing has a unique id.
    private static func freeRetried(_ graph: inout Graph) {
        var isRetried = graph.nodes.map { _ in false }
        for index in graph.nodes.indices.dropFirst() {
            let parent = graph.nodes[index].parent
            let isGroup = if case .operation = graph.nodes[parent].kind { false } else { true }
            isRetried[index] = isRetried[parent] || isGroup && graph.nodes[parent].retries > 0
            if isRetried[index], graph.nodes[index].options.unique != nil { graph.nodes[index].options.unique = nil }
        }
    }

    /// Now and then something runs at most once, where nothing of it or around it is tried again.
    private static func limitToOnce(_ graph: inout Graph, _ random: inout SeededRandom) {
        var isBarred = graph.nodes.map { $0.retries > 0 }
        for index in graph.nodes.indices where graph.nodes[index].options.prepares != nil { isBarred[index] = true }
        for index in graph.nodes.indices.dropFirst() where isBarred[graph.nodes[index].parent] { isBarred[index] = true }
        for index in graph.nodes.indices.reversed() where graph.nodes[index].retries > 0 {
            var node = index
            while node > 0 {
                node = graph.nodes[node].parent
                isBarred[node] = true
            }
        }
        for index in graph.nodes.indices where !isBarred[index] && random.below(12) == 0 { graph.nodes[index].options.atMostOnce = true }
    }

    private static func exclusive(_ random: inout SeededRandom, _ keys: Int) -> [Exclusion] {
        guard keys > 0, random.below(2) == 0 else { return [] }
        let named = (0..<keys).filter { _ in random.below(keys) == 0 }
        return named.map { Exclusion(key: "key\($0)", limit: 1 + random.below(3)) }
    }

    /// Now and then with options.
    private static func optioned(
        _ random: inout SeededRandom, _ names: inout Int, _ before: inout [String], depth: Int, keys: Int, prepares: Bool = false
    ) -> Sketch {
        let sketch = node(&random, &names, &before, depth: depth, keys: keys, prepares: prepares)
        guard random.below(4) == 0 else { return prepares ? prepared(sketch, &random, &names, depth: depth, keys: keys) : sketch }
        return sketch.having { options in
            if random.below(2) == 0 { options.delayMilliseconds = Int64(random.below(8_000)) }
            if random.below(8) == 0 { options.deadlineMilliseconds = Int64(1 + random.below(60_000)) }
            if random.below(16) == 0 { options.deadline = 1_699_999_990_000 + Int64(random.below(60_000)) }
            if case .op = sketch, random.below(4) == 0 { options.queueTimeoutMilliseconds = Int64(1 + random.below(9_000)) }
            if random.below(4) == 0 { options.priority = random.below(5) - 2 }
            if random.below(3) == 0 { options.backoff = backoff(&random) }
            if sketch.retries > 0, random.below(2) == 0 {
                options.retryOn = [.exitCode(Int32(1 + random.below(2))), .error(random.below(2) == 0 ? "timeout" : "operation")]
            }
            if case .forEach = sketch {
            } else if random.below(3) == 0 {
                options.unique = uniqueness(&random)
            }
            if random.below(4) == 0 { options.notBefore = 1_700_000_000_000 + Int64(random.below(60_000)) }
            if random.below(2) == 0 { options.requires = requires(&random) }
            if case .forEach = sketch { return }
            if random.below(3) == 0 { options.conditions = (0...random.below(3)).map { _ in condition(&random) } }
        }
    }

    /// Now and then with a condition or two that have something done before.
    private static func prepared(
        _ sketch: Sketch, _ random: inout SeededRandom, _ names: inout Int, depth: Int, keys: Int
    ) -> Sketch {
        if case .forEach = sketch { return sketch }
        guard random.below(2) == 0 else { return sketch }
        let conditions = (0...random.below(3)).map { _ in condition(&random) }
        var preparations: [Int: Sketch] = [:]
        for index in conditions.indices where random.below(3) > 0 {
            var none: [String] = []
            preparations[index] = optioned(&random, &names, &none, depth: depth + 1, keys: keys, prepares: true)
        }
        return .preparing(sketch.having { $0.conditions = conditions }, preparations)
    }

    private static func requires(_ random: inout SeededRandom) -> Requirements {
        var resources: [ResourceAmount] = []
        if random.below(2) == 0 { resources.append(ResourceAmount(name: "gpus", amount: Int64(random.below(4)))) }
        if random.below(3) == 0 { resources.append(ResourceAmount(name: "memory", amount: Int64(1 + random.below(8)))) }
        return Requirements(labels: random.below(4) == 0 ? ["fast"] : [], resources: resources)
    }

    /// Of few ids, so that there are duplicates within and across submissions.
    static func uniqueness(_ random: inout SeededRandom) -> Uniqueness {
        let isTemplated = random.below(6) == 0
        return Uniqueness(
            id: isTemplated ? "${item}" : "\(random.below(4))", isTemplated: isTemplated, joins: random.below(3) > 0,
            output: random.below(6) == 0 ? "String" : "")
    }

    /// The simulations begin at 22:13:20 UTC.
    private static func condition(_ random: inout SeededRandom) -> Condition {
        let isNegated = random.below(4) == 0
        // Closed for ten minutes a day, so that few rounds are spent on waiting.
        let start = 22 * 60 + 10 + random.below(10)
        let window = isNegated ? (start, start + 10) : (start + 10, start)
        switch random.below(5) {
        case 4: return Condition(.probe(Probe(type: "probe", parameters: 0, waits: random.below(2) == 0)), isNegated: isNegated)
        case 0: return Condition(.noFailedDependencies, isNegated: isNegated)
        case 1: return Condition(.noCancelledDependencies, isNegated: isNegated)
        case 2: return Condition(.timeWindow(TimeWindow(startMinute: window.0, endMinute: window.1)), isNegated: isNegated)
        default:
            let limit = RateLimit(
                key: "r\(random.below(2))", count: 1 + random.below(3), perMilliseconds: Int64(1 + random.below(20_000)))
            return Condition(.rateLimit(limit), isNegated: isNegated)
        }
    }

    private static func backoff(_ random: inout SeededRandom) -> Backoff {
        let kinds: [Backoff.Kind] = [.constant, .linear, .exponential, .fibonacci]
        return Backoff(
            kind: kinds[random.below(4)], initialMilliseconds: Int64(random.below(5_000)), maxMilliseconds: Int64(random.below(20_000)),
            jitterPermille: random.below(1_001))
    }

    /// Refers only to nodes that stand before it at the same level, so that the graph has no circle.
    private static func node(
        _ random: inout SeededRandom, _ names: inout Int, _ before: inout [String], depth: Int, keys: Int, prepares: Bool
    ) -> Sketch {
        names += 1
        let name = "n\(names)"
        let references = (0..<random.below(3)).compactMap { _ in random.pick(before) }
        defer { before.append(name) }
        switch depth < 3 ? random.below(6) : 0 {
        case 1, 2:
            var inner: [String] = keys > 0 && !prepares && random.below(3) == 0 ? before : []
            let children = (0..<random.below(4)).map { _ in
                optioned(&random, &names, &inner, depth: depth + 1, keys: keys, prepares: prepares)
            }
            return .group(
                name, children, ordered: random.below(2) == 0, stop: random.below(3) == 0, max: random.below(3),
                after: references, retries: random.below(4) == 0 ? 1 : 0, timeout: random.below(8) == 0 ? 10_000 : 0,
                exclusive: exclusive(&random, keys)
            )
        case 3:
            var inner: [String] = keys > 0 && !prepares && random.below(3) == 0 ? before : []
            let body = optioned(&random, &names, &inner, depth: depth + 1, keys: keys, prepares: prepares)
            if let producer = random.pick(before) {
                return .forEach(name, of: producer, body: body, max: random.below(3), stop: random.below(3) == 0)
            }
            return .forEach(name, of: nil, list: (0..<random.below(4)).map { "\($0)" }, body: body, max: random.below(3))
        default:
            return .op(
                name, receives: references, after: random.pick(before).map { [$0] } ?? [],
                retries: random.below(4) == 0 ? random.below(3) : 0, timeout: random.below(8) == 0 ? 5_000 : 0,
                forwards: random.below(2) == 0, exclusive: exclusive(&random, keys)
            )
        }
    }
}
