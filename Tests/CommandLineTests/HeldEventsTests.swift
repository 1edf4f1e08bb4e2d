import Testing

@testable import aop

/// The order in which `aop events -f` tells what it hears of.
@Suite struct HeldEventsTests {
    private func event(_ id: String, _ path: String = "", _ word: String = "running", at: Int64) -> ClusterEvent {
        ClusterEvent(
            at: at, id: id, name: "", subject: path.isEmpty ? .submission : .operation(path: path, attempt: 1, worker: ""), event: word)
    }

    private func words(_ events: [ClusterEvent]) -> [String] { events.map { $0.bare.replacing("\n", with: "") } }

    @Test func ofSeveralSubmissions_theyComeInTheOrderOfTheirTimes() {
        var held = HeldEvents()
        held.add([event("x", at: 100), event("x", "a", at: 300), event("x", "a", "succeeded", at: 310)], now: 0)
        held.add([event("y", at: 90), event("y", "b", at: 200)], now: 400)
        #expect(held.due(now: 999).isEmpty, "each is held")
        #expect(words(held.due(now: 1_000)) == ["y running", "x running", "y/b running", "x/a running", "x/a succeeded"])
        #expect(held.all().isEmpty)
    }

    @Test func whatIsHeardOfTooLate_comesAllTheSame() {
        var held = HeldEvents()
        held.add([event("x", at: 100)], now: 0)
        #expect(words(held.due(now: 1_000)) == ["x running"])
        held.add([event("y", at: 50)], now: 1_001)
        #expect(words(held.due(now: 2_001)) == ["y running"])
    }

    /// The clock of the worker of the second attempt is behind.
    @Test func stepsOfOneOperation_stayInTheirOrder_andBehindTheBeginOfTheirSubmission() {
        var held = HeldEvents()
        held.add([event("x", "", "submitted", at: 100)], now: 0)
        held.add([event("x", "a", "retrying", at: 200), event("x", "a", at: 150), event("x", "b", at: 80)], now: 0)
        #expect(words(held.all()) == ["x submitted", "x/b running", "x/a retrying", "x/a running"])
    }

    @Test func aFlood_isNotHeld() {
        var held = HeldEvents()
        held.add((0...Int64(HeldEvents.heldMax)).map { event("x", "o\($0)", at: $0) }, now: 0)
        #expect(held.isFull && held.all().count == HeldEvents.heldMax + 1 && !held.isFull)
    }
}
