/// What an operation has produced while it ran: new children of the group that it is in.
public struct Addition: Hashable, Sendable {
    /// What the operation calls it in its group, where it is once, however often it is produced; nil: it is there because
    /// its attempt succeeded.
    public var id: String?
    /// Node 0 stands for the group; what is in it is added, in this order. Nothing in it refers to anything outside.
    public var graph: Graph
    /// Nodes that the operation has handed over itself. The others are there because these need them.
    public var products: [Int]

    public init(id: String? = nil, graph: Graph, products: [Int]) {
        self.id = id
        self.graph = graph
        self.products = products
    }

    /// What is added to the group itself.
    var tops: [Int] { graph.nodes.indices.filter { $0 > 0 && graph.nodes[$0].parent == 0 && !graph.nodes[$0].isDecider } }
}

/// Where some units come from that were added together.
struct AdditionOrigin {
    let firstUnit: Int32
    let firstNode: Int32
    /// Where its parameters begin.
    let firstParameter: Int32
    /// What stood for the group in it.
    let root: Node
    let attempt: Attempt
    let id: String?
}

/// What was added to a group while it ran.
struct Growth {
    /// Units, in the order in which they were added.
    var children: [Int32] = []
    /// Path components of all children.
    var names: Set<String> = []
    /// What was produced under an id of its own: its first unit. Looked up, never iterated.
    var produced: [String: Int32] = [:]
    /// How often something was added.
    var decisions = 0
}
