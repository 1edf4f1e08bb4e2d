import Testing

@testable import Scheduling

@Suite struct TallyTests {
    @Test func types_areBoundedInNumber() {
        var tally = Tally()
        for number in 1...500 { tally.note(.succeeded, ofClass: Int32(number)) { "type\(number)" } }
        #expect(tally.types.count == Tally.typesMax + 1)
        #expect(tally.count(ofType: 1, .succeeded) == 1)
        #expect(tally.count(ofType: 0, .succeeded) == UInt64(500 - Tally.typesMax), "others are counted together")
    }

    @Test func classesOfOneType_areCountedTogether() {
        var tally = Tally()
        tally.note(.failed, ofClass: 7) { "shell" }
        tally.note(.failed, ofClass: 9) { "shell" }
        tally.note(.failed, ofClass: 7) { "asked only once" }
        #expect(tally.types == ["other", "shell"])
        #expect(tally.count(ofType: 1, .failed) == 3 && tally.count(ofType: 1, .succeeded) == 0)
    }

    @Test func times_ofWhatHasNotBegun_areNotCounted() {
        var tally = Tally()
        tally.noteTimes(queuedAt: 100, startedAt: 0, finishedAt: 200)
        #expect(tally.running.count == 0 && tally.queued.count == 0)
        tally.noteTimes(queuedAt: 100, startedAt: 150, finishedAt: 400)
        #expect((tally.queued.sum, tally.running.sum, tally.whole.sum) == (50, 250, 300))
    }
}
