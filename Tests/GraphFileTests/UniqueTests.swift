import GraphFile
import Testing

/// `unique` and `onDuplicate`.
@Suite struct UniqueTests {
    @Test func ids_areRead_withTheVariablesOfTheFile_andElementsAreLeftForLater() throws {
        let text = """
            vars: {stage: "st$"}
            unique: nightly
            onDuplicate: join
            group:
              - {run: a, unique: "${stage} 1", onDuplicate: ignore}
              - {exec: [a], output: lines, unique: 5}
              - {run: a, output: json, unique: u}
              - {op: noop, unique: "$$u"}
              - {group: [], unique: g}
              - {forEach: [1], run: a, unique: "${stage} $${item} ${item.x} ${index}", onDuplicate: join}
              - {forEach: [1], run: a, unique: "${stage}"}
            """
        let words = try outline(text).split(separator: "\n").compactMap {
            $0.split(separator: " unique=").dropFirst().first.map(String.init)
        }
        #expect(
            words == [
                "nightly join <>", "st$ 1 <String>", "5 <Array<String>>", "u <>", "$u <>", "g <>",
                "st$$ $${item} ${item.x} ${index} templated join <String>", "st$ <String>",
            ])
    }

    @Test(arguments: [
        ("onDuplicate: join", "n: `onDuplicate` needs `unique`"),
        ("unique: u, onDuplicate: both", "n: `onDuplicate` must be `ignore` or `join`, found `both`"),
        ("unique: ''", "n: `unique` is empty"),
        ("unique: [a]", "n: `unique` must be text, found a list"),
        ("unique: '${item}'", "n: unknown variable `item`; `$$` is a literal `$`"),
        ("unique: \"a\\u0007\"", "n: `unique`: the id `a\\u{7}` must not contain control characters"),
    ])
    func mistakes_areNamed(keys: String, expected: String) {
        let found = faults("group: [{id: n, run: a, \(keys)}]")
        #expect(found.count == 1 && found[0].hasSuffix(" \(expected)"), "\(found)")
    }

    @Test func longId_isRefused() {
        let found = faults("group: [{id: n, run: a, unique: \(String(repeating: "x", count: 257))}]")
        #expect(found.count == 1 && found[0].hasSuffix("must have at most 256 bytes"), "\(found)")
    }
}
