import Scheduling

/// Who waits for something in another group.
extension RandomWork {
    private static let referencesMax = 4

    func addReferences(to graph: inout Graph, using random: inout SimulationRandom) {
        let nodes = graph.nodes.indices.dropFirst().filter {
            graph.isStatic($0) && !graph.decides($0) && graph.nodes[$0].options.prepares == nil
        }
        for _ in 0..<(1 + random.below(Self.referencesMax)) {
            guard let node = random.pick(nodes), let target = random.pick(nodes), node != target else { continue }
            guard !graph.nodes[node].after.contains(target), !graph.nodes[node].receives.contains(target) else { continue }
            let before = graph
            if case .operation = graph.nodes[node].kind, random.oneIn(3) {
                graph.nodes[node].receives.append(target)
            } else {
                graph.nodes[node].after.append(target)
            }
            if !graph.faults().isEmpty { graph = before }
        }
    }
}
