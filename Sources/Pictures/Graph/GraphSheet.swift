/// Places rectangles that stand beside each other.
struct GraphSheet {
    typealias Size = (width: Double, height: Double)

    private let sizes: [Size]
    /// Where each is, by position.
    private(set) var places: [(Double, Double)]
    /// Of all together.
    var size: Size = (0, 0)

    private static let gap = 10.0
    private static let cellGap = 4.0
    private static let layerGap = 46.0
    /// Rows of a column before there are several.
    private static let rowsMax = 8

    init(sizes: [Size]) {
        self.sizes = sizes
        places = Array(repeating: (0, 0), count: sizes.count)
    }

    /// In rows, from left to right.
    mutating func flow() {
        let area = sizes.reduce(0) { $0 + ($1.width + Self.cellGap) * ($1.height + Self.cellGap) }
        let limit = max((area * 1.9).squareRoot(), sizes.map(\.width).max() ?? 0)
        var (x, y, row, width) = (0.0, 0.0, 0.0, 0.0)
        for (index, size) in sizes.enumerated() {
            if x > 0, x + size.width > limit {
                x = 0
                y += row + Self.cellGap
                row = 0
            }
            places[index] = (x, y)
            x += size.width + Self.cellGap
            row = max(row, size.height)
            width = max(width, x - Self.cellGap)
        }
        size = (width, y + row)
    }

    /// In columns: what waits for something stands to the right of it.
    ///
    /// - Parameter waits: by position, the positions that each waits for.
    mutating func columns(waits: [[Int]]) {
        let layerOf = Self.layers(waits)
        var blocks: [(members: [Int], height: Double)] = []
        var x = 0.0
        for layer in 0...(layerOf.max() ?? 0) {
            let members = layerOf.indices.filter { layerOf[$0] == layer }
            guard !members.isEmpty else { continue }
            let block = place(members, from: x)
            x += block.width + Self.layerGap
            blocks.append((members, block.height))
        }
        let height = blocks.map(\.height).max() ?? 0
        for block in blocks {
            for member in block.members { places[member].1 += (height - block.height) / 2 }
        }
        size = (x - Self.layerGap, height)
    }

    /// Where there are many, the block is somewhat wider than high.
    private mutating func place(_ members: [Int], from x: Double) -> Size {
        let widths = members.reduce(0) { $0 + sizes[$1].width + Self.gap }
        let heights = members.reduce(0) { $0 + sizes[$1].height + Self.gap }
        let many = (Double(members.count) * widths / (1.6 * heights)).squareRoot().rounded(.up)
        let rows = members.count <= Self.rowsMax ? members.count : Int(many)
        var (column, block): (Double, Size) = (0, (0, 0))
        for start in stride(from: 0, to: members.count, by: max(1, rows)) {
            let part = members[start..<min(members.count, start + rows)]
            var y = 0.0
            for member in part {
                places[member] = (x + column, y)
                y += sizes[member].height + Self.gap
            }
            block.height = max(block.height, y - Self.gap)
            column += (part.map { sizes[$0].width }.max() ?? 0) + Self.gap
            block.width = column - Self.gap
        }
        return block
    }

    /// By position: how many stand before it, one after the other. Where they wait for each other in a circle, the first one that is found
    /// is the first.
    private static func layers(_ waits: [[Int]]) -> [Int] {
        var layers = [Int?](repeating: nil, count: waits.count)
        for start in waits.indices {
            var open = [start]
            while let node = open.last {
                let missing = layers[node] == nil ? waits[node].filter { layers[$0] == nil && !open.contains($0) } : []
                guard missing.isEmpty else {
                    open += missing
                    continue
                }
                if layers[node] == nil { layers[node] = max(0, waits[node].map { (layers[$0] ?? -1) + 1 }.max() ?? 0) }
                open.removeLast()
            }
        }
        return layers.map { $0 ?? 0 }
    }
}
