import Conformance

extension Planted {
    // MARK: Conditions made of others

    private static func said(_ verdicts: Verdict...) -> [Event] {
        verdicts.enumerated().map { .judged(1, condition: $0.offset, $0.element) }
    }
    private static func leaf(_ condition: ConditionPlan) -> GraphPlan { .of([.leaf { $0.conditions = [condition] }]) }
    private static func scripted(_ verdict: Verdict) -> ConditionPlan { .scripted([verdict], isNegated: false) }
    private static let either = leaf(.any([scripted(.no), scripted(.yes)]))
    private static let both = leaf(.all([scripted(.no), scripted(.no)]))
    private static let several = Outcome.failure([Fault(.severalRefuse, by: "AndCondition", isOfCondition: true)])
    private static let quiet = leaf(.ignored(.silent(scripted(.no))))

    static let madeConditions: [Planted] = [
        Planted("judgedBeforeEachRun", "it runs, and no alternative holds", either, said(.no, .yes) + Seen.run(1) + Seen.group(0)) {
            $0[1] = .judged(1, condition: 1, .notNow)
        },
        Planted(
            "judgedBeforeEachRun", "it runs although what it negates holds", leaf(.not(.all([scripted(.yes), scripted(.no)]))),
            said(.yes, .no) + Seen.run(1) + Seen.group(0)
        ) { $0[1] = .judged(1, condition: 1, .notNow) },
        Planted(
            "conditionErrorsInOrder", "one of several errors stands for all", both,
            said(.no, .no) + Seen.told(1, several) + [.over(1)] + Seen.group(0, several)
        ) {
            $0.tell(1, .failure([.refused(1)]))
            $0.tell(0, .failure([.refused(1)]))
        },
        Planted(
            "cancellationHasACause", "it is cancelled although its condition holds", quiet,
            said(.no) + Seen.neverBegins(1) + Seen.group(0, .failure([.cancelled(1)]))
        ) { $0[0] = .judged(1, condition: 0, .yes) },
    ]

    // MARK: Closures of the program

    private static let held = GraphPlan.of([.leaf { $0.holdsEnd = true }])
    private static let heldRuns =
        [.told(1, .start), Seen.begins(1), Seen.value(1), .held(1, .success("n1#1")), .letGo(1)]
        + Seen.told(1, .success("n1#1")) + [.over(1)] + Seen.group(0)
    private static let asked = GraphPlan.of([
        .leaf(failures: 9) {
            $0.attempts = 2
            $0.asksAboutRetry = true
        }
    ])
    private static let askedRuns =
        [
            .told(1, .start), Seen.begins(1), Seen.failure(1), .retryAsked(1, retries: 0, .own(1), again: true), Seen.begins(1, run: 2),
            Seen.failure(1, run: 2), .retryAsked(1, retries: 1, .own(1, run: 2), again: false),
        ] + Seen.told(1, .failure([.own(1, run: 2)])) + [.over(1)] + Seen.group(0, .failure([.own(1, run: 2)]))

    static let says: [Planted] = [
        Planted("heldBeforeItIsTold", "its end is told before willFinish lets go", held, heldRuns) {
            $0.move(.told(1, .finish(.success("n1#1"))), before: .letGo(1))
        },
        Planted("heldOnce", "willFinish is called twice", held, heldRuns) {
            $0.insert(.held(1, .success("n1#1")), at: 3)
        },
        Planted("heldOnce", "willFinish is not called", held, heldRuns) { $0.removeAll { $0 == .held(1, .success("n1#1")) } },
        Planted("askedAfterEachFailure", "nobody is asked about the last failure", asked, askedRuns) {
            $0.removeAll { $0 == .retryAsked(1, retries: 1, .own(1, run: 2), again: false) }
        },
        Planted("askedAfterEachFailure", "it is asked twice about one failure", asked, askedRuns) {
            $0.insert(.retryAsked(1, retries: 0, .own(1), again: true), at: 4)
        },
    ]
}
