import Scheduling
import Testing

@Suite struct KeyFaultTests {
    private func messages(_ sketch: Sketch) -> [String] { sketch.graph().faults().map { "\($0.path): \($0.message)" } }

    @Test func waitingInsideAHolder_forAKeyOutside_isRefused_withWhatToDo() {
        let sketch = Sketch.group(
            "root", [.keyed("out", "x"), .group("g", [.op("a", after: ["out"]), .keyed("b", "x")])])
        #expect(
            messages(sketch) == [
                "g/a: waits for `out`, which needs the key `x` and is not in `g`, while `g` holds keys; let `g` itself wait (`after`), or take"
                    + " the other into it"
            ])
    }

    @Test func waitingInsideAHolder_forAnotherKeyFartherOn_isRefused() {
        let sketch = Sketch.group(
            "root",
            [
                .keyed("far", "y"), .op("near", after: ["far"]),
                .group("g", [.op("a", after: ["near"]), .keyed("b", "x")]),
            ])
        #expect(messages(sketch).count == 1)
    }

    @Test func waitingInsideAHolder_forWhatSharesPlacesWithAKey_isRefused() {
        let sketch = Sketch.group(
            "root",
            [
                .group("limited", [.op("free"), .keyed("keyed", "y")], max: 1),
                .holding("g", "x", [.op("a", after: ["free"])]),
            ])
        #expect(messages(sketch).contains { $0.hasPrefix("g/a: waits for `limited/free`") })
    }

    @Test func waitingInsideAHolder_forWhatNeedsNoKey_isFine() {
        let sketch = Sketch.group(
            "root", [.op("out"), .keyed("keyed", "x"), .group("g", [.op("a", after: ["out"]), .keyed("b", "x")])])
        #expect(messages(sketch).isEmpty)
    }

    @Test func holderThatWaitsItself_isFine() {
        let sketch = Sketch.group("root", [.keyed("out", "x"), .group("g", [.keyed("b", "x")], after: ["out"])])
        #expect(messages(sketch).isEmpty)
    }

    @Test func keysWhoseTokensWouldHaveOneName_areRefused() {
        #expect(
            messages(.group("root", [.holding("g", "db-1", [.keyed("a", "DB_1")])])) == [
                "g/a: runs under the keys `DB_1` and `db-1`, whose tokens would both be called AOP_FENCE_DB_1; give one of them another name"
            ])
    }

    @Test(arguments: [
        Exclusion(key: ""), Exclusion(key: "a\u{0}"), Exclusion(key: "a", limit: 0), Exclusion(key: String(repeating: "k", count: 257)),
    ])
    func badKeys_areRefused(exclusion: Exclusion) {
        #expect(messages(.group("root", [.op("a", exclusive: [exclusion])])).count == 1)
    }

    @Test func forEachItself_takesNoLock() {
        var graph = Sketch.group("root", [.forEach("each", of: nil, list: [], body: .op("b"))]).graph()
        graph.nodes[1].options.exclusive = [Exclusion(key: "x")]
        #expect(graph.faults().map(\.message) == ["a forEach holds no lock itself; name the key on its body"])
    }

    @Test func graphsWithKeys_surviveTheirBytes_andOthersKeepTheirs() throws {
        let keyed = Sketch.holding("root", "r", [.op("a"), .op("b", exclusive: [Exclusion(key: "x", limit: 3), Exclusion(key: "ü")])])
            .graph()
        let plain = Sketch.group("root", [.op("a")]).graph()
        for graph in [keyed, plain] {
            let fact = Fact.submitted(Admission(number: SubmissionNumber(1), id: "i", key: "k", name: "n", graph: graph, at: 1))
            #expect(try FactCodec.decode(FactCodec.encode(fact)[...]) == fact)
        }
        for fact in [Fact.locksAsked(UnitID(SubmissionNumber(3), 9), at: 4), .locksReturned(UnitID(SubmissionNumber(3), 9), at: 5)] {
            #expect(try FactCodec.decode(FactCodec.encode(fact)[...]) == fact)
        }
    }
}
