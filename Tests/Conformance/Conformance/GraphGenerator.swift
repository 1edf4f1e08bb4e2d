/// Draws random graphs: one seed gives one graph.
package struct GraphGenerator {
    var random: SeededNumbers
    /// Of features that came later, so that graphs without them stay those of their seeds.
    var laterRandom: SeededNumbers
    /// The same again.
    var latestRandom: SeededNumbers
    /// And again.
    var newestRandom: SeededNumbers
    let features: Features
    private let seed: UInt64
    var plan = GraphPlan(nodes: [])

    private init(seed: UInt64, features: Features) {
        self.seed = seed
        random = SeededNumbers(seed: seed)
        laterRandom = SeededNumbers(seed: ~seed)
        latestRandom = SeededNumbers(seed: seed.byteSwapped)
        newestRandom = SeededNumbers(seed: ~seed.byteSwapped)
        var drawn: Features = []
        for bit in 0..<Features.bits {
            let feature = Features(rawValue: 1 << bit)
            let share = Features.always.contains(feature) ? 1 : 0.6
            guard !Features.apart.contains(feature) else {
                var random = Self.numbers(of: feature, seed)
                if random.chance(share) { drawn.insert(feature) }
                continue
            }
            let isDrawn =
                Features.newest.contains(feature)
                ? newestRandom.chance(share)
                : Features.latest.contains(feature)
                    ? latestRandom.chance(share) : Features.later.contains(feature) ? laterRandom.chance(share) : random.chance(share)
            if isDrawn { drawn.insert(feature) }
        }
        self.features = features.intersection(drawn)
    }

    private static func numbers(of feature: Features, _ seed: UInt64) -> SeededNumbers {
        var numbers = SeededNumbers(seed: UInt64(feature.rawValue))
        return SeededNumbers(seed: numbers.next() ^ seed)
    }

    /// The random numbers of a feature that came later than others, so that graphs without it stay those of their seeds.
    func numbers(of feature: Features) -> SeededNumbers {
        var numbers = Self.numbers(of: feature, seed)
        // The first one has said whether it is drawn.
        _ = numbers.next()
        return numbers
    }

    /// The graph of this seed.
    ///
    /// - Parameter leaves: how many operations it has at most.
    package static func graph(seed: UInt64, features: Features = .settled, leaves: Int = 12) -> GraphPlan {
        var generator = GraphGenerator(seed: seed, features: features)
        generator.makeNodes(leaves: 1 + generator.random.below(leaves))
        for node in generator.plan.nodes.indices { generator.decorate(node) }
        generator.makeCancellations()
        generator.withdraw()
        for node in generator.plan.nodes.indices.dropFirst() { generator.extend(node) }
        for node in generator.plan.nodes.indices.dropFirst() { generator.letDecide(node) }
        for node in generator.plan.leaves { generator.retryNet(of: node) }
        for node in generator.plan.nodes.indices.dropFirst() { generator.prepare(node) }
        for node in generator.plan.nodes.indices.dropFirst() { generator.makeSequence(of: node) }
        for node in generator.plan.leaves { generator.wrap(node) }
        generator.delay()
        generator.limitWaits()
        generator.runOnce()
        generator.runAtWill()
        generator.place()
        generator.pause()
        generator.produce()
        generator.retryGroups()
        generator.submitTwice()
        if generator.features.contains(.slots) { generator.plan.slots = 1 + generator.random.below(4) }
        return generator.plan
    }

    private mutating func makeNodes(leaves: Int) {
        plan.nodes = [NodePlan(.group(drawGroup()), in: nil)]
        var (groups, depths, left) = ([0], [0: 0], leaves)
        while left > 0 {
            let parent = random.pick(groups)
            if random.chance(0.2), depths[parent] ?? 0 < 3, groups.count < 8 {
                groups.append(plan.nodes.count)
                depths[plan.nodes.count] = (depths[parent] ?? 0) + 1
                plan.nodes.append(NodePlan(.group(drawGroup()), in: parent))
            } else {
                plan.nodes.append(NodePlan(.operation(drawScript()), in: parent))
                left -= 1
            }
        }
    }

    private mutating func drawGroup() -> GroupPlan {
        GroupPlan(
            isOrdered: random.chance(0.35), stops: features.contains(.stops) && random.chance(0.4),
            limit: features.contains(.limits) && random.chance(0.3) ? 1 + random.below(2) : nil)
    }

    mutating func drawScript() -> Script {
        var script = Script(ticks: random.chance(0.3) ? 0 : random.below(6))
        if random.chance(0.3) { script.failures = random.chance(0.3) ? 99 : 1 + random.below(2) }
        if features.contains(.lingering), random.chance(0.3) { script.lingers = 1 + random.below(4) }
        script.forwardsFailure = random.chance(0.5)
        return script
    }

    private mutating func decorate(_ node: Int) {
        guard plan.nodes[node].parent != nil else { return }
        connect(node)
        if features.contains(.keys), random.chance(0.35) {
            for name in ["a", "b", "c"] where random.chance(0.4) {
                plan.nodes[node].keys.append(KeyPlan(name, limit: random.chance(0.7) ? 1 : 2))
            }
        }
        let mayHaveConditions = features.contains(plan.nodes[node].group == nil ? .conditions : .groupConditions)
        if mayHaveConditions, random.chance(0.4) { drawConditions(of: node) }
        if plan.nodes[node].group == nil {
            decorateOperation(node)
        } else if features.contains(.deadlines) {
            plan.nodes[node].hasDeadline = random.chance(0.15)
        }
    }

    private mutating func decorateOperation(_ node: Int) {
        // A retry at the end of a delivery net also tries its producers again: another model.
        if features.contains(.retries), plan.nodes[node].producers.isEmpty, random.chance(0.5) {
            plan.nodes[node].attempts = 2 + random.below(2)
        }
        if features.contains(.uniqueness), plan.nodes[node].producers.isEmpty, random.chance(0.35) {
            plan.nodes[node].unique = UniquePlan(random.chance(0.6) ? "x" : "y", joins: random.chance(0.5))
        }
        plan.nodes[node].hasTimeout = features.contains(.timeouts) && random.chance(0.2)
        plan.nodes[node].hasDeadline = features.contains(.deadlines) && random.chance(0.1)
        let isBounded =
            plan.nodes[node].hasTimeout || plan.nodes[node].hasDeadline
            || plan.ancestors(of: node).contains { plan.nodes[$0].hasDeadline }
        let isCancelled = !isBounded && features.contains(.cancellations) && random.chance(0.1)
        if isCancelled {
            let group = plan.ancestors(of: node).randomElement(using: &random) ?? node
            plan.cancellations.append(CancellationPlan(of: random.chance(0.6) ? node : group, .atStart(of: node)))
        }
        if case .operation(var script) = plan.nodes[node].kind, isBounded && random.chance(0.7) || isCancelled {
            script.isEndless = true
            plan.nodes[node].kind = .operation(script)
        }
    }

    private mutating func drawConditions(of node: Int) {
        for _ in 0...random.below(2) {
            switch random.below(6) {
            case 0: plan.nodes[node].conditions.append(.noFailedDependencies)
            case 1: plan.nodes[node].conditions.append(.noCancelledDependencies)
            default:
                let verdicts = (0...random.below(3)).map { _ in random.pick([Verdict.yes, .yes, .yes, .no, .notNow]) }
                let isNegated = random.chance(0.2)
                // What is asked for ever is answered at some time.
                let last: Verdict = random.chance(0.75) != isNegated ? .yes : .no
                plan.nodes[node].conditions.append(.scripted(verdicts + [last], isNegated: isNegated))
            }
        }
    }

    /// What it waits for and receives from: siblings before it, and, from unlimited groups, siblings of its group.
    private mutating func connect(_ node: Int) {
        guard let parent = plan.nodes[node].parent else { return }
        var candidates = plan.children(of: parent).filter { $0 < node }
        if features.contains(.outsiders), !features.contains(.keys), let around = plan.nodes[parent].parent,
            plan.nodes[around].group?.limit == nil
        {
            candidates += plan.children(of: around).filter { $0 < parent }
        }
        guard !candidates.isEmpty else { return }
        let keepsApart = features.mayCancel && !features.contains(.dependentsOfProducers)
        if features.contains(.delivery), plan.nodes[node].script != nil, random.chance(0.5) {
            let groups = candidates.filter { candidate in
                let children = plan.children(of: candidate)
                return plan.nodes[candidate].group != nil && children.allSatisfy { plan.nodes[$0].script != nil }
                    && (keepsApart ? plan.dependents(of: candidate).isEmpty : true)
            }
            let leaves = candidates.filter { plan.nodes[$0].script != nil && (keepsApart ? plan.dependents(of: $0).isEmpty : true) }
            if !groups.isEmpty, random.chance(0.4) {
                plan.nodes[node].producers = [random.pick(groups)]
            } else if !leaves.isEmpty {
                plan.nodes[node].producers = Array(leaves.shuffled(using: &random).prefix(random.chance(0.6) ? 1 : 3))
            }
        }
        if features.contains(.dependencies), random.chance(0.3) {
            let rest = candidates.filter {
                !plan.nodes[node].producers.contains($0) && (keepsApart ? plan.receivers(of: $0).isEmpty : true)
            }
            plan.nodes[node].after = Array(rest.shuffled(using: &random).prefix(1 + random.below(2)))
        }
    }

    private mutating func makeCancellations() {
        guard features.contains(.cancellations) else { return }
        for _ in 0..<random.below(3) {
            let (node, other) = (random.below(plan.nodes.count), random.below(plan.nodes.count))
            let moments: [CancellationPlan.Moment] = [
                .beforeTheQueue, .onceAdded, .atStart(of: other), .atStart(of: other), .atEnd(of: other),
            ]
            plan.cancellations.append(CancellationPlan(of: node, random.pick(moments)))
        }
    }
}

extension GraphGenerator {
    /// Takes out what is not asked for.
    private mutating func withdraw() {
        if !features.contains(.earlyCancellations) { plan.cancellations.removeAll { $0.moment == .beforeTheQueue } }
        if !features.contains(.racingCancellations) { withdrawRaces() }
        if !features.contains(.cancellationsUnderStop) {
            for cancellation in plan.cancellations {
                for group in plan.ancestors(of: cancellation.node) { change(group) { $0.stops = false } }
            }
        }
        if !features.contains(.unorderedStops) {
            for group in plan.nodes.indices {
                let mayEndTogether = plan.children(of: group).contains { plan.nodes[$0].hasDeadline }
                change(group) { $0.stops = $0.stops && $0.isOrdered && !mayEndTogether }
            }
        }
        for node in plan.leaves where !isBounded(node) { release(node) }
    }

    /// What is not cancelled any more ends, and so may be cancelled no more by others.
    private mutating func withdrawRaces() {
        var count = -1
        while count != plan.cancellations.count {
            count = plan.cancellations.count
            for node in plan.leaves where !isBounded(node) { release(node) }
            plan.cancellations = plan.cancellations.filter { !mayEndByItself($0.node) }
        }
    }

    private mutating func change(_ group: Int, _ change: (inout GroupPlan) -> Void) {
        guard case .group(var planned) = plan.nodes[group].kind else { return }
        change(&planned)
        plan.nodes[group].kind = .group(planned)
    }

    /// An operation that nothing would stop ends.
    private mutating func release(_ node: Int) {
        guard case .operation(var script) = plan.nodes[node].kind else { return }
        script.isEndless = false
        plan.nodes[node].kind = .operation(script)
    }

    /// Whether something surely ends it before it ends.
    private func isBounded(_ node: Int) -> Bool {
        let around = [node] + plan.ancestors(of: node)
        return plan.nodes[node].hasTimeout || around.contains { plan.nodes[$0].hasDeadline }
            || plan.cancellations.contains { around.contains($0.node) && $0.moment == .atStart(of: node) }
    }

    private func mayEndByItself(_ node: Int) -> Bool {
        guard let script = plan.nodes[node].script, script.isEndless else { return true }
        let plan = plan.nodes[node]
        return plan.hasTimeout || plan.hasDeadline || !plan.conditions.isEmpty || plan.unique != nil
    }
}
