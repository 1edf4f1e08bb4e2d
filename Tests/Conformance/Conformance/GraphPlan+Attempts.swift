/// Groups that are tried again.
extension GraphPlan {
    /// Whether a group is tried again with all that is in it.
    ///
    /// Nothing else is seen of the beginning of an attempt than that conditions are asked: the first condition of such a group is one
    /// that always holds.
    package func mayBeginAnew(_ node: Int) -> Bool { nodes[node].group != nil && nodes[node].attempts > 1 }

    /// Whether such a group is one of operations of which none delivers, so that a queue makes them anew by itself. One in two of those is
    /// left to that; what it makes is heard of when the group has ended.
    package func isMadeAnewByItself(_ group: Int) -> Bool {
        mayBeginAnew(group) && group.isMultiple(of: 2)
            && children(of: group).allSatisfy { nodes[$0].script != nil && nodes[$0].producers.isEmpty }
    }

    /// Whether a worker may begin it by itself, as it says or something around it.
    package func mayRunAtWill(_ node: Int) -> Bool { ([node] + ancestors(of: node)).contains { nodes[$0].isRecomputable } }

    /// Groups around a node that are tried again, the innermost first.
    package func groupsThatMayBeginAnew(around node: Int) -> [Int] { ancestors(of: node).filter(mayBeginAnew) }
}
