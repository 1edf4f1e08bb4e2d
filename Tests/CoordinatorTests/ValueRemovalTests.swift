import Foundation
import Scheduling
import Testing
import Wire

@testable import Coordinator

/// When large values go that nothing names any more.
@Suite struct ValueRemovalTests {
    private let one = BlobDigest(hashing: Data([1]))
    private let other = BlobDigest(hashing: Data([2]))

    private func at(_ number: UInt64) -> JournalSequence { JournalSequence(number) }

    @Test func forgottenValue_goesAfterItsTime_onceTheStateIsOnTheDisk() {
        var removals = ValueRemovals(graceMilliseconds: 1_000, startedAt: 0)
        removals.add([one], at: 5_000)
        #expect(removals.due(at: 5_999) == [])
        let due = removals.due(at: 7_000)
        #expect(due == [one])
        removals.looked(for: due, unnamed: due, coming: [], upTo: at(9), took: 3, at: 7_000)
        #expect(removals.takeGoing(upTo: at(8)) == nil, "a crash would bring back a state that names it")
        #expect(removals.takeGoing(upTo: at(9)) == [one])
        #expect(removals.takeGoing(upTo: at(9)) == nil)
        #expect(removals.due(at: 100_000) == [])
    }

    @Test func valueThatIsNamed_isLeftToWhoeverNamesIt() {
        var removals = ValueRemovals(graceMilliseconds: 1_000, startedAt: 0)
        removals.add([one, other], at: 0)
        let due = removals.due(at: 2_000)
        removals.looked(for: due, unnamed: [other], coming: [], upTo: at(9), took: 0, at: 2_000)
        #expect(removals.takeGoing(upTo: at(9)) == [other])
        #expect(removals.due(at: 100_000) == [])
    }

    @Test func valueThatIsRead_staysForAsLongAgain() {
        var removals = ValueRemovals(graceMilliseconds: 1_000, startedAt: 0)
        removals.add([one], at: 0)
        removals.noteRead(one, at: 900)
        removals.noteRead(other, at: 900)
        #expect(removals.due(at: 1_899) == [])
        #expect(removals.due(at: 2_900) == [one])
    }

    /// It may be named as soon as it is there.
    @Test(arguments: [false, true]) func valueThatSomebodyBrings_stays(sinceTheLook: Bool) {
        var removals = ValueRemovals(graceMilliseconds: 1_000, startedAt: 0)
        removals.add([one], at: 0)
        let due = removals.due(at: 2_000)
        removals.looked(for: due, unnamed: due, coming: sinceTheLook ? [] : [one], upTo: at(9), took: 0, at: 2_000)
        if sinceTheLook { removals.noteComing(one, at: 2_000) }
        #expect(removals.takeGoing(upTo: at(9)) == nil)
        #expect(removals.due(at: 2_999) == [])
        #expect(removals.due(at: 4_000) == [one], "nobody may have come to name it")
    }

    @Test func looks_takeASmallPartOfTheTime() {
        var removals = ValueRemovals(graceMilliseconds: 1_000, startedAt: 0)
        removals.add([one], at: 0)
        let due = removals.due(at: 2_000)
        removals.looked(for: due, unnamed: [], coming: [], upTo: at(1), took: 500, at: 2_000)
        removals.add([other], at: 2_000)
        #expect(removals.due(at: 51_999) == [])
        #expect(removals.due(at: 52_000) == [other])
    }

    @Test func sweep_comesSoonAfterTheStart_withoutASnapshot_andKeepsWhatComesMeanwhile() {
        var removals = ValueRemovals(graceMilliseconds: 1_000, startedAt: 0)
        let start = CoordinatorLimits.sweepAfterStartMilliseconds
        #expect(!removals.isSweepDue(at: start - 1))
        #expect(removals.isSweepDue(at: start))
        removals.sweep(keeping: [one], upTo: at(4), at: start)
        #expect(!removals.isSweepDue(at: start + 1))
        #expect(removals.takeStaying(upTo: at(3)) == nil)
        removals.noteComing(other, at: start)
        #expect(removals.takeStaying(upTo: at(4)) == [one, other])
        #expect(!removals.isSweepDue(at: start + 1) && removals.isSweepDue(at: start + CoordinatorLimits.sweepPauseMilliseconds))
    }
}
