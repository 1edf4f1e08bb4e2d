/// Whether one unit waits for another, directly or not, now or when something begins that has not begun yet.
///
/// What can still come to wait is looked at as well: a group that may begin anew, a forEach that has no elements yet, places
/// in a group with a limit. So nothing that follows closes a circle, but another join, which is searched for then. Waits for
/// locks lead nowhere: whoever holds one waits for nobody who has joined (`Graph.keyFaults`).
enum JoinSearch {
    struct Vertex: Hashable {
        let unit: UnitID
        let isStart: Bool
    }

    /// So much is looked at; beyond it the answer is yes.
    private static let verticesMax = 100_000

    static func leads(from first: UnitID, to target: UnitID, in durable: DurableState) -> Bool {
        if first.submission != target.submission, !durable.submissions[durable.index(of: first.submission)].hasJoined { return false }
        var seen = Set<Vertex>()
        var open = [Vertex(unit: first, isStart: false)]
        while let vertex = open.popLast() {
            if vertex.unit == target { return true }
            guard seen.insert(vertex).inserted else { continue }
            guard seen.count <= verticesMax else { return true }
            for next in prerequisites(of: vertex, target, durable) where !seen.contains(next) { open.append(next) }
        }
        return false
    }

    /// What has to come first. Waits for locks are not among it; with `seesPlaces` all members that may hold a place are, also
    /// those that would hold it while they wait for a lock, `target` itself with them.
    static func prerequisites(
        of vertex: Vertex, _ target: UnitID, _ durable: DurableState, seesPlaces: Bool = false
    ) -> [Vertex] {
        let index = durable.index(of: vertex.unit.submission)
        let number = vertex.unit.submission
        let unit = vertex.unit.index
        func end(_ other: Int) -> Vertex { Vertex(unit: UnitID(number, other), isStart: false) }
        func start(_ other: Int) -> Vertex { Vertex(unit: UnitID(number, other), isStart: true) }
        let state = durable.submissions[index].units[unit]
        let hasBegun: Bool
        switch state.phase {
        case .ended, .dropped: return []
        case .blocked, .delayed, .held, .paused: hasBegun = false
        case .wanting, .locking, .preparing, .ready, .postponed, .assigned, .provisional, .retryWait, .open, .lingering: hasBegun = true
        }
        if durable.submissions[index].duplicate(unit) != nil {
            let before = durable.submissions[index].memberBefore(unit).map(end)
            let first = durable.submissions[index].joined(unit).map { Vertex(unit: $0, isStart: false) }
            return [before, first].compactMap(\.self)
        }
        if !vertex.isStart {
            let inside = Array(durable.submissions[index].children(of: unit)) + durable.submissions[index].preparations(of: unit)
            let children = inside.filter { !durable.submissions[index].units[$0].hasEnded }
            var outside = durable.submissions[index].laterWaits(of: unit)
            if let producer = durable.submissions[index].openStreamProducer(of: unit) { outside.append(producer) }
            return (hasBegun ? [] : [start(unit)]) + children.map(end) + outside.map(end)
        }
        guard !hasBegun else {
            // What is in a group begins after what its conditions depend on.
            let preparations = state.phase == .preparing ? durable.submissions[index].preparations(of: unit) : []
            return preparations.filter { !durable.submissions[index].units[$0].hasEnded }.map(end)
        }
        var found = durable.submissions[index].predecessors(of: unit)
        // The member before it may have ended early, and those before that not yet.
        if let member = durable.submissions[index].memberBefore(unit) { found.append(member) }
        let parent = Int(state.parent)
        guard parent >= 0 else { return found.map(end) }
        if durable.submissions[index].maxConcurrent(parent) > 0, !durable.submissions[index].isPreparation(unit) {
            // Those that may hold the places while something in them waits; who joins holds none.
            for member in durable.submissions[index].children(of: parent)
            where member != unit
                && (seesPlaces || UnitID(number, member) != target && durable.submissions[index].waitsInItsPlace(member))
            {
                found.append(member)
            }
        }
        return found.map(end) + (durable.submissions[index].units[parent].phase == .open ? [] : [start(parent)])
    }
}

extension Submission {
    /// Whether it may wait for something inside of it while it holds a place: for its members, or for operations that its
    /// conditions depend on.
    fileprivate func waitsInItsPlace(_ unit: Int) -> Bool { !node(unit).isOperation || !preparations(of: unit).isEmpty }

    /// Whether anything of it has joined something.
    fileprivate var hasJoined: Bool { standings.keys.contains { joined(Int($0)) != nil } }

    /// What a group waits for because of members that are not there, or not any more: of a forEach its elements, of one that
    /// may begin anew all.
    fileprivate func laterWaits(of unit: Int) -> [Int] {
        let first = Int(units[unit].node)
        let beginsAnew = graph.nodes[first].mayBeginAnew(isAtMostOnce: isAtMostOnce(unit))
        switch graph.nodes[first].kind {
        case .operation, .decider: return []
        case .group: if !beginsAnew { return [] }
        case .forEach: if !beginsAnew, units[unit].phase == .open { return [] }
        }
        var found: [Int] = []
        let inside = layout.subtree(of: first)
        for node in inside.dropFirst() {
            for dependency in layout.dependencies[node] where !inside.contains(Int(dependency)) {
                found.append(self.unit(ofNode: Int(dependency), seenFrom: unit))
            }
        }
        return found
    }
}
