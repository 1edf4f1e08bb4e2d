import Conformance

/// Groups that are tried again.
extension Planted {
    /// A group that is tried twice, and what comes beside it.
    private static func retried(_ members: [NodePlan], beside others: [NodePlan] = [], as group: GroupPlan = GroupPlan()) -> GraphPlan {
        let retried = NodePlan.group(group) {
            $0.attempts = 2
            $0.conditions = [.scripted([.yes], isNegated: false)]
        }
        return .of([retried] + members + others)
    }
    private static let begins = Event.judged(1, condition: 0, .yes)
    /// The bodies of both attempts of a group in which 2 fails the first time, and 3 does not.
    private static let bodies: [Event] = [
        begins, .told(2, .start), Seen.begins(2), Seen.failure(2), .told(3, .start), Seen.begins(3), Seen.value(3),
        begins, Seen.begins(2, run: 2), Seen.value(2, run: 2), Seen.begins(3, run: 2), Seen.value(3, run: 2),
    ]
    private static let ends =
        Seen.told(2, .success("n2#2")) + Seen.told(3, .success("n3#2")) + [.over(2), .over(3)] + Seen.group(1)
    private static let two = retried([.leaf(failures: 1, in: 1), .leaf(in: 1)])
    private static let twoRuns = bodies + ends + Seen.group(0)
    private static let ordered = retried([.leaf(failures: 1, in: 1), .leaf(in: 1)], as: GroupPlan(isOrdered: true))
    private static let limited = retried([.leaf(failures: 1, in: 1), .leaf(in: 1)], as: GroupPlan(limit: 1))

    private static let failing = retried([.leaf(failures: 9, in: 1)])
    private static func failure(run: Int) -> Outcome { .failure([.own(2, run: run)]) }
    private static let failingRuns: [Event] =
        [
            begins, .told(2, .start), Seen.begins(2), Seen.failure(2), begins, Seen.begins(2, run: 2), Seen.failure(2, run: 2),
        ] + Seen.told(2, failure(run: 2)) + [.over(2)] + Seen.group(1, failure(run: 2)) + Seen.group(0, failure(run: 2))

    static let groupAttempts: [Planted] = [
        Planted("groupAttemptsAreLimited", "a group begins once too often", two, twoRuns) {
            $0.insert(contentsOf: [begins, Seen.begins(2, run: 3), Seen.failure(2, run: 3)], at: 0)
        },
        Planted("groupAttemptsOneByOne", "a group begins anew while something in it runs", two, twoRuns) {
            $0.move(Seen.value(3), before: Seen.begins(2, run: 2))
        },
        Planted("onlyFailedGroupsBeginAnew", "a group begins anew after its success", two, twoRuns) {
            $0.replace(Seen.failure(2), with: Seen.value(2))
        },
        Planted("groupFailureIsItsLastAttempts", "a group fails that was to be tried again", failing, failingRuns) {
            $0.removeSubrange(4...6)
            for node in 0...2 { $0.tell(node, failure(run: 1)) }
        },
        Planted("successIsTheBodys", "a child is told its value of an earlier attempt", two, twoRuns) { $0.tell(3, .success("n3#1")) },
        Planted("successIsTheBodys", "a child that has succeeded does not begin anew with its group", two, twoRuns) {
            $0.removeAll { $0 == Seen.begins(3, run: 2) || $0 == Seen.value(3, run: 2) }
            $0.tell(3, .success("n3#1"))
        },
        Planted("attemptsAreLimited", "a child is tried twice in one attempt of its group", two, twoRuns) {
            $0.replace(Seen.failure(2), with: Seen.failure(2), Seen.begins(2, run: 3), Seen.failure(2, run: 3))
        },
        Planted("onlyFailuresAreTriedAgain", "a child succeeds in an earlier attempt, and is tried again in that", retriedTwice, twiceRuns)
        {
            $0.replace(Seen.failure(3), with: Seen.value(3))
        },
        Planted("orderedOneByOne", "the order counts in the last attempt only", ordered, twoRuns) {
            $0.move(Seen.begins(3), before: Seen.failure(2))
        },
        Planted("membersAtOnce", "the limit counts in the last attempt only", limited, twoRuns) {
            $0.move(Seen.begins(3), before: Seen.failure(2))
        },
        Planted("nothingAfterTheEnd", "a child is over with an earlier attempt", two, twoRuns) {
            $0.move(.over(3), before: Seen.begins(2, run: 2))
        },
    ]

    /// A child that may be tried twice in each attempt.
    private static let retriedTwice = retried([.leaf(failures: 1, in: 1), .leaf(failures: 1, in: 1) { $0.attempts = 2 }])
    private static let twiceRuns: [Event] =
        [
            begins, .told(2, .start), Seen.begins(2), Seen.failure(2), .told(3, .start), Seen.begins(3), Seen.failure(3),
            Seen.begins(3, run: 3), Seen.value(3, run: 3),
            begins, Seen.begins(2, run: 2), Seen.value(2, run: 2), Seen.begins(3, run: 2), Seen.value(3, run: 2),
        ] + ends + Seen.group(0)

    private static let awaited = retried([.leaf(failures: 1, in: 1), .leaf(in: 1)], beside: [.leaf { $0.after = [1] }])
    private static let receiving = retried([.leaf(failures: 1, in: 1), .leaf(in: 1)], beside: [.leaf { $0.producers = [1] }])
    private static let values = Received.values(["n2#2", "n3#2"])
    private static let earlierValues = Received.values(["n2#2", "n3#1"])

    private static func keyed(_ members: [NodePlan]) -> GraphPlan {
        retried(
            members.map { member in
                var member = member
                member.keys = [KeyPlan("k")]
                return member
            }, beside: [.leaf { $0.keys = [KeyPlan("k")] }])
    }
    private static let locked = keyed([.leaf(failures: 1, in: 1), .leaf(in: 1)])
    private static func holds(_ node: Int, run: Int = 1, token: UInt64) -> Event { Seen.begins(node, run: run, tokens: ["k": token]) }
    /// - Parameter outsider: the token with which something outside runs between both attempts, if it does.
    private static func lockedRuns(outsider: UInt64? = nil) -> [Event] {
        let other = { (token: UInt64) in [.told(4, .start), holds(4, token: token), Seen.value(4)] as [Event] }
        let first: [Event] = [
            begins, .told(2, .start), holds(2, token: 1), Seen.failure(2), .told(3, .start), holds(3, token: 2), Seen.value(3),
        ]
        let second: [Event] = [
            begins, holds(2, run: 2, token: 4), Seen.value(2, run: 2), holds(3, run: 2, token: 5), Seen.value(3, run: 2),
        ]
        let told = Seen.told(4, .success("n4#1")) + [.over(4)] + Seen.group(0)
        guard let outsider else { return first + second + ends + other(6) + told }
        return first + other(outsider) + second + ends + told
    }

    static let besideAttempts: [Planted] = [
        Planted(
            "predecessorsEndFirst", "something begins after the first attempt of a group that it waits for", awaited,
            bodies + ends + Seen.run(4) + Seen.group(0)
        ) {
            $0.move(Seen.begins(4), before: Seen.begins(2, run: 2))
        },
        Planted(
            "receivedIsDelivered", "a receiver is given a value of an earlier attempt", receiving,
            bodies + ends + Seen.run(4, received: values) + Seen.group(0)
        ) {
            $0.replace(Seen.begins(4, received: values), with: Seen.begins(4, received: earlierValues))
        },
        Planted("groupsTakeAllKeys", "a group gives its keys back between two attempts", locked, lockedRuns()) {
            $0 = lockedRuns(outsider: 3)
        },
        Planted("oneOutcome", "nothing is told of a child's end in the last attempt", two, attemptsHeard) {
            $0.removeAll { $0 == .attempt(2, .told(3, .result(.success("n3#2")))) }
        },
        Planted("listenersInOrder", "two starts are told of one attempt", two, attemptsHeard) {
            $0.insert(.attempt(2, .told(3, .start)), at: $0.firstIndex(of: Seen.begins(3, run: 2)) ?? 0)
        },
        Planted("cancellationHasACause", "a group that was stopped between two attempts was stopped by nobody", stopping, stopped) {
            $0.removeAll { $0 == .cancelAsked(1) }
        },
    ]

    /// What is heard in the process in which the group runs: each attempt has operations of its own.
    private static let attemptsHeard: [Event] =
        [begins] + heard(1, Seen.fails(2) + Seen.run(3)) + [begins] + heard(2, Seen.run(2, run: 2) + Seen.run(3, run: 2))
        + Seen.group(1) + Seen.group(0)

    /// The same with the number of the attempt, where a listener has noted it.
    private static func heard(_ attempt: Int, _ events: [Event]) -> [Event] {
        events.map { event -> Event in
            switch event {
            case .told, .over: .attempt(attempt, event)
            default: event
            }
        }
    }

    private static let stopping = retried([.leaf(in: 1), .leaf(failures: 1, in: 1)], as: GroupPlan(isOrdered: true, stops: true))
    /// All in it is cancelled before the condition of the second attempt is asked: what ran in the first one is no part of that.
    private static let stopped: [Event] =
        [begins] + heard(1, Seen.run(2) + Seen.fails(3)) + [.cancelAsked(1)] + heard(2, Seen.neverBegins(2) + Seen.neverBegins(3))
        + Seen.group(1, .cancelled(1)) + Seen.group(0, .failure([.cancelled(1)]))
}
