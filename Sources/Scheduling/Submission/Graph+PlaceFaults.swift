/// Graphs in which members of groups with `maxConcurrent` may hold all places while something inside of them waits for what cannot come
/// about before one of these is free, or before one of another group's is that is held in the same way. See `PlaceCheck`.
///
/// The same holds of who keeps its keys while it is tried again with what delivers to it: that needs places, which those may hold that
/// need keys.
extension Graph {
    func placeFaults(_ layout: GraphLayout) -> [AdmissionError] {
        var check = PlaceCheck(self, layout)
        let faults = retryFaults(layout, &check) + circleFaults(&check)
        guard check.stepsLeft > 0 else {
            return [
                fault(
                    0,
                    "so much waits inside of members of groups with `maxConcurrent` that it takes more than \(PlaceCheck.stepsMax) steps to find"
                        + " whether places come free; let the members themselves wait (`after`), or leave `maxConcurrent` out")
            ]
        }
        return faults
    }

    private func circleFaults(_ check: inout PlaceCheck) -> [AdmissionError] {
        var circles: [Int: [(wait: PlaceCheck.Wait, blocked: [Int])]] = [:]
        for group in check.groups.indices where !check.groups[group].comesFree { circles[group] = check.circles(in: group) }
        func follows(_ group: Int) -> Set<Int> {
            Set((circles[group] ?? []).flatMap(\.blocked).compactMap { check.group(ofMember: $0) })
        }
        var faults: [AdmissionError] = []
        for group in circles.keys.sorted() {
            var reached = follows(group)
            var open = Array(reached)
            while let next = open.popLast() {
                for other in follows(next) where reached.insert(other).inserted { open.append(other) }
            }
            // What only waits for such a circle is none itself.
            guard reached.contains(group) else { continue }
            let holders = check.mostHeld(group)
            for (wait, blocked) in circles[group] ?? [] where !blocked.isEmpty {
                faults.append(circleFault(wait, blocked, holders: holders, check))
            }
        }
        return faults
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
        guard let scopes = layout.scopes else { return [] }
        var faults: [AdmissionError] = []
        for group in nodes.indices {
            guard case .group(let kind) = nodes[group].kind, kind.maxConcurrent > 0, !kind.isOrdered else { continue }
            var done: [Int: Set<Int>] = [:]
            func before(_ member: Int) -> Set<Int> {
                let before = done[member] ?? check.before(member)
                done[member] = before
                return before
            }
            for tail in layout.children[group].map(Int.init) {
                let net = scopes.members(of: Int32(tail)).map(Int.init)
                guard let producer = net.first, nodes[tail].hasOptions, !nodes[tail].options.exclusive.isEmpty else { continue }
                let others = layout.children[group].map(Int.init).filter { other in
                    other != tail && !net.contains(other) && needsKey(other, layout) && !before(tail).contains(PlaceCheck.end(other))
                        && !before(other).contains(PlaceCheck.end(tail))
                }
                let holders = check.mostAtOnce(Set(others), &done)
                guard check.stepsLeft > 0, holders >= kind.maxConcurrent, let other = others.min() else { continue }
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

    private func needsKey(_ member: Int, _ layout: GraphLayout) -> Bool {
        layout.subtree(of: member).contains { nodes[$0].hasOptions && !nodes[$0].options.exclusive.isEmpty }
    }
}
