import Foundation
import GraphFile
import Testing

/// Texts that are no graph file at all, and those that would be too much.
@Suite struct TextTests {
    @Test(arguments: [
        ("", "1:1: the file is empty; a graph needs `group:` or `ordered:`"),
        (" \n\t\n", "1:1: the file is empty; a graph needs `group:` or `ordered:`"),
        ("# nothing\n", "1:1: the file is empty; a graph needs `group:` or `ordered:`"),
        (
            "group:\n  - run: [a\n",
            "3:1: not valid YAML: did not find expected ',' or ']' (while parsing a flow sequence that starts at 2:10)"
        ),
        ("group:\n\t- run: a\n", "2:1: not valid YAML: found character that cannot start any token; a tab cannot indent YAML, use spaces"),
        ("group: []\n---\ngroup: []\n", "2:1: a second document starts here; a graph file holds one"),
        ("group: *x", "1:8: unknown alias `*x`: no value before it has the anchor `&x`"),
        ("group: &x [*x]", "1:12: unknown alias `*x`: no value before it has the anchor `&x`"),
        ("group: !own []", "1:8: YAML tag `!own` is not supported here; leave it out"),
        ("group: [{run: !!binary aGk=}]", "1:15: YAML tag `tag:yaml.org,2002:binary` is not supported here; leave it out"),
        ("group: [{run: \"a\u{1}\"}]", "1:17: not valid YAML: control characters are not allowed (U+1)"),
        (
            "{\"group\": [{\"run\": \"\\ud83d\"}]}",
            "1:23: not valid YAML: found invalid Unicode character escape code (while parsing a quoted scalar that starts at 1:20)"
        ),
    ])
    func textThatIsNoGraph_isRefused(text: String, expected: String) {
        #expect(faults(text) == [expected])
    }

    @Test func bytesThatAreNotUTF8_areRefusedWithTheirPlace() {
        func fault(_ bytes: [UInt8]) -> String? {
            do {
                _ = try GraphFileLoader.load(bytes: bytes, file: "f")
                return nil
            } catch {
                return error.description
            }
        }
        #expect(fault(Array("group: []\nname: é".utf8) + [0xFF]) == "f:2:8: is not UTF-8: byte 0xff; save it as UTF-8")
        #expect(fault([0xFF, 0xFE, 0x67, 0x00]) == "f:1:1: is UTF-16; save it as UTF-8")
        #expect(fault([0xC3]) == "f:1:1: is not UTF-8: byte 0xc3; save it as UTF-8")
        #expect(fault([0xEF, 0xBB, 0xBF] + Array("group: []".utf8)) == nil)
    }

    @Test func filesThatCannotBeRead_areNamed() throws {
        func fault(_ path: String) -> String {
            do { return try GraphFileLoader.load(path: path).name } catch { return error.description }
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "graph-file-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let missing = folder.appending(path: "missing.yaml").path
        #expect(fault(missing) == "\(missing): no such file")
        #expect(fault(folder.path) == "\(folder.path): is a directory, not a graph file")
        #expect(
            fault("/dev/zero")
                == "/dev/zero: is larger than 64 MiB, the most a graph file may be; let a `forEach` over a producer make the nodes")
        let file = folder.appending(path: "steps.yaml")
        try Data("group: [{run: x}]".utf8).write(to: file)
        #expect(fault(file.path) == "steps")
    }

    @Test func jsonEscapes_ofCharactersBeyondTheBasicPlane_areRead() throws {
        let text = #"{"group": [{"id": "\ud83d\ude00", "run": "\"\ud83d\ude00\\ud83d\\ude00", "runn": 1}]}"#
        #expect(faults(text) == ["1:74: 😀: unknown key `runn`, did you mean `run`?"])
        let graph = try GraphFileLoader.load(text: #"{"group": [{"run": "\ud83d\ude00 \u00e9 \/ \\ud83d"}]}"#, file: "f").graph
        #expect(String(decoding: graph.parameters[0], as: UTF8.self) == #"{"run":"😀 é / \\ud83d"}"#)
    }

    @Test func longValues_areShortenedInMessages() {
        let value = String(repeating: "x", count: 1000)
        #expect(
            faults("group: [{run: a, retry: \(value)}]") == [
                "1:25: run0: `retry` must be a whole number, found text `\(String(repeating: "x", count: 60))…`"
            ])
    }

    /// `levels` groups inside the root group, and a command in the innermost.
    static func nested(_ levels: Int) -> String {
        String(repeating: #"{"group":["#, count: levels + 1) + #"{"run":"x"}"# + String(repeating: "]}", count: levels + 1)
    }

    @Test func nesting_worksUpToTheLimitAndIsRefusedBeyond() throws {
        let loaded = try GraphFileLoader.load(text: Self.nested(999), file: "f")
        #expect(loaded.graph.nodes.count == 1001)
        #expect(loaded.nodes[1000].path == String(repeating: "group0/", count: 999) + "run0")
        let deeper = faults(Self.nested(1000))
        #expect(deeper.count == 1)
        #expect(deeper.first?.hasSuffix("group0: nodes are nested more than 1000 deep here") == true)
    }

    @Test(arguments: [100_000, 1_000_000])
    func nestingWithoutEnd_isRefused(levels: Int) {
        let expected = "lists and maps are nested more than 4000 deep here; groups may be nested 1000 deep"
        #expect(faults(String(repeating: "[", count: levels)) == ["1:4001: \(expected)"])
        #expect(faults(Self.nested(levels / 10)) == ["1:20001: \(expected)"])
        #expect(faults(String(repeating: "- ", count: levels)) == ["1:8001: \(expected)"])
    }

    @Test func blockStyle_nestsAsDeepAsFlowStyle() throws {
        var text = "group:\n"
        for level in 0..<999 { text += String(repeating: " ", count: 2 * level) + "- group:\n" }
        text += String(repeating: " ", count: 2 * 999) + "- run: x\n"
        #expect(try GraphFileLoader.load(text: text, file: "f").graph.nodes.count == 1001)
    }

    @Test func deepValues_areRefused() throws {
        func text(_ depth: Int) -> String {
            "group: [{op: Own, with: {a: " + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}}]"
        }
        #expect(try GraphFileLoader.load(text: text(255), file: "f").graph.nodes.count == 2)
        #expect(faults(text(256)) == ["1:25: op0: lists and maps of a value may be nested 256 deep, these are 257 deep"])
    }

    @Test func aliasBombs_areRefused() {
        var text = "vars:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...20 {
            let alias = "*a\(level - 1)"
            text += "  a\(level): &a\(level) [\((0..<10).map { _ in alias }.joined(separator: ", "))]\n"
        }
        let found = faults(text + "group: []")
        #expect(found == ["8:57: more than 10000000 values up to here, aliases counted as often as they are used"])
    }

    @Test func aliasesThatNest_areRefused() {
        var text = "vars:\n  a0: &a0 []\n"
        for level in 1...5000 { text += "  a\(level): &a\(level) [*a\(level - 1)]\n" }
        #expect(faults(text + "group: []").first?.hasSuffix("nested more than 4000 deep here; groups may be nested 1000 deep") == true)
    }
}
