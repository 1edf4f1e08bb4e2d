import Scheduling
import Testing

/// Graphs that were admitted before workers had registered their operations: the checks follow.
@Suite(.timeLimit(.minutes(1)))
struct MisfitTests {
    private let int = ValueType(.json, name: "Swift.Int")
    private let user = ValueType(.json, name: "Users.User")
    private var count: OperationSignature { OperationSignature(name: "Count", input: nil, output: int) }
    private var greet: OperationSignature { OperationSignature(name: "Greet", input: user, output: user) }

    private func operation(_ id: String, _ type: String, version: Int = 0, parent: Int = 0, receives: [Int] = [], after: [Int] = []) -> Node
    {
        Node(
            id: id, parent: parent, kind: .operation(OperationNode(type: type, version: version, parameters: 0)), receives: receives,
            after: after)
    }

    private func graph(_ nodes: Node...) -> Graph {
        Graph(name: "types", nodes: [Node(id: "", parent: 0, kind: .group(GroupNode(isOrdered: false)))] + nodes, parameters: [[]])
    }

    private var unfit: Graph {
        graph(operation("slow", "Other"), operation("count", "Count", after: [1]), operation("greet", "Greet", receives: [2]))
    }

    @Test func whatDoesNotFit_fails_whenItsTypeIsRegistered_notWhenItsTurnComes() throws {
        var cluster = FakeCluster()
        cluster.attach(1, operations: ["Other"])
        cluster.submit(unfit)
        cluster.attach(2, operations: [greet])
        #expect(cluster.state("greet") == .blocked, "what it would receive is not known")
        cluster.attach(3, operations: [count])
        #expect(cluster.state("greet") == .failed)
        #expect(cluster.state("count") == .blocked)
        let failure = try #require(cluster.operations(failedOnly: true).first { $0.path == "greet" }?.errors.first)
        #expect(failure.code == .parameters)
        #expect(failure.typeName == "TypeMismatch")
        #expect(failure.message == "receives Users.User from `count`, which delivers Swift.Int; let them be the same")
        cluster.drain()
        let view = cluster.view()
        #expect(view?.state == .failed)
    }

    @Test func whatFits_runs() {
        var cluster = FakeCluster()
        cluster.submit(graph(operation("a", "Greet"), operation("b", "Greet", receives: [1])))
        cluster.attach(1, operations: [greet])
        cluster.drain()
        let view = cluster.view()
        #expect(view?.state == .succeeded)
    }

    /// Somebody may yet bring it.
    @Test func versionThatNobodyHas_waits() {
        var cluster = FakeCluster()
        cluster.submit(graph(operation("a", "Greet", version: 2)))
        cluster.attach(1, operations: [greet])
        #expect(cluster.state("a") == .queued)
        cluster.attach(2, operations: [OperationSignature(name: "Greet", version: 2, input: nil, output: user)])
        #expect(cluster.heldPaths == ["a"])
    }

    @Test func checks_followAfterARestart_too() throws {
        var cluster = FakeCluster()
        cluster.attach(1, operations: ["Other"])
        cluster.submit(unfit)
        cluster.attach(2, operations: [greet])
        try cluster.restart()
        cluster.attach(3, operations: [count])
        #expect(cluster.state("greet") == .failed)
        try cluster.restart()
        #expect(cluster.state("greet") == .failed)
    }

    /// Its children are made when the list is there: each of them fails.
    @Test func childrenThatComeLater_failToo() throws {
        var cluster = FakeCluster()
        cluster.submit(
            graph(
                operation("list", "Other"), Node(id: "each", parent: 0, kind: .forEach(ForEachNode(name: "item")), receives: [1]),
                Node(id: "body", parent: 2, kind: .group(GroupNode(isOrdered: false))), operation("count", "Count", parent: 3),
                operation("greet", "Greet", parent: 3, receives: [4])))
        cluster.attach(1, slots: 8, operations: ["Other", count, greet])
        cluster.drain { $0.kind == .decide ? .elements([Array("1".utf8), Array("2".utf8)]) : .success(text("[1,2]")) }
        let failed = cluster.operations(failedOnly: true).filter { $0.errors.first?.typeName == "TypeMismatch" }
        #expect(failed.count == 2)
    }

    /// Its worker says so, as of any decision that cannot be made.
    @Test func groupThatDecides_isNoMisfit() throws {
        let shape = ParameterShape.object([ParameterShape.Field("width", .integer)])
        var cluster = FakeCluster()
        cluster.attach(1, operations: ["op"])
        cluster.submit(
            Sketch.group("root", [.deciding(.group("g", [.op("a")]), DeciderNode(type: "Grow", parameters: 0))]).graph())
        cluster.attach(2, operations: [OperationSignature(name: "Grow", parameters: shape)])
        try cluster.restart()
        cluster.attach(3, slots: 2, operations: ["noop", OperationSignature(name: "Grow", parameters: shape)])
        cluster.end("g/a")
        #expect(cluster.heldPaths == ["g/(decisions)"])
    }

    /// It was checked when it was admitted; a type that changes afterwards is its worker's to judge.
    @Test func graphThatWasChecked_isNotCheckedAgain() {
        var cluster = FakeCluster()
        cluster.attach(1, operations: [count, OperationSignature(name: "Greet", input: int, output: user)])
        cluster.submit(graph(operation("a", "Count"), operation("b", "Greet", receives: [1])), waitForWorkers: false)
        cluster.attach(2, operations: [greet])
        #expect(cluster.state("b") == .blocked)
    }

    @Test func knownType_withoutALiveWorker_isAdmitted_andWaits() throws {
        var cluster = FakeCluster()
        cluster.attach(1, operations: [greet])
        cluster.depart(1)
        try cluster.restart()
        #expect(cluster.submit(graph(operation("a", "Greet")), waitForWorkers: false) != nil)
        #expect(cluster.state("a") == .queued)
        #expect(cluster.operations().compactMap(\.waiting?.text).count == 1)
        cluster.attach(2, operations: [greet])
        #expect(cluster.heldPaths == ["a"])
    }
}
