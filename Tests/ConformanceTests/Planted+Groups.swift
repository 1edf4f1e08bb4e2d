import Conformance

extension Planted {
    private static let two = GraphPlan.of([.leaf(failures: 9), .leaf(failures: 9)])
    private static let twoFail = Seen.fails(1) + Seen.fails(2) + Seen.group(0, .failure([.own(1), .own(2)]))
    private static let ordered = GraphPlan.of(GroupPlan(isOrdered: true), [.leaf(), .leaf()])
    private static let stopping = GraphPlan.of(GroupPlan(isOrdered: true, stops: true), [.leaf(failures: 9), .leaf()])
    private static let both = Seen.run(1) + Seen.run(2) + Seen.group(0)
    private static let refusedGroup = GraphPlan.of([
        .group { $0.conditions = [.scripted([.no], isNegated: false)] }, .leaf(in: 1) { $0.hasDeadline = true },
    ])

    static let groups: [Planted] = [
        Planted("groupsOutcome", "a group succeeds with a failed child", two, twoFail) { $0.tell(0, .success("")) },
        Planted("groupsOutcome", "a group fails although its children succeeded", ordered, both) {
            $0.tell(0, .failure([.own(1)]))
        },
        Planted(
            "groupsErrors", "errors in the order of the ends, not of the children", two,
            Seen.fails(2) + Seen.fails(1) + Seen.group(0, .failure([.own(1), .own(2)]))
        ) {
            $0.tell(0, .failure([.own(2), .own(1)]))
        },
        Planted("groupsErrors", "an error is left out", two, twoFail) { $0.tell(0, .failure([.own(1)])) },
        Planted(
            "groupsErrors", "what its own stop has cancelled is among the errors", stopping,
            Seen.fails(1) + Seen.neverBegins(2) + Seen.group(0, .failure([.own(1)]))
        ) {
            $0.tell(0, .failure([.own(1), .cancelled(2)]))
        },
        Planted("groupEndsLast", "a group ends before its last child's listeners", two, twoFail) {
            $0.move(.told(0, .finish(.failure([.own(1), .own(2)]))), before: .told(2, .finish(.failure([.own(2)]))))
        },
        Planted("orderedOneByOne", "the next child begins before the previous has ended", ordered, both) {
            $0.move(Seen.begins(2), before: Seen.value(1))
        },
        Planted(
            "stopEndsTheOrder", "a step after a failed one", stopping,
            Seen.fails(1) + Seen.neverBegins(2) + Seen.group(0, .failure([.own(1)]))
        ) {
            $0.removeAll { $0 == .told(2, .cancel) }
            $0.insert(contentsOf: [.told(2, .start), Seen.begins(2), Seen.value(2)], at: 6)
            $0.tell(2, .success("n2#1"))
        },
        Planted(
            "nothingInsideBegins", "a child of a group that was refused ends by its own deadline", refusedGroup,
            [.judged(1, condition: 0, .no)] + Seen.neverBegins(2) + Seen.group(1, .failure([.refused(1)]))
                + Seen.group(0, .failure([.refused(1)]))
        ) {
            $0.tell(2, .failure([Fault(.deadline, by: "n2")]))
        },
        Planted("membersAtOnce", "more children than the group allows", .of(GroupPlan(limit: 1), [.leaf(), .leaf()]), both) {
            $0.move(Seen.begins(2), before: Seen.value(1))
        },
        Planted("slots", "more at once than there are slots", GraphPlan(nodes: GraphPlan.of([.leaf(), .leaf()]).nodes, slots: 1), both) {
            $0.move(Seen.begins(2), before: Seen.value(1))
        },
    ]

    private static let waiting = GraphPlan.of([.leaf(), .leaf { $0.after = [1] }])
    private static let fanIn = GraphPlan.of([.leaf(), .leaf(failures: 9), .leaf(failures: 9), .leaf { $0.producers = [1, 3, 2] }])
    private static let fanInRuns =
        Seen.run(1) + Seen.fails(2) + Seen.fails(3) + Seen.run(4, received: .failure(.own(3)))
        + Seen.group(0, .failure([.own(2), .own(3)]))
    private static let chain = GraphPlan.of([.leaf(), .leaf { $0.producers = [1] }])

    static let orders: [Planted] = [
        Planted("predecessorsEndFirst", "it does not wait for what it depends on", waiting, both) {
            $0.move(Seen.begins(2), before: Seen.value(1))
        },
        Planted("receivedIsDelivered", "the first failure in time, not in declared order", fanIn, fanInRuns) {
            $0.replace(Seen.begins(4, received: .failure(.own(3))), with: Seen.begins(4, received: .failure(.own(2))))
        },
        Planted(
            "receivedIsDelivered", "a receiver has received nothing", chain,
            Seen.run(1) + Seen.run(2, received: .value("n1#1")) + Seen.group(0)
        ) {
            $0.replace(Seen.begins(2, received: .value("n1#1")), with: Seen.begins(2))
        },
    ]
}
