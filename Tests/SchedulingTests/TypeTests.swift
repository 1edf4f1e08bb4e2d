import Scheduling
import Testing

/// Versions of operations, and whether values fit, as workers have registered them.
@Suite(.timeLimit(.minutes(1)))
struct TypeTests {
    private let int = ValueType(.json, name: "Swift.Int")
    private let user = ValueType(.json, name: "Users.User")
    private let users = ValueType(.json, name: "Swift.Array<Users.User>", element: "Users.User")
    private let text = ValueType(.text, name: "Swift.String")

    /// An operation under its type's name.
    private func operation(
        _ id: String, _ type: String, version: Int = 0, parent: Int = 0, receives: [Int] = [], isArray: Bool = false
    ) -> Node {
        Node(
            id: id, parent: parent, kind: .operation(OperationNode(type: type, version: version, parameters: 0)), receives: receives,
            receivesArray: isArray)
    }

    private func graph(_ nodes: Node...) -> Graph {
        Graph(name: "types", nodes: [Node(id: "", parent: 0, kind: .group(GroupNode(isOrdered: false)))] + nodes, parameters: [[]])
    }

    private func cluster(_ operations: OperationSignature...) -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4, operations: operations)
        return cluster
    }

    private func messages(_ cluster: inout FakeCluster, _ graph: Graph) -> [String] {
        guard case .checked(let errors)? = cluster.ask(.check(graph: graph, waitForWorkers: false)) else { return ["?"] }
        return errors.map { "\($0.path): \($0.message)" }
    }

    @Test func valuesOfAnotherType_areRefused_andBothAreNamed() {
        var cluster = cluster(
            OperationSignature(name: "Count", input: text, output: int), OperationSignature(name: "Greet", input: user, output: text))
        let errors = messages(&cluster, graph(operation("count", "Count"), operation("greet", "Greet", receives: [1])))
        #expect(errors == ["greet: receives Users.User from `count`, which delivers Swift.Int; let them be the same"])
    }

    /// As an operation its children would be nobody's.
    @Test func groupThatDecides_isNoOperation() throws {
        var group = OperationSignature(name: "BuildOrSkip", input: nil, output: ValueType(.void))
        group.decides = true
        var cluster = cluster(group)
        let errors = messages(&cluster, graph(operation("a", "BuildOrSkip")))
        #expect(
            errors == [
                "a: `BuildOrSkip` is a group that decides what it does next, and as one operation its children would be unknown to the"
                    + " cluster; submit it from Swift with a ClusterQueue, or write its children as nodes (`group`, `ordered`, `forEach`)"
            ])
        try cluster.restart()
        #expect(messages(&cluster, graph(operation("a", "BuildOrSkip"))) == errors, "the journal knows it, too")
        let decider = DeciderNode(type: "BuildOrSkip", parameters: 0)
        let decided = graph(
            Node(id: "g", parent: 0, kind: .group(GroupNode(isOrdered: false))),
            Node(id: "(decisions)", parent: 1, kind: .decider(decider)))
        #expect(messages(&cluster, decided) == [])
    }

    @Test func receiverOfAStream_thatReceivesAValue_isToldWhoCanSayIt() {
        var index = OperationSignature(name: "Index", input: nil, output: int)
        index.streamed = text
        var cluster = cluster(index, OperationSignature(name: "Crawl", input: nil, output: int))
        let errors = messages(&cluster, graph(operation("crawl", "Crawl"), operation("index", "Index", receives: [1])))
        #expect(
            errors == [
                "index: receives from `crawl`, but `Index` takes what that sends while it runs, which no graph file can say;"
                    + " submit both from Swift with `stream(to:)`"
            ])
    }

    @Test func errors_areInTheOrderOfTheNodes() {
        var cluster = cluster(OperationSignature(name: "Count", input: nil, output: int))
        let nodes = graph(
            operation("a", "Nobody"), operation("b", "Count", receives: [1]), operation("c", "None"), operation("d", "Count", receives: [3])
        )
        #expect(messages(&cluster, nodes).map { $0.prefix(2) } == ["a:", "b:", "c:", "d:"])
    }

    @Test func whatOnlyTheValueCanTell_isAdmitted() {
        var cluster = cluster(
            OperationSignature(name: "Read", input: nil, output: text), OperationSignature(name: "Any", input: .any, output: .any),
            OperationSignature(name: "Greet", input: user, output: text),
            OperationSignature(name: "Wait", input: ValueType(.void), output: int))
        let graph = graph(
            operation("read", "Read"), operation("greet", "Greet", receives: [1]), operation("any", "Any", receives: [2]),
            operation("again", "Greet", receives: [3]), operation("wait", "Wait", receives: [4]))
        #expect(messages(&cluster, graph) == [])
    }

    /// What URL sessions deliver has a form of its own, which no text and no list has.
    @Test func text_isNoAnswerOfASession() {
        let answer = ValueType(.own, name: "(Foundation.Data, Foundation.URLResponse)")
        var cluster = cluster(
            OperationSignature(name: "Read", input: nil, output: text), OperationSignature(name: "Load", input: nil, output: answer),
            OperationSignature(name: "Judge", input: answer, output: int))
        #expect(messages(&cluster, graph(operation("load", "Load"), operation("judge", "Judge", receives: [1]))) == [])
        let errors = messages(&cluster, graph(operation("read", "Read"), operation("judge", "Judge", receives: [1])))
        #expect(
            errors == [
                "judge: receives (Foundation.Data, Foundation.URLResponse) from `read`, which delivers Swift.String; let them be the same"
            ])
    }

    /// What a command's `output` certainly is not is refused, and nothing else.
    @Test(arguments: [
        ("", ["Any", "Text", "Greet", "Count", "List", "Lines", "Wait", "Own"]),
        ("text", ["Any", "Text", "Greet", "Count", "List", "Lines", "Wait", "Own"]),
        ("bytes", ["Any", "Text", "Greet", "Count", "List", "Lines", "Wait", "Own"]),
        ("json", ["Any", "Text", "Greet", "Count", "List", "Lines", "Wait", "Own", "Judge"]),
        ("lines", ["Any", "Greet", "List", "Lines", "Wait", "Own"]),
        ("none", ["Any", "Wait"]),
    ])
    func commands_deliverWhatTheirOutputSays(output: String, takers: [String]) {
        let inputs: [String: ValueType] = [
            "Any": .any, "Text": text, "Greet": user, "Count": int, "List": users,
            "Lines": ValueType(.json, name: "Swift.Array<Swift.String>", element: "Swift.String"), "Wait": ValueType(.void),
            "Own": ValueType(.own, name: "Images.Thumbnail"), "Judge": ValueType(.own, name: "(Foundation.Data, Foundation.URLResponse)"),
        ]
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4, operations: inputs.map { OperationSignature(name: $0.key, input: $0.value, output: int) } + ["shell"])
        let parameters = output.isEmpty ? "{\"run\":\"ls\"}" : "{\"output\":\"\(output)\",\"run\":\"ls\"}"
        for type in inputs.keys.sorted() {
            var graph = graph(operation("command", "shell"), operation("taker", type, receives: [1]))
            graph.parameters = [Array(parameters.utf8)]
            let errors = messages(&cluster, graph)
            #expect(errors.isEmpty == takers.contains(type), "\(type): \(errors)")
        }
    }

    @Test func listOfLines_isNoElementOfALists_nothingIsNeither() {
        let lines = ValueType(.json, name: "Swift.Array<Swift.String>", element: "Swift.String")
        var cluster = cluster(
            "shell", OperationSignature(name: "Lines", input: lines, output: int),
            OperationSignature(name: "Read", input: nil, output: text))
        for (output, isSound) in [("text", true), ("json", true), ("lines", false), ("none", false)] {
            var graph = graph(
                operation("command", "shell"), operation("read", "Read"), operation("lines", "Lines", receives: [1, 2], isArray: true))
            graph.parameters = [Array("{\"output\":\"\(output)\",\"run\":\"ls\"}".utf8)]
            let errors = messages(&cluster, graph)
            #expect(errors.isEmpty == isSound, "\(output): \(errors)")
        }
    }

    @Test func nothing_isNoValue() {
        var cluster = cluster(
            OperationSignature(name: "Clean", input: nil, output: ValueType(.void)),
            OperationSignature(name: "Greet", input: user, output: text))
        let errors = messages(&cluster, graph(operation("clean", "Clean"), operation("greet", "Greet", receives: [1])))
        #expect(errors == ["greet: receives Users.User from `clean`, which delivers nothing; let them be the same"])
    }

    @Test func arrays_areComparedByTheirElements() {
        var cluster = cluster(
            OperationSignature(name: "Load", input: nil, output: user), OperationSignature(name: "Count", input: nil, output: int),
            OperationSignature(name: "List", input: users, output: users))
        let fits = graph(
            operation("a", "Load"), operation("b", "Load"), operation("list", "List", receives: [1, 2]),
            operation("next", "List", receives: [3]))
        #expect(messages(&cluster, fits) == [])
        let errors = messages(
            &cluster, graph(operation("a", "Load"), operation("b", "Count"), operation("list", "List", receives: [1, 2])))
        #expect(errors == ["list: receives Users.User from `b`, which delivers Swift.Int; let them be the same"])
        let single = messages(&cluster, graph(operation("b", "Count"), operation("list", "List", receives: [1], isArray: true)))
        #expect(single.count == 1)
    }

    @Test func severalValues_needAnArray() {
        var cluster = cluster(OperationSignature(name: "Load", input: user, output: user))
        let errors = messages(&cluster, graph(operation("a", "Load"), operation("b", "Load"), operation("c", "Load", receives: [1, 2])))
        #expect(errors == ["c: receives 2 values, but `Load` takes one (Users.User); let it receive an array"])
    }

    @Test func group_deliversAnArrayOfWhatItsChildrenDeliver() {
        var cluster = cluster(
            OperationSignature(name: "Load", input: nil, output: user), OperationSignature(name: "List", input: users, output: int),
            OperationSignature(name: "Add", input: ValueType(.json, name: "Swift.Array<Swift.Int>", element: "Swift.Int"), output: int))
        let group = Node(id: "all", parent: 0, kind: .group(GroupNode(isOrdered: false)))
        #expect(messages(&cluster, graph(group, operation("a", "Load", parent: 1), operation("list", "List", receives: [1]))) == [])
        let errors = messages(&cluster, graph(group, operation("a", "Load", parent: 1), operation("add", "Add", receives: [1])))
        #expect(errors.count == 1)
        #expect(errors.first?.hasPrefix("add: receives Swift.Array<Swift.Int> from `all`, which delivers Swift.Array<Users.User>") == true)
    }

    @Test func operationThatTakesNothing_receivesNothing() {
        var cluster = cluster(OperationSignature(name: "Load", input: nil, output: user))
        let errors = messages(&cluster, graph(operation("a", "Load"), operation("b", "Load", receives: [1])))
        #expect(errors.count == 1)
        #expect(errors.first?.hasPrefix("b: receives from `a`, but `Load` takes no value") == true)
    }

    @Test func unknownOperation_isToldWhatMayHaveBeenMeant() {
        var cluster = cluster(OperationSignature(name: "Count", input: int, output: int))
        #expect(
            messages(&cluster, graph(operation("a", "Coutn"), operation("b", "Elsewhere"))) == [
                "a: unknown operation `Coutn`: no worker has ever registered it; did you mean `Count`? Otherwise start one that does, "
                    + "or submit with --wait-for-workers",
                "b: unknown operation `Elsewhere`: no worker has ever registered it; start one that does, or submit with --wait-for-workers",
            ])
    }

    @Test func whatNobodyHasRegistered_isNotJudged_andAllErrorsComeAtOnce() {
        var cluster = cluster(
            OperationSignature(name: "Count", input: int, output: int), OperationSignature(name: "Greet", input: user, output: text))
        let errors = messages(
            &cluster,
            graph(
                operation("new", "New"), operation("count", "Count", receives: [1]), operation("greet", "Greet", receives: [2]),
                operation("old", "Count", version: 3)))
        #expect(errors.count == 3)
        #expect(errors.contains { $0.hasPrefix("new: unknown operation `New`") })
        #expect(errors.contains { $0.hasPrefix("greet: receives Users.User from `count`") })
        #expect(errors.contains { $0.hasPrefix("old: asks for version 3 of `Count`; workers have registered 1") })
    }

    @Test func unit_goesToAWorkerOfItsVersion_andSaysSoWhileThereIsNone() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4, operations: [OperationSignature(name: "Load", version: 1)])
        cluster.submit(graph(operation("a", "Load", version: 2), operation("b", "Load", version: 1), operation("c", "Load")))
        #expect(cluster.heldPaths.sorted() == ["b", "c"])
        #expect(cluster.operations().compactMap(\.waiting?.text) == ["no worker that is there has version 2 of the operation `Load`"])
        cluster.attach(2, slots: 4, operations: [OperationSignature(name: "Load", version: 3, oldestVersion: 2)])
        #expect(cluster.heldPaths.last == "a")
    }

    @Test func takesOlderVersions_asFarAsItSays() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4, operations: [OperationSignature(name: "Load", version: 3, oldestVersion: 2)])
        #expect(messages(&cluster, graph(operation("a", "Load", version: 2), operation("b", "Load", version: 3))) == [])
        let errors = messages(&cluster, graph(operation("a", "Load", version: 1), operation("b", "Load", version: 4)))
        #expect(errors.count == 2)
        #expect(errors.allSatisfy { $0.contains("workers have registered 2 to 3;") })
    }

    @Test func versions_areKnownAfterARestart() throws {
        var cluster = cluster(OperationSignature(name: "Load", version: 2, input: nil, output: user))
        try cluster.restart()
        let errors = messages(&cluster, graph(operation("a", "Load", version: 1)))
        #expect(
            errors == [
                "a: asks for version 1 of `Load`; workers have registered 2; start one with that version, or submit with --wait-for-workers"
            ])
    }

    @Test func laterRegistration_ofTheSameVersion_counts() {
        var cluster = cluster(
            OperationSignature(name: "Load", input: nil, output: user), OperationSignature(name: "Greet", input: int, output: text))
        #expect(messages(&cluster, graph(operation("a", "Load"), operation("b", "Greet", receives: [1]))).count == 1)
        cluster.attach(2, operations: [OperationSignature(name: "Load", input: nil, output: int)])
        #expect(messages(&cluster, graph(operation("a", "Load"), operation("b", "Greet", receives: [1]))) == [])
    }
}
