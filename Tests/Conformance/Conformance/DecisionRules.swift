/// What groups add while they run.
let decisionRules: [Rule] = [
    Rule("addedAfterItsCause", "operationDidFinish(_:withErrors:) adds operations: they begin when the child that it is about has ended.") {
        account in
        account.added.compactMap { node, cause -> Rule.Breach? in
            // Of one that was stopped the outcome comes before the end of the body. A sequence is asked when both are over.
            let endsTogether = account.outcome(cause)?.isSuccess == true || account.origin(of: cause) == .body
            guard endsTogether || account.isStep(node) else { return nil }
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
            // A cancelled attempt is the last one.
            let isOver = outcome.isCancelled && account.node(group).group?.sequence == .retry
            let isDue = !isOver && account.node(node).afterFailure.map { $0 != outcome.isSuccess } ?? true
            if account.exists(node) { return isDue ? nil : .init(node, "was added in spite of its cause") }
            return isDue && !account.decidesNoMore(group) ? .init(node, "was not added") : nil
        }
    },
    Rule("producedWithItsSuccess", "What an attempt produces is committed with its success, all of it; one that fails leaves none.") {
        account in
        account.produced.compactMap { node, maker -> Rule.Breach? in
            guard let group = account.node(node).parent, let outcome = account.outcome(maker) else { return nil }
            if account.exists(node) {
                return outcome.isSuccess ? nil : .init(node, "was produced, and \(GraphPlan.name(of: maker)) has not succeeded")
            }
            return outcome.isSuccess && !account.decidesNoMore(group) ? .init(node, "was not produced") : nil
        }
    },
    Rule("producedAfterItsMaker", "It keeps what it produces until it has succeeded: nothing of it begins before.") { account in
        account.produced.compactMap { node, maker -> Rule.Breach? in
            guard let first = account.firstWork(inside: node), let last = account.lastWork(inside: maker), last > first else { return nil }
            return .init(node, [first, last], "began before \(GraphPlan.name(of: maker)), which has produced it, was over")
        }
    },
    Rule("sequencesBegin", "nextOperation(after:) is asked for the first step when the sequence begins.") { account in
        account.groups.compactMap { group -> Rule.Breach? in
            guard account.node(group).group?.sequence != nil, let first = account.plan.children(of: group).first else { return nil }
            guard !account.exists(first), account.outcome(group) != nil, !account.decidesNoMore(group) else { return nil }
            return .init(first, "was not added")
        }
    },
]

extension Account {
    fileprivate var added: [(node: Int, cause: Int)] {
        plan.nodes.indices.compactMap { node in self.node(node).cause.map { (node, $0) } }
    }

    fileprivate var produced: [(node: Int, maker: Int)] {
        plan.nodes.indices.compactMap { node in self.node(node).maker.map { (node, $0) } }
    }

    fileprivate func isStep(_ node: Int) -> Bool { self.node(node).parent.map { self.node($0).group?.sequence != nil } ?? false }

    /// Whether a group has come to an end by something else than the ends of its children.
    func decidesNoMore(_ group: Int) -> Bool {
        if outcome(group)?.isCancelled == true || endedByItself(group) { return true }
        return node(group).group?.stops == true && children(of: group).contains { outcome($0)?.isSuccess != true }
    }
}
