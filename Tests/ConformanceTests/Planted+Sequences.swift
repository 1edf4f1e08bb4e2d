import Conformance

/// Sequences, and operations that make others.
extension Planted {
    private static func sequence(_ kind: SequencePlan, _ steps: [NodePlan]) -> GraphPlan {
        var group = GroupPlan()
        group.sequence = kind
        return .of(group, steps)
    }
    private static func next(after cause: Int = 1, isFailure: Bool? = nil, failures: Int = 0) -> NodePlan {
        .leaf(failures: failures) {
            $0.cause = cause
            $0.afterFailure = isFailure
        }
    }
    private static let timeout = Outcome.failure([Fault(.timeout, by: "n1")])
    private static let stopped = Event.ended(1, run: 1, .stopped)

    static let sequences: [Planted] = [
        Planted("sequencesBegin", "it succeeds without a step", sequence(.steps, [.leaf()]), Seen.run(1) + Seen.group(0)) {
            $0.removeAll { event in Seen.run(1).contains(event) }
        },
        Planted(
            "groupsOutcome", "it fails with what its last step has dealt with",
            sequence(.steps, [.leaf(failures: 9), next(isFailure: true)]), Seen.fails(1) + Seen.run(2) + Seen.group(0)
        ) { $0.tell(0, .failure([.own(1)])) },
        Planted(
            "groupsErrors", "it fails with the errors of its last step alone",
            sequence(.steps, [.leaf(failures: 9), next(failures: 9)]),
            Seen.fails(1) + Seen.fails(2) + Seen.group(0, .failure([.own(1), .own(2)]))
        ) { $0.tell(0, .failure([.own(2)])) },
        Planted(
            "whatIsDecidedIsDone", "a line goes on after a failed step",
            sequence(.linear, [.leaf(failures: 9), next(isFailure: false, failures: 9)]),
            Seen.fails(1) + Seen.group(0, .failure([.own(1)]))
        ) {
            $0.insert(contentsOf: Seen.fails(2), at: $0.count - 2)
            $0.tell(0, .failure([.own(1), .own(2)]))
        },
        Planted(
            "whatIsDecidedIsDone", "another attempt after a cancelled one",
            sequence(.retry, [.leaf(), next(isFailure: true, failures: 9)]),
            [.cancelAsked(1)] + Seen.neverBegins(1) + Seen.group(0, .failure([.cancelled(1)]))
        ) {
            $0.insert(contentsOf: Seen.fails(2), at: $0.count - 2)
            $0.tell(0, .failure([.own(2), .cancelled(1)]))
        },
        Planted(
            "addedAfterItsCause", "a step begins while the body of the one before runs, which was stopped",
            sequence(.steps, [.leaf { $0.hasTimeout = true }, next()]),
            [.told(1, .start), Seen.begins(1)] + Seen.told(1, timeout) + [stopped, .over(1)] + Seen.run(2) + Seen.group(0)
        ) { $0.move(Seen.begins(2), before: stopped) },
    ]

    private static func wrapper(failures: Int = 0) -> GraphPlan {
        .of([NodePlan(.wrapper, in: 0), .leaf(failures: failures, in: 1), .leaf(in: 1) { $0.producers = [2] }])
    }
    private static let value = Outcome.success("n3#1(n2#1)")
    private static let wrapped =
        [.told(1, .start), .generated(1, nil)] + Seen.run(2) + Seen.run(3, received: .value("n2#1")) + Seen.told(1, value)
        + [.over(1)] + Seen.group(0)
    private static let dealtWith =
        [.told(1, .start), .generated(1, nil)] + Seen.fails(2) + Seen.run(3, received: .failure(.own(2)))
        + Seen.told(1, .success("n3#1(-)")) + [.over(1)] + Seen.group(0)
    private static let receiving = GraphPlan.of([
        .leaf(),
        {
            var node = NodePlan(.wrapper, in: 0)
            node.producers = [1]
            return node
        }(), .leaf(in: 2),
    ])
    private static let receivingRuns =
        Seen.run(1) + [.told(2, .start), .generated(2, .value("n1#1"))] + Seen.run(3) + Seen.told(2, .success("n3#1")) + [.over(2)]
        + Seen.group(0)

    static let wrappers: [Planted] = [
        Planted("wrapperEndsAsItsPart", "it has the value of the beginning of its chain", wrapper(), wrapped) {
            $0.tell(1, .success("n2#1"))
        },
        Planted("wrapperEndsAsItsPart", "it fails with what the end of its chain has dealt with", wrapper(failures: 9), dealtWith) {
            $0.tell(1, .failure([.own(2)]))
            $0.tell(0, .failure([.own(2)]))
        },
        Planted("wrapperEndsLast", "it ends before what it has made", wrapper(), wrapped) {
            $0.move(.told(1, .finish(value)), before: .told(3, .finish(value)))
        },
        Planted("generatedOnce", "it makes its operation twice", wrapper(), wrapped) { $0.insert(.generated(1, nil), at: 2) },
        Planted("generatedOnce", "it has received nothing", receiving, receivingRuns) {
            $0.replace(.generated(2, .value("n1#1")), with: .generated(2, nil))
        },
    ]
}
