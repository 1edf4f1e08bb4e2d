/// What the program has a part in: conditions made of others, closures, operations of its own.
extension GraphGenerator {
    mutating func extend(_ node: Int) {
        let isLeaf = plan.nodes[node].script != nil
        if features.contains(.madeConditions), !plan.nodes[node].conditions.isEmpty, mayCompose(node), random.chance(0.5) {
            compose(node)
        }
        guard plan.nodes[node].unique == nil else { return }
        if features.contains(.streams), isLeaf, random.chance(0.5) { stream(to: node) }
        if features.contains(.hosted), isLeaf, random.chance(0.25) { plan.nodes[node].isHosted = true }
        if features.contains(.askedRetries), plan.nodes[node].attempts > 1, random.chance(0.5) { plan.nodes[node].asksAboutRetry = true }
        if features.contains(.holds), random.chance(0.3) { hold(node) }
    }

    func mayCompose(_ node: Int) -> Bool {
        features.contains(.madeConditionsOfProducers)
            || ([node] + plan.ancestors(of: node)).allSatisfy { plan.receivers(of: $0).isEmpty }
    }

    func streams(_ node: Int) -> Bool { plan.nodes[node].source != nil || plan.nodes[node].script?.elements != nil }

    /// Lets it read from a sibling before it.
    private mutating func stream(to node: Int) {
        // It gives its locks back when what it has read is void, and looks at its dependencies while that is open.
        let planned = plan.nodes[node]
        guard let parent = planned.parent, planned.producers.isEmpty, planned.keys.isEmpty, !streams(node),
            !planned.conditions.contains(where: \.looksAtDependencies)
        else { return }
        let sources = plan.children(of: parent).filter { other in
            let source = plan.nodes[other]
            let isFree = plan.dependents(of: other).isEmpty && plan.receivers(of: other).isEmpty
            return other < node && source.script != nil && source.source == nil && source.producers.isEmpty && source.unique == nil
                && (features.contains(.madeConditionsOfProducers) || !source.conditions.contains(where: \.isEvaluatedWhole))
                && !planned.after.contains(other)
                && (isFree || !features.mayCancel || features.contains(.dependentsOfProducers))
        }
        guard !sources.isEmpty else { return }
        let source = random.pick(sources)
        plan.nodes[node].source = source
        let (count, takes) = (random.below(6), random.chance(0.2) ? random.below(3) : nil)
        change(source) { $0.elements = $0.elements ?? count }
        change(node) { $0.takes = takes }
    }

    /// Lets a group of operations add others.
    mutating func letDecide(_ group: Int) {
        let children = plan.children(of: group)
        guard features.contains(.decisions), plan.nodes[group].group != nil, let first = children.randomElement(using: &random),
            children.allSatisfy({ plan.nodes[$0].script != nil && !connects($0) }), plan.receivers(of: group).isEmpty,
            random.chance(0.7)
        else { return }
        if case .group(var planned) = plan.nodes[group].kind {
            (planned.decides, planned.isOrdered) = (true, false)
            plan.nodes[group].kind = .group(planned)
        }
        plan.nodes[group].isHosted = features.contains(.hosted) && random.chance(0.5)
        // Those that are added at several places at once come in any order.
        var cause = first
        for _ in 0...random.below(3) {
            var node = NodePlan(.operation(drawScript()), in: group)
            node.cause = cause
            node.afterFailure = cause == first ? nil : random.pick([Bool?.some(true), false, nil])
            if features.contains(.retries), random.chance(0.4) { node.attempts = 2 }
            node.hasTimeout = features.contains(.timeouts) && random.chance(0.2)
            if features.contains(.conditions), random.chance(0.3) {
                node.conditions = [
                    .scripted([random.pick([Verdict.yes, .notNow]), random.pick([Verdict.yes, .yes, .no])], isNegated: false)
                ]
            }
            plan.nodes.append(node)
            if random.chance(0.6) { cause = plan.nodes.count - 1 }
        }
    }

    /// Whether it has to do with other operations than its group's.
    private func connects(_ node: Int) -> Bool {
        let planned = plan.nodes[node]
        return !planned.predecessors.isEmpty || planned.source != nil || planned.script?.elements != nil
            || !(plan.receivers(of: node) + plan.dependents(of: node)).isEmpty || planned.holdsEnd || planned.asksAboutRetry
            || planned.isHosted || plan.evaluatesInTheProgram(node)
    }

    private mutating func change(_ node: Int, _ change: (inout Script) -> Void) {
        guard case .operation(var script) = plan.nodes[node].kind else { return }
        change(&script)
        plan.nodes[node].kind = .operation(script)
    }

    private mutating func hold(_ node: Int) {
        plan.nodes[node].holdsEnd = true
        let isBounded = plan.nodes[node].hasTimeout || plan.nodes[node].hasDeadline
        plan.nodes[node].holdsForEver = features.contains(.endlessHolds) && isBounded && random.chance(0.4)
    }

    /// Makes one condition of some of a node's.
    private mutating func compose(_ node: Int) {
        for _ in 0...random.below(2) {
            let all = plan.nodes[node].conditions
            let count = 1 + random.below(all.count)
            let (rest, parts) = (Array(all.dropLast(count)), Array(all.suffix(count)))
            let made: ConditionPlan
            switch random.below(features.mayCancel ? 6 : 5) {
            case 0: made = .all(parts)
            case 1: made = .any(parts)
            case 2: made = .any(parts + [.scripted([random.pick([.yes, .no])], isNegated: random.chance(0.3))])
            case 3:
                let mayNegate = parts.count > 1 || features.contains(.nestedNegations) || !parts[0].isNegationOrSilence
                made = mayNegate ? .not(parts.count == 1 ? parts[0] : .all(parts)) : .any(parts)
            case 4: made = .silent(parts.count == 1 ? parts[0] : .any(parts))
            default: made = .ignored(parts.count == 1 ? parts[0] : .all(parts))
            }
            plan.nodes[node].conditions = rest + [made]
        }
    }
}

extension ConditionPlan {
    fileprivate var isNegationOrSilence: Bool {
        switch self {
        case .scripted(_, let isNegated), .prepared(_, let isNegated): isNegated
        case .not, .silent: true
        case .noFailedDependencies, .noCancelledDependencies, .all, .any, .ignored: false
        }
    }
}
