import Scheduling
import Wire

/// What a coordinator finds wrong with a graph by itself, whatever workers there are: for those who can ask none.
public enum GraphAdmission {
    public struct Fault: Hashable, Sendable {
        /// Index in the graph.
        public let node: Int
        public let path: String
        public let message: String
    }

    /// Locks that would wait for each other, places that cannot be had, retry scopes, ids, limits. Nothing of types, of values, and of what
    /// nodes require; in the order of the nodes.
    /// - Complexity: O(nodes + edges).
    public static func faults(of graph: WireGraph) -> [Fault] {
        let translated: Graph
        do {
            translated = try Graph(wire: graph)
        } catch {
            return [Fault(node: 0, path: "", message: error.description)]
        }
        return translated.faults(limits: CoordinatorConfiguration.graphLimits).inOrder.map {
            Fault(node: $0.node, path: $0.path, message: $0.message)
        }
    }
    /// By node: the nodes that it waits for before it begins, the member before it of an ordered group included.
    ///
    /// - Parameter graph: one without ``faults(of:)``.
    /// - Throws: what is wrong with it, where it has any that cannot even be read.
    /// - Complexity: O(nodes + edges).
    package static func dependencies(of graph: WireGraph) throws -> [[Int]] { try Graph(wire: graph).dependencies }
}
