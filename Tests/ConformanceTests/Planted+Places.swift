import Conformance

/// Where and when something may begin by what is told the cluster.
extension Planted {
    private static let hosts: [Event] = [.host("left", labels: ["left"], permits: 2), .host("right", labels: ["right"], permits: 2)]
    private static func needing(_ required: RequirementPlan) -> NodePlan { .leaf { $0.requires = required } }
    private static func placed(_ node: Int, _ host: String, _ permits: [Int]) -> Event {
        .placed(node, run: 1, host: host, permits: permits)
    }
    private static func runs(_ node: Int, _ host: String, _ permits: [Int]) -> [Event] {
        var events = Seen.run(node)
        events.insert(placed(node, host, permits), at: 2)
        return events
    }
    private static let labelled = GraphPlan.of([needing(.init(label: "left", permits: 1))])
    private static let permitted = GraphPlan.of([needing(.init(permits: 1)), needing(.init(permits: 1))])
    private static let together =
        hosts + [.told(1, .start), Seen.begins(1), placed(1, "left", [0])] + runs(2, "left", [1]) + [Seen.value(1)]
        + Seen.told(1, .success("n1#1")) + [.over(1)] + Seen.group(0)

    static let places: [Planted] = [
        Planted("placedWhereItBelongs", "its worker lacks the label", labelled, hosts + runs(1, "left", [0]) + Seen.group(0)) {
            $0.replace(placed(1, "left", [0]), with: placed(1, "right", [0]))
        },
        Planted("placedWhereItBelongs", "it has nothing of what it asks for", labelled, hosts + runs(1, "left", [0]) + Seen.group(0)) {
            $0.replace(placed(1, "left", [0]), with: placed(1, "left", []))
        },
        Planted("placedWhereItBelongs", "it has more than its host", labelled, hosts + runs(1, "left", [0]) + Seen.group(0)) {
            $0.replace(placed(1, "left", [0]), with: placed(1, "left", [2]))
        },
        Planted("permitsAreOnesOwn", "two have the same permit at once", permitted, together) {
            $0.replace(placed(2, "left", [1]), with: placed(2, "left", [0]))
        },
    ]

    private static let twice = {
        var plan = GraphPlan.of([.leaf()])
        plan.isSubmittedTwice = true
        return plan
    }()
    private static let value = Outcome.success("n1#1")
    private static let again =
        Seen.run(1) + Seen.group(0) + [.submittedAgain(isExisting: true), .toldAgain(0, .success("")), .toldAgain(1, value)]

    static let keys: [Planted] = [
        Planted("sameKeyIsTheSameSubmission", "the second one is a submission of its own", twice, again) {
            $0.replace(.submittedAgain(isExisting: true), with: .submittedAgain(isExisting: false))
        },
        Planted("sameKeyIsTheSameSubmission", "the second one ends otherwise", twice, again) {
            $0.replace(.toldAgain(1, value), with: .toldAgain(1, .cancelled(1)))
        },
    ]

    private static let pausable = GraphPlan.of([.leaf(), .leaf { $0.after = [1] }])
    private static let paused =
        [.told(1, .start), Seen.begins(1), .paused(0), Seen.value(1)] + Seen.told(1, .success("n1#1")) + [.over(1), .resumed(0)]
        + Seen.run(2) + Seen.group(0)
    private static let ordered = GraphPlan.of([
        .group(GroupPlan(isOrdered: true)), .leaf(in: 1), .leaf(in: 1),
    ])
    private static let orderedPause =
        [.told(2, .start), Seen.begins(2), .paused(1), Seen.value(2)] + Seen.told(2, .success("n2#1")) + [.over(2), .resumed(1)]
        + Seen.run(3) + Seen.group(1) + Seen.group(0)

    static let pauses: [Planted] = [
        Planted("nothingBeginsWhilePaused", "it begins before it is resumed", pausable, paused) {
            $0.move(Seen.begins(2), before: .resumed(0))
        },
        Planted("nothingBeginsWhilePaused", "the next in a paused group begins", ordered, orderedPause) {
            $0.move(Seen.begins(3), before: .resumed(1))
        },
    ]
}
