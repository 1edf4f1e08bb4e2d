/// What decide units are given, and what comes of them.
extension Scheduler {
    /// A decision as it is committed: what it adds gets its names. What cannot be part of the group makes the decision fail;
    /// nothing of it is there then.
    func admitted(_ decision: GroupDecision, _ unit: UnitID) -> AttemptOutcome {
        let index = durable.index(of: unit.submission)
        // It ends otherwise in any case.
        guard durable.submissions[index].units[unit.index].stop == nil, let addition = decision.addition else { return .decided(decision) }
        if let problem = problem(with: addition, by: unit) {
            return .failure([
                Failure(code: .operation, message: "it adds what cannot become part of the group: \(problem)", typeName: "ProductRefused")
            ])
        }
        var decision = decision
        decision.addition = durable.submissions[index].named(
            addition, in: durable.submissions[index].growingGroup(around: unit.index))
        return .decided(decision)
    }

    /// Something else than a decision is the executor's fault, and a failure.
    func checkedDecision(_ outcome: AttemptOutcome) -> AttemptOutcome {
        switch outcome {
        case .decided, .stopped: outcome
        case .failure(let failures) where !failures.isEmpty: outcome
        case .failure, .success, .production, .elements, .answers, .concluded:
            .failure([
                Failure(
                    code: .operation, message: "the worker answered with something else than a decision; check its version",
                    typeName: "ProtocolViolation")
            ])
        }
    }

    /// Deciders rest, or decide; and they fit their groups.
    func decisionViolations() -> [String] {
        var found: [String] = []
        for submission in durable.submissions where !submission.layout.deciders.isEmpty {
            for unit in submission.units.indices where submission.isDecider(unit) && submission.units[unit].phase != .dropped {
                found += submission.decisionViolations(unit).map { "\(submission.id)/\(submission.path(of: unit)): \($0)" }
            }
        }
        return found
    }
}
