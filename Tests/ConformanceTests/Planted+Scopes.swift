import Conformance

/// Nets that are tried again as a whole.
extension Planted {
    private static let two = GraphPlan.of([
        .leaf(failures: 1),
        .leaf {
            $0.producers = [1]
            $0.attempts = 2
        },
    ])

    private static let three = GraphPlan.of([
        .leaf(failures: 2),
        .leaf { $0.producers = [1] },
        .leaf(failures: 2) {
            $0.producers = [2]
            $0.attempts = 3
        },
    ])

    /// What `three` does, if its end receives this the second time.
    private static func threeRuns(second: String) -> [Event] {
        let ends: [Received] = [.failure(.own(1)), .failure(.own(1, run: 2)), .value("n1#3")]
        let middle: [Received] = [.value("n2#1(-)"), .value(second), .value("n2#3(n1#3)")]
        var events: [Event] = [.told(1, .start), .told(2, .start), .told(3, .start)]
        for run in 1...3 {
            events += [Seen.begins(1, run: run), run < 3 ? Seen.failure(1, run: run) : Seen.value(1, run: run)]
            events += [Seen.begins(2, run: run, received: ends[run - 1]), Seen.value(2, run: run, received: ends[run - 1])]
            events += [Seen.begins(3, run: run, received: middle[run - 1])]
            events += [run < 3 ? Seen.failure(3, run: run) : Seen.value(3, run: run, received: middle[run - 1])]
        }
        events += Seen.told(1, .success("n1#3")) + Seen.told(2, .success("n2#3(n1#3)")) + Seen.told(3, .success("n3#3(n2#3(n1#3))"))
        return events + [.over(1), .over(2), .over(3)] + Seen.group(0)
    }

    static let scopes: [Planted] = [
        Planted(
            "scopeBeginsAnew", "the end is tried again alone", two,
            [
                .told(1, .start), Seen.begins(1), Seen.failure(1), .told(2, .start), Seen.begins(2, received: .failure(.own(1))),
                .ended(2, run: 1, .failure(.own(1))), Seen.begins(1, run: 2), Seen.value(1, run: 2),
                Seen.begins(2, run: 2, received: .value("n1#2")), Seen.value(2, run: 2, received: .value("n1#2")),
            ] + Seen.told(1, .success("n1#2")) + Seen.told(2, .success("n2#2(n1#2)")) + [.over(1), .over(2)] + Seen.group(0)
        ) {
            $0.removeAll { $0 == Seen.begins(1, run: 2) || $0 == Seen.value(1, run: 2) }
            $0.replace(
                Seen.begins(2, run: 2, received: .value("n1#2")), with: Seen.begins(2, run: 2, received: .failure(.own(1))))
            $0.replace(Seen.value(2, run: 2, received: .value("n1#2")), with: Seen.value(2, run: 2, received: .failure(.own(1))))
            $0.tell(1, .failure([.own(1)]))
            $0.tell(2, .success("n2#2(-)"))
            $0.tell(0, .failure([.own(1)]))
        },
        Planted(
            "receivedIsOfTheLastAttempt", "the end receives what does not count any more", three,
            threeRuns(second: "n2#2(-)")
        ) { $0 = threeRuns(second: "n2#1(-)") },
        Planted("onlyFailuresAreTriedAgain", "a success above the failed one is tried again", three, threeRuns(second: "n2#2(-)")) {
            $0.replace(Seen.failure(1, run: 2), with: Seen.value(1, run: 2))
        },
    ]
}
