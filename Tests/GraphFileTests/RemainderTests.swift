import Foundation
import GraphFile
import Testing
import Wire

/// What is left of a file with errors for the coordinator to check.
@Suite struct RemainderTests {
    private func remainder(_ text: String) -> GraphFileRemainder? {
        do {
            _ = try GraphFileLoader.load(text: text, file: "f.yaml")
            Issue.record("the file is right")
            return nil
        } catch {
            return error.remainder
        }
    }

    @Test func operations_areThere_withWhatCouldBeRead() throws {
        let rest = try #require(
            remainder(
                """
                group:
                  - {id: a, op: Fetch, with: {url: x}, retires: 2}
                  - {id: b, op: Count, with: 5, receives: a}
                  - {id: c, op: List, receives: [b, nobody], requires: {cpus: 4}}
                  - {id: d, run: x, exec: [y]}
                  - 7

                """))
        let nodes = rest.graph.nodes
        #expect(nodes.map(\.id) == ["", "a", "b", "c", "d"])
        #expect(nodes.map(\.operation.type) == ["", "Fetch", "Count", "List", "shell"])
        #expect(rest.graph.parameters[Int(nodes[1].operation.parameters)] == Data(#"{"url":"x"}"#.utf8))
        #expect(rest.graph.parameters[Int(nodes[2].operation.parameters)] == Data("?".utf8))
        #expect(nodes[2].receives == [1])
        #expect(nodes[3].receives == [2])
        #expect(nodes[3].receivesArray)
        #expect(nodes[3].requires.resources.map(\.name) == ["cpus"])
        #expect(rest.error(atNode: 3, message: "no").description == "f.yaml:4:5: c: no")
    }

    @Test func duplicates_haveOtherIds_andAreCalledByTheirOwn() throws {
        let rest = try #require(remainder("group: [{id: a, run: x}, {id: a, run: y}, {id: g, group: [{id: a, run: z}]}]"))
        #expect(Set(rest.graph.nodes.prefix(4).map(\.id)).count == 4)
        #expect(rest.error(atNode: 2, message: "no").path == "a")
        #expect(rest.error(atNode: 4, message: "no").path == "g/a")
    }

    @Test func forEachWithoutAList_hasNone_andWhatAnIncompleteGroupDelivers_isNotTold() throws {
        let rest = try #require(
            remainder(
                """
                group:
                  - {id: e, forEach: nobody, run: x}
                  - {id: g, group: [{id: h, op: Load}, 7]}
                  - {id: r, op: Add, receives: g}

                """))
        #expect(rest.graph.nodes[1].forEach.literal)
        #expect(rest.graph.nodes[1].receives.isEmpty)
        let receiver = try #require(rest.graph.nodes.last)
        #expect(receiver.receives.isEmpty && receiver.after == [3])
    }

    /// Without what it receives a `noop` would seem to deliver nothing.
    @Test func whatAnOperationPassesOn_thatLacksItsProducer_isNotTold() throws {
        let rest = try #require(
            remainder(
                """
                group:
                  - {id: g, group: [{id: a, op: noop, receives: nobody}]}
                  - {id: b, op: delay, with: {seconds: 1}, receives: g}
                  - {id: c, op: Take, receives: b}
                  - {id: d, op: noop}
                  - {id: e, op: Take, receives: d}

                """))
        #expect(rest.graph.nodes.map(\.id) == ["", "g", "a", "b", "c", "d", "e"])
        #expect(rest.graph.nodes[3].receives.isEmpty && rest.graph.nodes[3].after == [1])
        #expect(rest.graph.nodes[4].receives.isEmpty && rest.graph.nodes[4].after == [3])
        #expect(rest.graph.nodes[6].receives == [5])
    }

    /// Without the edges that are wrong, members would seem to wait for each other.
    @Test func limits_areNotChecked() throws {
        let rest = try #require(remainder("{maxConcurrent: 1, group: [{id: a, run: x, after: nobody}]}"))
        #expect(rest.graph.nodes[0].group.maxConcurrent == 0)
    }

    /// The coordinator would refuse it once more, at the node.
    @Test(arguments: [
        "{queueTimeout: 1s, group: [{id: a, op: A}]}", "group: [{id: g, group: [{id: a, op: A}], queueTimeout: 1s}]",
        "group: [{id: g, forEach: [1], ordered: [{id: a, op: A}], queueTimeout: 1s}]",
    ])
    func queueTimeoutOfAGroup_isToldOnce(text: String) throws {
        #expect(faults(text).count == 1)
        let nodes = try #require(remainder(text)).graph.nodes
        #expect(nodes.last?.operation.type == "A")
        #expect(nodes.allSatisfy { $0.queueTimeoutMilliseconds == 0 })
    }

    @Test func whatCannotBeReadAtAll_leavesNothing() {
        if let rest = remainder("group: [") { Issue.record("\(rest)") }
    }
}
