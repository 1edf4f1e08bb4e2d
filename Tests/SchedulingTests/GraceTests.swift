import Scheduling
import Testing

/// How long what is stopped may take, as its executor is told.
@Suite struct GraceTests {
    private func cluster(_ graph: Graph) -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        cluster.submit(graph)
        return cluster
    }

    private func graces(_ cluster: FakeCluster, of executor: Int = 1) -> [String: Int64?] {
        Dictionary((cluster.held[executor] ?? []).map { ($0.path, $0.graceMilliseconds) }) { $1 }
    }

    @Test func group_handsItsGraceOn_andItsMembersMayHaveTheirOwn() {
        var graph = Sketch.group("root", [.op("plain"), .group("g", [.op("a"), .op("b"), .group("h", [.op("c")])])]).graph()
        (graph.nodes[2].graceMilliseconds, graph.nodes[3].graceMilliseconds) = (700, 0)
        #expect(graces(cluster(graph)) == ["plain": nil, "g/a": 0, "g/b": 700, "g/h/c": 700])
        graph.nodes[0].graceMilliseconds = 90
        #expect(graces(cluster(graph)) == ["plain": 90, "g/a": 0, "g/b": 700, "g/h/c": 700])
    }

    @Test func whatIsMadeInsideOfIt_getsItToo_alsoAfterARestart() throws {
        var graph = Sketch.group("root", [.group("g", [.op("a")]), .forEach("each", of: nil, list: ["1"], body: .op("body"))]).graph()
        (graph.nodes[1].graceMilliseconds, graph.nodes[3].graceMilliseconds) = (700, 80)
        var cluster = cluster(graph)
        cluster.end("g/a", .production(.void, .of(.op("x"))))
        #expect(graces(cluster) == ["g/x+1": 700, "each/0": 80])
        try cluster.restart()
        cluster.die(1, crashed: false)
        cluster.attach(2, slots: 8)
        #expect(graces(cluster, of: 2) == ["g/x+1": 700, "each/0": 80])
    }

    @Test func coordinator_stepsInAfterTheGraceOfTheGroup() {
        var graph = Sketch.group("root", [.op("a", timeout: 1_000)]).graph()
        graph.nodes[0].graceMilliseconds = 30_000
        var cluster = cluster(graph)
        cluster.begin("a")
        cluster.advance(34_999)
        #expect(cluster.state("a") == .running)
        cluster.advance(1)
        #expect(cluster.state("a") == .stopping)
    }
}
