/// Members of groups with `maxConcurrent` that would hold a place while something inside of them waits for another member, by way of
/// something outside of the group: with all places held like that nothing could go on.
extension Graph {
    /// How many steps are taken to find them; what is not found by then is admitted.
    private static let placeStepsMax = 10_000_000

    /// - Complexity: O(groups with a limit whose inside waits for something outside × what that waits for).
    func placeFaults(_ layout: GraphLayout) -> [AdmissionError] {
        var faults: [AdmissionError] = []
        var left = Self.placeStepsMax
        for group in nodes.indices where hasPlaces(group) {
            let inside = layout.subtree(of: group)
            let waits = inside.filter { $0 != group && nodes[$0].parent != group }.flatMap { node in
                layout.dependencies[node].map(Int.init).filter { !inside.contains($0) }.map { (node: node, target: $0) }
            }
            guard !waits.isEmpty, !reached(from: waits.map(\.target), in: inside, layout, &left).isEmpty else { continue }
            for wait in waits {
                let own = member(of: group, around: wait.node)
                guard
                    let other = reached(from: [wait.target], in: inside, layout, &left).first(where: {
                        member(of: group, around: $0) != own
                    })
                else { continue }
                faults.append(
                    fault(
                        wait.node,
                        "waits for `\(path(of: wait.target))`, and that for `\(path(of: other))`, while `\(path(of: own))` holds one of the"
                            + " places of a group with `maxConcurrent` that the other needs, too; let `\(path(of: own))` itself wait (`after`)"
                    ))
            }
        }
        return faults
    }

    private func hasPlaces(_ node: Int) -> Bool { if case .group(let group) = nodes[node].kind { group.maxConcurrent > 0 } else { false } }

    private func member(of group: Int, around node: Int) -> Int {
        var current = node
        while nodes[current].parent != group { current = nodes[current].parent }
        return current
    }

    /// The nodes inside of a group for whose ends these nodes wait, directly or not.
    private func reached(from targets: [Int], in inside: Range<Int>, _ layout: GraphLayout, _ left: inout Int) -> [Int] {
        var found: [Int] = []
        // The end of a node waits for its start and for what is inside of it, its start for that of its group and for what it waits for.
        var open = targets.map { (node: $0, isEnd: true) }
        var seen: Set<Int> = []
        while let (node, isEnd) = open.popLast(), left > 0 {
            left -= 1
            guard seen.insert(2 * node + (isEnd ? 1 : 0)).inserted else { continue }
            if inside.contains(node) {
                if isEnd, node != inside.lowerBound { found.append(node) }
                continue
            }
            open += layout.dependencies[node].map { (Int($0), true) }
            if node > 0 { open.append((nodes[node].parent, false)) }
            if isEnd {
                open += (layout.children[node] + (layout.preparations[Int32(node)] ?? [])).map { (Int($0), true) }
            }
        }
        return found.sorted()
    }
}
