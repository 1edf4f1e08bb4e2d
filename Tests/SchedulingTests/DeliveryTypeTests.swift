import Scheduling
import Testing

/// Deliveries that can never succeed are refused before anything runs; what a value could still decide is admitted.
@Suite(.timeLimit(.minutes(1)))
struct DeliveryTypeTests {
    private static let text = ValueType(.text, name: "Swift.String")
    private static let texts = ValueType(.json, name: "Swift.Array<Swift.String>", element: "Swift.String")
    private static let int = ValueType(.json, name: "Swift.Int")

    /// Producers, by what they deliver, and receivers, by what they take.
    private static let signatures: [OperationSignature] = [
        "shell", "noop", "delay", "http", "readFile", "jsonPath",
        OperationSignature(name: "jsonDecode", input: ValueType(.own, name: "Worker.JSONDecodeOperation.Text"), output: .any),
        OperationSignature(name: "Any", input: nil, output: .any),
        OperationSignature(name: "Text", input: nil, output: text),
        OperationSignature(name: "Texts", input: nil, output: texts),
        OperationSignature(name: "Int", input: nil, output: int),
        OperationSignature(name: "Perhaps", input: nil, output: ValueType(.json, name: "Swift.Optional<Swift.Array<Swift.Int>>")),
        OperationSignature(name: "User", input: nil, output: ValueType(.json, name: "Users.User")),
        OperationSignature(name: "Own", input: nil, output: ValueType(.own, name: "Images.Thumbnail")),
        OperationSignature(name: "Answer", input: nil, output: ValueType(.own, name: "(Foundation.Data, Foundation.URLResponse)")),
        OperationSignature(name: "Nothing", input: nil, output: ValueType(.void)),
        OperationSignature(name: "TakeText", input: text), OperationSignature(name: "TakeTexts", input: texts),
        OperationSignature(name: "TakeInt", input: int),
        OperationSignature(name: "TakeInts", input: ValueType(.json, name: "Swift.Array<Swift.Int>", element: "Swift.Int")),
        OperationSignature(
            name: "TakeLists",
            input: ValueType(.json, name: "Swift.Array<Swift.Array<Swift.String>>", element: "Swift.Array<Swift.String>")),
        OperationSignature(name: "TakeSet", input: ValueType(.json, name: "Swift.Set<Swift.String>")),
        OperationSignature(name: "TakeAny", input: .any), OperationSignature(name: "TakeNothing", input: ValueType(.void)),
    ]

    private var graph = Graph(
        name: "types", nodes: [Node(id: "", parent: 0, kind: .group(GroupNode(isOrdered: false)))], parameters: [Array("{}".utf8)])

    /// - Returns: its index.
    @discardableResult
    private mutating func add(_ node: Node) -> Int {
        graph.nodes.append(node)
        return graph.nodes.count - 1
    }

    @discardableResult
    private mutating func add(
        _ id: String, _ type: String, in parent: Int = 0, receives: [Int] = [], isArray: Bool = false, joins: Bool = false,
        isHosted: Bool = false
    ) -> Int {
        var options = NodeOptions()
        if joins { options.unique = Uniqueness(id: "u", joins: true) }
        options.isHosted = isHosted
        return add(
            Node(
                id: id, parent: parent, kind: .operation(OperationNode(type: type, parameters: 0)), receives: receives,
                receivesArray: isArray, options: options))
    }

    private mutating func addCommand(_ id: String, _ parameters: String, in parent: Int = 0, isTemplated: Bool = false) -> Int {
        graph.parameters.append(Array(parameters.utf8))
        let operation = OperationNode(type: "shell", parameters: graph.parameters.count - 1, isTemplated: isTemplated)
        return add(Node(id: id, parent: parent, kind: .operation(operation)))
    }

    private mutating func addGroup(_ id: String, in parent: Int = 0) -> Int {
        add(Node(id: id, parent: parent, kind: .group(GroupNode(isOrdered: false))))
    }

    /// With a body.
    @discardableResult
    private mutating func addForEach(_ id: String, over producer: Int? = nil, list: [String]? = nil, body: String = "Text") -> Int {
        let elements = list.map { $0.map { Array($0.utf8) } }
        let each = add(
            Node(
                id: id, parent: 0, kind: .forEach(ForEachNode(name: "item", elements: elements)), receives: producer.map { [$0] } ?? []))
        add("", body, in: each)
        return each
    }

    /// What is wrong with the graph.
    private var faults: [String] {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4, operations: Self.signatures)
        guard case .checked(let errors)? = cluster.ask(.check(graph: graph, waitForWorkers: false)) else { return ["?"] }
        return errors.map { "\($0.path): \($0.message)" }
    }

    // MARK: forEach

    @Test func forEach_overAnOperationThatDeliversNoList_isRefused() {
        var test = self
        test.addForEach("each", over: test.add("n", "Text"))
        #expect(
            test.faults == [
                "each: receives a list from `n`, which delivers Swift.String; put a `jsonDecode` between them, or let it deliver an array"
            ])
        test = self
        test.addForEach("each", over: test.add("n", "Nothing"))
        #expect(test.faults == ["each: receives a list from `n`, which delivers nothing; let it deliver an array"])
    }

    @Test(arguments: [
        ("Any", true), ("Texts", true), ("Perhaps", true), ("User", true), ("Own", true), ("jsonPath", true), ("Text", false),
        ("Int", false), ("Nothing", false), ("Answer", false), ("noop", false), ("delay", false), ("http", false), ("readFile", false),
    ])
    func forEach_takesWhateverMayBeAList(producer: String, isSound: Bool) {
        var test = self
        test.addForEach("each", over: test.add("n", producer))
        #expect(test.faults.isEmpty == isSound, "\(test.faults)")
    }

    @Test(arguments: [
        (#"{"run":"ls"}"#, "Swift.String"), (#"{"output":"text","run":"ls"}"#, "Swift.String"),
        (#"{"output":"bytes","run":"ls"}"#, "Foundation.Data"), (#"{"output":"none","run":"ls"}"#, "nothing"),
        (#"{"output":"json","run":"ls"}"#, ""), (#"{"output":"lines","run":"ls"}"#, ""), ("no JSON", ""),
    ])
    func forEach_overACommand_needsLinesOrJSON(parameters: String, refused: String) {
        var test = self
        test.addForEach("each", over: test.addCommand("list", parameters))
        let fault = "each: receives a list from `list`, which delivers \(refused); give that `output: lines` or `output: json`"
        #expect(test.faults == (refused.isEmpty ? [] : [fault]))
    }

    /// What it will be is not known.
    @Test func commandWhoseOutputIsAVariable_mayDeliverAList() {
        var test = self
        test.addForEach("each", over: test.addCommand("list", #"{"output":"${kind}","run":"ls"}"#, isTemplated: true))
        #expect(test.faults == [])
    }

    @Test func forEach_overAGroupOrForEach_orOverAListInTheGraph_isAdmitted() {
        var test = self
        let group = test.addGroup("g")
        test.add("a", "Text", in: group)
        test.addForEach("overGroup", over: group)
        let each = test.addForEach("written", list: ["1"])
        test.addForEach("overEach", over: each)
        test.addForEach("overEmpty", over: test.addGroup("empty"))
        #expect(test.faults == [])
    }

    @Test func whatAnotherOneDelivers_mayBeAnything() {
        var test = self
        test.addForEach("overJoiner", over: test.add("joiner", "Text", joins: true))
        test.addForEach("overHosted", over: test.add("hosted", "Text", isHosted: true))
        test.addForEach("overUnknown", over: test.add("unknown", "Nobody"))
        #expect(test.faults.count == 1 && test.faults.first?.hasPrefix("unknown: unknown operation") == true, "\(test.faults)")
    }

    @Test func oneVersionThatDeliversAList_isEnough() {
        var test = self
        test.addForEach("each", over: test.add("n", "Versions"))
        var cluster = FakeCluster()
        cluster.attach(
            1, slots: 4,
            operations: Self.signatures + [
                OperationSignature(name: "Versions", version: 1, input: nil, output: Self.text),
                OperationSignature(name: "Versions", version: 2, input: nil, output: Self.texts),
            ])
        guard case .checked(let errors)? = cluster.ask(.check(graph: test.graph, waitForWorkers: false)) else {
            return #expect(Bool(false))
        }
        #expect(errors.map(\.message) == [])
    }

    // MARK: Groups

    @Test func group_deliversAnArray_alsoOfTexts() {
        var test = self
        let group = test.addGroup("g")
        test.add("a", "Text", in: group)
        test.add("b", "Text", in: group)
        test.add("take", "TakeText", receives: [group])
        #expect(
            test.faults == [
                "take: receives Swift.String from `g`, which delivers Swift.Array<Swift.String>; let `TakeText` receive an array, or the value of one of them"
            ])
    }

    @Test func forEach_deliversAnArray_alsoOfTexts() {
        var test = self
        test.add("take", "TakeText", receives: [test.addForEach("each", over: test.add("n", "Texts"))])
        #expect(
            test.faults == [
                "take: receives Swift.String from `each`, which delivers Swift.Array<Swift.String>; let `TakeText` receive an array, or the value of one of them"
            ])
    }

    @Test(arguments: [
        ("TakeTexts", true), ("TakeInts", true), ("TakeAny", true), ("TakeNothing", true), ("TakeText", false), ("TakeInt", false),
        ("TakeSet", false), ("TakeLists", true), ("jsonDecode", false), ("jsonPath", true), ("shell", true),
    ])
    func groupOfTexts_isTakenByWhoTakesAnArray_orAnything(receiver: String, isSound: Bool) {
        var test = self
        let group = test.addGroup("g")
        test.add("a", "Text", in: group)
        test.add("b", "Text", in: group)
        test.add("take", receiver, receives: [group])
        #expect(test.faults.isEmpty == isSound, "\(test.faults)")
    }

    /// A worker takes the value of the only one for what is received.
    @Test func groupOfOne_mayBeTakenAsItsValue() {
        var test = self
        let group = test.addGroup("g")
        test.add("a", "Text", in: group)
        test.add("take", "TakeText", receives: [group])
        test.add("take2", "TakeText", receives: [test.addForEach("each", list: ["1"])])
        #expect(test.faults == [])
        test.add("take3", "TakeText", receives: [group], isArray: true)
        #expect(test.faults.count == 1 && test.faults.first?.hasPrefix("take3: receives Swift.String from `g`") == true)
    }

    @Test func groupsOfWhichTheMembersAreNotKnown_areAdmitted() {
        var test = self
        test.add("one", "TakeText", receives: [test.addGroup("empty")])
        test.add("two", "TakeText", receives: [test.addForEach("none", list: [])])
        let growing = test.addGroup("growing")
        test.add("a", "Text", in: growing)
        test.add("b", "Text", in: growing)
        var options = NodeOptions()
        options.isHosted = true
        test.add(Node(id: "(decisions)", parent: growing, kind: .decider(DeciderNode(type: "D", parameters: 0)), options: options))
        test.add("three", "TakeText", receives: [growing])
        var joining = NodeOptions()
        joining.unique = Uniqueness(id: "u", joins: true)
        let joiner = test.add(Node(id: "joiner", parent: 0, kind: .group(GroupNode(isOrdered: false)), options: joining))
        test.add("a", "Text", in: joiner)
        test.add("b", "Text", in: joiner)
        test.add("four", "TakeText", receives: [joiner])
        #expect(test.faults == [])
    }

    /// What is done for a condition of a group is none of its members.
    @Test func dependentOperations_areNoMembers() {
        var test = self
        var options = NodeOptions()
        options.conditions = [Condition(.timeWindow(TimeWindow(startMinute: 0, endMinute: 60)))]
        let group = test.add(Node(id: "g", parent: 0, kind: .group(GroupNode(isOrdered: false)), options: options))
        var prepares = NodeOptions()
        prepares.prepares = 0
        test.add(Node(id: "?c.0", parent: group, kind: .operation(OperationNode(type: "Nothing", parameters: 0)), options: prepares))
        test.add("a", "Text", in: group)
        test.add("take", "TakeText", receives: [group])
        #expect(test.faults == [])
    }

    @Test func memberThatDeliversNothing_isNamed() {
        var test = self
        let group = test.addGroup("g")
        test.add("a", "Text", in: group)
        test.add("clean", "Nothing", in: group)
        test.add("take", "TakeTexts", receives: [group])
        #expect(test.faults == ["take: receives Swift.String from `g/clean`, which delivers nothing; let them be the same"])
    }

    @Test func groupInAGroup_isAListInAList() {
        var test = self
        let outer = test.addGroup("outer")
        let inner = test.addGroup("inner", in: outer)
        test.add("a", "Text", in: inner)
        test.add("b", "Text", in: outer)
        test.add("any", "TakeAny", receives: [outer])
        test.add("lists", "TakeLists", receives: [outer])
        #expect(test.faults == [])
        test.add("texts", "TakeTexts", receives: [outer])
        #expect(test.faults == ["texts: receives Swift.String from `outer/inner`, which delivers a list of values; let them be the same"])
    }

    /// As a number may be read as a fraction: only the values tell.
    @Test func membersOfSeveralTypes_areAdmitted() {
        var test = self
        let group = test.addGroup("g")
        for type in ["Int", "User", "Own", "Any", "Text"] { test.add(type, type, in: group) }
        test.add("take", "TakeInts", receives: [group])
        #expect(test.faults == [])
    }

    // MARK: Operations that pass on, and text that is to be JSON

    @Test func noop_deliversWhatItReceives_orNothing() {
        var test = self
        test.add("decode", "jsonDecode", receives: [test.add("n", "noop")])
        test.add("take", "TakeText", receives: [test.add("d", "delay", receives: [test.add("m", "noop")])])
        test.add("fine", "TakeText", receives: [test.add("t", "noop", receives: [test.add("text", "Text")])])
        test.add("unknown", "TakeText", receives: [test.add("u", "noop", receives: [test.add("int", "Int")])])
        test.add("any", "TakeAny", receives: [1])
        #expect(
            test.faults == [
                "decode: receives Swift.String from `n`, which delivers nothing; let them be the same",
                "take: receives Swift.String from `d`, which delivers nothing; let them be the same",
            ])
    }

    @Test func noop_passesAListOn_andMakesOneOfSeveralValues() {
        var test = self
        let (a, b) = (test.add("a", "Text"), test.add("b", "Text"))
        test.addForEach("each", over: test.add("both", "noop", receives: [a, b]))
        test.addForEach("each2", over: test.add("list", "noop", receives: [a], isArray: true))
        let group = test.addGroup("g")
        test.add("c", "Text", in: group)
        let passed = test.add("passed", "noop", receives: [group])
        test.addForEach("each3", over: passed)
        test.add("texts", "TakeTexts", receives: [passed])
        #expect(test.faults == [])
        test.add("take", "TakeText", receives: [passed])
        #expect(test.faults == ["take: receives Swift.String from `passed`, which delivers a list of values; let them be the same"])
    }

    /// Neither time nor stack grows with the square of it, or with its length.
    @Test func longChains_areFollowed() {
        var test = self
        var last = test.add("first", "noop")
        for index in 0..<20_000 {
            last = test.add("n\(index)", "noop", receives: [last])
            if index % 5 == 0 { test.add("t\(index)", "TakeNothing", receives: [last]) }
        }
        test.add("take", "TakeText", receives: [last])
        #expect(test.faults == ["take: receives Swift.String from `n19999`, which delivers nothing; let them be the same"])
    }

    @Test func jsonDecode_takesTextOrJSON_butNoList() {
        var test = self
        test.add("ofText", "jsonDecode", receives: [test.addCommand("text", #"{"run":"ls"}"#)])
        test.add("ofJSON", "jsonDecode", receives: [test.addCommand("json", #"{"output":"json","run":"ls"}"#)])
        test.add("ofFile", "jsonDecode", receives: [test.add("file", "readFile")])
        #expect(test.faults == [])
        test.add("ofLines", "jsonDecode", receives: [test.addCommand("lines", #"{"output":"lines","run":"ls"}"#)])
        #expect(
            test.faults == ["ofLines: receives Swift.String from `lines`, which delivers a list of Swift.String; let them be the same"])
    }
}
