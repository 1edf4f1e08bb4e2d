/// What a unit waits for before it begins.
public struct UnitEdges: Hashable, Sendable {
    public var unit: Int
    /// Units, in the order of the graph.
    public var dependencies: [Int]
}

extension Scheduler {
    /// For those who draw a submission: what its units wait for, those left out that wait for nothing.
    ///
    /// - Parameters:
    ///   - id: the whole id of a submission.
    ///   - unit: where to go on.
    ///   - limit: look at no more units.
    /// - Returns: nil: there is no such submission; `next`: where to go on, 0: there are no more.
    /// - Complexity: O(limit + edges).
    public func edges(of id: String, from unit: Int, limit: Int) -> (edges: [UnitEdges], next: Int)? {
        guard let number = durable.submissionByID[id], !durable.isForgotten(number) else { return nil }
        let index = durable.index(of: number)
        let count = durable.submissions[index].units.count
        let end = min(count, max(0, unit) + max(1, limit))
        var edges: [UnitEdges] = []
        for unit in max(0, unit)..<max(0, unit, end) where durable.submissions[index].units[unit].phase != .dropped {
            let dependencies = durable.submissions[index].dependencies(ofUnit: unit)
            if !dependencies.isEmpty { edges.append(UnitEdges(unit: unit, dependencies: dependencies)) }
        }
        return (edges, end < count ? end : 0)
    }
}

extension Submission {
    /// The units that a unit waits for before it begins, in the order of the graph.
    func dependencies(ofUnit unit: Int) -> [Int] {
        layout.dependencies[Int(units[unit].node)].map { self.unit(ofNode: Int($0), seenFrom: unit) }
    }
}

extension Graph {
    /// By node: the distinct nodes that it waits for before it begins, the member before it of an ordered group included.
    ///
    /// - Precondition: the graph has passed `faults(limits:)`.
    /// - Complexity: O(nodes + edges).
    package var dependencies: [[Int]] {
        let layout = GraphLayout(self)
        return nodes.indices.map { node in layout.dependencies[node].map { Int($0) } }
    }
}
