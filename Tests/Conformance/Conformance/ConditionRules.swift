/// Conditions.
let conditionRules: [Rule] = [
    Rule("judgedBeforeEachRun", "Evaluated just before the operation would run, anew for each attempt; if it fails, it does not execute.") {
        account in
        account.plan.leaves.flatMap { node -> [Rule.Breach] in
            account.runs[node].indices.flatMap { index -> [Rule.Breach] in
                let run = account.runs[node][index]
                let previous = index == 0 ? -1 : account.runs[node][index - 1].start
                let ends = account.conditionEnds(of: node, before: run.start, after: previous)
                return zip(account.node(node).conditions, ends).compactMap { condition, end -> Rule.Breach? in
                    guard condition.scriptedCount > 0, end != .holds else { return nil }
                    // How something had ended that began anew later is not known.
                    guard !condition.looksAtDependencies || !account.restsOnAttempts(node) else { return nil }
                    return .init(node, [run.start], "ran, and the condition \(condition) had said \(end)")
                }
            }
        }
    },
    Rule("conditionErrorsInOrder", "All are evaluated, errors in condition order.") { account in
        account.plan.nodes.indices.compactMap { node -> Rule.Breach? in
            guard case .failure(let faults)? = account.outcome(node) else { return nil }
            let isRefused = account.node(node).script == nil ? account.endedByItself(node) : account.origin(of: node) == .conditions
            // A list that receives nothing ends with what its producer had.
            guard account.node(node).script != nil || !account.node(node).conditions.isEmpty else { return nil }
            guard isRefused, faults.first?.isOfCondition == true, !account.mayHaveJoined(node) else { return nil }
            let expected = account.refusal(of: node)
            return faults == expected ? nil : .init(node, "failed with \(faults) in place of \(expected)")
        }
    },
    Rule("dependencyConditions", "NoFailedDependencies and NoCancelledDependencies look at the dependencies the user declared.") {
        account in
        account.plan.nodes.indices.compactMap { node -> Rule.Breach? in
            // What ran on something that began anew later may have been right then.
            guard !account.runs(inside: node).isEmpty, !account.restsOnAttempts(node) else { return nil }
            let ends = zip(account.node(node).conditions, account.conditionEnds(of: node))
            return ends.allSatisfy { $0.scriptedCount > 0 || $1 == .holds } ? nil : .init(node, "ran in spite of a dependency")
        }
    },
]

extension Account {
    /// Whether something that it waits for is tried again with it, or has ended in an attempt of which nothing was told.
    func restsOnAttempts(_ node: Int) -> Bool { self.node(node).predecessors.contains { scopes[$0] != nil || outcome($0) == nil } }

    /// The errors that a node's conditions have come to the last time.
    fileprivate func refusal(of node: Int) -> [Fault] {
        conditionEnds(of: node).compactMap { end in
            switch end {
            case .holds, .notNow, .ignored: nil
            case .refused(let fault): fault
            case .unknown: Fault(.other("not asked"), by: nil)
            }
        }
    }
}
