import Executing
import Testing
import Wire

/// What running operations produce under ids of their own, on its way to the coordinator.
@Suite struct ProductDeskTests {
    private let key = UnitKey(unit: 1, attempt: 2)

    private func addition(_ id: String) -> WireAddition { .with { $0.id = id } }

    private func receipt(_ number: UInt64, problem: String = "") -> WireProductReceipt {
        .with {
            $0.unit = key.unit
            $0.attempt = key.attempt
            $0.number = number
            $0.problem = problem
        }
    }

    private func end(_ ending: UnitEnding) -> WireUnitReport { .ended(key, .attempt(startedAt: 1, endedAt: 2, ending)) }

    private func ids(_ batches: [WireProductBatch]) -> [String] { batches.flatMap(\.products).map(\.addition.id) }

    @Test func theEndWaits_untilEverythingIsOnTheDisk() {
        var desk = ProductDesk()
        desk.open(key)
        desk.put(addition("a"), of: key)
        desk.put(addition("b"), of: key)
        #expect(ids(desk.take()) == ["a", "b"])
        #expect(desk.admit(end(.success(WireValue()))) == nil)
        #expect(desk.receive(receipt(0), host: "h").end == nil)
        #expect(desk.receive(receipt(1), host: "h").end?.ended.success == WireValue())
        // It comes too late.
        #expect(desk.put(addition("c"), of: UnitKey(unit: 9, attempt: 9)) == nil)
    }

    @Test func afterAReconnect_whatHasNoReceiptIsSentAgain_inOrder() {
        var desk = ProductDesk()
        desk.open(key)
        for id in ["a", "b", "c"] { desk.put(addition(id), of: key) }
        _ = desk.take()
        _ = desk.receive(receipt(1), host: "h")
        #expect(desk.take().isEmpty)
        desk.forgetSent()
        #expect(ids(desk.take()) == ["a", "c"])
    }

    /// To the coordinator it has not begun before that, and what it produces would be in vain.
    @Test func whatHasBegunByALink_isSentWhenTheOneBeforeIsAcknowledged() {
        var desk = ProductDesk()
        let before = UnitKey(unit: 7, attempt: 1)
        desk.open(key)
        desk.follow(key, after: before)
        desk.put(addition("a"), of: key)
        #expect(desk.take().isEmpty)
        desk.forget(before)
        #expect(ids(desk.take()) == ["a"])
        desk.follow(key, after: before)
        desk.put(addition("b"), of: key)
        #expect(desk.take().isEmpty)
        // What it follows is told anew by then, or it does not count.
        desk.forgetSent()
        #expect(ids(desk.take()) == ["a", "b"])
    }

    @Test func whatCannotBeTaken_stopsTheAttempt_andIsItsFailure() {
        var desk = ProductDesk()
        desk.open(key)
        desk.put(addition("a"), of: key)
        let answer = desk.receive(receipt(0, problem: "unknown"), host: "h")
        #expect(answer.stops && answer.end == nil)
        let report = desk.admit(end(.production(WireValue(), addition("held"))))
        #expect(report?.ended.failure.errors.map(\.message) == ["unknown"])
        #expect(report?.ended.hasAddition == false)
    }

    @Test func whoIsStopped_waitsForNothing() {
        var desk = ProductDesk()
        desk.open(key)
        desk.put(addition("a"), of: key)
        #expect(desk.admit(end(.cancelled)) != nil)
        desk.open(key)
        desk.put(addition("a"), of: key)
        #expect(desk.admit(end(.success(WireValue()))) == nil)
        #expect(desk.release(key)?.ended.success == WireValue())
        #expect(desk.take().isEmpty)
    }
}
