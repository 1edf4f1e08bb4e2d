/// Graphs in which members of groups with `maxConcurrent` may hold all places while something inside of them waits for what cannot come
/// about before one of these is free, or before one of another group's is that is held in the same way. See `PlaceCheck`.
///
/// The same holds of who keeps its keys while it is tried again with what delivers to it: that needs places, which those may hold that
/// need keys.
extension Graph {
    func placeFaults(_ layout: GraphLayout) -> [AdmissionError] {
        var check = PlaceCheck(self, layout)
        let faults = retryFaults(layout, &check) + circleFaults(check)
        guard check.stepsLeft > 0 else {
            return [
                fault(
                    0,
                    "it takes more than \(PlaceCheck.stepsMax) steps to find whether the places of its groups with `maxConcurrent` come free, as so much"
                        + " waits inside of their members, or is tried again under keys; let the members themselves wait (`after`), or leave"
                        + " `maxConcurrent` out")
            ]
        }
        return faults
    }

    private func circleFaults(_ check: PlaceCheck) -> [AdmissionError] {
        // What only waits for such a circle is none itself: groups for whose places nobody waits in what is left are taken out.
        var follows: [Int: Set<Int>] = [:]
        var waiters: [Int: Int] = [:]
        for (index, group) in check.groups.enumerated() where !group.comesFree {
            let others = Set(group.circles.flatMap(\.blocked).compactMap { check.group(ofMember: $0) })
            follows[index] = others
            for other in others { waiters[other, default: 0] += 1 }
        }
        var idle = follows.keys.filter { waiters[$0] == nil }
        while let group = idle.popLast() {
            for other in follows.removeValue(forKey: group) ?? [] {
                waiters[other, default: 0] -= 1
                if waiters[other] == 0 { idle.append(other) }
            }
        }
        return follows.keys.sorted().flatMap { index in
            check.groups[index].circles.map { circleFault($0.wait, $0.blocked, holders: check.groups[index].heldInCircles, check) }
        }
    }

    private func circleFault(_ wait: PlaceCheck.Wait, _ blocked: [Int], holders: Int, _ check: PlaceCheck) -> AdmissionError {
        let (target, own) = (path(of: wait.target), path(of: wait.own))
        let remedy = "; let `\(own)` itself wait (`after`), or let `maxConcurrent` be at least \(holders + 1)"
        let mates = blocked.filter { check.group(ofMember: $0) == wait.group && $0 != wait.own }
        if let mate = mates.first(where: { check.layout.subtree(of: $0).contains(wait.target) }) ?? mates.first {
            let isInside = check.layout.subtree(of: mate).contains(wait.target)
            return fault(
                wait.node,
                "waits for `\(target)`\(isInside ? "" : ", and that for `\(path(of: mate))`,") while `\(own)` holds one of the places of a group with"
                    + " `maxConcurrent` that the other needs, too" + remedy)
        }
        let other = blocked.first.map { "`\(path(of: $0))` gets a place of `\(path(of: nodes[$0].parent))`" } ?? "a place is free"
        return fault(
            wait.node,
            "waits for `\(target)`, which does not go on before \(other), while `\(own)` holds one of a group with `maxConcurrent`"
                + ", and what has those of the one may wait for those of the other" + remedy)
    }

    /// Tails of delivery nets that keep keys, where others that need keys may hold all places that the net needs to begin anew.
    private func retryFaults(_ layout: GraphLayout, _ check: inout PlaceCheck) -> [AdmissionError] {
        guard let scopes = layout.scopes, let locks = layout.locks else { return [] }
        var faults: [AdmissionError] = []
        for group in nodes.indices {
            guard case .group(let kind) = nodes[group].kind, kind.maxConcurrent > 0, !kind.isOrdered else { continue }
            let tails = layout.children[group].map(Int.init).filter { !scopes.members(of: Int32($0)).isEmpty && locks.asks($0) }
            guard !tails.isEmpty else { continue }
            let keyed = layout.children[group].map(Int.init).filter { layout.subtree(of: $0).contains(where: namesKeys) }
            guard keyed.count > kind.maxConcurrent else { continue }
            for tail in tails where check.stepsLeft > 0 && faults.count < Self.retryFaultsMax {
                let net = scopes.members(of: Int32(tail)).map(Int.init)
                let before = check.before(tail)
                var others: Set<Int> = []
                for other in keyed where other != tail && !net.contains(other) && !before.contains(PlaceCheck.end(other)) {
                    if !check.before(other).contains(PlaceCheck.end(tail)) { others.insert(other) }
                }
                check.take(steps: keyed.count)
                guard others.count >= kind.maxConcurrent, let producer = net.first, let other = others.min() else { continue }
                let holders = check.mostAtOnce(others)
                guard check.stepsLeft > 0, holders >= kind.maxConcurrent else { continue }
                faults.append(
                    fault(
                        tail,
                        "keeps its keys while it is tried again with `\(path(of: producer))`, and `\(path(of: other))`, which needs a key, too, may"
                            + " hold the place of a group with `maxConcurrent` that this needs; let `\(path(of: other))` wait (`after`), or let"
                            + " `maxConcurrent` be at least \(holders + 1)"))
            }
        }
        return faults
    }

    /// So many are told at once: what mends one mends most of them.
    private static let retryFaultsMax = 100

    private func namesKeys(_ node: Int) -> Bool { nodes[node].hasOptions && !nodes[node].options.exclusive.isEmpty }
}
