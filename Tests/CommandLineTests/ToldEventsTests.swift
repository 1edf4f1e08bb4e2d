import Cluster
import Testing
import Wire

@testable import aop

/// What `aop events` tells of one submission.
@Suite struct ToldEventsTests {
    private func made() -> ToldEvents {
        ToldEvents(
            .with {
                ($0.id, $0.name) = ("id", "work")
            })
    }

    private func event(_ state: WireOperationState, attempt: UInt32, started: Int64 = 0, at: Int64 = 100, worker: String = "") -> WireEvent
    {
        .with {
            ($0.unit, $0.path, $0.state, $0.attempt, $0.startedAt, $0.at, $0.worker) = (1, "a", state, attempt, started, at, worker)
            if state == .failed { $0.errors = [.with { $0.message = "oops" }] }
        }
    }

    private func view(_ state: WireOperationState, attempt: UInt32, started: Int64, finished: Int64 = 0) -> WireOperationView {
        .with {
            ($0.unit, $0.path, $0.state, $0.attempts, $0.startedAt, $0.finishedAt) = (1, "a", state, attempt, started, finished)
            $0.worker = "h/0"
        }
    }

    private func words(_ events: [ClusterEvent]) -> [String] {
        events.map { event in
            guard case .operation(_, let attempt, let worker) = event.subject else { return "\(event.at) \(event.event)" }
            return "\(event.at) \(event.event) \(attempt) \(worker)"
        }
    }

    @Test func everyStep_isToldOnce_inItsOrder() {
        var told = made()
        let events = told.happened([
            event(.queued, attempt: 0), event(.running, attempt: 1, started: 10, worker: "h/0"), event(.retrying, attempt: 1, at: 20),
            event(.queued, attempt: 1), event(.running, attempt: 2, started: 30, worker: "h/1"),
            event(.failed, attempt: 2, started: 30, at: 40),
        ])
        #expect(words(events) == ["10 running 1 h/0", "20 retrying 1 h/0", "30 running 2 h/1", "40 failed 2 h/1"])
        #expect(events.last?.error == "oops")
        #expect(told.happened([event(.failed, attempt: 2, started: 30, at: 40), event(.running, attempt: 2, started: 30)]).isEmpty)
    }

    @Test func earlierAttempts_areMadeUpForAsFarAsTheyAreKnown_andOnce() {
        var told = made()
        #expect(words(told.happened([event(.running, attempt: 1, started: 10, worker: "h/0")])) == ["10 running 1 h/0"])
        var now = view(.succeeded, attempt: 3, started: 50, finished: 60)
        now.earlierAttempts = [
            .with {
                ($0.number, $0.worker, $0.startedAt, $0.finishedAt, $0.ending, $0.text) = (1, "h/0", 10, 20, .failed, "oops")
            },
            .with {
                ($0.number, $0.worker, $0.startedAt, $0.finishedAt, $0.ending, $0.text) = (2, "h/1", 30, 40, .lost, "it died")
            },
        ]
        let events = told.stand([now])
        #expect(
            words(events) == ["20 retrying 1 h/0", "30 running 2 h/1", "50 running 3 h/0", "60 succeeded 3 h/0"])
        #expect(events.first?.error == "oops")
        #expect(told.stand([now]).isEmpty)
    }

    @Test func startThatIsToldWithItsEnd_isToldToo() {
        var told = made()
        #expect(
            words(told.happened([event(.succeeded, attempt: 1, started: 10, at: 11, worker: "h/0")])) == [
                "10 running 1 h/0", "11 succeeded 1 h/0",
            ])
        var unbegun = made()
        #expect(words(unbegun.happened([event(.cancelled, attempt: 0, at: 5)])) == ["5 cancelled 0 "])
    }

    @Test func whatWasMissed_isMadeUpFor_andNothingIsToldTwice() {
        var told = made()
        #expect(words(told.stand([view(.running, attempt: 1, started: 10)])) == ["10 running 1 h/0"])
        // What was on its way meanwhile.
        #expect(told.happened([event(.running, attempt: 1, started: 10)]).isEmpty)
        #expect(words(told.stand([view(.succeeded, attempt: 3, started: 50, finished: 60)])) == ["50 running 3 h/0", "60 succeeded 3 h/0"])
        #expect(
            told.happened([event(.retrying, attempt: 2), event(.running, attempt: 3, started: 50), event(.succeeded, attempt: 3, at: 60)])
                .isEmpty)
        #expect(told.stand([view(.succeeded, attempt: 3, started: 50, finished: 60)]).isEmpty)
    }

    /// As a member of a group that is tried again.
    @Test func whatBeginsAnewAfterItsEnd_isToldAgain() {
        var told = made()
        let events = told.happened([
            event(.failed, attempt: 1, started: 10, at: 20, worker: "h/0"), event(.queued, attempt: 1),
            event(.running, attempt: 2, started: 30, worker: "h/1"), event(.succeeded, attempt: 2, started: 30, at: 40),
            event(.queued, attempt: 2, at: 45), event(.cancelled, attempt: 2, at: 50),
        ])
        #expect(words(events) == ["10 running 1 h/0", "20 failed 1 h/0", "30 running 2 h/1", "40 succeeded 2 h/1", "50 cancelled 2 h/1"])
        var now = view(.running, attempt: 4, started: 70)
        now.earlierAttempts = [(UInt32(1), WireEarlierAttempt.Ending.failed), (2, .succeeded), (3, .cancelled)].map { number, ending in
            .with {
                ($0.number, $0.worker, $0.startedAt, $0.finishedAt, $0.ending) = (
                    number, "h/0", Int64(number) * 20, Int64(number) * 20 + 10, ending
                )
                $0.wasEnd = number > 1
            }
        }
        #expect(words(told.stand([now])) == ["60 running 3 h/0", "70 cancelled 3 h/0", "70 running 4 h/0"])
        var later = made()
        #expect(
            words(later.stand([now])) == [
                "20 running 1 h/0", "30 retrying 1 h/0", "40 running 2 h/0", "50 succeeded 2 h/0", "60 running 3 h/0", "70 cancelled 3 h/0",
                "70 running 4 h/0",
            ])
    }

    /// As after a restart of the coordinator in the second attempt of its group, and for who begins to follow then.
    @Test func endOfAnEarlierAttempt_isNotThatOfTheOneAfterIt() {
        var now = view(.running, attempt: 2, started: 30)
        now.earlierAttempts = [
            .with { ($0.number, $0.worker, $0.startedAt, $0.finishedAt, $0.ending, $0.wasEnd) = (1, "h/0", 10, 20, .succeeded, true) }
        ]
        var told = made()
        #expect(
            words(
                told.happened([
                    event(.succeeded, attempt: 1, started: 10, at: 20, worker: "h/0"),
                    event(.running, attempt: 2, started: 30, worker: "h/0"),
                ])) == ["10 running 1 h/0", "20 succeeded 1 h/0", "30 running 2 h/0"])
        #expect(told.stand([now]).isEmpty)
        #expect(told.happened([event(.succeeded, attempt: 1, started: 10, at: 20)]).isEmpty)
        #expect(words(told.happened([event(.failed, attempt: 2, started: 30, at: 40)])) == ["40 failed 2 h/0"])
        var newcomer = made()
        #expect(words(newcomer.stand([now])) == ["10 running 1 h/0", "20 succeeded 1 h/0", "30 running 2 h/0"])
        #expect(newcomer.stand([now]).isEmpty)
        #expect(words(newcomer.happened([event(.failed, attempt: 2, started: 30, at: 40)])) == ["40 failed 2 h/0"])
    }

    /// With its group, which is tried again: the first end did not count, and it does not begin again.
    @Test func endWithoutAnotherAttempt_isToldAfterThatOfTheLast() {
        var told = made()
        #expect(words(told.happened([event(.failed, attempt: 1, started: 10, at: 20)])) == ["10 running 1 ", "20 failed 1 "])
        var now = view(.cancelled, attempt: 1, started: 0, finished: 30)
        now.worker = ""
        now.earlierAttempts = [.with { ($0.number, $0.startedAt, $0.finishedAt, $0.ending, $0.wasEnd) = (1, 10, 20, .failed, true) }]
        #expect(words(told.stand([now])) == ["30 cancelled 1 "])
        #expect(told.stand([now]).isEmpty)
        #expect(told.happened([event(.cancelled, attempt: 1, at: 30)]).isEmpty)
    }

    /// It is held back by `willFinish`, or what it received begins anew: it goes on.
    @Test(arguments: [WireEarlierAttempt.Ending.succeeded, .cancelled])
    func endThatWasNotTheOperations_isNotTold(_ ending: WireEarlierAttempt.Ending) {
        var told = made()
        var now = view(.running, attempt: 1, started: 10)
        now.earlierAttempts = [.with { ($0.number, $0.worker, $0.startedAt, $0.finishedAt, $0.ending) = (1, "h/0", 10, 20, ending) }]
        #expect(words(told.stand([now])) == ["10 running 1 h/0"])
        #expect(words(told.happened([event(.succeeded, attempt: 1, started: 10, at: 30, worker: "h/0")])) == ["30 succeeded 1 h/0"])
        #expect(told.stand([now]).isEmpty)
    }

    @Test func groups_areNoOperations_andTheEndIsToldOnce() {
        var told = made()
        var group = event(.succeeded, attempt: 0, started: 5)
        group.group = true
        #expect(told.happened([group]).isEmpty)
        var groupView = view(.running, attempt: 1, started: 5)
        groupView.kind = .ordered
        #expect(told.stand([groupView]).isEmpty)
        let ended = WireSubmissionView.with {
            ($0.id, $0.state, $0.finishedAt) = ("id", .succeeded, 70)
        }
        #expect(words(told.ended(.with { $0.state = .running })).isEmpty)
        #expect(words(told.ended(ended)) == ["70 succeeded"])
        #expect(told.ended(ended).isEmpty)
    }

    @Test func lines_cannotRecolourATerminal() {
        let event = ClusterEvent(
            at: 1_700_000_000_000, id: "id", name: "n", subject: .operation(path: "a\u{1B}[31m", attempt: 2, worker: "h/0"),
            event: "failed",
            error: "x\u{1B}]0;y\u{7}\nz")
        let line = event.line(Style(isEnabled: false))
        #expect(line == "2023-11-14T22:13:20.000Z  id  failed     a␛[31m  attempt 2  (h/0): x ]0;y  z\n")
    }
}
