import Foundation
import Testing
import Wire

@testable import Executing

/// Partial results on their way to the coordinator.
@Suite struct ElementSpoolTests {
    private let key = UnitKey(unit: 1, attempt: 2)

    private func element(_ index: UInt64) -> WireElement {
        .with {
            $0.index = index
            $0.bytes = Data(repeating: 1, count: 36)
        }
    }

    private func receipt(_ next: UInt64, closed: Bool = false, full: String = "") -> WireElementReceipt {
        .with {
            $0.unit = key.unit
            $0.attempt = key.attempt
            $0.next = next
            $0.closed = closed
            $0.full = full
        }
    }

    private func sent(_ spool: inout ElementSpool, now: Int64 = 0) -> [WireElementRun] { spool.take(now: now).flatMap(\.runs) }

    private func filled(_ indices: [UInt64]) -> ElementSpool {
        var spool = ElementSpool()
        spool.open(key)
        for index in indices { #expect(spool.append(element(index), of: key) == true) }
        return spool
    }

    @Test func elements_areSentOnce_andKeptUntilTheirReceipt() {
        var spool = filled([0, 1])
        #expect(sent(&spool).map { $0.elements.map(\.index) } == [[0, 1]])
        #expect(sent(&spool).isEmpty)
        _ = spool.append(element(2), of: key)
        let run = sent(&spool)
        #expect(run.map(\.first) == [2] && run.map { $0.elements.map(\.index) } == [[2]])
        #expect(spool.received(receipt(2), now: 0).freed == [100, 100])
        spool.forgetSent()
        #expect(sent(&spool).map { $0.elements.map(\.index) } == [[2]])
    }

    @Test func end_isOver_whenEverythingHasItsReceipt() {
        var spool = filled([0])
        spool.close(key)
        #expect(sent(&spool).map(\.closed) == [true])
        #expect(spool.isOpen(key))
        #expect(spool.received(receipt(1, closed: true), now: 0).isOver)
        #expect(!spool.isOpen(key))
    }

    @Test func endWithoutElements_isToldAsWell_andAgainAfterAReconnect() {
        var spool = filled([])
        spool.close(key)
        #expect(sent(&spool).map(\.closed) == [true])
        #expect(sent(&spool).isEmpty)
        spool.forgetSent()
        #expect(sent(&spool).map(\.closed) == [true])
    }

    @Test func fullSpool_isTriedAgain_fromTheFirstThatWasNotTaken() {
        var spool = filled([0, 1, 2])
        spool.close(key)
        _ = sent(&spool)
        #expect(spool.received(receipt(1, full: "full"), now: 100) == .init(freed: [100], isOver: false))
        #expect(sent(&spool, now: 101).isEmpty)
        #expect(spool.deadline == 100 + ElementSpool.retryMilliseconds)
        let again = sent(&spool, now: 100 + ElementSpool.retryMilliseconds)
        #expect(again.map { $0.elements.map(\.index) } == [[1, 2]] && again.map(\.first) == [1] && again.map(\.closed) == [true])
    }

    @Test func gapOfTheSender_staysVisible() {
        var spool = filled([0])
        _ = sent(&spool)
        _ = spool.append(element(9), of: key)
        let run = sent(&spool)
        #expect(run.map(\.first) == [1] && run.map { $0.elements.map(\.index) } == [[9]])
    }

    // MARK: Ends

    private func end(_ outcome: WireAttemptEnd.OneOf_Outcome) -> WireUnitReport {
        .with {
            $0.unit = key.unit
            $0.attempt = key.attempt
            $0.ended = .with { $0.outcome = outcome }
        }
    }

    private func desk() -> ElementDesk {
        var desk = ElementDesk()
        desk.open(key, ElementGate(), sent: { 0 })
        desk.receive(.element(element(0)), of: key)
        _ = desk.take(now: 0)
        return desk
    }

    @Test func success_waitsForTheReceiptOfTheLastElement() {
        var desk = desk()
        let report = end(.success(WireValue()))
        #expect(desk.admit(report) == nil)
        desk.receive(.closed, of: key)
        _ = desk.take(now: 0)
        #expect(desk.receive([receipt(1)], now: 0).isEmpty)
        #expect(desk.receive([receipt(1, closed: true)], now: 0) == [report])
        #expect(desk.admit(report) == report)
    }

    @Test func cancelledEnd_waitsForNothing_neitherDoesOneThatTheCoordinatorStops() {
        var first = desk()
        let stopped = end(.stopped(WireStopped()))
        #expect(first.admit(stopped) == stopped)
        var second = desk()
        let failure = end(.failure(WireFailures()))
        #expect(second.admit(failure) == nil)
        #expect(second.release(key) == failure)
        #expect(second.take(now: 0).isEmpty)
    }

    @Test func elementThatCannotBeSent_failsTheAttempt_behindThoseBefore() {
        var desk = desk()
        desk.receive(.failed(.with { $0.message = "no form" }), of: key)
        #expect(desk.admit(end(.success(WireValue()))) == nil)
        _ = desk.take(now: 0)
        let ends = desk.receive([receipt(1, closed: true)], now: 0)
        #expect(ends.map { $0.ended.failure.errors.map(\.message) } == [["no form"]])
    }

    @Test func gate_letsOneInAnyCase_andOthersWhenThereIsRoom() async {
        let gate = ElementGate()
        #expect(await gate.enter(bytes: ElementGate.windowBytes * 2))
        async let next = gate.enter(bytes: 1)
        gate.leave(bytes: ElementGate.windowBytes * 2)
        #expect(await next)
        gate.end()
        #expect(await !gate.enter(bytes: 1))
    }
}
