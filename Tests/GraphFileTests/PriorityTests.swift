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
