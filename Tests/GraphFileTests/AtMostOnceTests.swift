import GraphFile
import Testing

/// `atMostOnce`.
@Suite struct AtMostOnceTests {
    @Test func flag_isRead_everywhere() throws {
        let text = """
            atMostOnce: false
            group:
              - {run: a, atMostOnce: true}
              - {group: [{op: noop}], atMostOnce: true}
              - {forEach: [1], run: a, atMostOnce: true}
            """
        let expected = #"""
            0 - group
            1 run0 shell {"run":"a"} atMostOnce
            2 group1 group atMostOnce
            3 group1/op0 noop {} in=2
            4 run2 forEach as=item [1]
            5 run2/* shell templated {"run":"a"} in=4 atMostOnce
            """#
        #expect(try outline(text) == expected)
    }

    @Test(arguments: [
        ("atMostOnce: 1", "`atMostOnce` must be true or false, found `1`"),
        ("atMostOnce: 'true'", "`atMostOnce` must be true or false, found text `true`"),
        (
            "atMostOnce: true, retry: 1",
            "`atMostOnce` and `retry` exclude each other: what must not run twice is not tried again; leave one out"
        ),
    ])
    func mistakes_areNamed(keys: String, message: String) {
        let found = faults("group: [{id: n, run: a, \(keys)}]")
        #expect(found.count == 1 && found.first?.hasSuffix(": n: \(message)") == true, "\(found)")
    }
}
