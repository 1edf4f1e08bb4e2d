/// Conditions.
let conditionRules: [Rule] = [
    Rule("judgedBeforeEachRun", "Evaluated just before the operation would run, anew for each attempt; if it fails, it does not execute.") {
        account in
        account.plan.leaves.flatMap { node -> [Rule.Breach] in
            account.runs[node].indices.flatMap { index -> [Rule.Breach] in
                let run = account.runs[node][index]
                let previous = index == 0 ? -1 : account.runs[node][index - 1].start
                return account.scripted(of: node).compactMap { condition -> Rule.Breach? in
                    let last = account.judgements[node].last {
                        $0.condition == condition && $0.place > previous && $0.place < run.start
                    }
                    guard last?.verdict != .yes else { return nil }
                    return .init(node, [run.start], "ran, and condition \(condition) had said \(last.map { "\($0.verdict)" } ?? "nothing")")
                }
            }
        }
    },
    Rule("conditionErrorsInOrder", "All are evaluated, errors in condition order.") { account in
        account.plan.nodes.indices.compactMap { node -> Rule.Breach? in
            guard case .failure(let faults)? = account.outcome(node) else { return nil }
            let isRefused = account.node(node).script == nil ? account.endedByItself(node) : account.origin(of: node) == .conditions
            guard isRefused, faults.first?.isOfCondition == true, !account.mayHaveJoined(node) else { return nil }
            let expected = account.refusal(of: node)
            return faults == expected ? nil : .init(node, "failed with \(faults) in place of \(expected)")
        }
    },
    Rule("dependencyConditions", "NoFailedDependencies and NoCancelledDependencies look at the dependencies the user declared.") {
        account in
        account.plan.nodes.indices.compactMap { node -> Rule.Breach? in
            guard !account.runs(inside: node).isEmpty else { return nil }
            return account.node(node).conditions.allSatisfy { account.holds($0, for: node) }
                ? nil : .init(node, "ran in spite of a dependency")
        }
    },
]

extension Account {
    fileprivate func scripted(of node: Int) -> [Int] {
        self.node(node).conditions.indices.filter { if case .scripted = self.node(node).conditions[$0] { true } else { false } }
    }

    /// Whether a condition on dependencies holds; true for others.
    fileprivate func holds(_ condition: ConditionPlan, for node: Int) -> Bool {
        let outcomes = self.node(node).predecessors.map { outcome($0) }
        switch condition {
        case .scripted: return true
        case .noFailedDependencies: return outcomes.allSatisfy { $0?.isSuccess == true }
        case .noCancelledDependencies: return outcomes.allSatisfy { $0?.isCancelled == false }
        }
    }

    /// The errors that a node's conditions have come to the last time.
    fileprivate func refusal(of node: Int) -> [Fault] {
        self.node(node).conditions.enumerated().compactMap { index, condition -> Fault? in
            switch condition {
            case .scripted(_, let isNegated):
                guard judgements[node].last(where: { $0.condition == index })?.verdict == .no else {
                    return judgements[node].contains { $0.condition == index } ? nil : Fault(.other("not asked"), by: nil)
                }
                if isNegated { return Fault(.negated, by: Texts.negatedCondition, isOfCondition: true) }
                return Fault(.own(Texts.no(of: node, condition: index)), by: Texts.scriptedCondition, isOfCondition: true)
            case .noFailedDependencies:
                guard !holds(condition, for: node) else { return nil }
                return Fault(.failedDependencies, by: "NoFailedDependencies", isOfCondition: true)
            case .noCancelledDependencies:
                guard !holds(condition, for: node) else { return nil }
                return Fault(.cancelledDependencies, by: "NoCancelledDependencies", isOfCondition: true)
            }
        }
    }
}
