import Testing
import Wire

/// The grammar of RFC 9535, as far as paths are taken.
@Suite struct JSONPathTests {
    @Test(
        arguments: [
            ("$", [[]]), ("$.a._b9.ü", [[.name("a")], [.name("_b9")], [.name("ü")]]),
            ("$['a b'][\"c\"]", [[.name("a b")], [.name("c")]]), ("$[0][-12]", [[.index(0)], [.index(-12)]]),
            ("$.*[*]", [[.wildcard], [.wildcard]]),
            ("$ .a [ 'b' , 1 ]", [[.name("a")], [.name("b"), .index(1)]]),
            ("$[1:3]", [[.slice(start: 1, end: 3, step: 1)]]), ("$[:]", [[.slice(start: nil, end: nil, step: 1)]]),
            ("$[ -2 : : -1 ]", [[.slice(start: -2, end: nil, step: -1)]]), ("$[::0]", [[.slice(start: nil, end: nil, step: 0)]]),
            (#"$['it\'s']["\"\\\/\b\f\n\r\t"]"#, [[.name("it's")], [.name("\"\\/\u{8}\u{C}\n\r\t")]]),
            (#"$['\u00e9\uD83D\uDE00']"#, [[.name("é😀")]]), ("$['']", [[.name("")]]),
        ] as [(String, [[JSONPath.Selector]])])
    func path_isTakenApart(text: String, expected: [[JSONPath.Selector]]) throws {
        let path = try JSONPath(text)
        #expect(path.segments.map(\.selectors) == expected.filter { !$0.isEmpty })
        #expect(path.segments.last?.path ?? "$" == text)
    }

    @Test(arguments: [
        ("", "a path begins with `$` (at character 1)"),
        ("a.b", "a path begins with `$` (at character 1)"),
        ("$a", "`.name` or `[…]` was expected, found `a` (at character 2)"),
        ("$.a ", "nothing may follow the path; leave the space out (at character 5)"),
        ("$..a", "`..` is not supported; write the names on the way, or `[*]` (at character 3)"),
        ("$.", "a name or `*` was expected after `.`; write other names as `['…']` (at character 3)"),
        ("$.1", "a name or `*` was expected after `.`; write other names as `['…']` (at character 3)"),
        ("$.first-name", "`-` is in no plain name; write the whole name as `['…']` (at character 8)"),
        ("$[?@.a]", "filters (`?`) are not supported; select with a command, e.g. jq (at character 3)"),
        ("$[a]", "a quoted name, a number, `*` or a slice was expected, found `a` (at character 3)"),
        ("$[", "a quoted name, a number, `*` or a slice was expected, and the path ends (at character 3)"),
        ("$[1", "`]` or `,` was expected, and the path ends (at character 4)"),
        ("$[01]", "a whole number without leading zeros was expected (at character 3)"),
        ("$[-0]", "a whole number without leading zeros was expected (at character 3)"),
        ("$[-]", "a whole number without leading zeros was expected (at character 3)"),
        ("$[9007199254740992]", "the number is outside of ±9007199254740991 (at character 3)"),
        ("$[99999999999999999999]", "the number is outside of ±9007199254740991 (at character 3)"),
        ("$['a", "the quoted name has no end (at character 3)"),
        ("$['a\nb']", "a control character must be escaped, as `\\n` or `\\u000a` (at character 5)"),
        (#"$['\"']"#, #"unknown escape; write one of `\b \f \n \r \t \/ \\ \'`, or `\u` and four hexadecimal digits (at character 4)"#),
        (
            #"$["\uD83Dx"]"#,
            #"unknown escape; write one of `\b \f \n \r \t \/ \\ \"`, or `\u` and four hexadecimal digits (at character 4)"#
        ),
        (#"$["\u12"]"#, #"unknown escape; write one of `\b \f \n \r \t \/ \\ \"`, or `\u` and four hexadecimal digits (at character 4)"#),
    ])
    func whatIsNoPath_isNamedWithItsPlaceAndARemedy(text: String, expected: String) {
        let problem = #expect(throws: JSONPath.Problem.self) { _ = try JSONPath(text) }
        #expect(problem?.description == expected)
    }

    @Test(arguments: [("$", true), ("$.a['b'][-1]", true), ("$[*]", false), ("$.a[0,1]", false), ("$[0:1]", false)])
    func singularPaths_areKnown(text: String, isSingular: Bool) throws {
        #expect(try JSONPath(text).isSingular == isSingular)
    }
}
