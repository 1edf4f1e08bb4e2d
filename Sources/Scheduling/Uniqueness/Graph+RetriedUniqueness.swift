extension Graph {
    /// Unique ids in groups that may begin anew: others that have joined would be told of an attempt that does not count, and between two
    /// attempts the id is anybody's.
    /// - Complexity: O(nodes).
    func retriedUniquenessFaults(_ layout: GraphLayout) -> [AdmissionError] {
        guard layout.hasUnique else { return [] }
        var faults: [AdmissionError] = []
        // By node: the innermost group around it that may begin anew.
        var retried = [Int?](repeating: nil, count: nodes.count)
        for (index, node) in nodes.enumerated().dropFirst() {
            let parent = nodes[node.parent]
            let isRetried = !parent.isOperation && parent.mayBeginAnew(isAtMostOnce: layout.policies?.atMostOnce[node.parent] ?? false)
            retried[index] = isRetried ? node.parent : retried[node.parent]
            guard let group = retried[index], node.unique != nil else { continue }
            let name = group == 0 ? "a group around it" : "`\(path(of: group))` around it"
            faults.append(
                fault(
                    index,
                    "has a unique id, and \(name) may begin anew (retry): others would wait for what does not count, and the id is free in"
                        + " between; give the group the id, or its members a `retry` each instead of the group"))
        }
        return faults
    }
}
