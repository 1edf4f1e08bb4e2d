import Executing
import Testing
import Wire

/// Units that an executor begins when others have succeeded on it.
@Suite struct ExecutorLinkTests {
    private let one = UnitKey(unit: 1, attempt: 11)
    private let two = UnitKey(unit: 2, attempt: 12)
    private let three = UnitKey(unit: 3, attempt: 13)
    private let value = WireValue.with {
        $0.encoding = .text
        $0.inline = .init("x".utf8)
    }

    private func assignment(_ key: UnitKey, after other: UnitKey? = nil, inputs: [WireReceived] = []) -> WireAssignment {
        .with {
            $0.unit = key.unit
            $0.attempt = key.attempt
            $0.operation = "noop"
            $0.inputs = inputs
            if let other {
                $0.link.unit = other.unit
                $0.link.attempt = other.attempt
                $0.link.delivers = true
            }
        }
    }

    private func chain(lineMax: Int = 8) -> ExecutorState {
        var state = ExecutorState(slots: 1, lineMax: lineMax)
        _ = state.attached(drop: [], now: 0, at: 0)
        let actions = state.dispatched(
            [assignment(one), assignment(two, after: one), assignment(three, after: two)], now: 0, at: 100)
        #expect(actions == [.report(.started(one, at: 100)), .start(one, assignment(one))])
        return state
    }

    private func ended(_ key: UnitKey, from startedAt: Int64, at: Int64, _ ending: UnitEnding) -> ExecutorAction {
        .report(.ended(key, .attempt(startedAt: startedAt, endedAt: at, ending)))
    }

    /// The coordinator is told of a success, and takes it that the next one has begun.
    @Test(arguments: [false, true]) func successOfOneThatWasToldToStop_beginsTheNext(byForce: Bool) {
        var state = chain()
        let order = WireStopUnit.with {
            $0.unit = one.unit
            $0.attempt = one.attempt
            $0.reason = .cancelled
            $0.now = byForce
        }
        _ = state.stopOrdered([order], now: 3, at: 103)
        let received = WireReceived.with { $0.value = value }
        #expect(
            state.ended(one, .success(value), now: 5, at: 105) == [
                ended(one, from: 100, at: 105, .success(value)), .report(.started(two, at: 105)),
                .start(two, assignment(two, after: one, inputs: [received])),
            ])
        _ = state.stopOrdered([order.ending(two)], now: 6, at: 106)
        #expect(state.ended(two, .cancelled, now: 7, at: 107) == [ended(two, from: 105, at: 107, .cancelled)], "nothing follows on that")
    }

    @Test func success_beginsTheNext_inItsSlot_withItsValue() {
        var state = chain()
        let received = WireReceived.with { $0.value = value }
        #expect(
            state.ended(one, .success(value), now: 5, at: 105) == [
                ended(one, from: 100, at: 105, .success(value)), .report(.started(two, at: 105)),
                .start(two, assignment(two, after: one, inputs: [received])),
            ])
        #expect(state.runningCount == 1 && state.queuedCount == 1)
        #expect(state.ended(two, .success(value), now: 6, at: 106).last == .start(three, assignment(three, after: two, inputs: [received])))
        #expect(state.ended(three, .success(value), now: 7, at: 107) == [ended(three, from: 106, at: 107, .success(value))])
    }

    @Test(arguments: [0, 1, 2]) func anyOtherEnd_letsNoneBegin(kind: Int) {
        var state = chain()
        let blob = WireValue.with { $0.blob = .with { $0.size = 1 << 20 } }
        let ending = [UnitEnding.failure([.with { $0.message = "no" }]), .cancelled, .success(blob)][kind]
        #expect(state.ended(one, ending, now: 5, at: 105) == [ended(one, from: 100, at: 105, ending)])
        #expect(state.held.map(\.unit) == [1])
    }

    @Test func stopOfTheNext_isItsEnd_andThatOfWhatFollows() {
        var state = chain()
        let order = WireStopUnit.with { ($0.unit, $0.attempt, $0.reason) = (2, 12, .cancelled) }
        #expect(state.stopOrdered([order], now: 1, at: 101) == [ended(two, from: 0, at: 101, .cancelled)])
        #expect(state.ended(one, .success(value), now: 5, at: 105).count == 1)
        let other = WireStopUnit.with { ($0.unit, $0.attempt, $0.reason) = (3, 13, .cancelled) }
        #expect(state.stopOrdered([other], now: 6, at: 106) == [ended(three, from: 0, at: 106, .cancelled)], "who asks is answered")
    }

    @Test func hello_forgetsWhatHasNotBegun() {
        var state = chain()
        #expect(state.tellHeld().map(\.unit) == [1])
        #expect(state.ended(one, .success(value), now: 5, at: 105).count == 1)
    }

    @Test func leaseThatIsOver_letsNoneBegin() {
        var state = chain()
        state.leaseOver()
        #expect(state.ended(one, .success(value), now: 5, at: 105).count == 1)
    }

    @Test func drained_givesBackWhatHasNotBegun() {
        var state = chain()
        let actions = state.drain(graceMilliseconds: 1_000, now: 1, at: 101)
        #expect(actions.contains(.report(.lost(two))))
        #expect(state.ended(one, .success(value), now: 5, at: 105).first == ended(one, from: 100, at: 105, .success(value)))
        #expect(state.held.map(\.unit) == [1])
    }

    @Test func oneThatComesTooLate_isGivenBack() {
        var state = chain()
        let four = UnitKey(unit: 4, attempt: 14)
        #expect(state.dispatched([assignment(four, after: UnitKey(unit: 9, attempt: 9))], now: 1, at: 101) == [.report(.lost(four))])
    }

    @Test func slotThatIsTaken_isWaitedFor() {
        var state = chain()
        _ = state.dispatched([assignment(UnitKey(unit: 5, attempt: 15))], now: 1, at: 101)
        // The shell has let the next of its line have the slot.
        _ = state.begun(UnitKey(unit: 5, attempt: 15), now: 4, at: 104)
        #expect(state.ended(one, .success(value), now: 5, at: 105).count == 1)
        #expect(state.ended(UnitKey(unit: 5, attempt: 15), .success(value), now: 6, at: 106).contains(.report(.started(two, at: 106))))
    }
}

extension WireStopUnit {
    /// The same order, for another unit.
    fileprivate func ending(_ key: UnitKey) -> WireStopUnit {
        var order = self
        (order.unit, order.attempt) = (key.unit, key.attempt)
        return order
    }
}
