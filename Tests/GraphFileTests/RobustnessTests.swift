import Foundation
import GraphFile
import Testing

/// Inputs nobody would write, and large ones.
@Suite(.timeLimit(.minutes(2))) struct RobustnessTests {
    @Test func examples_areRight() throws {
        let names = try Project.examples()
        #expect(names.count >= 4)
        for name in names {
            let text = try Project.text("examples/\(name)")
            #expect(text.hasPrefix("# "), "\(name) begins with a comment that says what it shows")
            #expect(text.contains("aop run examples/\(name)"), "\(name) says how to run it")
            #expect(faults(text).first?.hasPrefix("none:") == true, "\(name): \(faults(text))")
        }
    }

    @Test func sameFile_givesTheSameBytes() throws {
        for name in try Project.examples() {
            let text = try Project.text("examples/\(name)")
            let first = try GraphFileLoader.load(text: text, file: name).graph.serializedData()
            for _ in 0..<5 { #expect(try GraphFileLoader.load(text: text, file: name).graph.serializedData() == first) }
        }
    }

    /// Bytes, lines and fragments of the examples, deleted, doubled, swapped and replaced.
    @Test(arguments: 0..<8) func mutatedExamples_neverCrash(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let texts = try Project.examples().map { Array(try Project.text("examples/\($0)").utf8) }
        let fragments = [
            "{", "}", "[", "]", "- ", ": ", "\n", "  ", "\t", "\"", "'", "&a ", "*a", "!", "${", "${x}", "$$", "<<: ", "---\n", "? ", "| ",
            "> ", "~", "0", "-1",
            "1e999", "\u{0}", "\u{FFFE}", "é", "😀", "id: a\n", "after: a\n", "receives: [a]\n", "forEach: a\n", "group:\n", "ordered: []\n",
            "run: x\n", "%YAML 1.1\n",
        ].map { Array($0.utf8) }
        for round in 0..<400 {
            var bytes = texts.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0...bytes.count, using: &random)
                let end = min(bytes.count, place + Int.random(in: 0...20, using: &random))
                switch Int.random(in: 0..<5, using: &random) {
                case 0: bytes.removeSubrange(place..<end)
                case 1: bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &random))
                case 2: bytes.insert(contentsOf: fragments.randomElement(using: &random) ?? [], at: place)
                case 3: bytes.replaceSubrange(place..<end, with: fragments.randomElement(using: &random) ?? [])
                default: if place < bytes.count { bytes[place] = UInt8.random(in: 0...255, using: &random) }
                }
            }
            do {
                let loaded = try GraphFileLoader.load(bytes: bytes, file: "f")
                #expect(loaded.nodes.count == loaded.graph.nodes.count, "seed \(seed), round \(round)")
            } catch {
                #expect(!error.errors.isEmpty && error.errors.allSatisfy { !$0.message.isEmpty }, "seed \(seed), round \(round)")
            }
        }
    }

    /// Ids and references drawn at random: the loader and a search by brute force agree on whether there is a cycle.
    @Test(arguments: 0..<200) func cycles_areFoundExactlyWhenThereAreSome(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed) + 1000)
        let count = Int.random(in: 2...7, using: &random)
        var waits: [[Int]] = []
        for _ in 0..<count { waits.append((0..<count).filter { _ in Int.random(in: 0..<6, using: &random) == 0 }) }
        for node in waits.indices { waits[node].removeAll { $0 == node } }
        let nodes = waits.enumerated().map { "  - {id: n\($0), run: x, after: [\($1.map { "n\($0)" }.joined(separator: ", "))]}" }
        var done: Set<Int> = []
        while let ready = waits.indices.first(where: { !done.contains($0) && done.isSuperset(of: waits[$0]) }) { done.insert(ready) }
        let found = faults("group:\n" + nodes.joined(separator: "\n"))
        #expect(found.contains { $0.contains("cycle: ") } == (done.count < count), "seed \(seed): \(found)")
    }

    // A cost that rises with the square of the size would take minutes, and meet the suite's time limit.

    @Test func tenThousandNodes_load() throws {
        let nodes = (0..<10_000).map { "  - id: n\($0)\n    exec: [echo, \($0)]\n    after: [\($0 == 0 ? "" : "n\($0 - 1)")]\n" }
        #expect(try GraphFileLoader.load(text: "ordered:\n" + nodes.joined(), file: "f").graph.nodes.count == 10_001)
    }

    @Test func tenThousandErrors_areAllReported() {
        let nodes = (0..<10_000).map { "  - {id: n\($0), run: x, afer: m, after: m\($0), env: {A: [x]}}\n" }
        #expect(faults("group:\n" + nodes.joined()).count == 30_000)
    }

    @Test func parametersThatTravelWithinNoAssignment_areRefusedAtTheirNode() {
        func file(_ bytes: Int) -> String {
            "group:\n  - {id: a, run: x}\n  - id: b\n    run: cat\n    stdin: \(String(repeating: "x", count: bytes))\n"
        }
        // With `{"run":"cat","stdin":""}` around it.
        #expect(faults(file(4_194_304 - 24)) == ["none: 3 nodes"])
        #expect(
            faults(file(4_194_304 - 23)) == [
                "3:5: b: the parameters have 4194305 bytes as JSON; the limit is 4194304 (parameterBytes): hand large data over as a file or as"
                    + " another operation's value"
            ])
        let text = String(repeating: "x", count: 4_194_304)
        let places = [
            "group:\n  - {id: a, op: T, with: {t: \(text)}}\n": "2:5: a: the parameters have 4194312 bytes",
            "group:\n  - id: a\n    run: x\n    conditions:\n      - {type: t, with: {t: \(text)}}\n":
                "5:16: a: the parameters have 4194312 bytes",
            "group:\n  - id: a\n    forEach: [b, \(text)]\n    run: x\n": "3:18: a: an element has 4194306 bytes",
            "vars: {l: [b, \(text)]}\ngroup:\n  - id: a\n    forEach: ${l}\n    op: noop\n": "4:14: a: an element has 4194306 bytes",
        ]
        for (text, fault) in places.sorted(by: { $0.value < $1.value }) {
            let found = faults(text)
            #expect(found.count == 1 && found.first?.hasPrefix(fault) == true, "\(found.map { $0.prefix(200) })")
        }
    }

    @Test func oneLongLineOfJSON_loads() throws {
        let nodes = (0..<10_000).map { #"{"id":"n\#($0)","run":"echo \ud83d\ude00"}"# }
        let text = #"{"group":["# + nodes.joined(separator: ",") + "]}"
        #expect(try GraphFileLoader.load(text: text, file: "f").graph.nodes.count == 10_001)
    }
}
