import Testing
import Wire

@testable import Coordinator
@testable import Scheduling

/// Blockers on the wire.
@Suite struct ExplanationWireTests {
    private let other = BlockingUnit(unit: UnitID(rawValue: 5), operation: "s/a", state: .running, worker: "h/0")

    private func wire(_ blocker: Blocker) -> WireBlocker {
        Explanation(
            submission: "s", unit: 1, path: "b", kind: .operation, type: "t", state: .blocked, since: 0, blockers: [blocker],
            moreBlockers: 0, causes: [], history: [], inside: [], moreInside: 0, isInsidePartial: false, view: nil, at: 10_000
        ).wire.blockers[0]
    }

    @Test func everyKind_hasItsNameItsTextAndWhatItIsAbout() {
        let lock = LockView(key: "db", limit: 1, scope: "", holders: [], holderCount: 0, waiting: [], waitingCount: 0)
        let verdict = Verdict(condition: 0, finding: .notNow(until: 20_000), reason: "closed", at: 5_000)
        let taker = SlotWait.Taker(number: WorkerNumber(0), worker: "h/0", slots: 2, taken: 2, obstacle: .full)
        let all: [(Blocker, String, (WireBlocker) -> Bool)] = [
            (.dependency(other), "dependency", { $0.operation == "s/a" && $0.state == "running" && $0.worker == "h/0" }),
            (.delivery(other, of: .begin), "delivery", { $0.stage == "begin" && $0.operation == "s/a" }),
            (.order(other), "order", { $0.operation == "s/a" }), (.group(other), "group", { $0.operation == "s/a" }),
            (
                .maxConcurrent(PlaceWait(group: other, limit: 3, taken: 3, ahead: 2)), "maxConcurrent",
                { $0.limit == 3 && $0.taken == 3 && $0.ahead == 2 }
            ),
            (.delay(until: 20_000), "delay", { $0.until == 20_000 }),
            (.paused(other, since: 4_000), "paused", { $0.since == 4_000 && $0.remedy == "`aop resume s/a` lets it go on" }),
            (.lock(LockWait(lock: lock, ahead: 4)), "lock", { $0.lock.key == "db" && $0.ahead == 4 }),
            (
                .condition(ConditionWait(key: "TimeWindow", stage: .notNow(verdict, ahead: 0))), "condition",
                { $0.condition == "TimeWindow" && $0.stage == "notNow" && $0.verdict.reason == "closed" && $0.until == 20_000 }
            ),
            (.join(other, uniqueID: "u"), "join", { $0.uniqueID == "u" && $0.operation == "s/a" }),
            (
                .worker(WorkerWait(reason: .version(3, of: "t"), operation: "s/b", absent: [WorkerWait.Absentee(worker: "h/1")])), "worker",
                { $0.missing == "version" && $0.absent == ["h/1"] && $0.remedy == "start a worker with version 3 of `t`" }
            ),
            (
                .slots(SlotWait(takers: [taker], takerCount: 1, ahead: 7, runsAlone: false)), "slots",
                { $0.takers.map(\.obstacle) == ["full"] && $0.ahead == 7 }
            ),
            (
                .retry(RetryWait(attempt: 2, attemptsMax: 3, until: 20_000, failure: nil, decidedBy: nil)), "retry",
                { $0.attempt == 2 && $0.attempts == 3 && $0.until == 20_000 }
            ),
            (.submitter(SubmitterWait(name: "h/9", until: 20_000)), "submitter", { $0.worker == "h/9" && $0.until == 20_000 }),
            (
                .stopping(StopWait(reason: "cancelled", since: 3_000, running: other, open: 2, until: 0)), "stopping",
                { $0.since == 3_000 && $0.open == 2 && $0.remedy == "`aop cancel s/b --now` ends it without grace" }
            ),
            (
                .pausing(PauseWait(unit: other, since: 4_000, workers: ["h/0"])), "pausing",
                { $0.since == 4_000 && $0.operation == "s/a" && $0.worker == "h/0" && $0.text.contains("6 s ago") }
            ),
            (.value("large"), "value", { $0.text == "has ended, and waits: large" }),
            (.partialResults("full"), "partialResults", { $0.text == "runs, and is held back: full" }),
        ]
        #expect(Set(all.map(\.0.kind)) == Set(Blocker.Kind.allCases))
        for (blocker, kind, holds) in all {
            let wire = wire(blocker)
            #expect(wire.kind == kind && !wire.text.isEmpty && holds(wire), "\(wire)")
        }
    }

    /// Others have the error of the last one, or none.
    @Test func errors_areThoseOfTheLastCause_andOfEachOfSeveralConditions() {
        func cause(_ unit: Int, _ link: Cause.Link, _ message: String) -> Cause {
            Cause(
                unit: UnitID(rawValue: UInt64(unit)), operation: "s/\(unit)", link: link, at: 1, text: message,
                failure: Failure(code: .condition, message: message), condition: nil, attempts: unit)
        }
        let explanation = Explanation(
            submission: "s", unit: 1, path: "b", kind: .operation, type: "t", state: .failed, since: 0, blockers: [], moreBlockers: 0,
            causes: [
                cause(1, .itself, "of all"), cause(2, .child, "one"), cause(2, .itself, "two"), cause(3, .dependency, "inner"),
                cause(4, .producer, "origin"),
            ], history: [], inside: [], moreInside: 0, isInsidePartial: false, view: nil, at: 10_000)
        #expect(explanation.wire.causes.map { $0.hasFailure ? $0.failure.message : "" } == ["", "one", "two", "", "origin"])
        #expect(explanation.wire.causes.map(\.attempts) == [1, 2, 2, 3, 4])
    }

    @Test func keysThatKeepWorkersOut_areNamed() {
        for (bar, name) in [(WorkerBar.revoked, "revoked"), (.limited, "limited")] {
            let wait = WorkerWait(
                reason: .barred(worker: "h/1", bar, since: 4_000, others: 0), operation: "", absent: [WorkerWait.Absentee(worker: "h/2")])
            let wire = wire(.worker(wait))
            #expect(
                wire.missing == name && wire.worker == "h/1" && wire.since == 4_000 && wire.until == 0 && wire.absent == ["h/2"], "\(wire)")
        }
    }
}
