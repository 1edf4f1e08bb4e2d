import Scheduling

/// What nodes ask for besides their structure. What admission refuses is taken back, so that every graph is one that a user may submit.
extension RandomWork {
    /// A label that the first host has.
    static let label = "fast"
    private static let uniqueIDs = ["u0", "u1"]

    static func retention(using random: inout SimulationRandom) -> (milliseconds: Int64, bytes: Int64) {
        random.oneIn(3) ? (3_600_000, 1 + random.below(Int64(2_000))) : (5_000 + random.below(Int64(40_000)), 0)
    }

    func ask(of graph: inout Graph, using random: inout SimulationRandom) {
        if isQuick { ask(.recomputable, of: 0, in: &graph, &random) }
        for node in graph.nodes.indices {
            for option in Option.allCases where option.feature.isSubset(of: features) && random.oneIn(option.rarity) {
                ask(option, of: node, in: &graph, &random)
            }
        }
    }

    private func ask(_ option: Option, of node: Int, in graph: inout Graph, _ random: inout SimulationRandom) {
        let before = graph.nodes[node]
        guard add(option, to: &graph.nodes[node], using: &random) else { return }
        if !graph.faults().isEmpty { graph.nodes[node] = before }
    }

    private enum Option: CaseIterable {
        case deadline, queueTimeout, backoff, net, unique, label, crashLimit, hold, recomputable, resources

        /// What the run has to have for it.
        var feature: WorkFeatures { self == .resources ? .resources : [] }

        /// Once in so many nodes.
        var rarity: Int {
            switch self {
            case .deadline, .queueTimeout, .crashLimit: 14
            case .backoff, .unique, .label: 8
            case .net: 2
            case .resources: 3
            case .recomputable: 4
            case .hold: 20
            }
        }
    }

    /// - Returns: whether it is something for this node.
    private func add(_ option: Option, to node: inout Node, using random: inout SimulationRandom) -> Bool {
        switch (option, node.kind) {
        case (.deadline, .group), (.deadline, .operation), (.deadline, .forEach):
            node.options.deadlineMilliseconds = 1_000 + random.below(Int64(40_000))
        case (.queueTimeout, .operation): node.options.queueTimeoutMilliseconds = 500 + random.below(Int64(20_000))
        case (.backoff, _) where node.retries > 0:
            node.options.backoff = Backoff(
                kind: random.pick([.exponential, .constant, .linear, .fibonacci]) ?? .constant,
                initialMilliseconds: random.below(Int64(3_000)), maxMilliseconds: 10_000, jitterPermille: random.below(1_001))
        case (.net, .operation) where retries && !node.receives.isEmpty:
            node.options.retriesNet = true
            node.retries = max(node.retries, 1 + random.below(3))
        case (.unique, .group), (.unique, .operation):
            node.options.unique = Uniqueness(id: random.pick(Self.uniqueIDs) ?? "", joins: random.oneIn(2))
        case (.label, _): node.options.requires = Requirements(labels: [Self.label])
        case (.crashLimit, _): node.options.crashLimit = 1 + random.below(3)
        case (.resources, _): node.options.requires = requirements(of: node, using: &random)
        case (.recomputable, _): node.options.recomputable = true
        case (.hold, _): node.options.notBefore = Simulation.firstDay + random.below(Int64(30_000))
        default: return false
        }
        return true
    }
}
