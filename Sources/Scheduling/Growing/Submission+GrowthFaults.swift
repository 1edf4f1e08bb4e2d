/// What makes an addition inadmissible, besides what would make a graph so.
extension Submission {
    /// A root with what the group hands on to its children, so that they are admitted like children.
    func standIn(forGroup group: Int) -> Node {
        let node = Int(units[group].node)
        let isOrdered = isOrdered(group)
        var isTriedAgain = false
        var around = group
        while around >= 0 {
            isTriedAgain =
                isTriedAgain || self.node(around).mayBeginAnew(isAtMostOnce: isAtMostOnce(around))
                || layout.scopes?.tail(of: units[around].node) != nil
            around = Int(units[around].parent)
        }
        var options = NodeOptions()
        options.requires = layout.requirements?.requirements(inside: node) ?? Requirements()
        options.atMostOnce = !isTriedAgain && isAtMostOnce(group)
        // What was or will be added holds places, too: as if there were but one.
        return Node(
            id: "", parent: 0, kind: .group(GroupNode(isOrdered: isOrdered, maxConcurrent: min(1, maxConcurrent(group)))),
            retries: isTriedAgain ? 1 : 0, options: options)
    }

    /// - Parameter graph: sound as a graph.
    func growthFaults(_ graph: Graph, by producer: Int) -> [AdmissionError] {
        let group = growingGroup(around: producer)
        let isHostedThere = node(producer).isHosted
        let keysAround = layout.graph.keys(above: Int(units[group].node))
        var depths = [depth(of: group)]
        var faults: [AdmissionError] = []
        for (index, node) in graph.nodes.enumerated().dropFirst() {
            func bad(_ message: String) { faults.append(graph.fault(index, message)) }
            depths.append(depths[node.parent] + 1)
            if depths[index] > GraphLimits().depthMax {
                bad("would be nested \(depths[index]) deep, deeper than the limit of \(GraphLimits().depthMax)")
            }
            if !isHostedThere, node.needsSubmitter {
                bad("executes in the process that submitted the graph, but was produced on a worker")
            }
            if node.unique?.joins == true {
                bad("joins whoever has its unique id, which is not for what is added while its group runs; let duplicates be ignored")
            }
            if node.isOperation, let (one, other) = collidingKeys(keysAround + graph.keys(above: index)) {
                bad(
                    "would run under the keys `\(one)` and `\(other)`, whose tokens would both be called"
                        + " \(Exclusion.environmentName(of: one)); give one of them another name")
            }
        }
        return faults
    }

    private func depth(of unit: Int) -> Int {
        var depth = 0
        var current = unit
        while units[current].parent >= 0 {
            depth += 1
            current = Int(units[current].parent)
        }
        return depth
    }

    private func collidingKeys(_ keys: [String]) -> (String, String)? {
        guard keys.count > 1 else { return nil }
        var named: [String: String] = [:]
        for key in Set(keys).sorted() {
            if let other = named.updateValue(key, forKey: Exclusion.environmentName(of: key)) { return (other, key) }
        }
        return nil
    }
}
