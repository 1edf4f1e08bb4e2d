/// Groups whose members are made of a list.
let listRules: [Rule] = [
    Rule(
        "oneChildPerElement",
        "forEach: one child per element; waits for its producer; fails with its error if that failed; an empty list succeeds."
    ) { account in
        account.groups.filter { account.node($0).group?.isList == true }.flatMap { group -> [Rule.Breach] in
            guard let outcome = account.outcome(group) else { return [] }
            let children = account.plan.children(of: group)
            guard !account.hasFailedProducer(group) else {
                let seen = children.filter(account.exists).map { Rule.Breach($0, "is there without its element") }
                let isDue = outcome.isCancelled || outcome == account.delivery(to: group)?.failure
                return seen + (isDue ? [] : [.init(group, "ended with \(outcome), and not with the error of its producer")])
            }
            guard !account.decidesNoMore(group) else { return [] }
            return children.filter { !account.exists($0) }.map { .init($0, "was not made of its element") }
        }
    }
]

extension Account {
    /// Whether what delivers the list has not succeeded.
    func hasFailedProducer(_ group: Int) -> Bool {
        node(group).group?.isList == true && node(group).producers.contains { outcome($0)?.isSuccess == false }
    }
}

extension Received {
    fileprivate var failure: Outcome? { if case .failure(let fault) = self { .failure([fault]) } else { nil } }
}
