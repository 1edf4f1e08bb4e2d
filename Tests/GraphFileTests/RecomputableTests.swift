import GraphFile
import Testing

/// `recomputable`.
@Suite struct RecomputableTests {
    @Test func flag_isRead_everywhere() throws {
        let text = """
            recomputable: false
            group:
              - {run: a, recomputable: true}
              - {group: [{op: noop}], recomputable: true}
              - {forEach: [1], run: a, recomputable: true}
            """
        let expected = #"""
            0 - group
            1 run0 shell {"run":"a"} recomputable
            2 group1 group recomputable
            3 group1/op0 noop {} in=2
            4 run2 forEach as=item [1]
            5 run2/* shell templated {"run":"a"} in=4 recomputable
            """#
        #expect(try outline(text) == expected)
    }

    @Test(arguments: ["1", "'true'"]) func mistakes_areNamed(value: String) {
        let found = faults("group: [{id: n, run: a, recomputable: \(value)}]")
        #expect(found.count == 1 && found.first?.contains("n: `recomputable` must be true or false, found") == true, "\(found)")
    }
}
