import Conformance

extension Planted {
    private static let one = GraphPlan.of([.leaf()])
    private static let oneRuns = Seen.run(1) + Seen.group(0)
    private static let failing = GraphPlan.of([.leaf(failures: 9)])
    private static let failingRuns = Seen.fails(1) + Seen.group(0, .failure([.own(1)]))

    static let outcomes: [Planted] = [
        Planted("oneOutcome", "an operation is told two ends", one, oneRuns) { $0.append(.told(1, .finish(.success("n1#1")))) },
        Planted("oneOutcome", "an operation is never told its end", one, oneRuns) {
            $0.removeAll { $0 == .told(1, .result(.success("n1#1"))) }
        },
        Planted("listenersInOrder", "the start is told after the end", one, oneRuns) {
            $0.move(.told(1, .start), before: .told(1, .result(.success("n1#1"))))
        },
        Planted("startIsTold", "a start is not told", one, oneRuns) { $0.removeAll { $0 == .told(1, .start) } },
        Planted("successIsTheBodys", "the value is another run's", one, oneRuns) { $0.tell(1, .success("n1#2")) },
        Planted("successIsTheBodys", "a failed body's operation succeeds", failing, failingRuns) {
            $0.tell(1, .success("n1#1"))
            $0.tell(0, .success(""))
        },
        Planted("failureIsTheBodys", "an error from nowhere", failing, failingRuns) {
            let strange = Outcome.failure([Fault(.own("n1!7"), by: "n1")])
            $0.tell(1, strange)
            $0.tell(0, strange)
        },
        Planted("limitsAreDeclared", "a timeout that the operation does not have", failing, failingRuns) {
            let timeout = Outcome.failure([Fault(.timeout, by: "n1")])
            $0.tell(1, timeout)
            $0.tell(0, timeout)
        },
        Planted("lossNeedsALoss", "a lost worker that was not lost", failing, failingRuns) {
            let lost = Outcome.failure([Fault(.workerLost, by: "n1")])
            $0.tell(1, lost)
            $0.tell(0, lost)
        },
        Planted(
            "cancellationHasACause", "an operation that nobody has cancelled", one,
            [.cancelAsked(1)] + Seen.neverBegins(1) + Seen.group(0, .failure([.cancelled(1)]))
        ) {
            $0.removeFirst()
        },
        Planted("cancellationHasACause", "finished first, cancelled later", one, oneRuns + [.cancelAsked(1)]) {
            $0.tell(1, .cancelled(1))
            $0.tell(0, .failure([.cancelled(1)]))
        },
        Planted(
            "cancelledNamesItself", "a cancelled group with its child's error", one,
            [.cancelAsked(0)] + Seen.neverBegins(1) + Seen.group(0, .cancelled(0))
        ) { $0.tell(0, .cancelled(1)) },
        Planted(
            "cancelledNeverBegins", "a body that begins after the cancellation", one,
            [.cancelAsked(1), .cancelInForce(1)] + Seen.neverBegins(1) + Seen.group(0, .failure([.cancelled(1)]))
        ) { $0.insert(contentsOf: [Seen.begins(1), .ended(1, run: 1, .stopped)], at: 2) },
        Planted("nothingAfterTheEnd", "a body that goes on when its end was told to all", one, oneRuns) {
            $0.move(.over(1), before: Seen.value(1))
        },
        Planted(
            "everyBodyEnds", "a body without an end", one,
            [.cancelAsked(0), Seen.begins(1), .ended(1, run: 1, .stopped)] + Seen.neverBegins(1) + Seen.group(0, .cancelled(0))
        ) {
            $0.removeAll { $0 == .ended(1, run: 1, .stopped) }
        },
        Planted("errorsKeepTheirOrigin", "a forwarded error is published anew", failing, failingRuns) {
            let renamed = Fault(.own("n1!1"), by: "n0")
            $0.replace(Seen.failure(1), with: .ended(1, run: 1, .failure(renamed)))
            $0.tell(1, .failure([renamed]))
            $0.tell(0, .failure([renamed]))
        },
    ]

    private static let retried = GraphPlan.of([.leaf(failures: 1) { $0.attempts = 2 }])
    private static let retriedRuns =
        [.told(1, .start), Seen.begins(1), Seen.failure(1), Seen.begins(1, run: 2), Seen.value(1, run: 2)]
        + Seen.told(1, .success("n1#2")) + [.over(1)] + Seen.group(0)

    static let attempts: [Planted] = [
        Planted("attemptsDoNotOverlap", "an attempt begins while the last one's body runs", retried, retriedRuns) {
            $0.move(Seen.begins(1, run: 2), before: Seen.failure(1))
        },
        Planted("attemptsAreLimited", "an attempt too many", retried, retriedRuns) {
            $0.insert(contentsOf: [Seen.begins(1), Seen.failure(1)], at: 1)
        },
        Planted("failureIsTheLastAttempts", "a failure that was to be tried again", retried, retriedRuns) {
            $0.removeAll { $0 == Seen.begins(1, run: 2) || $0 == Seen.value(1, run: 2) }
            $0.tell(1, .failure([.own(1)]))
            $0.tell(0, .failure([.own(1)]))
        },
        Planted("onlyFailuresAreTriedAgain", "a success that is tried again", retried, retriedRuns) {
            $0.replace(Seen.failure(1), with: Seen.value(1))
        },
    ]

    static let all =
        outcomes + attempts + groups + orders + conditions + madeConditions + says + streams + decisions + sequences + wrappers
        + scopes + locks + times + losses + places + pauses + products + keys + lists + groupAttempts + besideAttempts
}
