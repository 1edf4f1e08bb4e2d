/// What other programs draw of a graph: what is not folded, and what of it waits for what.
struct GraphOutline: Sendable {
    struct Arrow: Hashable, Sendable {
        /// Indices in the graph.
        var from: Int
        var to: Int
    }

    let graph: PictureGraph
    /// Indices of what is shown, each group followed by what is in it.
    private(set) var shown: [Int] = []
    private(set) var arrows: [Arrow] = []
    private let folding: GraphFolding

    /// - Complexity: O(nodes × depth + edges × depth).
    init(_ graph: PictureGraph, _ folding: GraphFolding) {
        self.graph = graph
        self.folding = folding
        guard !graph.nodes.isEmpty else { return }
        var stands = [Int](graph.nodes.indices)
        for index in graph.nodes.indices.dropFirst() {
            let parent = graph.nodes[index].parent ?? 0
            // What is in something folded is shown as that.
            stands[index] = stands[parent] != parent || !isOpen(parent) ? stands[parent] : index
        }
        var open = [0]
        while let node = open.popLast() {
            shown.append(node)
            if isOpen(node) { open += graph.nodes[node].children.reversed() }
        }
        var seen: Set<Arrow> = []
        for (index, node) in graph.nodes.enumerated() {
            for dependency in node.dependencies {
                let arrow = Arrow(from: stands[dependency], to: stands[index])
                if arrow.from != arrow.to, seen.insert(arrow).inserted { arrows.append(arrow) }
            }
        }
    }

    /// A group that shows what is in it.
    func isOpen(_ node: Int) -> Bool { graph.nodes[node].isGroup && (node == 0 || !folding.contains(node)) }

    /// Writes what is shown, each open group between its begin and its end.
    ///
    /// - Parameters:
    ///   - end: told how deep the group is.
    func walk(begin: (Int, Int) -> Void, single: (Int, Int) -> Void, end: (Int) -> Void) {
        var around: [Int] = []
        for node in shown {
            while let last = around.last, graph.nodes[node].parent != last {
                around.removeLast()
                end(around.count)
            }
            if isOpen(node) {
                begin(node, around.count)
                around.append(node)
            } else {
                single(node, around.count)
            }
        }
        while !around.isEmpty {
            around.removeLast()
            end(around.count)
        }
    }
}
