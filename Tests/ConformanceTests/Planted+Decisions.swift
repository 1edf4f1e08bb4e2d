import Conformance

extension Planted {
    private static func deciding(afterFailure: Bool? = nil) -> GraphPlan {
        var group = GroupPlan()
        group.decides = true
        return .of(
            group,
            [
                .leaf(),
                .leaf {
                    $0.cause = 1
                    $0.afterFailure = afterFailure
                },
            ])
    }
    private static let added = Seen.run(1) + Seen.run(2) + Seen.group(0)

    private static func producing(failures: Int = 0) -> GraphPlan {
        .of([
            .leaf(failures: failures) { $0.attempts = failures == 0 ? 2 : 1 },
            .leaf { $0.maker = 1 },
        ])
    }

    static let products: [Planted] = [
        Planted("producedWithItsSuccess", "what was produced is not there", producing(), added) {
            $0.removeAll { event in Seen.run(2).contains(event) }
        },
        Planted(
            "producedWithItsSuccess", "an attempt that fails has produced it", producing(failures: 9),
            Seen.fails(1) + Seen.group(0, .failure([.own(1)]))
        ) { $0.insert(contentsOf: Seen.run(2), at: $0.count - 2) },
        Planted("producedAfterItsMaker", "it begins while what has produced it runs", producing(), added) {
            $0.move(Seen.begins(2), before: Seen.value(1))
        },
    ]

    private static let list: GraphPlan = {
        var group = GroupPlan()
        group.isList = true
        return .of([.leaf(failures: 1), .group(group) { $0.producers = [1] }, .leaf(in: 2), .leaf(in: 2)])
    }()
    private static let succeedingList: GraphPlan = {
        var plan = list
        plan.nodes[1] = .leaf()
        return plan
    }()

    static let lists: [Planted] = [
        Planted(
            "oneChildPerElement", "an element has no child", succeedingList,
            Seen.run(1) + Seen.run(3) + Seen.run(4) + Seen.group(2) + Seen.group(0)
        ) { $0.removeAll { event in Seen.run(4).contains(event) } },
        Planted(
            "oneChildPerElement", "it fails with another error than its producer's", list,
            Seen.fails(1) + Seen.group(2, .failure([.own(1)])) + Seen.group(0, .failure([.own(1), .own(1)]))
        ) { events in
            events.tell(2, .failure([.own(2)]))
            events.tell(0, .failure([.own(1), .own(2)]))
        },
    ]

    static let decisions: [Planted] = [
        Planted("addedAfterItsCause", "it begins before its cause has ended", deciding(), added) {
            $0.move(Seen.begins(2), before: Seen.value(1))
        },
        Planted("whatIsDecidedIsDone", "what was decided is not done", deciding(), added) {
            $0.removeAll { event in Seen.run(2).contains(event) }
        },
        Planted(
            "whatIsDecidedIsDone", "it is added although nothing has failed", deciding(afterFailure: true), Seen.run(1) + Seen.group(0)
        ) { $0.insert(contentsOf: Seen.run(2), at: $0.count - 2) },
    ]
}
