extension GraphLayout {
    /// Adds what `addition` holds below the group `group`, as a template of its own.
    ///
    /// - Parameter addition: its root stands for the group and is left out.
    /// - Returns: the template.
    /// - Complexity: O(size of the addition).
    mutating func grow(by addition: Graph, below group: Int) -> Int {
        var addition = addition
        // Whatever it says of itself, for which there is nobody here: the group is there.
        addition.nodes[0] = Node(id: "", parent: 0, kind: graph.nodes[group].kind)
        let own = GraphLayout(addition)
        let first = graph.nodes.count
        let shift = first - 1
        let firstTemplate = templates.count
        let parameters = graph.parameters.count
        func shifted(_ nodes: ArraySlice<Int32>) -> [Int32] { nodes.map { $0 + Int32(shift) } }

        graph.parameters += addition.parameters
        for (node, written) in addition.nodes.enumerated().dropFirst() {
            graph.nodes.append(
                written.moved(by: shift, to: written.parent == 0 ? group : written.parent + shift, parametersBy: parameters))
            template.append(own.template[node] + Int32(firstTemplate))
            offset.append(own.template[node] == 0 ? own.offset[node] - 1 : own.offset[node])
            subtreeUnits.append(own.subtreeUnits[node])
            subtreeNodes.append(own.subtreeNodes[node])
            position.append(own.position[node])
            children.append(shifted(own.children[node]))
            dependencies.append(shifted(own.dependencies[node]))
            dependents.append(shifted(own.dependents[node]))
        }
        for (number, nodes) in own.templates.enumerated() {
            templates.append(shifted(number == 0 ? nodes.dropFirst() : nodes[...]))
            ownerOfTemplate.append(number == 0 ? Int32(group) : own.ownerOfTemplate[number] + Int32(shift))
            expandedUnits.append(own.expandedUnits[number] - (number == 0 ? 1 : 0))
        }
        for (node, list) in own.preparations { preparations[node + Int32(shift)] = shifted(list[...]) }
        for (group, decider) in own.deciders { deciders[group + Int32(shift)] = decider + Int32(shift) }
        growPlans(own.locks, from: first)
        if let scopes = own.scopes {
            self.scopes = self.scopes ?? ScopePlan()
            self.scopes?.grow(by: scopes, shift: Int32(shift))
        }
        hasUnique = hasUnique || own.hasUnique
        return firstTemplate
    }

    private mutating func growPlans(_ ownLocks: LockPlan?, from first: Int) {
        if ownLocks != nil, locks == nil { locks = LockPlan(nodes: first) }
        locks?.grow(by: ownLocks, graph, from: first)
        let new = graph.nodes[first...]
        if policies == nil, new.contains(where: \.hasPolicies) { policies = NodePolicies(nodes: first) }
        policies?.grow(graph, from: first)
        if requirements == nil, new.contains(where: { !$0.requires.isEmpty }) { requirements = RequirementPlan(nodes: first) }
        requirements?.grow(graph, from: first)
        if streams == nil, new.contains(where: { $0.streamProducer != nil }) { streams = StreamPlan() }
        streams?.grow(graph, from: first)
    }
}

extension GraphLayout {
    /// What `grow` was given.
    ///
    /// - Parameters:
    ///   - nodes: where it went.
    ///   - parameters: where its parameters went.
    ///   - root: what stood for the group.
    func addition(_ nodes: Range<Int>, parameters: Range<Int>, root: Node) -> Graph {
        let shift = 1 - nodes.lowerBound
        var addition = Graph(name: "", nodes: [root], parameters: Array(graph.parameters[parameters]))
        for node in graph.nodes[nodes] {
            let parent = nodes.contains(node.parent) ? node.parent + shift : 0
            addition.nodes.append(node.moved(by: shift, to: parent, parametersBy: -parameters.lowerBound))
        }
        return addition
    }
}

extension Node {
    fileprivate func moved(by shift: Int, to parent: Int, parametersBy parameters: Int) -> Node {
        var node = self
        node.parent = parent
        node.receives = receives.map { $0 + shift }
        node.after = after.map { $0 + shift }
        if case .operation(var operation) = kind {
            operation.parameters += parameters
            node.kind = .operation(operation)
        }
        if let stream = streamProducer { node.options.stream = stream + shift }
        if case .decider(var decider) = kind {
            decider.parameters += parameters
            node.kind = .decider(decider)
        }
        guard hasOptions, options.conditions.contains(where: \.isProbe) else { return node }
        node.options.conditions = options.conditions.map { condition in
            guard case .probe(var probe) = condition.kind else { return condition }
            probe.parameters += parameters
            return Condition(.probe(probe), isNegated: condition.isNegated)
        }
        return node
    }
}
