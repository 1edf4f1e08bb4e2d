/// A graph as a Mermaid flowchart (https://mermaid.js.org/syntax/flowchart.html), which many Markdown viewers draw.
package struct GraphMermaid: Sendable {
    private let outline: GraphOutline
    private var graph: PictureGraph { outline.graph }

    package init(_ graph: PictureGraph, depth: GraphDepth = .fitting) {
        outline = GraphOutline(graph, GraphFolding(graph, depth, squares: false))
    }

    /// - Complexity: O(what is drawn).
    package var text: String {
        var text = "flowchart LR\n"
        var states: Set<String> = []
        outline.walk(
            begin: { node, depth in
                guard node > 0 else { return }
                text += "\(Self.indent(depth))subgraph n\(node)[\(label(node))]\n"
            },
            single: { node, depth in
                let state = graph.nodes[node].shownState
                if let state { states.insert(state) }
                let ends = graph.nodes[node].isGroup ? ("[[", "]]") : ("[", "]")
                text += "\(Self.indent(depth))n\(node)\(ends.0)\(label(node))\(ends.1)\(state.map { ":::\($0)" } ?? "")\n"
            },
            end: { depth in if depth > 0 { text += "\(Self.indent(depth))end\n" } })
        for arrow in outline.arrows { text += "  n\(arrow.from) --> n\(arrow.to)\n" }
        for state in states.sorted() { text += "  classDef \(state) stroke:\(Palette.light(state)),stroke-width:2px\n" }
        return text
    }

    private func label(_ index: Int) -> String {
        let node = graph.nodes[index]
        return PictureText.mermaid(String(node.path.isEmpty ? Substring(graph.name) : node.name), node.caption())
    }

    private static func indent(_ depth: Int) -> String { String(repeating: "  ", count: max(1, depth)) }
}
