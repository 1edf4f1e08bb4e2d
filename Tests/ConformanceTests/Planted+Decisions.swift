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
