import Scheduling
import Wire

/// Nothing begins whose conditions do not hold, or whose dependent operations have not ended; as far as that is known from what
/// bodies have answered, from the disk, and from the clock when it was given out.
extension Witness {
    /// What conditions come to; unknown: of what nobody here has seen.
    private enum Holds {
        case yes, no, notNow, unknown
    }

    /// What a coordinator has decided counts from an evaluation.
    func answered(_ unit: UnitID, _ answers: [ConditionAnswer]) {
        let name = world.name(of: unit)
        for answer in answers { self.answers[name, default: [:]][answer.condition] = answer.finding }
    }

    /// - Parameter node: of the operation that begins; each node around it is looked at, too.
    func checkConditions(_ assignment: WireAssignment, _ name: String, of node: Int, in graph: Graph) {
        guard !assignment.hasLink, !givenUp.contains(assignment.attempt) else { return }
        var (inner, next) = (-1, node)
        while true {
            let isPrepared = inner >= 0 && graph.nodes[inner].options.prepares != nil
            if !isPrepared { checkConditions(ofNode: next, in: graph, assignment, name, isOwn: inner < 0) }
            if next == 0 { return }
            (inner, next) = (next, graph.nodes[next].parent)
        }
    }

    private func checkConditions(ofNode node: Int, in graph: Graph, _ assignment: WireAssignment, _ name: String, isOwn: Bool) {
        let options = graph.nodes[node].options
        guard !options.conditions.isEmpty || !options.conditionTrees.isEmpty else { return }
        let path = graph.path(of: node)
        for preparation in graph.preparations(of: node) {
            let path = graph.path(of: preparation)
            if disk.hasOutcome(path, of: assignment.submission) != true { world.violate("\(name) begins before \(path) has prepared it") }
        }
        let given = isOwn ? given[assignment.attempt] : nil
        let leaves = options.conditions.indices.map { holds($0, ofNode: node, in: graph, assignment.submission, given?.wall) }
        let trees = options.conditionTrees.isEmpty ? options.conditions.indices.map { ConditionTree.leaf($0) } : options.conditionTrees
        for tree in trees {
            switch holds(tree, leaves) {
            case .yes, .unknown: break
            case .no, .notNow: world.violate("\(name) begins though a condition of `\(path)` does not hold: \(tree), \(leaves)")
            }
        }
    }

    private func holds(_ tree: ConditionTree, _ leaves: [Holds]) -> Holds {
        let parts = tree.parts.map { holds($0, leaves) }
        switch tree {
        case .leaf(let position): return leaves[position]
        case .all: return [.no, .unknown, .notNow].first(where: parts.contains) ?? .yes
        case .any: return [.yes, .unknown, .notNow].first(where: parts.contains) ?? .no
        case .not:
            switch parts[0] {
            case .yes: return .no
            case .no: return .yes
            case .notNow, .unknown: return parts[0]
            }
        case .ignored: return parts[0]
        }
    }

    private func holds(_ position: Int, ofNode node: Int, in graph: Graph, _ id: String, _ wall: Int64?) -> Holds {
        let condition = graph.nodes[node].options.conditions[position]
        func negatable(_ holds: Bool) -> Holds { holds != condition.isNegated ? .yes : .no }
        if let preparation = graph.preparations(of: node).first(where: { graph.nodes[$0].options.prepares == position }) {
            switch disk.state(graph.path(of: preparation), of: id) {
            case .succeeded?: break
            // With it the condition fails.
            case .failed?, .cancelled?: return negatable(false)
            default: return .unknown
            }
        }
        switch condition.kind {
        case .noFailedDependencies, .noCancelledDependencies:
            let states = graph.nodes[node].dependencies.map { disk.state(graph.path(of: $0), of: id) }
            guard states.allSatisfy({ [.succeeded, .failed, .cancelled].contains($0) }) else { return .unknown }
            let isBad = states.contains(.cancelled) || (condition.kind == .noFailedDependencies && states.contains(.failed))
            return negatable(!isBad)
        case .timeWindow(let window):
            guard let wall else { return .unknown }
            return window.isOpen(at: wall) != condition.isNegated ? .yes : .notNow
        case .rateLimit: return .unknown
        case .probe:
            // A worker says of a negated one whether it holds negated.
            switch answers["\(id)/\(graph.path(of: node))"]?[position] {
            case .satisfied?: return .yes
            case .failed?, .ignored?: return .no
            case .retryAfter?: return .notNow
            case nil: return .unknown
            }
        }
    }

    // MARK: Rates

    /// Notes a start that counts for limits of rates.
    func noteStart(_ assignment: WireAssignment, of node: Node) {
        guard let given = given[assignment.attempt] else { return }
        let name = "\(assignment.submission)/\(assignment.path)"
        for limit in node.countedRates {
            starts[limit.key, default: []].append(Start(at: given.boot, attempt: assignment.attempt, name: name, limit: limit))
        }
    }

    /// Within the time of each limit not more than its count has started, whoever it was that named the key.
    func checkRates() {
        // What survives a start of the coordinator is wall time.
        if world.faults.isSuperset(of: [.clockJumps, .coordinatorCrashes]) { return }
        for (key, starts) in starts.sorted(by: { $0.key < $1.key }) {
            for start in starts {
                // What begins after it, also in the same moment, keeps to a limit of its own.
                let lately = starts.filter { $0.attempt <= start.attempt && $0.at > start.at - start.limit.perMilliseconds }
                // As many are remembered as the largest count says that was named by then (decision 12).
                if lately.count > start.limit.count, lately.allSatisfy({ $0.limit.count >= start.limit.count }) {
                    world.violate("under `\(key)` \(start.limit) these have started: \(lately.map { "\($0.name) at \($0.at)" })")
                }
            }
        }
    }
}

extension Node {
    fileprivate var dependencies: [Int] { receives + after }

    /// Limits that have to leave room so that it starts, each key once.
    fileprivate var countedRates: [RateLimit] {
        func wanted(_ tree: ConditionTree, _ isNegated: Bool) -> [Int] {
            switch tree {
            case .leaf(let position): isNegated ? [] : [position]
            case .not(let part): wanted(part, !isNegated)
            case .all, .any, .ignored: tree.parts.flatMap { wanted($0, isNegated) }
            }
        }
        let trees = options.conditionTrees.isEmpty ? options.conditions.indices.map { ConditionTree.leaf($0) } : options.conditionTrees
        // Those that it needs, whatever becomes of the others, are judged; others count only.
        func limits(_ places: [Int]) -> [RateLimit] {
            places.compactMap {
                if case .rateLimit(let limit) = options.conditions[$0].kind, !options.conditions[$0].isNegated { limit } else { nil }
            }
        }
        var counted: [RateLimit] = []
        let needed = limits(trees.flatMap(\.needed))
        let others = limits(trees.flatMap { wanted($0, false) }).map {
            RateLimit(key: $0.key, count: .max, perMilliseconds: $0.perMilliseconds)
        }
        for limit in needed + others where !counted.contains(where: { $0.key == limit.key }) { counted.append(limit) }
        return counted
    }
}

extension ConditionTree {
    /// Conditions without which it does not hold.
    fileprivate var needed: [Int] {
        switch self {
        case .leaf(let position): [position]
        case .all(let parts): parts.flatMap(\.needed)
        case .ignored(let part): part.needed
        case .any(let parts): parts.count == 1 ? parts[0].needed : []
        case .not: []
        }
    }
}

extension TimeWindow {
    /// As the clocks show that simulations know.
    fileprivate func isOpen(at wall: Int64) -> Bool {
        let minute = Int((wall / 60_000 + (zone.isEmpty ? 0 : 9 * 60)) % 1_440)
        return startMinute < endMinute
            ? (startMinute..<endMinute).contains(minute) : minute >= startMinute || minute < endMinute
    }
}

extension Graph {
    /// What is done before the conditions of the node are evaluated.
    func preparations(of node: Int) -> [Int] {
        nodes.indices.filter { $0 != 0 && nodes[$0].parent == node && nodes[$0].options.prepares != nil }
    }
}
