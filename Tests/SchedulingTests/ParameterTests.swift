import Scheduling
import Testing

/// Parameters, and what workers have registered of their shapes.
@Suite(.timeLimit(.minutes(1)))
struct ParameterTests {
    private typealias Field = ParameterShape.Field

    private let shape = ParameterShape.object([
        Field("width", .integer), Field("mode", .choice(["fast", "slow"]), isRequired: false),
        Field("parts", .array(.object([Field("name", .text), Field("ratio", .number), Field("on", .bool)])), isRequired: false),
    ])

    private func cluster() -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, operations: [OperationSignature(name: "Resize", input: nil, parameters: shape)])
        return cluster
    }

    private func graph(_ parameters: String, isTemplated: Bool = false) -> Graph {
        Graph(
            name: "parameters",
            nodes: [
                Node(id: "", parent: 0, kind: .group(GroupNode(isOrdered: false))),
                Node(id: "a", parent: 0, kind: .operation(OperationNode(type: "Resize", parameters: 0, isTemplated: isTemplated))),
            ], parameters: [Array(parameters.utf8)])
    }

    private func fault(_ parameters: String, isTemplated: Bool = false) -> String? {
        var cluster = cluster()
        guard case .checked(let errors)? = cluster.ask(.check(graph: graph(parameters, isTemplated: isTemplated), waitForWorkers: false))
        else { return "?" }
        return errors.first.map { "\($0.path): \($0.message)" }
    }

    @Test(arguments: [
        #"{"width": 3}"#, #"{"width": -3e2, "mode": "fast", "other": {"deep": [null]}}"#, #"{"width":1,"mode":null}"#,
        #" { "width" : 1.0 , "parts" : [ {"name":"a\"\u00e9\ud83d\ude00","ratio":1,"on":true}, {"name":"","ratio":-0.5e-3,"on":false} ] } "#,
        #"{"width":1,"parts":[]}"#, #"{"width":1,"mode":{"$aop.secret":"m"}}"#,
        #"{"width":1,"parts":[{"name": { "$aop.secret" : "key" } ,"ratio":1,"on":true}]}"#, "no JSON: its worker says so", #"{"width":1"#,
    ])
    func whatCanBeRead_isAdmitted(parameters: String) {
        #expect(fault(parameters) == nil)
    }

    @Test(arguments: [
        ("", "`width` is missing"), ("{}", "`width` is missing"), (#"{"width":null}"#, "`width` is null, not an integer"),
        (#"{"width":"3"}"#, "`width` is text, not an integer"), (#"{"width":1.5}"#, "`width` is the number 1.5, not an integer"),
        (#"{"width":{"$aop.secret":"w"}}"#, "`width` is text, not an integer"),
        (#"{"width":{"$aop.secret":"w","b":1}}"#, "`width` is an object, not an integer"),
        (#"{"width":true}"#, "`width` is true, not an integer"), ("[]", "is a list, not an object"),
        ("3", "is the number 3, not an object"),
        (#"{"width":1,"mode":"fsat"}"#, #"`mode` is "fsat", not one of "fast", "slow""#),
        (#"{"width":1,"parts":{}}"#, "`parts` is an object, not a list"),
        (#"{"width":1,"parts":[{"name":"a","ratio":1,"on":true},{"name":"b","on":true}]}"#, "`parts[1].ratio` is missing"),
        (#"{"width":1,"parts":[{"name":"a","ratio":"x","on":true}]}"#, "`parts[0].ratio` is text, not a number"),
        (#"{"width":1,"parts":[null]}"#, "`parts[0]` is null, not an object"),
    ])
    func whatCannotBeRead_isRefused_andSaysWhere(parameters: String, problem: String) {
        #expect(fault(parameters) == "a: has parameters that `Resize` cannot read: \(problem); see its Parameters")
    }

    @Test func whatAnElementWillBe_isNotJudged() {
        #expect(fault(#"{"width":"${item.width}"}"#, isTemplated: true) == nil)
        #expect(fault(#"{"width":"3"}"#, isTemplated: true) != nil)
        #expect(fault(#"{"width":"$3"}"#) != nil)
    }

    @Test func anyVersionThatTakesIt_willDo_andShapesOutliveARestart() throws {
        var cluster = cluster()
        cluster.attach(
            2, operations: [OperationSignature(name: "Resize", version: 2, input: nil, parameters: .object([Field("scale", .number)]))])
        try cluster.restart()
        for (parameters, isFine) in [(#"{"scale":2}"#, true), (#"{"width":2}"#, true), (#"{"depth":2}"#, false)] {
            guard case .checked(let errors)? = cluster.ask(.check(graph: graph(parameters), waitForWorkers: false)) else {
                Issue.record("no answer")
                continue
            }
            #expect(errors.isEmpty == isFine)
        }
    }

    /// Workers of both come and go: neither takes back what the other has said.
    @Test func twoBuildsOfOneVersion_withOtherParameters_areNotJudgedByThem() {
        var cluster = cluster()
        cluster.attach(2, operations: [OperationSignature(name: "Resize", input: nil, parameters: .object([Field("scale", .number)]))])
        cluster.attach(3, operations: [OperationSignature(name: "Resize", input: nil, parameters: shape)])
        for parameters in [#"{"scale":2}"#, #"{"width":2}"#, "{}"] {
            guard case .checked(let errors)? = cluster.ask(.check(graph: graph(parameters), waitForWorkers: false)) else {
                Issue.record("no answer")
                continue
            }
            #expect(errors.isEmpty)
        }
    }

    @Test func deepText_isLeftToItsWorker() {
        let deep = String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000)
        #expect(fault("{\"width\":1,\"other\":\(deep)}") == nil)
    }
}
