/// Groups that are tried again.
extension GraphGenerator {
    /// Adds a group to the graph that is tried again when it has failed, perhaps with others in it, and perhaps something that waits
    /// for it.
    ///
    /// What is in it has to do with nothing outside: nobody may wait for that. A cluster refuses what the program has a part in there, and
    /// what must not run twice. Who has an id in which attempt would not be seen.
    mutating func retryGroups() {
        guard features.contains(.retriedGroups) else { return }
        var random = numbers(of: .retriedGroups)
        let parents = plan.nodes.indices.filter(mayHoldGroups)
        guard random.chance(0.6), let parent = parents.randomElement(using: &random) else { return }
        let siblings = plan.children(of: parent).filter(mayBeAwaited)
        let group = addGroup(in: parent, isRetried: true, &random)
        if features.contains(.dependencies), random.chance(0.2), let sibling = siblings.randomElement(using: &random) {
            plan.nodes[group].after = [sibling]
        }
        cancel(group, &random)
        follow(group, in: parent, &random)
    }

    private func mayHoldGroups(_ node: Int) -> Bool {
        guard let group = plan.nodes[node].group else { return false }
        // What a member makes comes behind all that is planned, and in the order of numbers.
        let members = plan.children(of: node)
        return !group.decides && group.sequence == nil && plan.receivers(of: node).isEmpty && plan.widestScopes[node] == nil
            && members.allSatisfy { plan.nodes[$0].maker == nil }
    }

    /// Whether one more that waits for it changes nothing for others.
    private func mayBeAwaited(_ node: Int) -> Bool {
        let planned = plan.nodes[node]
        return isThereFromTheBeginning(node) && planned.script != nil && planned.source == nil && plan.receivers(of: node).isEmpty
            && plan.streamReceivers(of: node).isEmpty && plan.widestScopes[node] == nil && !plan.isTail(node)
    }

    /// - Returns: the group.
    @discardableResult
    private mutating func addGroup(in parent: Int, isRetried: Bool, _ random: inout SeededNumbers) -> Int {
        let isOrdered = random.chance(0.35)
        let stops = features.contains(.stops) && random.chance(0.4)
        let limit = features.contains(.limits) && random.chance(0.25) ? 1 + random.below(2) : nil
        let mayStop = isOrdered || features.contains(.unorderedStops)
        var node = NodePlan(.group(GroupPlan(isOrdered: isOrdered, stops: stops && mayStop, limit: limit)), in: parent)
        node.after = drawPredecessors(in: parent, &random)
        if isRetried {
            node.attempts = 2 + random.below(2)
            // By this its attempts are seen.
            node.conditions = [.scripted([.yes], isNegated: false)]
            if features.contains(.groupConditions), random.chance(0.3) {
                let first = random.pick([Verdict.yes, .no])
                node.conditions.append(.scripted([first, random.pick([Verdict.yes, .yes, .no]), .yes], isNegated: false))
            }
        }
        node.hasDeadline = features.contains(.deadlines) && random.chance(0.15)
        node.keys = drawKeys(&random)
        let group = plan.nodes.count
        plan.nodes.append(node)
        let isInner = !plan.groupsThatMayBeginAnew(around: group).isEmpty
        for _ in 0...random.below(3) {
            if !isInner, random.chance(0.2) {
                addGroup(in: group, isRetried: random.chance(0.6), &random)
            } else {
                addMember(of: group, &random)
            }
        }
        return group
    }

    private mutating func addMember(of group: Int, _ random: inout SeededNumbers) {
        var script = Script(ticks: random.below(4))
        // Most of those that fail do so in the first attempts of their group, and succeed later.
        if random.chance(0.45) { script.failures = random.chance(0.15) ? 99 : 1 + random.below(3) }
        if features.contains(.lingering), random.chance(0.2) { script.lingers = 1 + random.below(3) }
        script.forwardsFailure = random.chance(0.5)
        var node = NodePlan(.operation(script), in: group)
        node.producers = drawProducers(in: group, &random)
        if node.producers.isEmpty { node.after = drawPredecessors(in: group, &random) }
        // At the end of a delivery net it would be the retry of that.
        if features.contains(.retries), node.producers.isEmpty, random.chance(0.3) { node.attempts = 2 }
        if features.contains(.conditions), random.chance(0.25) {
            let first = random.pick([Verdict.yes, .yes, .no, .notNow])
            node.conditions.append(.scripted([first, random.pick([Verdict.yes, .yes, .no]), .yes], isNegated: false))
            if !node.predecessors.isEmpty, random.chance(0.5) { node.conditions.append(.noFailedDependencies) }
        }
        node.keys = drawKeys(&random)
        node.hasTimeout = features.contains(.timeouts) && random.chance(0.2)
        node.hasDeadline = features.contains(.deadlines) && random.chance(0.1)
        if node.hasTimeout, random.chance(0.4) {
            script.isEndless = true
            // Each of its attempts takes as long as the limit, in each one of its groups.
            (node.kind, node.attempts) = (.operation(script), 1)
        }
        plan.nodes.append(node)
    }

    private func drawKeys(_ random: inout SeededNumbers) -> [KeyPlan] {
        guard features.contains(.keys), random.chance(0.3) else { return [] }
        return [KeyPlan(random.pick(["a", "b", "c"]), limit: random.chance(0.7) ? 1 : 2)]
    }

    private func drawProducers(in group: Int, _ random: inout SeededNumbers) -> [Int] {
        let free = plan.children(of: group).filter { plan.dependents(of: $0).isEmpty }
        guard features.contains(.delivery), !free.isEmpty, random.chance(0.4) else { return [] }
        let groups = free.filter { plan.nodes[$0].group != nil && plan.children(of: $0).allSatisfy { plan.nodes[$0].script != nil } }
        let operations = free.filter { plan.nodes[$0].script != nil }
        if let producer = groups.randomElement(using: &random), random.chance(0.5) { return [producer] }
        return Array(operations.shuffled(using: &random).prefix(random.chance(0.6) ? 1 : 2))
    }

    private func drawPredecessors(in group: Int, _ random: inout SeededNumbers) -> [Int] {
        // What was there before is not drawn here.
        let isOurs = plan.mayBeginAnew(group) || !plan.groupsThatMayBeginAnew(around: group).isEmpty
        let free = plan.children(of: group).filter { plan.receivers(of: $0).isEmpty }
        guard isOurs, !free.isEmpty, features.contains(.dependencies), random.chance(0.25) else { return [] }
        return [random.pick(free)]
    }

    /// Lets the program cancel a group when something in it begins, in whatever attempt.
    private mutating func cancel(_ group: Int, _ random: inout SeededNumbers) {
        let isUnderStop = plan.ancestors(of: group).contains { plan.nodes[$0].group?.stops == true }
        guard features.contains(.cancellations), features.contains(.racingCancellations), random.chance(0.25),
            !isUnderStop || features.contains(.cancellationsUnderStop)
        else { return }
        let inside = plan.leaves.filter { plan.isInside($0, group) }
        plan.cancellations.append(CancellationPlan(of: group, .atStart(of: random.pick(inside))))
    }

    /// Lets something come after the group, or receive what is in it.
    private mutating func follow(_ group: Int, in parent: Int, _ random: inout SeededNumbers) {
        guard random.chance(0.6) else { return }
        var node = NodePlan(.operation(Script(ticks: random.below(3))), in: parent)
        let delivers = plan.children(of: group).allSatisfy { plan.nodes[$0].script != nil }
        if features.contains(.delivery), delivers, random.chance(0.6) {
            node.producers = [group]
        } else if features.contains(.dependencies) {
            node.after = [group]
        } else {
            return
        }
        plan.nodes.append(node)
    }
}
