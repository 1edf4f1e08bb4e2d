/// Retries of whole nets.
extension GraphPlan {
    /// Whether the retry of a node is that of its delivery net.
    package func isTail(_ node: Int) -> Bool {
        let planned = nodes[node]
        guard planned.attempts > 1, planned.script != nil, !planned.producers.isEmpty, let parent = planned.parent else { return false }
        return receivers(of: node).isEmpty && nodes[parent].group?.isOrdered == false
    }

    /// Who is tried again with a tail: the producers beside it from which every path leads to it, for whom, and for whose
    /// inside, nobody else waits.
    ///
    /// - Parameter bystands: whether the first does not wait for the second any more, though it was to.
    package func members(of tail: Int, where bystands: (Int, Int) -> Bool = { _, _ in false }) -> Set<Int> {
        var members: Set<Int> = []
        var grows = true
        while grows {
            let scope = members.union([tail])
            let more = nodes.indices.filter { node in
                nodes[node].parent == nodes[tail].parent && !members.contains(node) && !isTail(node)
                    && receivers(of: node).contains(where: scope.contains) && streamReceivers(of: node).isEmpty
                    && (receivers(of: node) + dependents(of: node)).allSatisfy { scope.contains($0) || bystands($0, node) }
                    && nodes.indices.filter { $0 != node && isInside($0, node) }.allSatisfy { inner in
                        (receivers(of: inner) + dependents(of: inner)).allSatisfy { isInside($0, node) || bystands($0, inner) }
                    }
            }
            members.formUnion(more)
            grows = !more.isEmpty
        }
        return members
    }

    /// By node: the tail with which it, or a group around it, is tried again.
    package var scopes: [Int: Int] { scopes { _, _ in false } }

    /// The same, as far as they reach when all outside of them have been decided about before.
    var widestScopes: [Int: Int] { scopes { _, _ in true } }

    func scopes(where bystands: (Int, Int) -> Bool) -> [Int: Int] {
        var scopes: [Int: Int] = [:]
        for tail in nodes.indices where isTail(tail) {
            for member in members(of: tail, where: bystands) {
                for node in nodes.indices where isInside(node, member) { scopes[node] = tail }
            }
        }
        return scopes
    }
}
