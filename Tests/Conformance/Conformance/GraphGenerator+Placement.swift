/// Where operations run.
extension GraphGenerator {
    /// Lets operations of workers require something that only some of these have, or that they share.
    mutating func place() {
        guard features.contains(.placement) else { return }
        var random = numbers(of: .placement)
        for node in plan.leaves where isThereFromTheBeginning(node) && !plan.nodes[node].isHosted && random.chance(0.4) {
            let host = random.pick(GraphPlan.hosts)
            let isAnywhere = random.chance(0.3)
            let permits = random.below(min(isAnywhere ? 2 : host.permits, 2) + 1)
            guard !isAnywhere || permits > 0 else { continue }
            plan.nodes[node].requires = RequirementPlan(label: isAnywhere ? nil : host.name, permits: permits)
        }
    }
}

extension GraphPlan {
    /// The hosts that graphs which require something count on: each has its name as a label, and so many permits.
    package static let hosts: [(name: String, permits: Int)] = [("left", 2), ("right", 3)]
}
