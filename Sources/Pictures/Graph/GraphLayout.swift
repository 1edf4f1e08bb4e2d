/// Where everything of a graph stands, by the rules of the dashboard's picture (`graph.js`), which a test compares: a group is a box around
/// what is in it, what waits for something stands to the right of it, and of many children each is a small square.
struct GraphLayout: Sendable {
    enum Kind: String, Sendable {
        /// An operation.
        case card
        /// A group that shows nothing of what is in it.
        case fold
        /// A group around what is in it.
        case box
        /// One of many.
        case cell
    }

    struct Box: Sendable {
        /// Index in the graph.
        var node: Int
        var kind: Kind
        var x = 0.0
        var y = 0.0
        var width: Double
        var height: Double
        /// Children that are not drawn.
        var hidden = 0
    }

    struct Arrow: Hashable, Sendable {
        /// Indices of boxes.
        var from: Int
        var to: Int
    }

    static let cardWidth = 172.0
    static let cardHeight = 42.0
    static let foldWidth = 196.0
    static let foldHeight = 54.0
    static let cellSide = 15.0
    static let padding = 12.0
    static let headHeight = 28.0
    private static let labelMax = 260.0

    /// Groups before what is in them; the first is the root's.
    private(set) var boxes: [Box] = []
    private(set) var arrows: [Arrow] = []
    /// By node.
    private(set) var boxOfNode: [Int?]

    var width: Double { boxes.first?.width ?? 0 }
    var height: Double { boxes.first?.height ?? 0 }

    /// - Complexity: O(nodes × depth + edges × depth) for what is not folded.
    init(_ graph: PictureGraph, _ folding: GraphFolding) {
        boxOfNode = Array(repeating: nil, count: graph.nodes.count)
        guard !graph.nodes.isEmpty else { return }
        var drawn: [Drawn] = Self.drawn(graph, folding)
        measure(graph, &drawn)
        place(drawn)
        connect(graph)
    }

    // MARK: Measures

    /// What has a box, groups before what is in them.
    private struct Drawn {
        var box: Box
        /// Indices.
        var items: [Int] = []
        /// Of this one, inside of the group around it.
        var dx = 0.0
        var dy = 0.0
    }

    private static func drawn(_ graph: PictureGraph, _ folding: GraphFolding) -> [Drawn] {
        var drawn: [Drawn] = []
        var open: [(node: Int, isCell: Bool, group: Int?)] = [(0, false, nil)]
        // What is in a group stands together, behind it.
        while let (node, isCell, group) = open.popLast() {
            let index = drawn.count
            if let group { drawn[group].items.append(index) }
            guard graph.nodes[node].isGroup, node == 0 || !folding.contains(node) else {
                drawn.append(Drawn(box: Self.box(node, isFold: graph.nodes[node].isGroup, isCell: isCell)))
                continue
            }
            let children = graph.nodes[node].children
            let shown = children.prefix(PictureLimits.cellsMax)
            drawn.append(Drawn(box: Box(node: node, kind: .box, width: 0, height: 0, hidden: children.count - shown.count)))
            let areCells = children.count > PictureLimits.cellsFrom
            open += shown.reversed().map { ($0, areCells, index) }
        }
        return drawn
    }

    private static func box(_ node: Int, isFold: Bool, isCell: Bool) -> Box {
        switch (isFold, isCell) {
        case (false, false): Box(node: node, kind: .card, width: cardWidth, height: cardHeight)
        case (false, true): Box(node: node, kind: .cell, width: cellSide, height: cellSide)
        case (true, false): Box(node: node, kind: .fold, width: foldWidth, height: foldHeight)
        case (true, true): Box(node: node, kind: .cell, width: cellSide * 1.8, height: cellSide)
        }
    }

    /// From the inside to the outside.
    private func measure(_ graph: PictureGraph, _ drawn: inout [Drawn]) {
        for index in drawn.indices.reversed() where drawn[index].box.kind == .box {
            let group = drawn[index].box.node
            let items = drawn[index].items
            var sheet = GraphSheet(sizes: items.map { (drawn[$0].box.width, drawn[$0].box.height) })
            if items.isEmpty {
                sheet.size = (60, 8)
            } else if graph.nodes[group].children.count > PictureLimits.cellsFrom {
                sheet.flow()
            } else {
                sheet.columns(waits: Self.waits(graph, group, items.map { drawn[$0].box.node }))
            }
            for (item, place) in zip(items, sheet.places) { (drawn[item].dx, drawn[item].dy) = place }
            let label = min(Self.labelMax, 30 + Double(graph.nodes[group].path.utf16.count) * 7)
            drawn[index].box.width = max(sheet.size.width + 2 * Self.padding, label)
            drawn[index].box.height = sheet.size.height + Self.headHeight + Self.padding
        }
    }

    /// Which of a group's children wait for which, by position; also when it is something inside of them that does.
    private static func waits(_ graph: PictureGraph, _ group: Int, _ children: [Int]) -> [[Int]] {
        let position = Dictionary(uniqueKeysWithValues: children.enumerated().map { ($1, $0) })
        func child(around node: Int) -> Int? {
            var found = node
            while let parent = graph.nodes[found].parent, parent != group { found = parent }
            return position[found]
        }
        return children.enumerated().map { place, top in
            var waits: [Int] = []
            var seen: Set<Int> = [place]
            var open = [top]
            while let node = open.popLast() {
                for dependency in graph.nodes[node].dependencies {
                    guard let other = child(around: dependency), seen.insert(other).inserted else { continue }
                    waits.append(other)
                }
                let inside = graph.nodes[node].children
                if inside.count <= insideMax { open += inside.reversed() }
            }
            return waits
        }
    }

    /// Children of a group up to which it is asked what they wait for, to place the group.
    private static let insideMax = 200

    private mutating func place(_ drawn: [Drawn]) {
        boxes = drawn.map(\.box)
        for index in boxes.indices {
            boxOfNode[boxes[index].node] = index
            for item in drawn[index].items {
                boxes[item].x = boxes[index].x + Self.padding + drawn[item].dx
                boxes[item].y = boxes[index].y + Self.headHeight + drawn[item].dy
            }
        }
    }

    // MARK: Arrows

    /// Between what stands side by side.
    private mutating func connect(_ graph: PictureGraph) {
        var seen: Set<Arrow> = []
        for (index, node) in graph.nodes.enumerated() {
            for dependency in node.dependencies {
                guard let (from, to) = sides(graph, dependency, index), let a = boxOfNode[from], let b = boxOfNode[to] else { continue }
                guard boxes[a].kind != .cell || boxes[b].kind != .cell else { continue }
                let arrow = Arrow(from: a, to: b)
                if seen.insert(arrow).inserted { arrows.append(arrow) }
            }
        }
    }

    /// What of two that hang together stands side by side; nil: one is in the other.
    private func sides(_ graph: PictureGraph, _ first: Int, _ second: Int) -> (Int, Int)? {
        var (a, b) = (visible(graph, first), visible(graph, second))
        while graph.nodes[a].depth > graph.nodes[b].depth, let up = graph.nodes[a].parent { a = up }
        while graph.nodes[b].depth > graph.nodes[a].depth, let up = graph.nodes[b].parent { b = up }
        guard a != b else { return nil }
        while graph.nodes[a].parent != graph.nodes[b].parent, let up = graph.nodes[a].parent, let upToo = graph.nodes[b].parent {
            (a, b) = (up, upToo)
        }
        return (a, b)
    }

    /// The node, or what around it is folded.
    func visible(_ graph: PictureGraph, _ node: Int) -> Int {
        var found = node
        var up: Int? = node
        while let current = up {
            up = graph.nodes[current].parent
            if boxOfNode[current] == nil, let up { found = up }
        }
        return found
    }
}
