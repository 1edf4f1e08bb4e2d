/// What graph files can say of graphs.
extension GraphGenerator.Features {
    /// What a file can say, and a program that submits one can do.
    package static let written = clustered.subtracting([
        .hosted, .holds, .endlessHolds, .askedRetries, .streams, .decisions, .sequences, .wrappers,
    ])
}

extension GraphPlan {
    /// Without what only Swift says: conditions that are ignored; and with more of what only files do: some of its groups are lists.
    ///
    /// - Parameter lists: whether groups become lists that can.
    package func written(lists: Bool) -> GraphPlan {
        var plan = self
        for node in plan.nodes.indices { plan.nodes[node].conditions.removeAll(where: \.isIgnoring) }
        guard lists else { return plan }
        for group in plan.nodes.indices where plan.mayBecomeForEach(group) {
            plan.makeForEach(of: group)
            // Half of them are lists that something delivers.
            if group.isMultiple(of: 2) { plan.deliverList(to: group) }
        }
        return plan
    }

    /// Whether a group is written as a list: its members are alike but for what their bodies and conditions are made of.
    package func isForEach(_ group: Int) -> Bool { nodes[group].group?.isList == true }

    /// Whether it is made of an element, when its group begins.
    package func isOfList(_ node: Int) -> Bool { nodes[node].parent.map(isForEach) ?? false }

    /// The group whose list an operation delivers.
    package func list(of node: Int) -> Int? { receivers(of: node).first(where: isForEach) }

    /// What a file calls a node below the root.
    package func writtenPath(of node: Int) -> String {
        ([node] + ancestors(of: node)).dropLast().reversed().map(writtenName).joined(separator: "/")
    }

    private func writtenName(of node: Int) -> String {
        guard let parent = nodes[node].parent, isForEach(parent) else { return Self.name(of: node) }
        return "\(children(of: parent).firstIndex(of: node) ?? 0)"
    }

    private func mayBecomeForEach(_ group: Int) -> Bool {
        guard let planned = nodes[group].group, nodes[group].parent != nil, !planned.isOrdered else { return false }
        // Members of lists are there when these have begun, and gone when they begin anew.
        guard !mayBeginAnew(group), groupsThatMayBeginAnew(around: group).isEmpty else { return false }
        let children = children(of: group)
        guard let first = children.first else { return false }
        return children.allSatisfy { child in
            let member = nodes[child]
            return member.script != nil && member.predecessors.isEmpty && member.unique == nil && isPresent(child)
                && products(of: child).isEmpty && dependents(of: child).isEmpty && receivers(of: child).isEmpty
                && (member.script?.isEndless == false || nodes[first].hasTimeout || nodes[first].hasDeadline)
        }
    }

    private mutating func makeForEach(of group: Int) {
        guard case .group(var planned) = nodes[group].kind, let first = children(of: group).first else { return }
        planned.isList = true
        var whole = NodePlan(.group(planned), in: nodes[group].parent)
        whole.after = nodes[group].after
        nodes[group] = whole
        for child in children(of: group).dropFirst() {
            var member = nodes[first]
            member.kind = nodes[child].kind
            nodes[child] = member
        }
        // What is not there yet cannot be cancelled.
        for index in cancellations.indices where nodes[cancellations[index].node].parent == group {
            guard cancellations[index].moment != .atStart(of: cancellations[index].node) else { continue }
            cancellations[index].node = group
        }
    }
}

extension GraphPlan {
    /// Lets an operation beside a list deliver it, if there is one that may.
    fileprivate mutating func deliverList(to group: Int) {
        let scopes = scopes
        let producer = nodes.indices.first { node in
            let planned = nodes[node]
            return node < group && planned.parent == nodes[group].parent && planned.script != nil && planned.producers.isEmpty
                && planned.unique == nil && isPresent(node) && products(of: node).isEmpty && receivers(of: node).isEmpty
                && !nodes[group].after.contains(node)
        }
        guard let producer, scopes[group] == nil else { return }
        nodes[group].producers = [producer]
    }
}

extension ConditionPlan {
    fileprivate var isIgnoring: Bool {
        switch self {
        case .scripted, .prepared, .noFailedDependencies, .noCancelledDependencies: false
        case .all(let parts), .any(let parts): parts.contains(where: \.isIgnoring)
        case .not(let part), .silent(let part): part.isIgnoring
        case .ignored: true
        }
    }
}
