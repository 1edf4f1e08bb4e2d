/// Groups that get more children while they run.
extension Submission {
    /// Whether the unit was not in the graph that was submitted.
    func isAdded(_ unit: Int) -> Bool { Int(units[unit].node) >= admittedNodes }

    /// The group that gets what the unit produces: the innermost around it. Elements of a forEach are no group's children; and what is made for
    /// a wrapper stands for that: it produces into the group around it, if there is one.
    func growingGroup(around unit: Int) -> Int {
        let staysInside = rules < Rules.producesAroundWrappers || isDecider(unit)
        var group = Int(units[unit].parent)
        while group > 0 {
            if case .group = node(group).kind, staysInside || !isWrapper(group) { return group }
            group = Int(units[group].parent)
        }
        return max(group, 0)
    }

    /// Whether a group takes more children.
    func takesMore(_ group: Int) -> Bool { units[group].phase == .open && units[group].stop == nil }

    /// Everything that has to end before the unit can begin, but for the start of its group.
    func predecessors(of unit: Int) -> [Int] {
        let declared = layout.dependencies[Int(units[unit].node)].map { self.unit(ofNode: Int($0), seenFrom: unit) }
        guard !before.isEmpty, let last = before[Int32(unit)] else { return declared }
        return declared + [Int(last)]
    }

    /// Adds what the unit has produced to its group.
    mutating func add(
        _ addition: Addition, by producer: Int, _ attempt: Attempt, at: Int64, _ effects: inout [Effect]
    ) throws(FactMismatch) {
        let group = growingGroup(around: producer)
        guard takesMore(group) else { throw FactMismatch("something was added to \(path(of: group)), which takes no more") }
        guard addition.graph.nodes.count > 1 else { throw FactMismatch("nothing was added to \(path(of: group))") }
        let siblings = children(of: group)
        let (position, last) = (siblings.count, siblings.last)
        let (firstNode, firstParameter) = (layout.graph.nodes.count, layout.graph.parameters.count)
        let template = layout.grow(by: addition.graph, below: Int(units[group].node))
        let firstUnit = units.count
        appendInstance(of: template, parent: group, position: position)
        let tops = addition.tops.map { firstUnit + Int(layout.offset[firstNode + $0 - 1]) }
        origins.append(
            AdditionOrigin(
                firstUnit: Int32(firstUnit), firstNode: Int32(firstNode), firstParameter: Int32(firstParameter),
                root: addition.graph.nodes[0], attempt: attempt, id: addition.id))
        note(addition, tops, firstUnit, in: group)
        for product in addition.products { producers[Int32(firstUnit + Int(layout.offset[firstNode + product - 1]))] = Int32(producer) }
        units[group].openChildren += Int32(tops.count)
        // A wrapper ends as what was made for it does, and as nothing else.
        if rules >= Rules.producesAroundWrappers, !isDecider(producer), isWrapper(group) { for top in tops { forgive(top, in: group) } }
        if isOrdered(group), let last, let first = tops.first {
            before[Int32(first)] = Int32(last)
            if memberBefore(first) != nil { units[first].unmet += 1 }
        }
        newNodes = newNodes ?? firstNode
        effects.append(.grown(units.count - firstUnit))
        effects.append(.added(id(firstUnit), count: units.count - firstUnit))
        for top in tops {
            // Until it may become active, like those that waited for their group to begin.
            units[top].unmet += 1
            startDeadline(top, at, &effects)
            if beginsCancelled(top) { work.append(.release(Int32(top))) } else { activate(top) }
        }
        // Nothing of this is handed out before: it is one step.
        for unit in firstUnit..<units.count where beginsCancelled(unit) { work.append(.stop(Int32(unit), .cancelled)) }
    }

    private func beginsCancelled(_ unit: Int) -> Bool { node(unit).hasOptions && node(unit).options.beginsCancelled }

    private mutating func note(_ addition: Addition, _ tops: [Int], _ firstUnit: Int, in group: Int) {
        if growths[Int32(group)] == nil {
            var growth = Growth()
            growth.names = names(in: group)
            growths[Int32(group)] = growth
        }
        let names = tops.map { node($0).id }
        growths[Int32(group)]?.names.formUnion(names)
        growths[Int32(group)]?.children += tops.map { Int32($0) }
        growths[Int32(group)]?.decisions += 1
        if let id = addition.id { growths[Int32(group)]?.produced[id] = Int32(firstUnit) }
    }

    func isOrdered(_ group: Int) -> Bool { if case .group(let kind) = node(group).kind { kind.isOrdered } else { false } }

    /// What was produced under the id before, by whatever attempt.
    func produced(_ id: String, in group: Int) -> Int? { growths[Int32(group)]?.produced[id].map(Int.init) }

    /// With what a unit was added: the first units of additions rise. What a forEach made since was not.
    func origin(of unit: Int) -> (attempt: Attempt, node: Int, id: String?)? {
        var (low, high) = (0, origins.count)
        while low < high {
            let middle = (low + high) / 2
            if Int(origins[middle].firstUnit) <= unit { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return nil }
        let origin = origins[low - 1]
        return (origin.attempt, Int(units[unit].node) - Int(origin.firstNode) + 1, origin.id)
    }

    // MARK: Names

    /// - Complexity: O(children) for a group to which nothing was added yet.
    private func names(in group: Int) -> Set<String> {
        growths[Int32(group)]?.names ?? Set(children(of: group).map { node($0).id })
    }

    /// The addition with names that nobody in the group has: an id of its own where it has one, else what its operation is
    /// called with the number of the decision.
    func named(_ addition: Addition, in group: Int) -> Addition {
        let taken = names(in: group)
        let decision = (growths[Int32(group)]?.decisions ?? 0) + 1
        var own: Set<String> = []
        var addition = addition
        let tops = addition.tops
        for (place, top) in tops.enumerated() {
            let label = addition.graph.nodes[top].id
            var name = addition.id.map(Self.component) ?? "\(label)+\(decision)"
            if tops.count > 1 { name += addition.id == nil ? ".\(place + 1)" : "+\(place + 1)" }
            var unique = name
            var number = 1
            while taken.contains(unique) || !own.insert(unique).inserted {
                number += 1
                unique = "\(name)-\(number)"
            }
            addition.graph.nodes[top].id = unique
        }
        return addition
    }

    /// An id as a component of a path.
    private static func component(_ id: String) -> String {
        let plain = id.unicodeScalars.map { $0 == "/" || $0.value < 0x20 || $0.value == 0x7F ? "-" : Character($0) }
        return plain.isEmpty ? "produced" : String(plain)
    }

    // MARK: Beginning anew

    /// The group begins anew: what was added to it is no more.
    mutating func dropGrowth(of group: Int) {
        guard !growths.isEmpty, let growth = growths.removeValue(forKey: Int32(group)) else { return }
        for top in growth.children {
            before[top] = nil
            for inner in Int(top)..<(Int(top) + Int(layout.subtreeUnits[Int(units[Int(top)].node)])) { drop(inner) }
        }
    }
}
