/// Sequences of operations.
extension GraphGenerator {
    /// Lets a group do its children one after the other, each decided when the one before has ended.
    mutating func makeSequence(of group: Int) {
        let steps = plan.children(of: group)
        guard features.contains(.sequences), case .group(var planned) = plan.nodes[group].kind, !planned.decides, !steps.isEmpty,
            steps.allSatisfy({ plan.nodes[$0].script != nil && !isTied($0) }), plan.receivers(of: group).isEmpty,
            newestRandom.chance(0.6)
        else { return }
        let sequence = newestRandom.pick([SequencePlan.steps, .steps, .linear, .retry])
        (planned.sequence, planned.isOrdered) = (sequence, false)
        plan.nodes[group].kind = .group(planned)
        plan.nodes[group].isHosted = features.contains(.hosted) && newestRandom.chance(0.5)
        for (place, step) in steps.enumerated() {
            makeStep(step, isHosted: plan.nodes[group].isHosted, sequence)
            if place > 0 { follow(step, among: Array(steps[..<place]), sequence) }
        }
        // What is not there yet is cancelled by nobody, and of what others add it is not told that it starts.
        plan.cancellations.removeAll { cancellation in
            steps.contains(cancellation.node) || steps.contains(cancellation.moment.node ?? 0)
        }
    }

    /// Whether it has to do with other operations than those of its group.
    private func isTied(_ node: Int) -> Bool {
        let planned = plan.nodes[node]
        return !planned.predecessors.isEmpty || planned.source != nil || planned.script?.elements != nil
            || !(plan.receivers(of: node) + plan.dependents(of: node)).isEmpty
    }

    /// What comes to a graph that runs has no keys, and no ids that others know; and where workers decide about it, nothing of
    /// the program.
    private mutating func makeStep(_ step: Int, isHosted: Bool, _ sequence: SequencePlan) {
        plan.nodes[step].keys = []
        plan.nodes[step].unique = nil
        (plan.nodes[step].holdsEnd, plan.nodes[step].holdsForEver, plan.nodes[step].asksAboutRetry) = (false, false, false)
        if case .operation(var script) = plan.nodes[step].kind, !plan.nodes[step].hasTimeout {
            script.isEndless = false
            plan.nodes[step].kind = .operation(script)
        }
        if sequence == .retry { plan.nodes[step].attempts = 1 }
        if !isHosted || sequence == .retry { plan.nodes[step].isHosted = false }
        guard !isHosted else { return }
        plan.nodes[step].conditions.removeAll(where: \.isEvaluatedWhole)
    }

    private mutating func follow(_ step: Int, among steps: [Int], _ sequence: SequencePlan) {
        let previous = steps[steps.count - 1]
        plan.nodes[step].cause = previous
        switch sequence {
        case .linear: plan.nodes[step].afterFailure = false
        case .retry:
            plan.nodes[step].afterFailure = true
            // Another attempt is what `new()` makes: it has nothing else.
            plan.nodes[step].conditions = []
            (plan.nodes[step].attempts, plan.nodes[step].hasTimeout, plan.nodes[step].hasDeadline) = (1, false, false)
            if case .operation(var script) = plan.nodes[step].kind {
                script.isEndless = false
                plan.nodes[step].kind = .operation(script)
            }
        case .steps:
            // At most one follows, whatever becomes of the one before.
            let free = steps.compactMap { other -> (Int, [Bool?])? in
                let taken = plan.nodes.filter { $0.cause == other }.map(\.afterFailure)
                guard !taken.contains(nil), taken.count < 2 else { return nil }
                return (other, taken.isEmpty ? [nil, nil, true, false] : [taken[0] == false])
            }
            guard let (other, occasions) = free.randomElement(using: &newestRandom) else { return }
            plan.nodes[step].cause = newestRandom.chance(0.7) && free.contains { $0.0 == previous } ? previous : other
            let isOther = plan.nodes[step].cause == other
            plan.nodes[step].afterFailure = newestRandom.pick(isOther ? occasions : [nil, true, false])
        }
    }
}

extension CancellationPlan.Moment {
    fileprivate var node: Int? {
        switch self {
        case .beforeTheQueue, .onceAdded: nil
        case .atStart(let node), .atEnd(let node): node
        }
    }
}
