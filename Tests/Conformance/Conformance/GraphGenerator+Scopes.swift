/// Retries of whole nets.
extension GraphGenerator {
    /// Lets what receives be tried again, with its net if it is the end of one.
    mutating func retryNet(of node: Int) {
        let planned = plan.nodes[node]
        guard features.contains(.scopes), planned.attempts == 1, !planned.producers.isEmpty, laterRandom.chance(0.6) else { return }
        plan.nodes[node].attempts = 2 + laterRandom.below(2)
        // Who is cancelled before it is added waits for nobody.
        let reach = features.contains(.earlyCancellations) ? plan.widestScopes : plan.scopes
        let isDrawn =
            plan.widestScopes.allSatisfy { isAlone($0.key, in: $0.value) }
            && reach.allSatisfy { mayBegin($0.key, anewWith: $0.value) } && !cancelsAtStart(in: plan.scopes)
        if !isDrawn { plan.nodes[node].attempts = 1 }
    }

    private func cancelsAtStart(in scopes: [Int: Int]) -> Bool {
        !features.contains(.cancellationsInScopes)
            && plan.cancellations.contains { cancellation in
                guard case .atStart(let node) = cancellation.moment else { return false }
                return plan.nodes[node].producers.contains { scopes[$0] != nil }
            }
    }

    /// The children of a group that begins anew on a queue are others.
    private func isAlone(_ member: Int, in tail: Int) -> Bool {
        plan.nodes[member].script != nil && plan.nodes[member].parent == plan.nodes[tail].parent
    }

    private func mayBegin(_ member: Int, anewWith tail: Int) -> Bool {
        features.contains(.scopesOfAnything) || (isPlain(member) && isPlain(tail))
    }

    /// Whether a cluster may try it again with others.
    private func isPlain(_ node: Int) -> Bool {
        let planned = plan.nodes[node]
        return planned.keys.isEmpty && planned.unique == nil && !planned.holdsEnd && !planned.asksAboutRetry
            && !plan.evaluatesInTheProgram(node)
    }
}
