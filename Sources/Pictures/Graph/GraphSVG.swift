/// A graph as an SVG, light and dark.
package struct GraphSVG: Sendable {
    private static let margin = 16.0
    private static let headHeight = 50.0
    private static let footHeight = 34.0
    private static let widthMin = 420.0

    private let graph: PictureGraph
    private let layout: GraphLayout

    /// - Complexity: O(nodes + edges), times how deep they are nested.
    package init(_ graph: PictureGraph, depth: GraphDepth = .fitting) {
        self.graph = graph
        layout = GraphLayout(graph, GraphFolding(graph, depth))
    }

    /// - Complexity: O(what is drawn).
    package var text: String {
        let legend = legend()
        let width = max(Self.widthMin, layout.width + 2 * Self.margin, (legend.last?.end ?? 0) + Self.margin)
        let height = Self.headHeight + layout.height + (legend.isEmpty ? 0 : Self.footHeight) + Self.margin
        var svg = SVGWriter(width: width, height: height, label: "\(graph.name): \(graph.summary)")
        svg.words(PictureText.cut(graph.name, to: width - 2 * Self.margin, size: 15), Self.margin, 26, classes: "ink title")
        svg.words(graph.summary, Self.margin, 43, classes: "muted")
        for box in layout.boxes where box.kind == .box { draw(group: box, &svg) }
        for arrow in layout.arrows { draw(layout.boxes[arrow.from], layout.boxes[arrow.to], &svg) }
        for box in layout.boxes {
            switch box.kind {
            case .box: break
            case .cell: draw(cell: box, &svg)
            case .card, .fold: draw(card: box, &svg)
            }
        }
        for entry in legend {
            svg.circle(entry.x + 4, height - Self.margin - 4, 4, classes: Palette.fill(entry.state))
            svg.words("\(entry.state) \(entry.count)", entry.x + 13, height - Self.margin, classes: "muted")
        }
        svg.end()
        return svg.text
    }

    private func x(_ box: GraphLayout.Box) -> Double { box.x + Self.margin }
    private func y(_ box: GraphLayout.Box) -> Double { box.y + Self.headHeight }

    private func draw(group box: GraphLayout.Box, _ svg: inout SVGWriter) {
        let node = graph.nodes[box.node]
        svg.rect(x(box), y(box), box.width, box.height, radius: 10, classes: "box", label: node.label(graph), isFramed: true)
        svg.circle(x(box) + 15, y(box) + 15, 4, classes: Palette.fill(node.shownState))
        let count = node.standing == nil ? "\(node.total)" : "\(node.ended)/\(node.total)"
        let done = box.hidden > 0 ? "\(count), \(box.hidden) of \(node.children.count) not drawn" : count
        let space = box.width - 46 - Double(done.count) * 7
        let name = node.path.isEmpty ? Substring(graph.name) : node.name
        svg.words(PictureText.cut(name, to: space), x(box) + 25, y(box) + 19, classes: "muted name")
        svg.words(done, x(box) + box.width - GraphLayout.padding, y(box) + 19, classes: "muted end")
    }

    private func draw(_ a: GraphLayout.Box, _ b: GraphLayout.Box, _ svg: inout SVGWriter) {
        let (start, end) = (x(a) + a.width, x(b) - 2)
        guard end >= start else { return }
        svg.arrow(from: start, y(a) + a.height / 2, to: end, y(b) + b.height / 2)
    }

    private func draw(cell box: GraphLayout.Box, _ svg: inout SVGWriter) {
        let node = graph.nodes[box.node]
        let isQuiet = node.shownState == nil || node.shownState == "blocked" || node.shownState == "queued"
        svg.rect(
            x(box), y(box), box.width, box.height, radius: 3, classes: Palette.fill(node.shownState) + (isQuiet ? " quiet" : ""),
            label: node.label(graph))
    }

    private func draw(card box: GraphLayout.Box, _ svg: inout SVGWriter) {
        let node = graph.nodes[box.node]
        svg.open(label: node.label(graph))
        svg.rect(x(box), y(box), box.width, box.height, radius: 7, classes: "card", isFramed: true)
        svg.rect(x(box), y(box), 5, box.height, radius: 2.5, classes: Palette.fill(node.shownState))
        svg.words(PictureText.cut(node.name, to: box.width - 26, size: 12.5), x(box) + 14, y(box) + 18, classes: "ink name")
        let caption = (box.kind == .fold ? "▸ " : "") + node.caption()
        svg.words(PictureText.cut(caption, to: box.width - 26, size: 11), x(box) + 14, y(box) + 33, classes: "muted small")
        if box.kind == .fold, node.standing != nil { bar(node, x(box) + 14, y(box) + 41, box.width - 28, &svg) }
        svg.close()
    }

    /// How much of what is folded has ended, and how.
    private func bar(_ node: PictureGraph.Node, _ start: Double, _ y: Double, _ width: Double, _ svg: inout SVGWriter) {
        svg.rect(start, y, width, 4, classes: "line")
        var x = start
        for state in ["succeeded", "failed", "cancelled", "running"] {
            guard let count = node.tally[state], count > 0 else { continue }
            let part = width * Double(count) / Double(max(1, node.total))
            svg.rect(x, y, part, 4, classes: Palette.fill(state))
            x += part
        }
    }

    /// The states that there are, from left to right.
    private func legend() -> [(state: String, count: Int, x: Double, end: Double)] {
        guard let root = graph.nodes.first, root.standing != nil else { return [] }
        var x = Self.margin
        return Palette.states.map(\.name).compactMap { state in
            let count = root.isGroup ? root.tally[state] ?? 0 : root.shownState == state ? 1 : 0
            guard count > 0 else { return nil }
            let start = x
            x += 32 + Double("\(state) \(count)".count) * 7
            return (state, count, start, x)
        }
    }
}
