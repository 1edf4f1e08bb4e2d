import GraphFile
import Testing

/// `priority`.
@Suite struct PriorityTests {
    @Test func priority_isRead_everywhere_andThatOfTheCallerReplacesThatOfTheFile() throws {
        let text = """
            priority: 5
            group:
              - {run: a, priority: -100}
              - {group: [], priority: 0}
              - {forEach: [1], run: a, priority: 100}
            """
        let expected = #"""
            0 - group priority=5
            1 run0 shell {"run":"a"} priority=-100
            2 group1 group priority=0
            3 run2 forEach as=item [1]
            4 run2/* shell templated {"run":"a"} in=3 priority=100
            """#
        #expect(try outline(text) == expected)
        let loaded = try GraphFileLoader.load(text: text, file: "f.yaml", options: .init(priority: -7))
        #expect(outline(loaded).hasPrefix("0 - group priority=-7\n"))
    }

    @Test(arguments: [
        ("101", "`101`"), ("-101", "`-101`"), ("1.5", "`1.5`"), ("high", "text `high`"), ("'1'", "text `1`"), ("[1]", "a list"),
    ])
    func mistakes_areNamed(value: String, found: String) {
        #expect(
            faults("group: [{id: n, run: a, priority: \(value)}]") == [
                "1:35: n: `priority` must be a whole number from -100 to 100, found \(found)"
            ])
    }

    @Test func crashLimit_isRead_everywhere() throws {
        let nodes = try GraphFileLoader.load(
            text:
                "{crashLimit: 1000, group: [{run: a, crashLimit: 1}, {group: [], crashLimit: 2}, {forEach: [1], run: a, crashLimit: 3}, {run: b}]}",
            file: "g"
        ).graph.nodes
        #expect(nodes.map { $0.hasCrashLimit ? Int($0.crashLimit) : nil } == [1_000, 1, 2, nil, 3, nil])
        for value in ["0", "1001", "1.5", "many"] {
            #expect(
                faults("group: [{id: n, run: a, crashLimit: \(value)}]").first?
                    .contains("n: `crashLimit` must be a whole number from 1 to 1000, found") == true)
        }
    }

    @Test func weight_isForTheTopLevel_andThatOfTheCallerReplacesThatOfTheFile() throws {
        let text = "{weight: 7, group: [{run: a}]}"
        #expect(try GraphFileLoader.load(text: text, file: "g").graph.nodes[0].weight == 7)
        #expect(try GraphFileLoader.load(text: text, file: "g", options: .init(weight: 9)).graph.nodes[0].weight == 9)
        #expect(try GraphFileLoader.load(text: "{group: []}", file: "g").graph.nodes[0].weight == 0)
        for bad in ["0", "101", "1.5", "high"] {
            #expect(faults("{weight: \(bad), group: []}").contains { $0.contains("`weight` must be a whole number from 1 to 100") })
        }
        #expect(!faults("{group: [{run: a, weight: 2}]}").contains { $0.hasPrefix("none") })
    }
}
