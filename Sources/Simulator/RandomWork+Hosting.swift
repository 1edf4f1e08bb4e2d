import Executing
import Scheduling
import Wire

/// What exists only in the program that submits, and groups that decide what they do next, there or on a worker.
extension RandomWork {
    /// So many decisions of a group may add something.
    private static let decisionsMax = 3

    func addHostedCode(to graph: inout Graph, using random: inout SimulationRandom) {
        for node in graph.nodes.indices {
            if random.oneIn(3) { change(node, of: &graph) { $0.isHosted = true } }
            if random.oneIn(10) {
                let waits = random.oneIn(2)
                change(node, of: &graph) {
                    if !$0.conditionTrees.isEmpty { $0.conditionTrees.append(.leaf($0.conditions.count)) }
                    $0.conditions.append(
                        Condition(.probe(Probe(type: "closure", parameters: 0, waits: waits, isHosted: true)), isNegated: false))
                }
            }
            if random.oneIn(6) {
                let say = SubmitterSay(holds: random.oneIn(2), retries: random.oneIn(2))
                change(node, of: &graph) { $0.say = say }
            }
        }
    }

    /// Unless admission refuses it.
    private func change(_ node: Int, of graph: inout Graph, _ change: (inout NodeOptions) -> Void) {
        let before = graph.nodes[node]
        change(&graph.nodes[node].options)
        if !graph.faults().isEmpty { graph.nodes[node] = before }
    }

    /// As the last one in its group, which has no other.
    func addDecider(to graph: inout Graph, of group: Int, _ random: inout SimulationRandom) {
        let decider = DeciderNode(
            type: Self.decider, parameters: 0, occasion: random.pick([.eachChild, .failures, .steps]) ?? .eachChild,
            isAskedAtBegin: random.oneIn(2))
        graph.nodes.append(Node(id: "d\(graph.nodes.count)", parent: group, kind: .decider(decider)))
        if !graph.faults().isEmpty { graph.nodes.removeLast() }
    }

    /// A group that has nothing but what is made for it when it begins.
    func addWrapper(to graph: inout Graph, parent: Int, _ random: inout SimulationRandom) {
        let index = graph.nodes.count
        graph.nodes.append(Node(id: "w\(index)", parent: parent, kind: .group(GroupNode(isOrdered: false))))
        let decider = DeciderNode(
            type: Self.decider, parameters: 0, occasion: random.pick([.eachChild, .failures]) ?? .eachChild, isAskedAtBegin: true,
            isWrapper: true)
        graph.nodes.append(Node(id: "d\(index)", parent: index, kind: .decider(decider)))
        if !graph.faults().isEmpty { graph.nodes.removeLast(2) }
    }

    func decision(_ question: WireDecisionQuestion, using random: inout SimulationRandom) -> WireDecision {
        .with {
            guard question.number <= Self.decisionsMax, random.oneIn(2) else { return }
            $0.addition = Self.addition(count: 1 + random.below(2))
        }
    }

    func conclusion(_ question: WireConclusionQuestion, using random: inout SimulationRandom) -> WireConclusion {
        .with { if question.asksForRetry, random.oneIn(3) { $0.retryAfterMilliseconds = UInt64(random.below(2_000)) } }
    }
}

extension Condition {
    var isHostedProbe: Bool { if case .probe(let probe) = kind { probe.isHosted } else { false } }
}
