import Wire

/// A graph file that is wrong, without what is: what else is wrong with it a coordinator can find.
public struct GraphFileRemainder: Sendable {
    let loaded: LoadedGraph
    /// Of nodes that have another id in `loaded`: their own.
    let ids: [Int: String]

    /// What can be handed to the coordinator for a check, and for nothing else.
    public var graph: WireGraph { loaded.graph }

    /// The place in the file of what the coordinator finds wrong with a node.
    public func error(atNode index: Int, message: String) -> GraphFileError {
        loaded.error(atNode: index, path: path(of: index), message: message)
    }

    private func path(of index: Int) -> String {
        var components: [String] = []
        var current = index
        while current > 0, loaded.graph.nodes.indices.contains(current) {
            let parent = Int(loaded.graph.nodes[current].parent)
            let isBody = if case .forEach = loaded.graph.nodes[parent].kind { true } else { false }
            components.append(isBody ? "*" : ids[current] ?? loaded.graph.nodes[current].id)
            current = parent
        }
        return components.reversed().joined(separator: "/")
    }
}
