/// Pauses.
extension GraphGenerator {
    /// Lets the program pause the graph, or a part of it, for a while.
    mutating func pause() {
        guard features.contains(.pauses) else { return }
        var random = numbers(of: .pauses)
        let mayBePaused = plan.nodes.indices.filter { node in
            node == 0 || features.contains(.partialPauses) && plan.nodes[node].group != nil && isThereFromTheBeginning(node)
        }
        let mayBegin = plan.leaves.filter(isThereFromTheBeginning)
        // What is handed over such that it can be paused is not there the moment after.
        let isCancelledAtOnce = plan.cancellations.contains { $0.moment == .onceAdded }
        guard !mayBegin.isEmpty, !isCancelledAtOnce, random.chance(0.5) else { return }
        // One at a time: who resumes one would resume what is paused twice.
        let node = random.pick(mayBePaused)
        plan.pauses = [PausePlan(of: node, atStartOf: random.pick(mayBegin), ticks: 2 + random.below(12))]
    }
}
