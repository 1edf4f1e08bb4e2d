import Scheduling

/// Conditions of all kinds, what is made of them, and what is done before they are evaluated.
extension RandomWork {
    private static let conditionsMax = 4
    private static let treeDepthMax = 2

    /// One or two things that a node requires, beside the conditions that it has.
    func addConditions(to options: inout NodeOptions, using random: inout SimulationRandom) {
        var trees = options.conditions.indices.map { ConditionTree.leaf($0) }
        for _ in 0..<(1 + random.below(2)) { trees.append(tree(depth: 0, &options.conditions, &random)) }
        // A negated window is open for as long as the window is closed, and nobody waits for a day.
        for place in options.conditions.indices where options.conditions[place].isNegated {
            guard case .timeWindow(let window) = options.conditions[place].kind else { continue }
            options.conditions[place].kind = .timeWindow(
                TimeWindow(startMinute: window.endMinute, endMinute: window.startMinute, zone: window.zone))
        }
        options.conditionTrees = trees.allSatisfy(\.parts.isEmpty) && trees.allSatisfy { !$0.leaves.isEmpty } ? [] : trees
    }

    private func tree(depth: Int, _ conditions: inout [Condition], _ random: inout SimulationRandom) -> ConditionTree {
        let isLeaf = !features.contains(.conditions) || depth == Self.treeDepthMax || conditions.count >= Self.conditionsMax
        guard !isLeaf, random.oneIn(2) else {
            conditions.append(Condition(leaf(&random), isNegated: random.oneIn(5)))
            return .leaf(conditions.count - 1)
        }
        func parts(_ random: inout SimulationRandom) -> [ConditionTree] {
            (0..<random.below(4)).map { _ in tree(depth: depth + 1, &conditions, &random) }
        }
        switch random.below(4) {
        case 0: return .all(parts(&random))
        case 1: return .any(parts(&random))
        case 2:
            // The contrary of one condition is that one, negated.
            let part = tree(depth: depth + 1, &conditions, &random)
            guard case .leaf(let position) = part else { return .not(part) }
            conditions[position].isNegated.toggle()
            return part
        default: return .ignored(tree(depth: depth + 1, &conditions, &random))
        }
    }

    private func leaf(_ random: inout SimulationRandom) -> Condition.Kind {
        switch random.below(features.contains(.times) ? 6 : 3) {
        case 0: .noFailedDependencies
        case 1: .noCancelledDependencies
        case 2: .probe(Probe(type: Self.condition, parameters: 0, waits: random.oneIn(2)))
        case 3: .timeWindow(Self.window(using: &random))
        default: .rateLimit(Self.rateLimit(using: &random))
        }
    }

    /// What is done for conditions before these are evaluated: an operation, or a group of two. It stands in the node.
    func addPreparations(
        to graph: inout Graph, of node: Int, names: Set<String>, isInForEach: Bool, _ random: inout SimulationRandom
    ) {
        guard features.contains(.conditions) else { return }
        for condition in graph.nodes[node].options.conditions.indices where random.oneIn(3) {
            let before = graph
            let preparation = graph.nodes.count
            let isGroup = random.oneIn(4)
            let kind: Node.Kind =
                isGroup
                ? .group(GroupNode(isOrdered: random.oneIn(2)))
                : .operation(OperationNode(type: Self.operation, parameters: 0))
            var head = Node(id: "p\(preparation)", parent: node, kind: kind)
            var names = names
            dress(&head, isGroup: isGroup, names: &names, isInForEach: isInForEach, &random)
            (head.options.conditions, head.options.conditionTrees, head.options.atMostOnce) = ([], [], false)
            head.options.prepares = condition
            graph.nodes.append(head)
            if isGroup {
                for number in 0..<2 {
                    graph.nodes.append(
                        Node(id: "m\(number)", parent: preparation, kind: .operation(OperationNode(type: Self.operation, parameters: 0))))
                }
            }
            if !graph.faults().isEmpty { graph = before }
        }
    }

    // MARK: Times

    /// A time of day that is closed for a minute or two soon after the day of simulations begins, which is at 17:46:40 UTC; and never long enough
    /// that a run would wait for the next day.
    private static func window(using random: inout SimulationRandom) -> TimeWindow {
        let closes = firstMinute + random.below(2)
        let opens = closes + 1 + random.below(2)
        // There it is the same all year.
        let isTokyo = random.oneIn(3)
        func minute(_ minute: Int) -> Int { (minute + (isTokyo ? 9 * 60 : 0)) % 1_440 }
        return TimeWindow(startMinute: minute(opens), endMinute: minute(closes), zone: isTokyo ? "Asia/Tokyo" : "")
    }

    private static let firstMinute = 17 * 60 + 47

    private static func rateLimit(using random: inout SimulationRandom) -> RateLimit {
        RateLimit(key: random.oneIn(2) ? "r0" : "r1", count: 1 + random.below(3), perMilliseconds: 1 + random.below(Int64(4_000)))
    }
}
