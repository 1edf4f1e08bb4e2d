extension Graph {
    /// What makes the conditions of a node inadmissible.
    func problems(withConditionsOf node: Node) -> [String] {
        let conditions = node.options.conditions
        guard !conditions.isEmpty || !node.options.conditionTrees.isEmpty else { return [] }
        if case .forEach = node.kind { return ["a forEach has no conditions itself; give them to its body"] }
        if conditions.count > Self.conditionsMax {
            return ["has \(conditions.count) conditions, more than the limit of \(Self.conditionsMax)"]
        }
        return problems(withTreesOf: node)
            + conditions.flatMap { condition -> [String] in
                switch condition.kind {
                case .noFailedDependencies, .noCancelledDependencies: []
                case .timeWindow(let window): Self.problems(with: window)
                case .rateLimit(let limit): Self.problems(with: limit)
                case .probe(let probe):
                    (probe.type.isEmpty ? ["a condition has an empty type; give it a name"] : [])
                        + (parameters.indices.contains(probe.parameters) ? [] : ["a condition refers to parameters that do not exist"])
                }
            }
    }

    private static func problems(with window: TimeWindow) -> [String] {
        guard (0..<1_440).contains(window.startMinute), (1...1_440).contains(window.endMinute) else {
            return ["has a time window from minute \(window.startMinute) to \(window.endMinute) of a day, which has 1440"]
        }
        guard window.startMinute != window.endMinute % 1_440 else {
            return ["has the time window \(window.text), which ends when it starts; leave it out"]
        }
        return []
    }

    private static func problems(with limit: RateLimit) -> [String] {
        var problems: [String] = []
        if limit.key.isEmpty { problems.append("the key of a rate limit is empty; give it a name") }
        if limit.key.utf8.count > 256 {
            problems.append("the key of a rate limit has \(limit.key.utf8.count) bytes, more than the limit of 256")
        }
        if !(1...rateCountMax).contains(limit.count) {
            problems.append("the rate limit `\(limit.key)` has a count of \(limit.count); it must be from 1 to \(rateCountMax)")
        }
        if limit.perMilliseconds < 1 {
            problems.append("the rate limit `\(limit.key)` is per \(limit.perMilliseconds) ms; it must be at least 1 ms")
        }
        return problems
    }

    private static let conditionsMax = 64
    /// So many starts are remembered for each key.
    static let rateCountMax = 100_000

    /// Time zones that conditions name, with the first node that does.
    public var zones: [(name: String, node: Int)] {
        var found: [(name: String, node: Int)] = []
        for (index, node) in nodes.enumerated() {
            for condition in node.conditions {
                guard case .timeWindow(let window) = condition.kind, !window.zone.isEmpty else { continue }
                if !found.contains(where: { $0.name == window.zone }) { found.append((window.zone, index)) }
            }
        }
        return found
    }
}
