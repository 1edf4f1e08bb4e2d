/// Groups that are tried again.
extension GraphPlan {
    /// Whether a group is tried again with all that is in it.
    ///
    /// Nothing else is seen of the beginning of an attempt than that conditions are asked: the first condition of such a group is one
    /// that always holds.
    package func mayBeginAnew(_ node: Int) -> Bool { nodes[node].group != nil && nodes[node].attempts > 1 }

    /// Such groups around a node, the innermost first.
    package func groupsThatMayBeginAnew(around node: Int) -> [Int] { ancestors(of: node).filter(mayBeginAnew) }
}
