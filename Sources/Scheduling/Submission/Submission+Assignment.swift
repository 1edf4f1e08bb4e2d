/// How units that are ready get to executors.
extension Submission {
    /// The line in which a unit waits for an executor.
    enum Queueing {
        /// It is queued when its producer has begun.
        case none
        /// With those that run alone in a process.
        case alone
        /// It is a group, which goes to a worker only to be evaluated.
        case toBeJudged
        /// With those that go only where a slot is free: their conditions are judged then, or they fail with the executor that they wait in.
        case conditioned
        /// With those whose submitters have a say in their ends.
        case concluding
        case plain(ReadyUnits.Standing)
    }

    /// Changes nothing: one that is changed is lent where it stands, one that is read is copied for the call, with dozens of references.
    mutating func queueing(of unit: Int) -> Queueing {
        if isConcluding(unit) { return .concluding }
        if lacksStream(unit) { return .none }
        if units[unit].isSuspect { return .alone }
        guard hasConditions(unit) else { return isAtMostOnce(unit) ? .conditioned : .plain(standing(unit)) }
        if case .group = node(unit).kind, !needsProbing(unit) { return .toBeJudged }
        return .conditioned
    }

    /// What the executor is told of a unit that it is given.
    ///
    /// Changes nothing, as `queueing`.
    /// - Parameters:
    ///   - resources: what it takes of its host.
    ///   - link: what its worker begins it after; the unit has not had its turn.
    mutating func assignment(
        of unit: Int, _ attempt: Attempt, resources: [AssignedResource], after link: AttemptName? = nil
    ) -> Assignment {
        let node = node(unit)
        let isEvaluating = units[unit].isEvaluating
        let question = conclusion(of: unit)
        var assignment = Assignment(
            unit: id(unit), attempt: attempt, kind: .execute, submission: id, path: path(of: unit),
            attemptNumber: Int(units[unit].attempts), operation: "", version: 0, parameters: [], isTemplated: false,
            bindings: bindings(of: unit),
            inputs: isEvaluating || node.isHosted || question != nil || link != nil
                ? [] : node.receives.map { received(from: self.unit(ofNode: $0, seenFrom: unit)) },
            receivesArray: node.receivesArray,
            timeoutMilliseconds: node.timeoutMilliseconds, graceMilliseconds: graceMilliseconds(unit),
            fences: fences(of: unit, attempt), isAtMostOnce: isAtMostOnce(unit) && !isEvaluating, resources: resources)
        assignment.isHosted = node.isHosted
        assignment.priority = priority(unit)
        assignment.trace = trace
        if let link { assignment.link = AttemptLink(unit: link.unit, attempt: link.attempt, delivers: !node.receives.isEmpty) }
        if let question {
            assignment.ask(question, within: stepMilliseconds(unit))
            return assignment
        }
        if isEvaluating {
            assignment.ask(questions(for: unit), within: stepMilliseconds(unit))
            return assignment
        }
        assignment.stream = streamSource(of: unit)
        switch node.kind {
        case .operation(let operation):
            assignment.operation = operation.type
            assignment.version = operation.version
            assignment.parameters = graph.parameters[operation.parameters]
            assignment.isTemplated = operation.isTemplated
            // What was added was made by a program in any case.
            assignment.isDescribed = layout.isDescribed || Int(units[unit].node) >= admitted.nodes
        case .forEach:
            assignment.kind = .decide
            // Whose list it is, for the text of an error.
            assignment.operation = node.receives.first.map { graph.nodes[$0].id } ?? ""
        case .decider(let decider):
            ask(decider, unit, in: &assignment)
        case .group:
            preconditionFailure("the group \(assignment.path) cannot be given to a worker")
        }
        return assignment
    }

    /// Makes the assignment one of a decide unit.
    private func ask(_ decider: DeciderNode, _ unit: Int, in assignment: inout Assignment) {
        guard let question = question(for: unit) else {
            preconditionFailure("\(assignment.path) was given out while nothing was to be decided")
        }
        assignment.kind = .decide
        assignment.decision = question
        assignment.operation = decider.type
        assignment.version = decider.version
        assignment.parameters = graph.parameters[decider.parameters]
        assignment.timeoutMilliseconds = stepMilliseconds(unit)
        if !assignment.isHosted { assignment.inputs = decidedInput(for: unit) }
    }
}
