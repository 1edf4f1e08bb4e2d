import Scheduling
import Testing

/// Who goes first.
@Suite struct PriorityTests {
    private func names(_ prefix: String, _ count: Int, priority: Int? = nil, type: String = "noop") -> Graph {
        Sketch.group("root", (0..<count).map { .op("\(prefix)\($0)", type: type) }).having { $0.priority = priority }.graph()
    }

    @Test func higherPriority_goesFirst_amongTypesToo() {
        var cluster = FakeCluster()
        cluster.submit(names("low", 2, priority: -1), key: "a")
        cluster.submit(names("plain", 2), key: "b")
        cluster.submit(names("high", 2, priority: 7, type: "other"), key: "c")
        cluster.attach(1, operations: ["noop", "other"])
        cluster.drain()
        #expect(cluster.dispatched == ["high0", "high1", "plain0", "plain1", "low0", "low1"])
    }

    @Test func group_handsItsPriorityOn_andItsMembersMayHaveTheirOwn() {
        var cluster = FakeCluster()
        cluster.submit(
            Sketch.group(
                "root",
                [
                    .op("plain"),
                    Sketch.group("g", [.op("a").having { $0.priority = -5 }, .op("b"), .group("h", [.op("c")])]).having { $0.priority = 3 },
                ]
            ).graph())
        cluster.attach(1)
        cluster.drain()
        #expect(cluster.dispatched == ["g/b", "g/h/c", "plain", "g/a"])
        #expect(cluster.operations().map(\.priority) == [0, 0, 3, -5, 3, 3, 3])
    }

    @Test func equalPriorities_takeTurnsBySubmission() {
        var cluster = FakeCluster()
        cluster.submit(names("a", 3, priority: 1), key: "a")
        cluster.submit(names("b", 3, priority: 1), key: "b")
        cluster.attach(1)
        cluster.drain()
        #expect(cluster.dispatched == ["a0", "b0", "a1", "b1", "a2", "b2"])
    }

    /// Operations of many types, or with many requirements, are no more turns.
    @Test func submissionOfManyTypes_hasNoMoreTurnsThanOneOfOne() {
        var cluster = FakeCluster()
        let types = (0..<10).map { OperationSignature(name: "type\($0)") }
        let many = Sketch.group("root", (0..<10).map { .op("many\($0)", type: "type\($0)") }).graph()
        cluster.attach(1, operations: types + ["noop"])
        cluster.submit(Sketch.group("root", [Sketch.op("first")]).graph(), key: "first")
        cluster.submit(many, key: "many")
        cluster.submit(names("few", 4), key: "few")
        cluster.drain()
        #expect(
            cluster.dispatched.dropFirst() == [
                "many0", "few0", "many1", "few1", "many2", "few2", "many3", "few3", "many4", "many5", "many6", "many7", "many8", "many9",
            ])
    }

    /// What a submission is given elsewhere costs it no turn where only the rest of it can run.
    @Test func turns_areThoseOfExecutorsThatCouldTakeIt() {
        var cluster = FakeCluster()
        cluster.attach(1, operations: ["noop"])
        cluster.attach(2, operations: ["other", "rare"])
        cluster.submit(names("other", 9, type: "other"), key: "other")
        cluster.submit(Sketch.group("root", (0..<9).map { Sketch.op("mine\($0)") } + [.op("rare", type: "rare")]).graph(), key: "mine")
        for number in 0..<4 { cluster.end("mine\(number)") }
        cluster.end("other0")
        #expect(cluster.find("rare", on: 2) != nil, "\(cluster.dispatched)")
    }

    @Test func membersOfASubmission_goInTheirOrder_amongTypesToo() {
        var cluster = FakeCluster()
        cluster.submit(
            Sketch.group("root", [.op("a0"), .op("a1"), .op("b0", type: "other"), .op("a2"), .op("b1", type: "other")]).graph())
        cluster.attach(1, operations: ["noop", "other"])
        cluster.drain()
        #expect(cluster.dispatched == ["a0", "a1", "b0", "a2", "b1"])
    }

    @Test func whatIsPassedOver_getsItsTurnInTheEnd() {
        var cluster = FakeCluster()
        cluster.submit(names("high", 100, priority: 2), key: "a")
        cluster.submit(names("low", 3), key: "b")
        cluster.attach(1)
        cluster.drain()
        let places = cluster.dispatched.enumerated().filter { $0.element.hasPrefix("low") }.map(\.offset)
        #expect(places.count == 3 && places.allSatisfy { $0 < 60 }, "\(places)")
        #expect((places.first ?? 0) > 10)
    }

    @Test func priorityOutOfRange_isRefused() {
        let graph = Sketch.group("root", [.op("a").having { $0.priority = 101 }]).graph()
        #expect(graph.faults().map(\.message) == ["has a `priority` of 101; it must be from -100 to 100"])
    }

    /// A flood of 100,000 no-ops does not delay ten units, nor starve them when its priority is higher.
    @Test(arguments: [(0, 12), (3, 300), (-1, 10)])
    func flood_delaysNobody(priority: Int, limit: Int) throws {
        var flooded = FloodedScheduler(slots: 4)
        flooded.submit(names("flood", 100_000, priority: priority), key: "flood")
        for _ in 0..<100 { flooded.endOldest() }
        flooded.submit(names("few", 10), key: "few")
        let before = flooded.handedOut
        while flooded.fewHandedOut < 10, flooded.handedOut - before < 5_000 { flooded.endOldest() }
        #expect(flooded.fewHandedOut == 10)
        #expect(flooded.handedOut - before <= 10 + limit, "\(flooded.handedOut - before) units were handed out meanwhile")
    }
}

/// A scheduler without the checks of `FakeCluster`, which look at every unit after every step.
private struct FloodedScheduler {
    private var scheduler = Scheduler(.init())
    private var now = Instant(boot: 1_000, wall: 1_700_000_000_000)
    private let peer = PeerID(1)
    private var queue: [Assignment] = []
    private var head = 0
    private(set) var handedOut = 0
    private(set) var fewHandedOut = 0

    init(slots: Int) {
        var outputs = Outputs()
        scheduler.start(at: now, incarnation: Incarnation(1), into: &outputs)
        step([
            .executorAttached(
                peer,
                ExecutorAttachment(
                    identity: WorkerIdentity(incarnation: Incarnation(2), name: "h/0", host: "h", pid: 1), slots: slots,
                    operations: ["noop"], labels: [], held: []))
        ])
    }

    mutating func submit(_ graph: Graph, key: String) {
        step([
            .request(RequestID(peer: PeerID(2), number: 1), .submit(key: key, name: "", graph: ExaminedGraph(graph), waitForWorkers: true))
        ])
    }

    /// Each operation takes a tenth of a second.
    mutating func endOldest() {
        let next = queue[head]
        head += 1
        step([.ended(peer, next.unit, next.attempt, .success(.void), startedAt: now.wall - 100, at: now.wall)])
    }

    private mutating func step(_ inputs: [Input]) {
        var outputs = Outputs()
        scheduler.step(inputs, at: now, into: &outputs)
        for send in outputs.sends {
            guard case .dispatch(let assignments) = send.message else { continue }
            queue += assignments
            handedOut += assignments.count
            fewHandedOut += assignments.count { $0.path.hasPrefix("few") }
        }
    }
}
