import Conformance
import Testing

/// The reference itself: it lets pass what is allowed, and each rule catches what it is there for.
@Suite struct ReferenceTests {
    @Test(arguments: Planted.all) func deviation_isCaughtByItsRule_andByNoOther(planted: Planted) {
        #expect(Reference.violations(of: planted.plan, planted.history).map(\.description) == [], "before the change")
        let violations = Reference.violations(of: planted.plan, planted.changed)
        #expect(Set(violations.map(\.rule)) == [planted.rule], "\(violations)\n\(planted.changed)")
    }

    /// A rule that always says yes would be noticed: each has a deviation that all the others let pass.
    @Test(arguments: Reference.rules.map(\.name)) func withoutTheRule_aDeviationWouldPass(rule: String) {
        let others = Reference.rules.filter { $0.name != rule }
        let missed = Planted.all.filter { Reference.violations(of: $0.plan, $0.changed, rules: others).isEmpty }
        #expect(missed.contains { $0.rule == rule })
        #expect(missed.allSatisfy { $0.rule == rule })
    }

    @Test func thereAreAtLeastTwentyDeviations_andEveryRuleHasAName() {
        #expect(Planted.all.count >= 20)
        #expect(Set(Reference.rules.map(\.name)).count == Reference.rules.count)
    }

    /// On a cluster a worker may begin it by itself, in vain.
    @Test(arguments: [0, 1]) func whatIsRecomputable_orInsideOfThat_mayRunOnceMore(node: Int) throws {
        let planted = try #require(Planted.all.first { $0.rule == "attemptsAreLimited" })
        let history = History([.made(isHere: false)] + planted.changed.events)
        #expect(Reference.violations(of: planted.plan, history).map(\.rule) == ["attemptsAreLimited"])
        var plan = planted.plan
        plan.nodes[node].isRecomputable = true
        #expect(Reference.violations(of: plan, history).map(\.description) == [])
    }

    /// The generator draws the same graph for the same seed, and every feature within a few hundred graphs.
    @Test func generatedGraphs_haveEveryFeature_andAreTheirSeeds() {
        let plans = (0..<400).map { GraphGenerator.graph(seed: $0) }
        #expect(plans == (0..<400).map { GraphGenerator.graph(seed: $0) })
        let nodes = plans.flatMap(\.nodes)
        #expect(nodes.contains { $0.unique?.joins == true })
        #expect(nodes.contains { $0.keys.contains { $0.limit > 1 } && $0.group != nil })
        #expect(nodes.contains { $0.producers.count > 1 && $0.script?.forwardsFailure == true })
        #expect(nodes.contains { $0.attempts > 1 && !$0.conditions.isEmpty })
        #expect(plans.contains { $0.scopes.count > 1 })
        #expect(nodes.contains { $0.cause != nil && $0.conditions.contains { $0.isPreparedInside } })
        #expect(nodes.contains { $0.script?.lingers != nil && $0.hasTimeout })
        #expect(nodes.contains { $0.group?.isOrdered == true && $0.group?.stops == true })
        #expect(nodes.contains { $0.group?.limit != nil && $0.hasDeadline })
        #expect(plans.contains { !$0.cancellations.isEmpty && $0.slots != nil })
        #expect(Set(nodes.compactMap { $0.group?.sequence }) == [.steps, .linear, .retry])
        #expect(nodes.contains { $0.group?.sequence != nil && $0.isHosted })
        #expect(nodes.contains { $0.isWrapper && $0.producers.count > 1 })
        #expect(nodes.contains { $0.isWrapper && $0.hasTimeout && !$0.conditions.isEmpty })
        #expect(nodes.contains { $0.group != nil && $0.start != nil })
        #expect(nodes.contains { if case .notBefore? = $0.start { !$0.keys.isEmpty } else { false } })
        #expect(nodes.contains { $0.hasQueueTimeout && !$0.conditions.isEmpty })
        let clusterPlans = (0..<200).map { GraphGenerator.graph(seed: $0, features: .clustered) }
        let clustered = clusterPlans.flatMap(\.nodes)
        #expect(clusterPlans.contains { $0.isSubmittedTwice && !$0.pauses.isEmpty })
        #expect(clustered.contains { $0.isAtMostOnce && !$0.producers.isEmpty })
        #expect(clustered.contains { $0.requires?.label == nil && $0.requires?.permits == 2 })
        #expect(plans.contains { !$0.pauses.isEmpty })
        #expect(nodes.contains { $0.maker != nil && $0.attempts > 1 })
        #expect(nodes.contains { $0.group?.isOrdered == true && $0.attempts > 1 && $0.conditions.count > 1 })
        #expect(plans.contains { plan in plan.leaves.contains { plan.groupsThatMayBeginAnew(around: $0).count > 1 } })
        #expect(plans.contains { plan in plan.nodes.contains { $0.producers.contains(where: plan.mayBeginAnew) } })
    }

    /// What came later changes nothing in graphs that do not have it.
    @Test(arguments: 0..<200 as Range<UInt64>) func graphsOfOlderSeeds_areWhatTheyWere(seed: UInt64) {
        var plan = GraphGenerator.graph(seed: seed)
        plan.pauses = []
        // They come last, with what is in them and what waits for them.
        if let first = plan.nodes.indices.first(where: plan.mayBeginAnew) {
            plan.nodes.removeSubrange(first...)
            plan.cancellations.removeAll { $0.node >= first }
        }
        plan.nodes.removeAll { $0.maker != nil }
        for node in plan.nodes.indices { (plan.nodes[node].start, plan.nodes[node].hasQueueTimeout) = (nil, false) }
        #expect(plan == GraphGenerator.graph(seed: seed, features: .settled.subtracting(.apart)))
    }
}
