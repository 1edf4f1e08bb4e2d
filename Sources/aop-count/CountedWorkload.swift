import Scheduling

/// Fixed work for the scheduler and the journal's codec, of which an instruction counter is to say what it costs.
enum CountedWorkload: String, CaseIterable {
    /// Nothing: what the program itself takes.
    case nothing
    /// Independent operations, told of in batches.
    case flood
    /// Operations one after another, each of which receives the value of the one before.
    case chain
    /// One producer, many that receive from it, and one that receives from all of those.
    case fan
    /// Operations that need one of ten keys.
    case contention
    /// The facts of a flood, written and read back.
    case facts

    /// How many operations it has.
    var count: Int {
        switch self {
        case .nothing: 0
        case .flood, .facts: 5_000
        case .chain, .fan: 1_000
        case .contention: 2_000
        }
    }

    /// - Returns: how many facts came of it.
    /// - Throws: `DecodingFailure`.
    func run() throws -> Int {
        switch self {
        case .nothing: return 0
        case .flood, .chain, .fan, .contention:
            var cluster = PlayedCluster()
            cluster.run(graph)
            return cluster.facts.count
        case .facts:
            var cluster = PlayedCluster()
            cluster.run(graph)
            var bytes: [UInt8] = []
            var ends: [Int] = []
            for fact in cluster.facts {
                FactCodec.append(fact, to: &bytes)
                ends.append(bytes.count)
            }
            var (start, count) = (0, 0)
            for end in ends {
                _ = try FactCodec.decode(bytes[start..<end])
                (start, count) = (end, count + 1)
            }
            return count
        }
    }

    private var graph: Graph {
        var nodes = [Node(id: "", parent: 0, kind: .group(GroupNode(isOrdered: self == .chain)))]
        func add(_ id: String, receives: [Int] = [], _ options: NodeOptions = .standard) {
            nodes.append(
                Node(
                    id: id, parent: 0, kind: .operation(OperationNode(type: "noop", parameters: 0)), receives: receives, options: options))
        }
        switch self {
        case .nothing: break
        case .flood, .facts: for index in 0..<count { add("n\(index)") }
        case .chain: for index in 0..<count { add("n\(index)", receives: index == 0 ? [] : [index]) }
        case .fan:
            add("first")
            for index in 0..<count { add("n\(index)", receives: [1]) }
            add("last", receives: Array(2..<count + 2))
        case .contention:
            for index in 0..<count {
                var options = NodeOptions()
                options.exclusive = [Exclusion(key: "k\(index % 10)")]
                add("n\(index)", options)
            }
        }
        return Graph(name: rawValue, nodes: nodes, parameters: [Array("{}".utf8)])
    }
}
