/// Members of groups with `maxConcurrent` that would hold a place while something inside of them waits for another member, at once or
/// by way of something outside of the group: with all places held like that nothing could go on. Where such a member holds a key, others
/// may have a place for as long that need a key, whichever: they may stand in its line behind another submission's unit that needs both.
///
/// The same holds of who keeps its keys while it is tried again with what delivers to it: that needs places, which those may hold that
/// need keys.
///
/// Only what can come to that is a fault: there must be as many such members as places, which may hold them at the same time, and
/// what they wait for must not have ended before they begin.
extension Graph {
    /// How many steps are taken to find them; what is not found by then is admitted.
    private static let placeStepsMax = 10_000_000

    /// Something inside of a member waits for something inside of another one.
    private struct PlaceWait {
        let node: Int
        /// What it waits for by itself.
        let target: Int
        /// The member around it, which holds a place.
        let own: Int
        /// What has to end in another member.
        let other: Int
    }

    /// - Complexity: O(groups with a limit whose inside waits for something outside of its member × what that waits for).
    func placeFaults(_ layout: GraphLayout) -> [AdmissionError] {
        var faults: [AdmissionError] = []
        var left = Self.placeStepsMax
        for group in nodes.indices {
            // Members of an ordered group run one after another, so that those before have ended.
            guard case .group(let kind) = nodes[group].kind, kind.maxConcurrent > 0, !kind.isOrdered else { continue }
            var earlier: [Int: Set<Int>] = [:]
            faults += retryFaults(in: group, limit: kind.maxConcurrent, layout, &earlier, &left)
            let waits = placeWaits(in: group, layout, &earlier, &left)
            guard left > 0 else { return faults }
            guard !waits.isEmpty else { continue }
            let waiting = withThoseInLine(Set(waits.map(\.own)), among: layout.children[group], layout)
            for member in waiting where earlier[member] == nil { earlier[member] = ended(before: member, layout, &left) }
            let holders = mostAtOnce(waiting, earlier)
            guard holders >= kind.maxConcurrent else { continue }
            for wait in waits {
                let (target, own, other) = (path(of: wait.target), path(of: wait.own), path(of: wait.other))
                faults.append(
                    fault(
                        wait.node,
                        "waits for `\(target)`\(wait.target == wait.other ? "" : ", and that for `\(other)`,") while `\(own)` holds one of the"
                            + " places of a group with `maxConcurrent` that the other needs, too; let `\(own)` itself wait (`after`)"
                            + ", or let `maxConcurrent` be at least \(holders + 1)"
                    ))
            }
        }
        return faults
    }

    /// Tails of delivery nets that keep keys, where others that need keys may hold all places that the net needs to begin anew.
    ///
    /// - Parameter earlier: what has ended when a member begins, by members that are asked for.
    private func retryFaults(
        in group: Int, limit: Int, _ layout: GraphLayout, _ earlier: inout [Int: Set<Int>], _ left: inout Int
    ) -> [AdmissionError] {
        guard let scopes = layout.scopes else { return [] }
        var faults: [AdmissionError] = []
        for tail in layout.children[group].map(Int.init) {
            let net = scopes.members(of: Int32(tail)).map(Int.init)
            guard let producer = net.first, nodes[tail].hasOptions, !nodes[tail].options.exclusive.isEmpty else { continue }
            var others = withThoseInLine([tail], among: layout.children[group], layout).subtracting(net + [tail])
            for member in others.union([tail]) where earlier[member] == nil { earlier[member] = ended(before: member, layout, &left) }
            others = others.filter { earlier[tail]?.contains($0) != true && earlier[$0]?.contains(tail) != true }
            let holders = mostAtOnce(others, earlier)
            guard left > 0, holders >= limit, let other = others.min() else { continue }
            faults.append(
                fault(
                    tail,
                    "keeps its keys while it is tried again with `\(path(of: producer))`, and `\(path(of: other))`, which needs a key, too, may"
                        + " hold the place of a group with `maxConcurrent` that this needs; let `\(path(of: other))` wait (`after`), or let"
                        + " `maxConcurrent` be at least \(holders + 1)"))
        }
        return faults
    }

    /// - Parameter earlier: what has ended when a member begins, by members that are asked for.
    private func placeWaits(in group: Int, _ layout: GraphLayout, _ earlier: inout [Int: Set<Int>], _ left: inout Int) -> [PlaceWait] {
        let inside = layout.subtree(of: group)
        let members = layout.children[group]
        var waits: [PlaceWait] = []
        for node in inside where node != group && nodes[node].parent != group {
            for target in layout.dependencies[node].map(Int.init) {
                guard let own = member(around: node, among: members) else { continue }
                if inside.contains(target), member(around: target, among: members) == own { continue }
                let ends = inside.contains(target) ? [target] : reached(from: [target], in: inside, layout, &left)
                let others = ends.filter { member(around: $0, among: members).map { $0 != own } ?? false }
                guard !others.isEmpty else { continue }
                if earlier[own] == nil { earlier[own] = ended(before: own, layout, &left) }
                guard let other = others.first(where: { earlier[own]?.contains($0) != true }) else { continue }
                waits.append(PlaceWait(node: node, target: target, own: own, other: other))
            }
        }
        return waits
    }

    /// These members, and, where one of these holds a key, those that may hold a place while they wait for one.
    ///
    /// - Complexity: O(nodes inside).
    private func withThoseInLine(_ members: Set<Int>, among all: ArraySlice<Int32>, _ layout: GraphLayout) -> Set<Int> {
        func needsKey(_ member: Int) -> Bool {
            layout.subtree(of: member).contains { nodes[$0].hasOptions && !nodes[$0].options.exclusive.isEmpty }
        }
        guard members.contains(where: needsKey) else { return members }
        return members.union(all.map(Int.init).filter(needsKey))
    }

    /// How many of these members may run at the same time, or more: into so many lines they can be put in which each begins when the
    /// one before has ended.
    private func mostAtOnce(_ members: Set<Int>, _ earlier: [Int: Set<Int>]) -> Int {
        func before(_ member: Int) -> Int { earlier[member]?.intersection(members).count ?? 0 }
        var lasts: [Int] = []
        for (before, member) in members.map({ (before($0), $0) }).sorted(by: <) {
            if before > 0, let line = lasts.firstIndex(where: { earlier[member]?.contains($0) == true }) {
                lasts[line] = member
            } else {
                lasts.append(member)
            }
        }
        return lasts.count
    }

    /// - Parameter members: of a group, rising.
    /// - Complexity: O(log members).
    private func member(around node: Int, among members: ArraySlice<Int32>) -> Int? {
        var (low, high) = (members.startIndex, members.endIndex)
        while low < high {
            let middle = (low + high) / 2
            if Int(members[middle]) <= node { low = middle + 1 } else { high = middle }
        }
        return low > members.startIndex ? Int(members[low - 1]) : nil
    }

    /// The nodes inside of a group for whose ends these nodes wait, directly or not.
    private func reached(from targets: [Int], in inside: Range<Int>, _ layout: GraphLayout, _ left: inout Int) -> [Int] {
        var found: [Int] = []
        search(from: targets, layout, &left) { node, isEnd in
            guard inside.contains(node) else { return true }
            if isEnd, node != inside.lowerBound { found.append(node) }
            return false
        }
        return found.sorted()
    }

    /// The nodes that have ended when this one begins, because it waits for them.
    private func ended(before node: Int, _ layout: GraphLayout, _ left: inout Int) -> Set<Int> {
        var found: Set<Int> = []
        search(from: layout.dependencies[node].map(Int.init), layout, &left) { node, isEnd in
            if isEnd { found.insert(node) }
            return true
        }
        return found
    }

    /// Goes back from the ends of these nodes to all that comes before.
    ///
    /// - Parameter visit: whether to go on from there.
    private func search(from targets: [Int], _ layout: GraphLayout, _ left: inout Int, _ visit: (_ node: Int, _ isEnd: Bool) -> Bool) {
        // The end of a node waits for its start and for what is inside of it, its start for that of its group and for what it waits for.
        var open = targets.map { (node: $0, isEnd: true) }
        var seen: Set<Int> = []
        while let (node, isEnd) = open.popLast(), left > 0 {
            left -= 1
            guard seen.insert(2 * node + (isEnd ? 1 : 0)).inserted, visit(node, isEnd) else { continue }
            open += layout.dependencies[node].map { (Int($0), true) }
            if node > 0 { open.append((nodes[node].parent, false)) }
            if isEnd {
                open += (layout.children[node] + (layout.preparations[Int32(node)] ?? [])).map { (Int($0), true) }
            }
        }
    }
}
