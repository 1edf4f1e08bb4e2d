/// A graph in Graphviz' language (https://graphviz.org/doc/info/lang.html).
package struct GraphDot: Sendable {
    private let outline: GraphOutline
    private var graph: PictureGraph { outline.graph }

    package init(_ graph: PictureGraph, depth: GraphDepth = .fitting) {
        outline = GraphOutline(graph, GraphFolding(graph, depth, squares: false))
    }

    /// - Complexity: O(what is drawn).
    package var text: String {
        var text = """
            digraph \(PictureText.dot(graph.name)) {
              graph [rankdir=LR, compound=true, fontname="sans-serif", fontsize=12, labeljust=l, \
            label=\(PictureText.dot(graph.name, graph.summary))]
              node [shape=box, style="rounded,filled", fillcolor="#ffffff", fontname="sans-serif", fontsize=11]
              edge [color="#5d6774", arrowsize=0.7]

            """
        outline.walk(
            begin: { node, depth in
                guard node > 0 else { return }
                text += "\(Self.indent(depth))subgraph cluster_\(node) {\n"
                text += "\(Self.indent(depth + 1))graph [style=rounded, \(attributes(node))]\n"
                // Arrows to a group end at something in it.
                guard graph.nodes[node].children.isEmpty else { return }
                text += "\(Self.indent(depth + 1))n\(node) [shape=point, style=invis]\n"
            },
            single: { node, depth in
                let shape = graph.nodes[node].isGroup ? ", shape=folder" : ""
                text += "\(Self.indent(depth))n\(node) [\(attributes(node)), penwidth=2\(shape)]\n"
            },
            end: { depth in if depth > 0 { text += "\(Self.indent(depth))}\n" } })
        for arrow in outline.arrows {
            var ends: [String] = []
            if outline.isOpen(arrow.from) { ends.append("ltail=cluster_\(arrow.from)") }
            if outline.isOpen(arrow.to) { ends.append("lhead=cluster_\(arrow.to)") }
            text += "  n\(anchor(arrow.from)) -> n\(anchor(arrow.to))\(ends.isEmpty ? "" : " [\(ends.joined(separator: ", "))]")\n"
        }
        return text + "}\n"
    }

    /// The first thing in a group that is no open group itself.
    private func anchor(_ node: Int) -> Int {
        var found = node
        while outline.isOpen(found), let first = graph.nodes[found].children.first { found = first }
        return found
    }

    private func attributes(_ index: Int) -> String {
        let node = graph.nodes[index]
        let name = String(node.path.isEmpty ? Substring(graph.name) : node.name)
        let (label, tip) = (PictureText.dot(name, node.caption()), PictureText.dot(node.label(graph)))
        return "label=\(label), color=\"\(Palette.light(node.shownState))\", tooltip=\(tip)"
    }

    private static func indent(_ depth: Int) -> String { String(repeating: "  ", count: max(1, depth)) }
}
