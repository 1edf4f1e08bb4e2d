/// What groups add while they run.
let decisionRules: [Rule] = [
    Rule("addedAfterItsCause", "operationDidFinish(_:withErrors:) adds operations: they begin when the child that it is about has ended.") {
        account in
        account.added.compactMap { node, cause -> Rule.Breach? in
            // Of one that was stopped the outcome comes before the end of the body.
            guard account.outcome(cause)?.isSuccess == true || account.origin(of: cause) == .body else { return nil }
            guard let first = account.firstWork(inside: node) else { return nil }
            guard let last = account.lastWork(inside: cause), last > first else { return nil }
            return .init(node, [first, last], "began before \(GraphPlan.name(of: cause)) was over")
        }
    },
    Rule("whatIsDecidedIsDone", "New children are part of the decide unit's outcome, committed once with it; the group ends after them.") {
        account in
        account.added.compactMap { node, cause -> Rule.Breach? in
            guard let group = account.node(node).parent else { return nil }
            guard account.exists(cause), let outcome = account.outcome(cause) else {
                return account.exists(node) ? .init(node, "was added, and there is no \(GraphPlan.name(of: cause))") : nil
            }
            let isDue = account.node(node).afterFailure.map { $0 != outcome.isSuccess } ?? true
            if account.exists(node) { return isDue ? nil : .init(node, "was added in spite of its cause") }
            return isDue && !account.decidesNoMore(group) ? .init(node, "was not added") : nil
        }
    },
]

extension Account {
    fileprivate var added: [(node: Int, cause: Int)] {
        plan.nodes.indices.compactMap { node in self.node(node).cause.map { (node, $0) } }
    }

    /// Whether a group has come to an end by something else than the ends of its children.
    fileprivate func decidesNoMore(_ group: Int) -> Bool {
        if outcome(group)?.isCancelled == true || endedByItself(group) { return true }
        return node(group).group?.stops == true && children(of: group).contains { outcome($0)?.isSuccess != true }
    }
}
