import Scheduling
import Testing

/// Submissions that are given more turns than others.
@Suite struct WeightTests {
    private func graph(_ count: Int, weight: Int) -> Graph {
        var graph = Sketch.group("root", (0..<count).map { .op("m\($0)") }).graph()
        graph.nodes[0].options.weight = weight
        return graph
    }

    /// Submissions of what one executor is given, one after the other.
    private func order(_ cluster: inout FakeCluster, _ count: Int) -> [SubmissionNumber] {
        (0..<count).compactMap { _ in
            guard let path = cluster.heldPaths.first, let (_, assignment) = cluster.find(path, on: nil) else { return nil }
            defer { cluster.end(path) }
            return assignment.unit.submission
        }
    }

    @Test func submissions_takeTurns_asTheirWeightsSay() throws {
        var cluster = FakeCluster()
        cluster.submit(graph(9, weight: 3), key: "heavy")
        cluster.submit(graph(4, weight: 0), key: "light")
        cluster.attach(1, slots: 1)
        #expect(order(&cluster, 13).map(\.rawValue) == [1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2, 2])
    }

    @Test func weights_areOfSubmissions_whateverTypesTheirOperationsAre() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 1, operations: ["noop"] + (0..<5).map { OperationSignature(name: "type\($0)") })
        cluster.submit(graph(6, weight: 3), key: "heavy")
        cluster.submit(Sketch.group("root", (0..<5).map { .op("t\($0)", type: "type\($0)") }).graph(), key: "light")
        #expect(order(&cluster, 11).map(\.rawValue) == [1, 1, 1, 2, 1, 1, 1, 2, 2, 2, 2])
    }

    /// Of two executors that take different halves of a submission each has turns of its own.
    @Test func turnsOfAWeight_endWhereTheyWereHad() {
        var cluster = FakeCluster()
        cluster.attach(1, operations: ["a"])
        cluster.attach(2, operations: ["b"])
        var both = Sketch.group("root", (0..<20).flatMap { [.op("a\($0)", type: "a"), .op("b\($0)", type: "b")] }).graph()
        both.nodes[0].options.weight = 2
        cluster.submit(both, key: "both")
        cluster.submit(Sketch.group("root", (0..<4).map { .op("few\($0)", type: "a") }).graph(), key: "few")
        // One of each executor.
        for _ in 0..<6 { cluster.heldPaths.forEach { cluster.end($0) } }
        #expect(cluster.dispatched.filter { !$0.hasPrefix("b") }.prefix(7) == ["a0", "a1", "few0", "a2", "a3", "few1", "a4"])
    }

    @Test func weight_isForTheWholeGraph_andBounded() throws {
        for weight in [-1, 101] {
            #expect(
                graph(1, weight: weight).faults().map(\.message) == [
                    "has a `weight` of \(weight); a whole graph may have one, from 1 to 100"
                ])
        }
        let member = Sketch.group("root", [Sketch.op("a").having { $0.weight = 2 }]).graph()
        #expect(member.faults().map(\.path) == ["a"])
    }

    @Test func weight_survivesARestart() throws {
        var cluster = FakeCluster()
        cluster.submit(graph(4, weight: 2), key: "heavy")
        cluster.submit(graph(2, weight: 0), key: "light")
        try cluster.restart()
        cluster.advance(60_000)
        cluster.attach(1, slots: 1)
        #expect(order(&cluster, 6).map(\.rawValue) == [1, 1, 2, 1, 1, 2])
    }
}
