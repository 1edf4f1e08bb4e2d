import Conformance

/// Times before the start, and what must not run twice.
extension Planted {
    /// The same with what the place's clock showed at each beginning and end.
    private static func at(_ milliseconds: Int, _ events: [Event]) -> [Event] {
        events.flatMap { event -> [Event] in
            switch event {
            case .made, .started, .ended: [.clock(milliseconds), event]
            default: [event]
            }
        }
    }

    private static let delayed = GraphPlan.of([
        .leaf(),
        .leaf {
            $0.after = [1]
            $0.start = .delay(10)
        },
    ])
    private static let dated = GraphPlan.of([.leaf { $0.start = .notBefore(20) }])
    private static let waiting = GraphPlan.of([.leaf { $0.hasQueueTimeout = true }])
    private static let impatient = GraphPlan.of([.leaf { $0.hasTimeout = true }])
    private static let queueTimeout = Outcome.failure([Fault(.queueTimeout, by: "n1")])
    private static let timeout = Outcome.failure([Fault(.timeout, by: "n1")])

    private static let refusedFirst = GraphPlan.of([
        .leaf(failures: 1),
        .leaf {
            $0.producers = [1]
            $0.attempts = 2
            $0.start = .delay(10)
            $0.conditions = [.scripted([.no, .yes], isNegated: false)]
        },
    ])
    private static let receives = Received.value("n1#2")
    private static let refusedFirstRuns =
        at(100, [.made(isHere: true), .told(1, .start), Seen.begins(1), Seen.failure(1)]) + [.judged(2, condition: 0, .no)]
        + at(114, [Seen.begins(1, run: 2), Seen.value(1, run: 2)] + Seen.told(1, .success("n1#2"))) + [.over(1)]
        + [.judged(2, condition: 0, .yes)] + at(115, Seen.run(2, received: receives)) + Seen.group(0)

    static let times: [Planted] = [
        Planted("notBeforeItsTime", "what is refused first does not wait the first time", refusedFirst, refusedFirstRuns) {
            $0.replace(.clock(115), with: .clock(108))
        },
        Planted(
            "notBeforeItsTime", "it begins before its delay is over", delayed,
            at(100, [.made(isHere: true)]) + at(103, Seen.run(1)) + at(113, Seen.run(2)) + Seen.group(0)
        ) { $0.replace(.clock(113), with: .clock(109)) },
        Planted(
            "notBeforeItsTime", "its delay counts from the beginning, not from what it waits for", delayed,
            at(100, [.made(isHere: true)]) + at(140, Seen.run(1)) + at(150, Seen.run(2)) + Seen.group(0)
        ) { $0.replace(.clock(150), with: .clock(141)) },
        Planted(
            "notBeforeItsTime", "it begins before its date", dated, at(100, [.made(isHere: true)]) + at(120, Seen.run(1)) + Seen.group(0)
        ) {
            $0.replace(.clock(120), with: .clock(110))
        },
        Planted(
            "queueTimeoutIsBeforeTheStart", "it is timed out before its start, and runs", waiting,
            Seen.told(1, queueTimeout) + [.over(1)] + Seen.group(0, queueTimeout)
        ) { $0.insert(contentsOf: [.told(1, .start), Seen.begins(1), .ended(1, run: 1, .stopped)], at: 0) },
        Planted(
            "limitsAreDeclared", "it waits for its start no longer than for its body", impatient,
            Seen.told(1, timeout) + [.over(1)] + Seen.group(0, timeout)
        ) {
            $0.tell(1, queueTimeout)
            $0.tell(0, queueTimeout)
        },
    ]

    private static let once = GraphPlan.of([
        .leaf {
            $0.isAtMostOnce = true
            $0.conditions = [.scripted([.yes, .no], isNegated: false)]
        }
    ])
    private static let lost = Outcome.failure([Fault(.workerLost, by: "n1")])
    private static let beginning: [Event] = [.judged(1, condition: 0, .yes), .told(1, .start), Seen.begins(1)]
    private static let lostRun = beginning + [.killed(process: "p")] + Seen.told(1, lost) + [.over(1)] + Seen.group(0, lost)

    static let losses: [Planted] = [
        Planted("atMostOnceIsTriedOnce", "it runs again elsewhere", GraphPlan.of([.leaf { $0.isAtMostOnce = true }]), lostRun) {
            $0.replace(
                .killed(process: "p"), with: .killed(process: "p"), Seen.begins(1, run: 2, in: "q"), Seen.value(1, run: 2))
            $0.tell(1, .success("n1#2"))
            $0.tell(0, .success(""))
        },
        Planted("atMostOnceIsTriedOnce", "its condition is asked about another attempt", once, lostRun) {
            $0.replace(.killed(process: "p"), with: .killed(process: "p"), .judged(1, condition: 0, .no))
            $0.tell(1, .failure([.refused(1)]))
            $0.tell(0, .failure([.refused(1)]))
        },
        Planted(
            "lostWithItsWorkerOnly", "it is lost with another one's worker", once,
            beginning + [Seen.value(1), .killed(process: "q")] + Seen.told(1, .success("n1#1")) + [.over(1)] + Seen.group(0)
        ) {
            $0.tell(1, lost)
            $0.tell(0, lost)
        },
    ]
}
