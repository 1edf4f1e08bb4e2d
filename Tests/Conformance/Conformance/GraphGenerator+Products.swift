/// Operations that produce others.
extension GraphGenerator {
    /// Lets one operation of a group make others that come to the group.
    mutating func produce() {
        guard features.contains(.products) else { return }
        var random = numbers(of: .products)
        for group in plan.nodes.indices where plan.nodes[group].group != nil && plan.receivers(of: group).isEmpty {
            // What several have made comes in any order.
            let makers = plan.children(of: group).filter(mayProduce)
            guard !makers.isEmpty, random.chance(0.6) else { continue }
            let maker = random.pick(makers)
            for _ in 0...random.below(2) {
                var script = Script(ticks: random.below(4))
                if random.chance(0.3) { script.failures = random.chance(0.5) ? 99 : 1 }
                var node = NodePlan(.operation(script), in: group)
                node.maker = maker
                if features.contains(.retries), random.chance(0.4) { node.attempts = 2 }
                node.hasTimeout = features.contains(.timeouts) && random.chance(0.2)
                plan.nodes.append(node)
            }
        }
    }

    /// Whether what it produces is kept until it has succeeded.
    private func mayProduce(_ node: Int) -> Bool {
        let planned = plan.nodes[node]
        return isThereFromTheBeginning(node) && planned.script != nil && planned.attempts > 1 && planned.unique == nil && !streams(node)
            && plan.widestScopes[node] == nil && !plan.isTail(node)
    }
}
