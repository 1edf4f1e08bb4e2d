import Executing
import Testing
import Wire

/// In which order an executor begins units of several submissions.
@Suite struct StartOrderTests {
    private func assignment(_ unit: UInt64, of submission: String, priority: Int32 = 0, isFenced: Bool = false) -> WireAssignment {
        .with {
            $0.unit = unit
            $0.attempt = 1
            $0.submission = submission
            $0.operation = "noop"
            $0.priority = priority
            if isFenced { $0.fences = [.with { $0.key = "db" }] }
        }
    }

    private func attached(lineMax: Int = 0) -> ExecutorState {
        var state = ExecutorState(slots: 1, lineMax: lineMax)
        _ = state.attached(drop: [], now: 0, at: 0)
        return state
    }

    /// Ends what runs until nothing is left.
    private func order(_ state: inout ExecutorState, running first: UInt64) -> [UInt64] {
        var (begun, running) = ([first], UnitKey(unit: first, attempt: 1) as UnitKey?)
        while let key = running {
            let actions = state.ended(key, .cancelled, now: 1, at: 1)
            running = actions.lazy.compactMap { if case .start(let next, _) = $0 { next } else { nil } }.first
            if let running { begun.append(running.unit) }
        }
        return begun
    }

    @Test func submissions_takeTurns() {
        var state = attached()
        _ = state.dispatched((1...6).map { assignment($0, of: "flood") }, now: 0, at: 0)
        _ = state.dispatched([21, 22].map { assignment($0, of: "small") }, now: 0, at: 0)
        _ = state.dispatched([31].map { assignment($0, of: "single") }, now: 0, at: 0)
        _ = state.dispatched([7].map { assignment($0, of: "flood") }, now: 0, at: 0)
        #expect(order(&state, running: 1) == [1, 2, 21, 31, 3, 22, 4, 5, 6, 7])
    }

    /// Behind one that runs for long others come and are given back, again and again.
    @Test(arguments: [0, 8]) func whatWasGivenBack_leavesNothingBehind(lineMax: Int) {
        var state = attached(lineMax: lineMax)
        _ = state.dispatched([1, 2, 3].map { assignment($0, of: "kept") }, now: 0, at: 0)
        for round in 0..<100 {
            let units = (0..<10).map { UInt64(100 + 10 * round + $0) }
            _ = state.dispatched(units.map { assignment($0, of: "passing") }, now: 0, at: 0)
            _ = state.stopOrdered(
                units.map { unit in
                    .with {
                        $0.unit = unit
                        $0.attempt = 1
                        $0.reason = .recalled
                    }
                }, now: 0, at: 0)
        }
        #expect(state.placeCount < 300)
        #expect(order(&state, running: 1) == [1, 2, 3])
    }

    @Test func higherPriority_goesFirst_alsoBeforeWhatHasWaited() {
        var state = attached()
        _ = state.dispatched([1, 2, 3].map { assignment($0, of: "plain") }, now: 0, at: 0)
        _ = state.dispatched([11, 12].map { assignment($0, of: "low", priority: -5) }, now: 0, at: 0)
        _ = state.dispatched([21, 22].map { assignment($0, of: "high", priority: 10) }, now: 0, at: 0)
        _ = state.dispatched([31].map { assignment($0, of: "other", priority: 10) }, now: 0, at: 0)
        _ = state.dispatched([4].map { assignment($0, of: "plain") }, now: 0, at: 0)
        #expect(order(&state, running: 1) == [1, 21, 31, 22, 2, 3, 4, 11, 12])
    }

    @Test func whatComesOneByOne_comesNext_eachTime() {
        var state = attached()
        _ = state.dispatched((1...200).map { assignment($0, of: "flood") }, now: 0, at: 0)
        var running: UInt64 = 1
        for link in UInt64(1_000)..<1_010 {
            _ = state.dispatched([assignment(link, of: "chain")], now: 0, at: 0)
            var others = 0
            while running != link {
                let actions = state.ended(UnitKey(unit: running, attempt: 1), .cancelled, now: 1, at: 1)
                running = actions.lazy.compactMap { if case .start(let next, _) = $0 { next.unit } else { nil } }.first ?? 0
                others += 1
            }
            #expect(others <= 2, "one of the flood, and what ran")
        }
    }

    @Test func whatHasItsTurnBeforeTheLine_standsInIt_onceTheLineWasTakenBack() {
        var state = attached(lineMax: 3)
        _ = state.dispatched((1...6).map { assignment($0, of: "flood") }, now: 0, at: 0)
        #expect(!state.goAheadOfLine([assignment(7, of: "flood")]))
        let small = assignment(21, of: "small")
        #expect(state.goAheadOfLine([assignment(7, of: "flood"), small]))
        _ = state.tookBackLine(waiting: Set([2, 3, 4].map { UnitKey(unit: $0, attempt: 1) }), now: 0, at: 0)
        let lined = state.dispatched([small], now: 0, at: 0).compactMap { if case .lineUp(let key, _) = $0 { key.unit } else { nil } }
        #expect(lined == [2, 21, 3])
    }

    @Test func whatMayNotStandInLine_isNotOvertaken_byThoseBehindIt() {
        var state = attached(lineMax: 3)
        _ = state.dispatched((1...6).map { assignment($0, of: "flood") }, now: 0, at: 0)
        _ = state.tookBackLine(waiting: Set([2, 3, 4].map { UnitKey(unit: $0, attempt: 1) }), now: 0, at: 0)
        let lined = state.dispatched([assignment(21, of: "small", isFenced: true)], now: 0, at: 0)
            .compactMap { if case .lineUp(let key, _) = $0 { key.unit } else { nil } }
        #expect(lined == [2])
    }

    @Test func aLineThatWasNotTakenBack_keepsItsOrder() {
        var state = attached(lineMax: 3)
        _ = state.dispatched((1...6).map { assignment($0, of: "flood") }, now: 0, at: 0)
        _ = state.dispatched([assignment(21, of: "small")], now: 0, at: 0)
        #expect(order(&state, running: 1) == [1, 2, 3, 4, 21, 5, 6])
    }

    /// Those that are over are not kept for ever while others always wait.
    @Test func manySubmissions_besideOneThatNeverEnds() {
        var state = attached()
        _ = state.dispatched([assignment(1, of: "flood")], now: 0, at: 0)
        var running: UInt64 = 1
        for number in UInt64(1)...5_000 {
            _ = state.dispatched([assignment(1 + number * 2, of: "flood"), assignment(number * 2, of: "s\(number)")], now: 0, at: 0)
            for _ in 0..<2 {
                let actions = state.ended(UnitKey(unit: running, attempt: 1), .cancelled, now: 1, at: 1)
                running = actions.lazy.compactMap { if case .start(let next, _) = $0 { next.unit } else { nil } }.first ?? 0
            }
            #expect(running / 2 >= number - 1, "no one waits for more than its turn")
        }
    }
}
