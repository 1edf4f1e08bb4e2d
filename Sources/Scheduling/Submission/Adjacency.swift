/// Lists of node indices by node, in one array.
struct Adjacency: Sendable {
    private var starts: [Int32]
    private var targets: [Int32]

    subscript(_ index: Int) -> ArraySlice<Int32> { targets[Int(starts[index])..<Int(starts[index + 1])] }
    func count(_ index: Int) -> Int { Int(starts[index + 1] - starts[index]) }

    /// The list of one more node.
    mutating func append(_ list: some Sequence<Int32>) {
        targets += list
        starts.append(Int32(targets.count))
    }

    /// Collects edges in any order; lists keep the order in which their edges were added.
    struct Builder {
        private var edges: [(from: Int32, to: Int32)] = []
        private var starts: [Int32]

        init(count: Int) { starts = [Int32](repeating: 0, count: count + 1) }

        mutating func add(from: Int, to: Int) {
            edges.append((Int32(from), Int32(to)))
            starts[from + 1] += 1
        }

        func build() -> Adjacency {
            var starts = starts
            for index in 1..<max(starts.count, 1) { starts[index] += starts[index - 1] }
            var next = starts
            var targets = [Int32](repeating: 0, count: edges.count)
            for edge in edges {
                targets[Int(next[Int(edge.from)])] = edge.to
                next[Int(edge.from)] += 1
            }
            return Adjacency(starts: starts, targets: targets)
        }
    }
}
