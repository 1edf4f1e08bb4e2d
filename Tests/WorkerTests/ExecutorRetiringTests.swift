import Executing
import Testing
import Wire

/// An executor in which nothing more can begin.
@Suite struct ExecutorRetiringTests {
    private let one = UnitKey(unit: 1, attempt: 11)
    private let two = UnitKey(unit: 2, attempt: 12)
    private let three = UnitKey(unit: 3, attempt: 13)
    private let failure = UnitEnding.failure([.with { $0.message = "no working directory" }])

    private func assignment(_ key: UnitKey) -> WireAssignment {
        .with {
            $0.unit = key.unit
            $0.attempt = key.attempt
            $0.operation = "shell"
        }
    }

    /// Two run, and one waits.
    private func busy() -> ExecutorState {
        var state = ExecutorState(slots: 2)
        _ = state.attached(drop: [], now: 0, at: 0)
        _ = state.dispatched([assignment(one), assignment(two), assignment(three)], now: 0, at: 0)
        return state
    }

    @Test func retiring_givesBackWhatWaits_andTakesNothing_untilWhatRunsHasEnded() {
        var state = busy()
        #expect(state.retire(now: 1, at: 1) == [.askForReplacement, .report(.released(three, accepting: false)), .forget(three)])
        #expect(!state.isAccepting)
        #expect(state.retire(now: 2, at: 2) == [])
        #expect(state.dispatched([assignment(three)], now: 3, at: 3) == [.report(.released(three, accepting: false))])
        #expect(state.couldNotBegin(two, failure, now: 4, at: 4) == [.report(.released(two, accepting: false)), .forget(two)])
        #expect(
            state.ended(one, .cancelled, now: 5, at: 5) == [.report(.ended(one, .attempt(startedAt: 0, endedAt: 5, .cancelled)))])
        #expect(state.acknowledged([one], now: 6, at: 6) == [.forget(one), .exit(.drained)])
    }

    @Test func whatCouldNotBegin_isGivenBack_andItsSlotIsTheNextOnes() {
        var state = busy()
        #expect(
            state.couldNotBegin(one, failure, now: 1, at: 1) == [
                .report(.released(one, accepting: true)), .forget(one), .report(.started(three, at: 1)), .start(three, assignment(three)),
            ])
        #expect(state.runningCount == 2)
    }

    /// Nobody wants it back.
    @Test func whatWasCancelled_andCouldNotBegin_hasEnded() {
        var state = busy()
        let order = WireStopUnit.with {
            $0.unit = one.unit
            $0.attempt = one.attempt
            $0.reason = .cancelled
        }
        _ = state.stopOrdered([order], now: 1, at: 1)
        _ = state.retire(now: 2, at: 2)
        #expect(state.couldNotBegin(one, failure, now: 3, at: 3) == [.report(.ended(one, .attempt(startedAt: 0, endedAt: 3, failure)))])
    }

    /// Its worker ends: what runs in it has the grace, as everywhere.
    @Test func retiring_canBeDrained() {
        var state = busy()
        _ = state.retire(now: 1, at: 1)
        #expect(state.drain(graceMilliseconds: 100, now: 2, at: 2) == [])
        #expect(Set(state.tick(now: 102, at: 102).map { "\($0)" }).count == 4, "both are stopped, and killed")
    }

    @Test func retiring_withoutWork_endsAtOnce() {
        var state = ExecutorState(slots: 1)
        _ = state.attached(drop: [], now: 0, at: 0)
        #expect(state.retire(now: 1, at: 1) == [.askForReplacement, .exit(.drained)])
    }
}
