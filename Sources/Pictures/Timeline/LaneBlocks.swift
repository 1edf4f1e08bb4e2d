/// A lane as it can be seen: bars that are closer together than the eye can tell are one block.
struct LaneBlocks: Sendable {
    struct Block: Sendable {
        /// From the start of the lane, in pixels.
        var x: Double
        var width: Double
        /// The first ones, those that failed before others.
        var named: [Timeline.Bar]
        /// How many are marked as what.
        var tally: [String: Int]
        let isNarrow: Bool

        var count: Int { tally.values.reduce(0, +) }
        var end: Double { x + width }
        /// What must not vanish among others comes first.
        var mark: String { LaneBlocks.order.first { tally[$0] != nil } ?? named.first?.mark ?? "" }
    }

    private(set) var blocks: [Block] = []

    /// Pixels: no block is narrower, or begins closer to a narrow one before it.
    static let widthMin = 2.0
    fileprivate static let namedMax = 3
    fileprivate static let order =
        ["failed", Timeline.Bar.lost, "failed\(Timeline.Bar.again)", "running", "stopping", "retrying", "cancelled"]

    /// - Parameter scale: pixels of a millisecond.
    /// - Complexity: O(bars); the number of blocks is bounded by the pixels of the lane.
    init(_ lane: Timeline.Lane, start: Int64, scale: Double) {
        for bar in lane.bars {
            let x = Double(bar.from - start) * scale
            let width = Double(bar.to - bar.from) * scale
            let isNarrow = width < 2 * Self.widthMin
            if isNarrow, let last = blocks.last, last.isNarrow, x < last.x + Self.widthMin {
                blocks[blocks.count - 1].add(bar, end: x + width)
            } else {
                let begin = max(x, blocks.last?.end ?? 0)
                let end = max(x + width - (isNarrow ? 0 : 0.5), begin + Self.widthMin)
                blocks.append(Block(x: begin, width: end - begin, named: [bar], tally: [bar.mark: 1], isNarrow: isNarrow))
            }
        }
    }
}

extension LaneBlocks.Block {
    fileprivate mutating func add(_ bar: Timeline.Bar, end: Double) {
        width = max(width, end - x)
        tally[bar.mark, default: 0] += 1
        let place = bar.mark == "failed" ? named.firstIndex { $0.mark != "failed" } ?? named.count : named.count
        named.insert(bar, at: place)
        if named.count > LaneBlocks.namedMax { named.removeLast() }
    }
}
