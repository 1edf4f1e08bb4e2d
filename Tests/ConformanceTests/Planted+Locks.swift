import Conformance

extension Planted {
    private static let guarded = GraphPlan.of([
        .leaf { $0.conditions = [.scripted([.yes], isNegated: false), .scripted([.no], isNegated: false)] }
    ])
    private static let refusals: [Event] = [.judged(1, condition: 0, .no), .judged(1, condition: 1, .no)]
    private static let guardedEnds =
        refusals + Seen.told(1, .failure([.refused(1), .refused(1, condition: 1)])) + [.over(1)]
        + Seen.group(0, .failure([.refused(1), .refused(1, condition: 1)]))
    private static let allowed = GraphPlan.of([.leaf { $0.conditions = [.scripted([.yes], isNegated: false)] }])
    private static let retried = GraphPlan.of([
        .leaf(failures: 1) {
            $0.conditions = [.scripted([.yes], isNegated: false)]
            $0.attempts = 2
        }
    ])
    private static let dependent = GraphPlan.of([
        .leaf(failures: 9),
        .leaf {
            $0.after = [1]
            $0.conditions = [.noFailedDependencies]
        },
    ])
    private static let fault = Fault(.failedDependencies, by: "NoFailedDependencies", isOfCondition: true)

    static let conditions: [Planted] = [
        Planted(
            "judgedBeforeEachRun", "it runs against its condition", allowed, [.judged(1, condition: 0, .yes)] + Seen.run(1) + Seen.group(0)
        ) {
            $0[0] = .judged(1, condition: 0, .notNow)
        },
        Planted(
            "judgedBeforeEachRun", "the next attempt is not judged", retried,
            [
                .judged(1, condition: 0, .yes), .told(1, .start), Seen.begins(1), Seen.failure(1), .judged(1, condition: 0, .yes),
                Seen.begins(1, run: 2), Seen.value(1, run: 2),
            ] + Seen.told(1, .success("n1#2")) + [.over(1)] + Seen.group(0)
        ) { $0.remove(at: 4) },
        Planted("conditionErrorsInOrder", "errors in the order of the answers", guarded, guardedEnds) {
            $0.tell(1, .failure([.refused(1, condition: 1), .refused(1)]))
            $0.tell(0, .failure([.refused(1, condition: 1), .refused(1)]))
        },
        Planted("conditionErrorsInOrder", "the second condition is not asked", guarded, guardedEnds) {
            $0.remove(at: 1)
            $0.tell(1, .failure([.refused(1)]))
            $0.tell(0, .failure([.refused(1)]))
        },
        Planted(
            "dependencyConditions", "it runs after a failure that it does not allow", dependent,
            Seen.fails(1) + Seen.told(2, .failure([fault])) + [.over(2)] + Seen.group(0, .failure([.own(1), fault]))
        ) {
            $0.insert(contentsOf: [.told(2, .start), Seen.begins(2), Seen.value(2)], at: 6)
            $0.tell(2, .success("n2#1"))
            $0.tell(0, .failure([.own(1)]))
        },
    ]

    private static func keyed(limit: Int = 1, conditions: [ConditionPlan] = []) -> GraphPlan {
        let leaf = NodePlan.leaf {
            $0.keys = [KeyPlan("k", limit: limit)]
            $0.conditions = conditions
        }
        return .of([leaf, leaf])
    }
    private static let oneByOne = Seen.run(1, tokens: ["k": 1]) + Seen.run(2, tokens: ["k": 2]) + Seen.group(0)
    private static let judged = keyed(conditions: [.scripted([.yes], isNegated: false)])
    private static let scoped = GraphPlan.of([
        .group(), .leaf(in: 1) { $0.keys = [KeyPlan("k")] }, .leaf(in: 1) { $0.keys = [KeyPlan("k")] }, .leaf { $0.keys = [KeyPlan("k")] },
    ])
    private static let scopedRuns =
        Seen.run(2, tokens: ["k": 1]) + Seen.run(3, tokens: ["k": 2]) + Seen.group(1) + Seen.run(4, tokens: ["k": 3]) + Seen.group(0)
    private static let same = GraphPlan.of([.leaf { $0.unique = UniquePlan("x") }, .leaf { $0.unique = UniquePlan("x", joins: true) }])
    private static let duplicate = Fault(.duplicate, by: "n2")
    private static let ignored =
        Seen.run(1) + Seen.told(2, .failure([duplicate])) + [.over(2)] + Seen.group(0, .failure([duplicate]))

    static let locks: [Planted] = [
        Planted("holdersNeverOverlap", "two holders of one key", keyed(), oneByOne) {
            $0.move(Seen.begins(2, tokens: ["k": 2]), before: Seen.value(1))
        },
        Planted(
            "judgedUnderTheLock", "a condition is evaluated while another one holds the key", judged,
            [.judged(1, condition: 0, .yes)] + Seen.run(1, tokens: ["k": 1]) + [.judged(2, condition: 0, .yes)]
                + Seen.run(2, tokens: ["k": 2]) + Seen.group(0)
        ) { $0.move(.judged(2, condition: 0, .yes), before: Seen.value(1)) },
        Planted("groupsTakeAllKeys", "somebody has the key between two members of a group", scoped, scopedRuns) {
            let begin = Seen.begins(4, tokens: ["k": 2])
            $0.replace(Seen.begins(4, tokens: ["k": 3]), with: begin)
            $0.replace(Seen.begins(3, tokens: ["k": 2]), with: Seen.begins(3, tokens: ["k": 3]))
            $0.move(begin, before: .told(3, .start))
            $0.move(Seen.value(4), before: .told(3, .start))
        },
        Planted("tokensRise", "a token is handed out twice", keyed(), oneByOne) {
            $0.replace(Seen.begins(2, tokens: ["k": 2]), with: Seen.begins(2, tokens: ["k": 1]))
        },
        Planted("oneActivePerID", "two run with one id", same, ignored) {
            $0.replace(Seen.value(1), with: Seen.begins(2), Seen.value(2), Seen.value(1))
            $0.insert(.told(2, .start), at: 0)
            $0.tell(2, .success("n2#1"))
            $0.tell(0, .success(""))
        },
        Planted("duplicatesDoNothing", "an ignored duplicate runs", same, ignored) {
            $0.insert(contentsOf: [Seen.begins(2), .ended(2, run: 1, .stopped)], at: 6)
        },
        Planted(
            "joinersEndAlike", "a joiner has another value than the first one", same,
            Seen.run(1) + Seen.told(2, .success("n1#1")) + [.over(2)] + Seen.group(0)
        ) {
            $0.tell(2, .success("n2#1"))
        },
    ]
}
