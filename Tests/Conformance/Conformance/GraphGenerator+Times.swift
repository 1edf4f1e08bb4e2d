/// Times before the start.
extension GraphGenerator {
    /// Lets operations and groups wait for a time.
    mutating func delay() {
        guard features.contains(.delays) else { return }
        var random = numbers(of: .delays)
        for node in plan.nodes.indices.dropFirst() where isThereFromTheBeginning(node) && random.chance(0.25) {
            plan.nodes[node].start = random.chance(0.6) ? .delay(2 + random.below(12)) : .notBefore(4 + random.below(28))
        }
    }

    /// Lets operations wait no longer than so long.
    mutating func limitWaits() {
        guard features.contains(.queueTimeouts) else { return }
        var random = numbers(of: .queueTimeouts)
        for node in plan.leaves where isTriedOnce(node) && random.chance(0.25) { plan.nodes[node].hasQueueTimeout = true }
    }

    /// Lets operations not run twice.
    mutating func runOnce() {
        guard features.contains(.atMostOnce) else { return }
        var random = numbers(of: .atMostOnce)
        for node in plan.leaves where isTriedOnce(node) && random.chance(0.4) { plan.nodes[node].isAtMostOnce = true }
    }

    /// Lets operations, and what is in groups, run again at will.
    mutating func runAtWill() {
        guard features.contains(.recomputable) else { return }
        var random = numbers(of: .recomputable)
        for node in plan.nodes.indices where isThereFromTheBeginning(node) && random.chance(0.5) {
            plan.nodes[node].isRecomputable = !plan.leaves.contains { plan.isInside($0, node) && plan.nodes[$0].isAtMostOnce }
        }
    }

    /// Whether it is a part of the graph that is added, and nothing is added beside it.
    func isThereFromTheBeginning(_ node: Int) -> Bool {
        guard plan.isPresent(node), let parent = plan.nodes[node].parent, let group = plan.nodes[parent].group else { return false }
        return !group.decides && group.sequence == nil
    }

    /// Whether it is such an operation, and nothing but the loss of a worker lets it begin again.
    private func isTriedOnce(_ node: Int) -> Bool {
        let planned = plan.nodes[node]
        return isThereFromTheBeginning(node) && planned.attempts == 1 && planned.source == nil && plan.widestScopes[node] == nil
    }
}
