/// A rule of the model, as a question to a graph and what was seen of its run.
///
/// A rule does not say what had to happen, only that what was seen is not forbidden by its sentence.
package struct Rule: Sendable {
    package let name: String
    /// What `semantics.md` says.
    package let sentence: String
    let check: @Sendable (Account) -> [Breach]

    /// Where the rule is broken.
    struct Breach {
        var node: Int
        var events: [Int]
        var what: String

        init(_ node: Int, _ what: String) { self.init(node, [], what) }

        init(_ node: Int, _ events: [Int], _ what: String) {
            self.node = node
            self.events = events
            self.what = what
        }
    }

    init(_ name: String, _ sentence: String, check: @escaping @Sendable (Account) -> [Breach]) {
        self.name = name
        self.sentence = sentence
        self.check = check
    }
}

/// A rule that a history breaks.
package struct Violation: Sendable, Hashable, CustomStringConvertible {
    package let rule: String
    package let node: Int
    /// The events' places in the history.
    package let events: [Int]
    package let what: String

    package var description: String { "\(rule): \(GraphPlan.name(of: node)) \(what) (events \(events))" }
}

/// All that the model says about what may be seen.
package enum Reference {
    package static let rules =
        outcomeRules + groupRules + orderRules + conditionRules + lockRules + retryRules + retriedGroupRules
        + sayRules + streamRules + decisionRules + wrapperRules + timeRules + lossRules + placementRules + pauseRules
        + submissionRules + listRules

    /// What holds of each attempt of a group, whatever is known of how it has ended.
    private static let rulesOfEachAttempt: Set<String> = [
        "orderedOneByOne", "membersAtOnce", "predecessorsEndFirst", "receivedIsDelivered", "judgedBeforeEachRun", "attemptsAreLimited",
        "onlyFailuresAreTriedAgain", "groupAttemptsAreLimited", "groupAttemptsOneByOne", "onlyFailedGroupsBeginAnew",
    ]

    /// The rules that `history` breaks; empty if it is allowed.
    ///
    /// Whether one that was decided about early keeps a producer out of a retry scope is open: a queue goes by who waits, a cluster by
    /// the graph. So is, in some runs, in which attempt of a group something was done.
    package static func violations(of plan: GraphPlan, _ history: History, rules: [Rule] = rules) -> [Violation] {
        let account = Account(plan, history)
        let violations = violations(in: account, rules)
        guard !violations.isEmpty else { return violations }
        let others = [account.withoutBystanders].compactMap(\.self) + account.withOtherAttempts
        return others.map { self.violations(in: $0, rules) }.reduce(violations) { $1.count < $0.count ? $1 : $0 }
    }

    private static func violations(in account: Account, _ rules: [Rule]) -> [Violation] {
        let last = rules.flatMap { violations(of: $0, in: account) }
        let ofEachAttempt = rules.filter { rulesOfEachAttempt.contains($0.name) }
        let earlier = account.earlierAttempts().flatMap { group, account -> [Violation] in
            let inside = ofEachAttempt.flatMap { violations(of: $0, in: account) }
            return inside.filter { account.plan.isInside($0.node, group) }
        }
        return last + earlier
    }

    private static func violations(of rule: Rule, in account: Account) -> [Violation] {
        rule.check(account).map { Violation(rule: rule.name, node: $0.node, events: $0.events, what: $0.what) }
    }
}
