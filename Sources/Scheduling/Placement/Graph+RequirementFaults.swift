extension Graph {
    /// What makes the requirements of a node inadmissible, whatever workers there are.
    func problems(withRequirementsOf node: Node) -> [String] {
        let requires = node.requires
        guard !requires.isEmpty else { return [] }
        var problems: [String] = []
        if requires.labels.count + requires.resources.count > Self.requirementsMax {
            problems.append(
                "requires \(requires.labels.count + requires.resources.count) things, more than the limit of \(Self.requirementsMax)")
        }
        for label in requires.labels {
            if label.isEmpty || label.utf8.count > Self.labelBytesMax {
                problems.append("requires a label of \(label.utf8.count) bytes; it must have from 1 to \(Self.labelBytesMax)")
            }
        }
        for resource in requires.resources {
            if let problem = ResourceAmount.problem(withName: resource.name) { problems.append(problem) }
            if !(0...Self.amountMax).contains(resource.amount) {
                problems.append("requires \(resource.amount) of `\(resource.name)`; it must be from 0 to \(Self.amountMax)")
            }
        }
        for (one, next) in zip(requires.resources, requires.resources.dropFirst()) where one.name == next.name {
            problems.append("requires the resource `\(one.name)` twice")
        }
        return problems
    }

    /// Whose requirements hold for a node: its own if it has any, else those of the nearest group around it that has.
    fileprivate func nodeThatRequires(for node: Int) -> Int {
        var current = node
        while nodes[current].requires.isEmpty {
            if current == 0 { return node }
            current = nodes[current].parent
        }
        return current
    }

    private static let requirementsMax = 64
    private static let labelBytesMax = 256
    /// 1 PiB.
    private static let amountMax: Int64 = 1 << 50
}

extension Scheduler {
    /// Requirements that no worker that was ever met could satisfy.
    func unsatisfiable(_ graph: Graph) -> [AdmissionError] {
        guard !durable.offers.isEmpty, let plan = RequirementPlan(graph) else { return [] }
        var known: [Requirements: String?] = [:]
        var errors: [AdmissionError] = []
        // What a group requires of all inside is told of the group, and once.
        var told: Set<AdmissionError> = []
        for index in graph.nodes.indices {
            guard let requirements = plan.requirements(of: index) else { continue }
            let fault = known[requirements] ?? durable.offers.fault(of: requirements)
            known[requirements] = .some(fault)
            guard let fault else { continue }
            let error = graph.fault(graph.nodeThatRequires(for: index), fault)
            if told.insert(error).inserted { errors.append(error) }
        }
        return errors
    }
}
