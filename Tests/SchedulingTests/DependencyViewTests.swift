import Scheduling
import Testing

/// What those who draw a submission are told of what waits for what.
@Suite struct DependencyViewTests {
    private func dependencies(_ cluster: inout FakeCluster, asked: Bool) -> [String: [String]]? {
        let query = OperationQuery(
            submission: "last", path: "", from: 0, limit: 0, withValues: false, failedOnly: false, withDependencies: asked)
        guard case .operations(let views, _, _)? = cluster.ask(.operations(query)) else { return nil }
        let paths = Dictionary(uniqueKeysWithValues: views.map { ($0.unit, $0.path) })
        let told = views.filter { !$0.dependencies.isEmpty }.map { ($0.path, $0.dependencies.compactMap { paths[$0] }) }
        return Dictionary(uniqueKeysWithValues: told)
    }

    @Test func dependencies_areTold_toThoseWhoAsk() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 1)
        let graph = Sketch.group("root", [.ordered("line", [.op("a"), .op("b")]), .op("c", after: ["line"]), .op("d")]).graph()
        cluster.submit(graph)
        let expected = ["line/b": ["line/a"], "c": ["line"]]
        #expect(dependencies(&cluster, asked: true) == expected)
        #expect(dependencies(&cluster, asked: false) == [:])
        // Those who draw the graph before it is submitted are told the same.
        let nodes = graph.dependencies.enumerated().filter { !$1.isEmpty }
        #expect(nodes.map { [graph.nodes[$0].id] + $1.map { graph.nodes[$0].id } } == [["b", "a"], ["c", "line"]])
    }
}
