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
        outcomeRules + groupRules + orderRules + conditionRules + lockRules + retryRules
        + sayRules + streamRules + decisionRules + wrapperRules + timeRules + lossRules + placementRules + pauseRules
        + submissionRules + listRules

    /// The rules that `history` breaks; empty if it is allowed.
    ///
    /// Whether one that was decided about early keeps a producer out of a retry scope is open: a queue goes by who waits, a cluster by
    /// the graph.
    package static func violations(of plan: GraphPlan, _ history: History, rules: [Rule] = rules) -> [Violation] {
        let account = Account(plan, history)
        let violations = violations(in: account, rules)
        guard !violations.isEmpty, let other = account.withoutBystanders else { return violations }
        return [violations, self.violations(in: other, rules)].min { $0.count < $1.count } ?? []
    }

    private static func violations(in account: Account, _ rules: [Rule]) -> [Violation] {
        rules.flatMap { rule in
            rule.check(account).map { Violation(rule: rule.name, node: $0.node, events: $0.events, what: $0.what) }
        }
    }
}
