import Executing
import Foundation
import Testing
import Wire

@testable import Worker

@Suite struct ExecutorStateTests {
    let one = UnitKey(unit: 1, attempt: 11)
    let two = UnitKey(unit: 2, attempt: 12)

    func assignment(_ key: UnitKey, timeout: UInt32 = 0, grace: UInt32 = 0) -> WireAssignment {
        .with {
            $0.unit = key.unit
            $0.attempt = key.attempt
            $0.operation = "shell"
            $0.timeoutMilliseconds = timeout
            $0.graceMilliseconds = grace
        }
    }

    func order(_ key: UnitKey, _ reason: WireStopUnit.Reason, now: Bool = false) -> WireStopUnit {
        .with {
            $0.unit = key.unit
            $0.attempt = key.attempt
            $0.reason = reason
            $0.now = now
        }
    }

    func attached(slots: Int = 1) -> ExecutorState {
        var state = ExecutorState(slots: slots)
        #expect(state.attached(drop: [], now: 0, at: 0) == [])
        return state
    }

    func value(_ text: String) -> WireValue {
        .with {
            $0.encoding = .text
            $0.inline = Data(text.utf8)
        }
    }

    @Test func units_startFirstComeFirstWhenSlotsFree() {
        var state = attached()
        let first = state.dispatched([assignment(one), assignment(two)], now: 0, at: 100)
        #expect(first == [.report(.started(one, at: 100)), .start(one, assignment(one))])
        #expect(state.queuedCount == 1)
        let second = state.ended(one, .success(value("x")), now: 5, at: 105)
        #expect(
            second == [
                .report(.ended(one, .attempt(startedAt: 100, endedAt: 105, .success(value("x"))))),
                .report(.started(two, at: 105)), .start(two, assignment(two)),
            ])
    }

    @Test func end_isWhenTheBodyEnded_andTheNextBeginsWhenThatIsHeardOf() {
        var state = attached()
        _ = state.dispatched([assignment(one), assignment(two)], now: 0, at: 100)
        #expect(
            state.ended(one, .cancelled, endedAt: 103, now: 5, at: 105) == [
                .report(.ended(one, .attempt(startedAt: 100, endedAt: 103, .cancelled))),
                .report(.started(two, at: 105)), .start(two, assignment(two)),
            ])
        // Somebody has set the clock back.
        #expect(
            state.ended(two, .cancelled, endedAt: 90, now: 6, at: 91) == [
                .report(.ended(two, .attempt(startedAt: 105, endedAt: 105, .cancelled)))
            ])
    }

    /// What runs in the slots may wait for the end that the question is about.
    @Test func questionAboutAnEnd_needsNoSlot_andWaitsForTheLease() {
        var state = attached()
        var question = assignment(two)
        question.kind = .conclude
        _ = state.dispatched([assignment(one)], now: 0, at: 100)
        #expect(
            state.dispatched([question], now: 1, at: 101) == [.report(.started(two, at: 101)), .start(two, question)])
        var late = attached()
        late.leaseOver()
        #expect(late.dispatched([question], now: 1, at: 101) == [])
        #expect(late.attached(drop: [], now: 2, at: 102) == [.report(.started(two, at: 102)), .start(two, question)])
    }

    // MARK: The line

    private func lined(_ keys: [UnitKey], lineMax: Int = 2) -> (ExecutorState, [ExecutorAction]) {
        var state = ExecutorState(slots: 1, lineMax: lineMax)
        _ = state.attached(drop: [], now: 0, at: 0)
        let actions = state.dispatched(keys.map { assignment($0) }, now: 0, at: 100)
        return (state, actions)
    }

    private let three = UnitKey(unit: 3, attempt: 13)
    private let four = UnitKey(unit: 4, attempt: 14)

    @Test func queuedOnes_standInLine_andHaveTheSlotOfTheOneThatEnds() {
        var (state, actions) = lined([one, two, three, four])
        #expect(
            actions == [
                .report(.started(one, at: 100)), .start(one, assignment(one)),
                .lineUp(two, assignment(two)), .lineUp(three, assignment(three)),
            ])
        #expect(state.begun(two, now: 4, at: 104) == [.report(.started(two, at: 104))])
        let end = WireAttemptEnd.attempt(startedAt: 100, endedAt: 105, .cancelled)
        #expect(state.ended(one, .cancelled, now: 5, at: 105) == [.report(.ended(one, end)), .lineUp(four, assignment(four))])
        #expect(state.runningCount == 1 && state.queuedCount == 2)
    }

    @Test func slotThatNobodyOfTheLineHas_isGivenToItsFirst() {
        var (state, _) = lined([one, two, three])
        let actions = state.ended(one, .cancelled, now: 5, at: 105)
        #expect(actions.dropFirst() == [.report(.started(two, at: 105)), .start(two, assignment(two))])
        #expect(state.begun(two, now: 6, at: 106) == [], "it was started already")
    }

    @Test func takenBack_itIsKnownWhoHasBegun_andTheLineIsFilledAgain() {
        var (state, _) = lined([one, two, three, four], lineMax: 3)
        #expect(state.tookBackLine(waiting: [three, four], now: 5, at: 105) == [.report(.started(two, at: 105))])
        #expect(Set(state.held.map(\.unit)) == [1, 2, 3, 4] && state.held.count { $0.state == .running } == 2)
        let actions = state.stopOrdered([order(three, .recalled), order(two, .cancelled)], now: 6, at: 106)
        #expect(
            actions == [
                .report(.released(three, accepting: true)), .forget(three), .stop(two), .report(.stopping(two, at: 106, forced: false)),
                .lineUp(four, assignment(four)),
            ])
    }

    @Test func whatBeginsBetweenHelloAndWelcome_isToldAsStarted() {
        var (state, _) = lined([one, two])
        #expect(state.tookBackLine(waiting: [two], now: 1, at: 101) == [] && state.tellHeld().count == 2)
        _ = state.ended(one, .cancelled, now: 2, at: 102)
        let actions = state.attached(drop: [], now: 3, at: 103)
        #expect(actions.contains(.report(.started(two, at: 102))) && !actions.contains(.report(.started(one, at: 100))))
        #expect(state.attached(drop: [], now: 4, at: 104).allSatisfy { $0 != .report(.started(two, at: 102)) }, "it was told")
    }

    @Test func nothingBegins_whileTheLeaseIsOver() {
        var (state, _) = lined([one, two])
        #expect(state.tookBackLine(waiting: [two], now: 5, at: 105) == [])
        state.leaseOver()
        #expect(state.ended(one, .cancelled, now: 6, at: 106).count == 1 && state.lined.isEmpty)
    }

    @Test func whatMustNotBeginUnseen_isNotInTheLine_andNotOvertaken() {
        var state = ExecutorState(slots: 1, lineMax: 8)
        _ = state.attached(drop: [], now: 0, at: 0)
        var fenced = assignment(two)
        fenced.fences = [.with { $0.key = "db" }]
        var once = assignment(two)
        once.atMostOnce = true
        for careful in [fenced, once] {
            var state = state
            let actions = state.dispatched([assignment(one), careful, assignment(three)], now: 0, at: 100)
            #expect(actions.count == 2 && state.lined.isEmpty)
            let after = state.ended(one, .cancelled, now: 1, at: 101)
            #expect(after.contains(.start(two, careful)) && after.contains(.lineUp(three, assignment(three))))
        }
    }

    @Test func end_isKeptUntilAcknowledged_andOfferedAfterEachAttach() {
        var state = attached()
        _ = state.dispatched([assignment(one)], now: 0, at: 0)
        let end = WireAttemptEnd.attempt(startedAt: 0, endedAt: 1, .cancelled)
        _ = state.ended(one, .cancelled, now: 1, at: 1)
        #expect(state.held.map(\.state) == [.finished])
        #expect(state.attached(drop: [], now: 2, at: 2) == [.report(.ended(one, end))])
        #expect(state.dispatched([assignment(one)], now: 2, at: 2) == [.report(.ended(one, end))])
        #expect(state.acknowledged([one], now: 3, at: 3) == [.forget(one)])
        #expect(state.attached(drop: [], now: 4, at: 4) == [])
    }

    @Test func lease_overHoldsTheQueueBack_untilAttachedAgain() {
        var state = attached()
        _ = state.dispatched([assignment(one), assignment(two)], now: 0, at: 0)
        state.leaseOver()
        let end = state.ended(one, .cancelled, now: 1, at: 1)
        #expect(!end.contains(.start(two, assignment(two))))
        #expect(state.attached(drop: [], now: 2, at: 2).contains(.start(two, assignment(two))))
    }

    /// Nobody wants what comes of it, but somebody may wait for its end.
    @Test func dropped_isStopped_toldAsHeldUntilItHasEnded_andForgotten() {
        var state = attached(slots: 1)
        _ = state.dispatched([assignment(one), assignment(two)], now: 0, at: 0)
        #expect(state.attached(drop: [one, two], now: 1, at: 1) == [.stop(one), .forget(two)])
        #expect(state.held.map(\.state) == [.running])
        #expect(state.ended(one, .success(value("late")), now: 2, at: 2) == [.report(.lost(one)), .forget(one)])
        #expect(state.held.isEmpty)
    }

    @Test func dropped_whenItHasEndedSinceTheHello_isToldAsOver() {
        var state = attached(slots: 1)
        _ = state.dispatched([assignment(one)], now: 0, at: 0)
        #expect(state.tellHeld().map(\.state) == [.running])
        _ = state.ended(one, .success(value("late")), now: 1, at: 1)
        #expect(state.attached(drop: [one], now: 2, at: 2) == [.report(.lost(one)), .forget(one)])
    }

    /// Its host stood still for so long that the unit was given out anew, to the same process.
    @Test func nextAttempt_beginsWhenTheBodyOfTheOneBeforeHasEnded_andOthersGoFirst() {
        var state = attached(slots: 2)
        _ = state.dispatched([assignment(one)], now: 0, at: 100)
        #expect(state.attached(drop: [one], now: 5, at: 105) == [.stop(one)])
        let next = UnitKey(unit: one.unit, attempt: 13)
        #expect(state.dispatched([assignment(next)], now: 6, at: 106) == [])
        #expect(
            state.dispatched([assignment(two)], now: 6, at: 106) == [.report(.started(two, at: 106)), .start(two, assignment(two))])
        #expect(
            state.ended(one, .cancelled, now: 9, at: 109) == [
                .report(.lost(one)), .forget(one), .report(.started(next, at: 109)), .start(next, assignment(next)),
            ])
    }

    /// The coordinator is away while the body that was not wanted still ends, under a key whose lease ends.
    @Test func nextAttempt_beginsAlsoWhenTheLockLeaseOfTheOneBeforeHasEndedMeanwhile() {
        var state = attached(slots: 2)
        var fenced = assignment(one, grace: 60_000)
        fenced.fences = [.with { $0.key = "k" }]
        _ = state.dispatched([fenced], now: 0, at: 100)
        #expect(state.attached(drop: [one], now: 5, at: 105) == [.stop(one)])
        let next = UnitKey(unit: one.unit, attempt: 13)
        #expect(state.dispatched([assignment(next)], now: 6, at: 106) == [])
        _ = state.lockLeaseEnding(graceMilliseconds: 500, now: 7)
        #expect(state.tick(now: 507, at: 607) == [.kill(one)], "it has to end before the lease does")
        #expect(state.ended(one, .cancelled, now: 509, at: 609) == [.report(.lost(one)), .forget(one)])
        #expect(state.attached(drop: [], now: 510, at: 610) == [.report(.started(next, at: 610)), .start(next, assignment(next))])
    }

    /// It has failed: nobody is to run it again because the coordinator was away.
    @Test func timeout_isTheOutcome_alsoWhenTheLockLeaseEndsAfterIt() {
        var state = attached()
        var fenced = assignment(one, timeout: 1_000, grace: 60_000)
        fenced.fences = [.with { $0.key = "k" }]
        _ = state.dispatched([fenced], now: 0, at: 0)
        #expect(state.tick(now: 1_000, at: 1_000).contains(.stop(one)))
        #expect(state.lockLeaseEnding(graceMilliseconds: 500, now: 1_100) == [])
        #expect(state.tick(now: 1_600, at: 1_600) == [.kill(one)])
        #expect(state.cannotKill(one, now: 1_600, at: 1_600).last == .exit(.stuck), "the key goes to others")
        let end = WireAttemptEnd.attempt(startedAt: 0, endedAt: 1_700, .failure([.timedOut(afterMilliseconds: 1_000)]))
        var other = attached()
        _ = other.dispatched([fenced], now: 0, at: 0)
        _ = other.tick(now: 1_000, at: 1_000)
        _ = other.lockLeaseEnding(graceMilliseconds: 500, now: 1_100)
        #expect(other.ended(one, .cancelled, now: 1_700, at: 1_700) == [.report(.ended(one, end))])
    }

    @Test func nextAttempt_thatIsRecalledMeanwhile_isNotBegun() {
        var state = attached(slots: 2)
        _ = state.dispatched([assignment(one)], now: 0, at: 100)
        _ = state.attached(drop: [one], now: 5, at: 105)
        let next = UnitKey(unit: one.unit, attempt: 13)
        _ = state.dispatched([assignment(next)], now: 6, at: 106)
        #expect(state.stopOrdered([order(next, .recalled)], now: 7, at: 107) == [.report(.released(next, accepting: true)), .forget(next)])
        #expect(state.ended(one, .cancelled, now: 9, at: 109) == [.report(.lost(one)), .forget(one)])
    }

    @Test func orphanLimit_killsEverything_andReportsThatItHasEnded() {
        var state = attached()
        _ = state.dispatched([assignment(one), assignment(two)], now: 0, at: 0)
        let actions = state.orphanLimitOver(now: 1)
        #expect(
            Set(actions.map(String.init(describing:)))
                == Set([ExecutorAction.stop(one), .kill(one), .forget(two)].map(String.init(describing:))))
        #expect(state.ended(one, .cancelled, now: 2, at: 2) == [.report(.lost(one)), .forget(one)])
    }

    @Test func lockLeaseEnding_stopsWhatRunsUnderAKey_tellsItAsHeldUntilItHasEnded_andThenAsLost() {
        var state = attached(slots: 2)
        let three = UnitKey(unit: 3, attempt: 3)
        func fenced(_ key: UnitKey) -> WireAssignment {
            var assignment = assignment(key, grace: 5000)
            assignment.fences = [.with { $0.key = "db" }]
            return assignment
        }
        _ = state.dispatched([fenced(one), assignment(two), fenced(three)], now: 0, at: 0)
        let actions = state.lockLeaseEnding(graceMilliseconds: 500, now: 1000)
        #expect(
            actions.count == 3 && actions.contains(.stop(one)) && actions.contains(.report(.released(three, accepting: true)))
                && actions.contains(.forget(three)))
        #expect(state.deadline == 1500)
        #expect(state.tick(now: 1500, at: 1500) == [.kill(one)])
        #expect(Set(state.held.map(\.unit)) == [one.unit, two.unit])
        #expect(state.attached(drop: [], now: 1600, at: 1600) == [])
        #expect(state.ended(one, .cancelled, now: 1700, at: 1700) == [.report(.lost(one)), .forget(one)])
        #expect(state.held.map(\.unit) == [two.unit])
    }

    /// Nothing is heard of it before the answer to the hello, in which it was told as held.
    @Test func whatIsGoneBetweenHelloAndWelcome_isToldThen() {
        func fenced(_ key: UnitKey) -> WireAssignment {
            var fenced = assignment(key, grace: 1000)
            fenced.fences = [.with { $0.key = "k" }]
            return fenced
        }
        var state = attached()
        _ = state.dispatched([fenced(one), fenced(two)], now: 0, at: 100)
        #expect(state.tellHeld().count == 2)
        _ = state.lockLeaseEnding(graceMilliseconds: 500, now: 5)
        _ = state.ended(one, .cancelled, now: 6, at: 106)
        #expect(state.held.isEmpty)
        let told = state.attached(drop: [], now: 7, at: 107)
        #expect(told.count == 2)
        #expect(told.contains(.report(.released(two, accepting: true))) && told.contains(.report(.lost(one))))
        _ = state.tellHeld()
        #expect(state.attached(drop: [], now: 8, at: 108) == [])
    }

    @Test func lockLeaseEnding_stopsWhatRunsAtMostOnce_andKeepsThatUntilItIsAcknowledged() {
        var state = attached()
        func once(_ key: UnitKey) -> WireAssignment {
            var assignment = assignment(key, grace: 100)
            assignment.atMostOnce = true
            return assignment
        }
        _ = state.dispatched([once(one), once(two)], now: 0, at: 0)
        let actions = state.lockLeaseEnding(graceMilliseconds: 500, now: 1000)
        #expect(
            actions.count == 3 && actions.contains(.stop(one)) && actions.contains(.report(.released(two, accepting: true)))
                && actions.contains(.forget(two)))
        let end = WireAttemptEnd.attempt(startedAt: 0, endedAt: 1050, .failure([.stoppedForGood]))
        #expect(state.ended(one, .cancelled, now: 1050, at: 1050) == [.report(.ended(one, end))])
        #expect(state.held.map(\.state) == [.finished])
        #expect(state.attached(drop: [], now: 1100, at: 1100) == [.report(.ended(one, end))])
        #expect(state.acknowledged([one], now: 1200, at: 1200) == [.forget(one)])
    }

    @Test func lockLeaseEnding_endsTheProcess_whenABodyCannotBeEndedOtherwise() {
        var state = attached()
        var assignment = assignment(one, grace: 100)
        assignment.fences = [.with { $0.key = "db" }]
        _ = state.dispatched([assignment], now: 0, at: 0)
        _ = state.lockLeaseEnding(graceMilliseconds: 500, now: 1000)
        #expect(state.tick(now: 1100, at: 1100) == [.kill(one)])
        #expect(state.cannotKill(one, now: 1100, at: 1100) == [.exit(.stuck)])
    }

    @Test func timeout_isTheOutcomeWhateverTheBodyReportsLater() {
        var state = attached()
        _ = state.dispatched([assignment(one, timeout: 1000, grace: 200)], now: 0, at: 0)
        #expect(state.deadline == 1000)
        #expect(state.tick(now: 1000, at: 1000) == [.stop(one), .report(.stopping(one, at: 1000, forced: false))])
        #expect(state.deadline == 1200)
        #expect(state.tick(now: 1200, at: 1200) == [.kill(one)])
        let end = state.ended(one, .success(value("late")), now: 1201, at: 1201)
        let failure = WireOperationFailure.timedOut(afterMilliseconds: 1000)
        #expect(failure.message == "timed out after 1 s")
        #expect(end == [.report(.ended(one, .attempt(startedAt: 0, endedAt: 1201, .failure([failure]))))])
    }

    /// Somebody sets it a day forward or back, and back again.
    @Test(arguments: [-86_400_000, 86_400_000] as [Int64]) func stepOfTheWallClock_movesNoTimeout_andNoGrace(step: Int64) {
        let wall: Int64 = 1_700_000_000_000
        var state = attached(slots: 2)
        _ = state.dispatched([assignment(one, timeout: 1000, grace: 200), assignment(two, grace: 500)], now: 0, at: wall)
        #expect(state.stopOrdered([order(two, .cancelled)], now: 900, at: wall + 900).contains(.stop(two)))
        #expect(state.tick(now: 999, at: wall + 999 + step) == [])
        let stopped = wall + 1000 + step
        #expect(state.tick(now: 1000, at: stopped) == [.stop(one), .report(.stopping(one, at: stopped, forced: false))])
        #expect(state.tick(now: 1199, at: wall + 1199 - step) == [])
        #expect(state.tick(now: 1200, at: wall + 1200) == [.kill(one)])
        #expect(state.tick(now: 1399, at: wall + 1399 + step) == [])
        #expect(state.tick(now: 1400, at: wall + 1400 - step) == [.kill(two)])
    }

    @Test func cancelled_queuedUnitEndsAtOnce_runningOneWhenItsBodyHas() {
        var state = attached()
        _ = state.dispatched([assignment(one), assignment(two)], now: 0, at: 0)
        let actions = state.stopOrdered([order(one, .cancelled), order(two, .cancelled)], now: 1, at: 1)
        #expect(
            actions == [
                .stop(one), .report(.stopping(one, at: 1, forced: false)),
                .report(.ended(two, .attempt(startedAt: 0, endedAt: 1, .cancelled))),
            ])
        #expect(state.ended(one, .cancelled, now: 2, at: 2) == [.report(.ended(one, .attempt(startedAt: 0, endedAt: 2, .cancelled)))])
    }

    @Test func cancelOfAnUnknownUnit_isAnsweredAsStopped() {
        var state = attached()
        #expect(
            state.stopOrdered([order(one, .cancelled)], now: 1, at: 1) == [
                .report(.ended(one, .attempt(startedAt: 0, endedAt: 1, .cancelled)))
            ])
        #expect(state.stopOrdered([order(one, .superseded), order(one, .recalled)], now: 1, at: 1) == [])
    }

    @Test func stopNow_killsAlsoWhatIsStoppingAlready() {
        var state = attached()
        _ = state.dispatched([assignment(one)], now: 0, at: 0)
        #expect(
            state.stopOrdered([order(one, .cancelled)], now: 1, at: 1) == [.stop(one), .report(.stopping(one, at: 1, forced: false))])
        #expect(
            state.stopOrdered([order(one, .cancelled, now: true)], now: 2, at: 2) == [
                .kill(one), .report(.stopping(one, at: 2, forced: false)),
            ])
        #expect(state.killed(one, at: 3) == [.report(.stopping(one, at: 3, forced: true))])
        #expect(state.killed(one, at: 4) == [], "once")
    }

    @Test func force_isToldWhenItWasUsed_andAgainToWhoOrdersItOnANewConnection() {
        var state = attached()
        _ = state.dispatched([assignment(one, grace: 200)], now: 0, at: 0)
        _ = state.stopOrdered([order(one, .cancelled)], now: 1, at: 1)
        #expect(state.tick(now: 201, at: 201) == [.kill(one)])
        #expect(state.killed(one, at: 202) == [.report(.stopping(one, at: 202, forced: true))])
        #expect(
            state.stopOrdered([order(one, .cancelled)], now: 203, at: 203) == [
                .report(.stopping(one, at: 203, forced: false)), .report(.stopping(one, at: 203, forced: true)),
            ])
    }

    @Test func timedOutBody_isEndedByForce_andThatIsTold_alsoToACoordinatorThatIsNew() {
        var state = attached()
        _ = state.dispatched([assignment(one, timeout: 10, grace: 10)], now: 0, at: 0)
        _ = state.tick(now: 10, at: 10)
        #expect(state.tick(now: 20, at: 20) == [.kill(one)])
        #expect(state.killed(one, at: 20) == [.report(.stopping(one, at: 20, forced: true))])
        _ = state.tellHeld()
        let told = state.attached(drop: [], now: 21, at: 21)
        #expect(told == [.report(.stopping(one, at: 21, forced: false)), .report(.stopping(one, at: 21, forced: true))])
    }

    @Test func bodyThatNothingEnds_isToldAsEndedByForce_withItsProcessAndNotBefore() {
        var state = attached(slots: 2)
        _ = state.dispatched([assignment(one, grace: 10), assignment(two)], now: 0, at: 0)
        _ = state.stopOrdered([order(one, .cancelled)], now: 0, at: 0)
        #expect(state.tick(now: 10, at: 10) == [.kill(one)])
        #expect(state.cannotKill(one, now: 10, at: 10) == [])
        #expect(state.tick(now: 2010, at: 2010) == [.askForReplacement])
        _ = state.ended(two, .cancelled, now: 9000, at: 9000)
        #expect(
            state.acknowledged([two], now: 9001, at: 9001) == [
                .forget(two), .report(.stopping(one, at: 9001, forced: true)), .exit(.stuck),
            ])
    }

    @Test func stopNow_ofABodyThatCannotBeEnded_endsTheProcess() {
        var state = attached()
        _ = state.dispatched([assignment(one)], now: 0, at: 0)
        #expect(state.stopOrdered([order(one, .cancelled, now: true)], now: 1, at: 1).prefix(2) == [.stop(one), .kill(one)])
        #expect(state.cannotKill(one, now: 1, at: 1) == [.report(.stopping(one, at: 1, forced: true)), .exit(.stuck)])
    }

    /// Its neighbour may take hours.
    @Test func stopNow_ofABodyThatWasGivenUp_endsTheProcessToo() {
        var state = attached(slots: 2)
        _ = state.dispatched([assignment(one, grace: 10), assignment(two)], now: 0, at: 0)
        _ = state.stopOrdered([order(one, .cancelled)], now: 0, at: 0)
        _ = state.tick(now: 10, at: 10)
        #expect(state.tick(now: 2010, at: 2010) == [.askForReplacement])
        #expect(
            state.stopOrdered([order(one, .cancelled, now: true)], now: 3000, at: 3000) == [
                .kill(one), .report(.stopping(one, at: 3000, forced: false)),
            ])
        #expect(state.cannotKill(one, now: 3000, at: 3000) == [.report(.stopping(one, at: 3000, forced: true)), .exit(.stuck)])
    }

    @Test func recalled_isGivenBackOnlyIfNotStarted() {
        var state = attached()
        _ = state.dispatched([assignment(one), assignment(two)], now: 0, at: 0)
        #expect(
            state.stopOrdered([order(one, .recalled), order(two, .recalled)], now: 1, at: 1) == [
                .report(.released(two, accepting: true)), .forget(two),
            ])
    }

    @Test func largeInputs_areFetchedBeforeTheUnitQueues() {
        var state = attached()
        var large = assignment(one)
        large.inputs = [.with { $0.value = .with { $0.blob = WireBlobReference(digest: BlobDigest(hashing: Data()), size: 1) } }]
        #expect(state.dispatched([large], now: 0, at: 0) == [.fetchInputs(one, large)])
        #expect(state.held.map(\.state) == [.queued])
        #expect(state.dispatched([assignment(two)], now: 0, at: 0).contains(.start(two, assignment(two))))
        #expect(state.inputsReady(one, now: 1, at: 1) == [])
        #expect(state.ended(two, .cancelled, now: 2, at: 2).contains(.start(one, large)))
    }

    @Test func drain_givesBackTheQueue_finishesWhatRuns_thenExits() {
        var state = attached()
        _ = state.dispatched([assignment(one), assignment(two)], now: 0, at: 0)
        #expect(state.drain(graceMilliseconds: 1000, now: 1, at: 1) == [.report(.released(two, accepting: false)), .forget(two)])
        #expect(!state.isAccepting)
        #expect(state.dispatched([assignment(two)], now: 2, at: 2) == [.report(.released(two, accepting: false))])
        #expect(state.ended(one, .cancelled, now: 3, at: 3).count == 1)
        #expect(state.acknowledged([one], now: 4, at: 4) == [.forget(one), .exit(.drained)])
    }

    @Test func drain_killsWhatStillRunsAtItsEnd_andReportsItNot() {
        var state = attached()
        _ = state.dispatched([assignment(one)], now: 0, at: 0)
        _ = state.drain(graceMilliseconds: 1000, now: 0, at: 0)
        #expect(state.tick(now: 1000, at: 1000) == [.stop(one), .kill(one)])
        #expect(state.ended(one, .cancelled, now: 1001, at: 1001) == [.forget(one), .exit(.drained)])
    }

    @Test func bodyThatCannotBeEnded_makesTheProcessBeReplaced_whenTheOthersHaveEnded() {
        var state = attached(slots: 2)
        _ = state.dispatched([assignment(one, timeout: 10, grace: 10), assignment(two)], now: 0, at: 0)
        #expect(state.tick(now: 10, at: 10).first == .stop(one))
        #expect(state.tick(now: 20, at: 20) == [.kill(one)])
        #expect(state.cannotKill(one, now: 20, at: 20) == [])
        #expect(state.tick(now: 2020, at: 2020) == [.askForReplacement])
        #expect(!state.isAccepting)
        _ = state.ended(two, .cancelled, now: 2030, at: 2030)
        #expect(
            state.acknowledged([two], now: 2031, at: 2031) == [
                .forget(two), .report(.stopping(one, at: 2031, forced: true)), .exit(.stuck),
            ])
    }
}
