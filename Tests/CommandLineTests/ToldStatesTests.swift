import Testing
import Wire

@testable import aop

/// What a watcher is told, across lists and events.
@Suite struct ToldStatesTests {
    private func event(_ unit: UInt32, _ state: WireOperationState, attempt: UInt32 = 1, at: Int64 = 100) -> WireEvent {
        .with {
            $0.unit = unit
            $0.path = "op\(unit)"
            $0.state = state
            $0.attempt = attempt
            $0.at = at
        }
    }

    private func listed(_ unit: UInt32, _ state: WireOperationState, attempt: UInt32 = 1, retryAt: Int64 = 0) -> WireOperationView {
        .with {
            $0.unit = unit
            $0.path = "op\(unit)"
            $0.state = state
            $0.attempts = attempt
            $0.worker = "h/0"
            ($0.queuedAt, $0.startedAt, $0.finishedAt) = (10, 20, 30)
            $0.retryAt = retryAt
        }
    }

    private func words(_ events: [WireEvent]) -> [String] { events.map { "\($0.path) \($0.state.word)" } }

    private let mixed: [WireOperationState] = [.blocked, .queued, .running, .succeeded, .failed, .cancelled, .retrying]

    @Test func whoHasSubmitted_isToldEverythingThatCameBeforeTheFirstList() {
        var told = ToldStates(.submission)
        let news = told.news(in: mixed.enumerated().map { listed(UInt32($0), $1) })
        #expect(words(news) == ["op1 queued", "op2 running", "op3 succeeded", "op4 failed", "op5 cancelled", "op6 retrying"])
        #expect(news.map(\.at) == [10, 20, 30, 30, 30, 0])
        #expect(news[1].worker == "h/0")
    }

    @Test func whoBeginsNow_isToldWhatGoesOn_andWhatHasFailed() {
        var told = ToldStates(.now)
        let news = told.news(in: mixed.enumerated().map { listed(UInt32($0), $1) })
        #expect(words(news) == ["op2 running", "op4 failed", "op6 retrying"])
    }

    @Test func groups_areNotTold() {
        var told = ToldStates(.submission)
        var group = listed(1, .running)
        group.kind = .ordered
        #expect(told.news(in: [group]).isEmpty)
    }

    @Test func eventsThatSayWhatTheListHad_areNoNews_laterOnesAre() {
        var told = ToldStates(.now)
        _ = told.news(in: [listed(1, .running), listed(2, .succeeded), listed(3, .running, attempt: 2)])
        told.listed()
        let old = [
            event(1, .queued), event(1, .running), event(2, .running), event(2, .succeeded), event(3, .retrying),
            event(3, .queued, attempt: 2),
        ]
        #expect(told.news(in: old).isEmpty)
        #expect(words(told.news(in: [event(1, .succeeded), event(3, .running, attempt: 3)])) == ["op1 succeeded", "op3 running"])
    }

    @Test func listAfterAnInterruption_tellsWhatHappenedMeanwhile_andNothingTwice() {
        var told = ToldStates(.now)
        _ = told.news(in: [listed(1, .running), listed(2, .blocked, attempt: 0), listed(3, .succeeded)])
        told.listed()
        _ = told.news(in: [event(2, .running)])
        let news = told.news(in: [listed(1, .succeeded), listed(2, .running), listed(3, .succeeded), listed(4, .failed)])
        #expect(words(news) == ["op1 succeeded", "op4 failed"])
    }

    /// Until its worker is back, a coordinator that has started anew lists what it runs as queued.
    @Test func whatGoesOnInAWorker_isNotToldAsGivenBack_butItsNextAttemptIs() {
        var told = ToldStates(.now)
        _ = told.news(in: [event(1, .running)])
        #expect(told.news(in: [listed(1, .queued)]).isEmpty)
        told.listed()
        #expect(words(told.news(in: [event(1, .queued), event(1, .running, attempt: 2)])) == ["op1 queued", "op1 running"])
    }

    @Test func whatAWorkerTellsAnewThatItGoesOnWith_isNoNews_whatFollowsIs() {
        var told = ToldStates(.submission)
        _ = told.news(in: [event(1, .running)])
        #expect(told.news(in: [listed(1, .queued)]).isEmpty)
        told.listed()
        #expect(told.news(in: [event(1, .running)]).isEmpty)
        #expect(words(told.news(in: [event(1, .succeeded)])) == ["op1 succeeded"])
    }

    @Test func stagesOfStopping_areAllTold() {
        var told = ToldStates(.now)
        _ = told.news(in: [listed(1, .stopping)])
        #expect(told.news(in: [event(1, .stopping), event(1, .cancelled)]).count == 2)
    }

    @Test func nextAttempt_isPreparedUnderTheNumberOfTheOneBefore() {
        var told = ToldStates(.now)
        _ = told.news(in: [listed(1, .retrying, retryAt: 500)])
        #expect(told.news(in: [event(1, .queued, at: 400)]).isEmpty)
        #expect(words(told.news(in: [event(1, .queued, at: 500)])) == ["op1 queued"])
    }

    @Test func progress_isToldWhenItIsAnother() {
        var told = ToldStates(.now)
        var running = listed(1, .running)
        running.progress.fraction = 0.5
        let news = told.news(in: [running])
        #expect(news.map(\.hasProgress) == [false, true])
        #expect(told.news(in: [running]).isEmpty)
        running.progress.fraction = 0.75
        #expect(told.news(in: [running]).map(\.progress.fraction) == [0.75])
    }
}
