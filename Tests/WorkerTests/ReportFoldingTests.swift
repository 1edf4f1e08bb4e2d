import Executing
import Testing
import Wire

/// An end says when its attempt began, so that its start need not be told as well.
@Suite struct ReportFoldingTests {
    private let one = UnitKey(unit: 1, attempt: 11)
    private let two = UnitKey(unit: 2, attempt: 12)

    private func started(_ key: UnitKey) -> WireUnitReport { .started(key, at: 5) }
    private func ended(_ key: UnitKey, startedAt: Int64 = 5) -> WireUnitReport {
        .ended(key, .attempt(startedAt: startedAt, endedAt: 7, .cancelled))
    }

    @Test func startsOfWhatHasEnded_areLeftOut_andTheRestKeepsItsOrder() {
        let again = UnitKey(unit: 1, attempt: 13)
        let reports = [started(one), started(two), ended(one), started(again), ended(two)]
        #expect(reports.foldingStarts == [ended(one), started(again), ended(two)])
        #expect([ended(one), started(two)].foldingStarts == [ended(one), started(two)])
        #expect([WireUnitReport]().foldingStarts.isEmpty)
    }

    /// Who hears of a stop that was never begun could make nothing of it.
    @Test func startBeforeAStop_stays() {
        let reports = [started(one), .stopping(one, at: 6, forced: false), ended(one)]
        #expect(reports.foldingStarts == reports)
    }

    @Test func endThatDoesNotSayWhenItBegan_standsForNoStart() {
        let reports = [started(one), ended(one, startedAt: 0)]
        #expect(reports.foldingStarts == reports)
        let lost = [started(one), WireUnitReport.lost(one), ended(two)]
        #expect(lost.foldingStarts == lost)
    }
}
