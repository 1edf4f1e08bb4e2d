/// How deep a picture looks into groups.
package enum GraphDepth: Hashable, Sendable {
    /// As deep as there is room, from the outside to the inside.
    case fitting
    /// So many levels: with 1 the groups in the root are folded.
    case levels(Int)
    case everything
}

/// Which groups show nothing of what is in them.
struct GraphFolding: Sendable {
    private var folded: Set<Int> = []

    /// - Parameter squares: a group with many children shows them as squares, which take little room.
    /// - Complexity: O(nodes).
    init(_ graph: PictureGraph, _ depth: GraphDepth, squares: Bool = true) {
        switch depth {
        case .everything: break
        case .levels(let levels):
            for (index, node) in graph.nodes.enumerated() where node.isGroup && index > 0 && node.depth >= levels { folded.insert(index) }
        case .fitting: fold(graph, squares)
        }
    }

    func contains(_ node: Int) -> Bool { folded.contains(node) }

    /// Groups that stand side by side are treated alike.
    private mutating func fold(_ graph: PictureGraph, _ squares: Bool) {
        func cost(_ group: Int) -> Int {
            let count = graph.nodes[group].children.count
            return count > PictureLimits.cellsFrom && squares ? PictureLimits.cellsCost : count
        }
        guard !graph.nodes.isEmpty else { return }
        var cards = cost(0)
        var open = [0]
        var next = 0
        while next < open.count {
            let children = graph.nodes[open[next]].children
            let groups = children.filter { graph.nodes[$0].isGroup }
            let sum = groups.reduce(0) { $0 + cost($1) }
            let fits = children.count <= PictureLimits.cellsFrom && cards + sum <= PictureLimits.cardsMax
            if fits {
                cards += sum
                open += groups
            } else {
                folded.formUnion(groups)
            }
            next += 1
        }
    }
}
