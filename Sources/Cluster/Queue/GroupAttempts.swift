import AOperation
import Executing

/// What becomes of operations in groups that may begin anew: it counts when the group has ended, with its last attempt.
///
/// Starts are told as they come. Ends, and what comes to such a group while it runs, are held until the outermost of these
/// groups around it has ended; what an earlier attempt has left is void.
struct GroupAttempts {
    private struct Group {
        /// How often it has begun.
        var attempt = 0
        /// Its last attempt has failed, and that may not count.
        var isRetrying = false
        /// How much was held when it was last seen not to wait for another attempt any more, or when all that counts was told anew: what
        /// came later is of its next attempt, if that follows. nil: neither has been.
        var countBefore: Int?
    }

    private struct Held {
        /// Its place among all that was held.
        let number: Int
        /// The outermost group that may begin anew.
        let top: Int
        let change: NodeChange
    }

    /// By node.
    private var groups: [Int: Group] = [:]
    private var ends: [Int: Held] = [:]
    private var additions: [Int: Held] = [:]
    private var count = 0
    private var begunAnew: Set<Int> = []

    init(_ graph: OperationGraph) {
        for group in graph.groupsThatMayBeginAnew { groups[group] = Group() }
    }

    /// What is to be told now that there is this change, and which nodes are no part of the graph any more.
    mutating func due(_ change: NodeChange, _ graph: OperationGraph) -> (changes: [NodeChange], dropped: [Int]) {
        guard !groups.isEmpty else { return ([change], []) }
        noteAttempt(change, graph)
        let around = groups(around: change.node, graph)
        guard let top = around.last else {
            guard groups[change.node] != nil, case .ended = change.news else { return ([change], []) }
            let (inside, dropped) = close(change.node, graph)
            return (inside + [change], dropped)
        }
        count += 1
        let held = Held(number: count, top: top, change: change)
        switch change.news {
        case .started, .progressed, .retrying:
            // Of what is done before conditions the first run is told.
            if !graph.members[change.node].isDependent { ends[change.node] = nil }
            return ([change], [])
        case .added: additions[change.node] = held
        case .ended where graph.members[change.node].isDependent && ends[change.node] != nil: break
        case .ended: ends[change.node] = held
        }
        return ([], [])
    }

    /// Ends are about to be told again, as they stand now.
    mutating func forgetEnds() {
        ends = [:]
        for group in groups.keys { groups[group]?.countBefore = count }
    }

    /// Another attempt of a group is known by its number; that what was added is gone, by what comes after it was about to be
    /// tried again.
    private mutating func noteAttempt(_ change: NodeChange, _ graph: OperationGraph) {
        guard let known = groups[change.node] else { return }
        switch change.news {
        case .ended, .added: return
        case .retrying: groups[change.node]?.isRetrying = true
        case .started, .progressed:
            let isNext = known.attempt > 0 && change.attempt > known.attempt
            if known.isRetrying { groups[change.node]?.countBefore = count }
            if isNext || known.isRetrying {
                groups[change.node]?.isRetrying = false
                // What was cancelled by somebody ends before the group has begun.
                let before = countBefore(change.node, graph)
                ends = ends.filter { node, held in
                    guard groups(around: node, graph).contains(change.node) else { return true }
                    return isNext ? held.number > before ?? .max : !isAdded(node, graph)
                }
            }
            if isNext { begunAnew.insert(change.node) }
        }
        groups[change.node]?.attempt = max(known.attempt, change.attempt)
    }

    /// For one that begins anew, and what is around it.
    private func countBefore(_ group: Int, _ graph: OperationGraph) -> Int? {
        ([group] + groups(around: group, graph)).compactMap { groups[$0]?.countBefore }.max()
    }

    /// What has begun anew, and has not ended since.
    mutating func takeBegunAnew(_ graph: OperationGraph) -> [Int] {
        guard !begunAnew.isEmpty else { return [] }
        defer { begunAnew = [] }
        return graph.members.indices.filter {
            !graph.members[$0].isDependent && ends[$0] == nil && !begunAnew.isDisjoint(with: groups(around: $0, graph))
        }
    }

    /// The group has ended: what is held for it, and what was in it and is not there any more.
    private mutating func close(_ group: Int, _ graph: OperationGraph) -> ([NodeChange], [Int]) {
        groups[group] = nil
        // What was added and has no end was dropped again.
        let dropped = additions.values.filter { $0.top == group && ends[$0.change.node] == nil }.map(\.change.node).sorted()
        let told = (Array(additions.values) + Array(ends.values)).filter { $0.top == group && ends[$0.change.node] != nil }
        additions = additions.filter { $0.value.top != group }
        ends = ends.filter { $0.value.top != group }
        return (told.sorted { $0.number < $1.number }.map(\.change), dropped)
    }

    /// Groups around the node that may begin anew, from the innermost outwards.
    private func groups(around node: Int, _ graph: OperationGraph) -> [Int] {
        guard !isToldAtOnce(node, graph) else { return [] }
        var found: [Int] = []
        var current = node
        while current != 0 {
            current = graph.members[current].parent
            if groups[current] != nil { found.append(current) }
        }
        return found
    }

    private func isAdded(_ node: Int, _ graph: OperationGraph) -> Bool { node >= graph.wire.nodes.count }

    /// What is done before conditions is told as it comes: it is part of no group. Not if it goes with what was added, which may
    /// be dropped again.
    private func isToldAtOnce(_ node: Int, _ graph: OperationGraph) -> Bool {
        graph.members[node].isDependent && !isAdded(node, graph)
    }
}

extension OperationGraph {
    /// Groups that are tried again, and those that are tried again with the end of a delivery net: they deliver to that, if by way of
    /// others, and nobody else waits for them or for anything inside of them. The coordinator finds the same ones.
    fileprivate var groupsThatMayBeginAnew: [Int] {
        let nodes = wire.nodes
        let again = Set(nodes.indices.filter { nodes[$0].retries > 0 }).union(membersOfNets)
        return again.filter { members[$0].isGroup && members[$0].operation != nil }.sorted()
    }

    /// Those that receive from what is tried again with them: it may be told only after their own ends how that has ended.
    var receiversOfNets: Set<Int> {
        let members = membersOfNets
        guard !members.isEmpty else { return [] }
        return Set(wire.nodes.indices.filter { node in wire.nodes[node].receives.contains { members.contains(Int($0)) } })
    }

    /// What is tried again with the ends of delivery nets.
    private var membersOfNets: Set<Int> {
        let nodes = wire.nodes
        let ends = nodes.indices.filter { nodes[$0].retriesNet && !nodes[Int(nodes[$0].parent)].group.ordered }
        guard !ends.isEmpty else { return [] }
        let waiters = self.waiters
        return ends.reduce(into: []) { $0.formUnion(membersOfNet(endingWith: $1, waiters)) }
    }

    /// By node: who waits for its end.
    private var waiters: [[Int]] {
        var waiters = Array(repeating: [Int](), count: wire.nodes.count)
        for (index, node) in wire.nodes.enumerated() {
            for other in node.receives + node.after + (node.hasStream ? [node.stream] : []) { waiters[Int(other)].append(index) }
        }
        return waiters
    }

    private func membersOfNet(endingWith end: Int, _ waiters: [[Int]]) -> Set<Int> {
        let nodes = wire.nodes
        var net: Set<Int> = [end]
        var open = [end]
        while let node = open.popLast() {
            for producer in nodes[node].receives.map({ Int($0) })
            where nodes[producer].parent == nodes[end].parent && !net.contains(producer) && !nodes[producer].retriesNet
                && !nodes[producer].awaitedElsewhere && waiters[producer].allSatisfy(net.contains) && isClosed(producer, waiters)
            {
                net.insert(producer)
                open.append(producer)
            }
        }
        return net.subtracting([end])
    }

    /// Whether nobody outside waits for anything inside of it.
    private func isClosed(_ node: Int, _ waiters: [[Int]]) -> Bool {
        guard members[node].isGroup else { return true }
        let last = wire.nodes.indices.dropFirst(node + 1).first { !isInside($0, of: node) } ?? wire.nodes.count
        let inside = (node + 1)..<last
        return inside.allSatisfy { !wire.nodes[$0].awaitedElsewhere && waiters[$0].allSatisfy(inside.contains) }
    }

    fileprivate func isInside(_ node: Int, of group: Int) -> Bool {
        var current = node
        while current != 0 {
            current = members[current].parent
            if current == group { return true }
        }
        return false
    }
}
