import GraphFile
import Testing

/// `deadline` and `queueTimeout`.
@Suite struct DeadlineTests {
    @Test(arguments: [
        ("{run: a, deadline: 0s}", "22: run0: `deadline`: must be longer than 0"),
        ("{run: a, deadline: 5}", "22: run0: `deadline`: `5` has no unit; write `5s` for seconds"),
        ("{run: a, deadline: 2026-13-01T00:00:00Z}", "22: run0: `deadline`: `2026-13-01T00:00:00Z` is no time there is"),
        (
            "{run: a, deadline: {}}",
            "22: run0: `deadline` must be a duration such as `90s` or a time such as `2026-11-21T22:00:00Z`, found a map"
        ),
        ("{run: a, queueTimeout: 0s}", "26: run0: `queueTimeout` must be longer than 0"),
        ("{group: [], queueTimeout: 1s}", "15: group0: `queueTimeout` is for commands and operations; a group waits for no worker"),
        ("{group: [], queueTimeout: 0s}", "15: group0: `queueTimeout` is for commands and operations; a group waits for no worker"),
    ])
    func mistake_isNamedWithItsPlace(node: String, expected: String) {
        #expect(faults("group:\n- \(node)") == ["2:\(expected)"])
    }

    @Test func deadlineOfTheCaller_replacesThatOfTheFile() throws {
        let text = "group: []\ndeadline: 5s"
        let deadline = try #require(GraphDeadline("2026-11-21T22:00:00Z"))
        let loaded = try GraphFileLoader.load(text: text, file: "f.yaml", options: .init(deadline: deadline))
        #expect(outline(loaded) == "0 - group deadline=@1795298400000")
        #expect(try outline(text) == "0 - group deadline=5000")
        #expect(GraphDeadline("0s") == nil)
    }

    @Test func deadlineOfAForEach_isThatOfEachElement_besideItsLocks() throws {
        let expected = #"""
            0 - group
            1 run0 forEach as=item [1]
            2 run0/* shell templated {"run":"a"} in=1 deadline=5000 queueTimeout=1000 exclusive=db
            """#
        #expect(try outline("group: [{forEach: [1], run: a, exclusive: db, deadline: 5s, queueTimeout: 1s}]") == expected)
    }
}
