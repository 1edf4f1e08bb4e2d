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
            let nodes = durable.submissions[index].layout.dependencies[Int(durable.submissions[index].units[unit].node)]
            guard !nodes.isEmpty else { continue }
            edges.append(
                UnitEdges(unit: unit, dependencies: nodes.map { durable.submissions[index].unit(ofNode: Int($0), seenFrom: unit) }))
        }
        return (edges, end < count ? end : 0)
    }
}
