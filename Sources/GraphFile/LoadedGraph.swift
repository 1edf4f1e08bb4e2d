import Wire

/// A graph file that has been read and found right, as far as that can be said without a coordinator.
public struct LoadedGraph: Sendable {
    /// What is handed in.
    public let graph: WireGraph
    /// As the caller named it; `<stdin>` for standard input.
    public let file: String
    /// Stands for parameters of which nothing is known. It is no JSON, of which a coordinator says nothing: only a worker would.
    package static let unreadableParameters = "?"
    /// Of each node of `graph`, by index.
    let positions: [GraphFilePosition]

    /// The graph's name: `name:` in the file, else the file's own.
    public var name: String { graph.name }

    /// Every node of `graph` with its path and place, by index. Built anew at each call: O(nodes × depth).
    public var nodes: [GraphFileNode] {
        var nodes: [GraphFileNode] = []
        nodes.reserveCapacity(graph.nodes.count)
        for (index, node) in graph.nodes.enumerated() {
            let parent = Int(node.parent)
            let path = index == 0 ? "" : Self.path(of: node, inside: nodes[parent])
            nodes.append(GraphFileNode(index: index, node: node, path: path, position: positions[index]))
        }
        return nodes
    }

    /// The place in the file of what the coordinator finds wrong with a node (`WireAdmissionError.node`).
    public func error(atNode index: Int, path: String, message: String) -> GraphFileError {
        let position = positions.indices.contains(index) ? positions[index] : nil
        return GraphFileError(file: file, position: position, path: path, message: message)
    }

    private static func path(of node: WireNode, inside parent: GraphFileNode) -> String {
        let component = parent.kind == .forEach ? "*" : node.id
        return parent.path.isEmpty ? component : parent.path + "/" + component
    }
}

/// A node of a loaded graph, for those who show a plan.
public struct GraphFileNode: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
        case operation, group, ordered, forEach
    }
    /// In `WireGraph.nodes`.
    public let index: Int
    /// `build/compile`; empty for the root; `count/*` for what forEach `count` makes for each element.
    public let path: String
    public let kind: Kind
    /// Registered name of an operation (`shell` for commands); empty for groups and forEach.
    public let type: String
    public let position: GraphFilePosition

    init(index: Int, node: WireNode, path: String, position: GraphFilePosition) {
        self.index = index
        self.path = path
        self.position = position
        switch node.kind {
        case .operation(let operation): (kind, type) = (.operation, operation.type)
        case .group(let group): (kind, type) = (group.ordered ? .ordered : .group, "")
        case .forEach: (kind, type) = (.forEach, "")
        case .decider, nil:
            preconditionFailure("node \(index) of a loaded graph is none that a file can name; GraphAssembly makes only those")
        }
    }
}
