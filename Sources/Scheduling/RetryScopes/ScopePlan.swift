/// Which nodes are tried again with the end of their delivery net.
///
/// A **tail** is an operation that nobody receives from and whose retry is that of its net. Its **members** are the producers
/// above it from which every path leads to it: each stands beside the tail, delivers to the tail or to another member, and
/// nobody else, in the graph or elsewhere, waits for it or for anything inside of it.
struct ScopePlan: Sendable {
    /// By tail: its members, producers before their receivers. Looked up, never iterated.
    private var members: [Int32: [Int32]] = [:]
    /// By member: the tail. Looked up, never iterated.
    private var tails: [Int32: Int32] = [:]

    /// nil: no node has a member.
    /// - Complexity: O(nodes + edges).
    init?(_ graph: Graph, _ layout: GraphLayout) {
        let ends = graph.nodes.indices.filter { graph.isTail($0, layout) }.map(Int32.init)
        guard !ends.isEmpty else { return nil }
        var search = Search(graph: graph, layout: layout, tails: Set(ends))
        for tail in ends { search.run(from: tail) }
        guard !search.found.isEmpty else { return nil }
        for member in search.found.reversed() {
            guard let tail = search.destination[member] else { continue }
            members[tail, default: []].append(member)
            tails[member] = tail
        }
    }

    /// Of nodes none of which is tried again like that.
    init() {}

    /// Takes in what was added to a group that has begun.
    ///
    /// - Parameters:
    ///   - own: who is tried again with whom among what was added, by places in the addition.
    ///   - shift: from a place there to the node.
    mutating func grow(by own: ScopePlan, shift: Int32) {
        for (tail, list) in own.members { members[tail + shift] = list.map { $0 + shift } }
        for (member, tail) in own.tails { tails[member + shift] = tail + shift }
    }

    func members(of tail: Int32) -> [Int32] { members[tail] ?? [] }
    func tail(of member: Int32) -> Int32? { tails[member] }

    private struct Search {
        let graph: Graph
        let layout: GraphLayout
        let tails: Set<Int32>
        /// By node: the tail to which all paths lead that were followed to it so far; -1: to several.
        var destination: [Int32: Int32] = [:]
        /// By node: how many of those that wait for it are of its tail's scope.
        var counted: [Int32: Int] = [:]
        /// Those from whom somebody of a scope receives.
        var delivering: Set<Int32> = []
        /// Receivers before their producers.
        var found: [Int32] = []

        mutating func run(from tail: Int32) {
            var open = [tail]
            while let node = open.popLast() {
                for producer in graph.nodes[Int(node)].receives { delivering.insert(Int32(producer)) }
                for producer in layout.dependencies[Int(node)] where !tails.contains(producer) {
                    counted[producer, default: 0] += 1
                    destination[producer] = (destination[producer] ?? tail) == tail ? tail : -1
                    guard counted[producer] == layout.dependents.count(Int(producer)), destination[producer] == tail,
                        delivering.contains(producer), mayBeMember(producer, of: tail)
                    else { continue }
                    found.append(producer)
                    open.append(producer)
                }
            }
        }

        private func mayBeMember(_ node: Int32, of tail: Int32) -> Bool {
            let inside = layout.subtree(of: Int(node))
            return graph.nodes[Int(node)].parent == graph.nodes[Int(tail)].parent
                && inside.allSatisfy { !graph.nodes[$0].hasOptions || !graph.nodes[$0].options.isAwaitedElsewhere }
                && !layout.dependents[Int(node)].contains { graph.nodes[Int($0)].streamProducer == Int(node) }
                && inside.dropFirst().allSatisfy { layout.dependents[$0].allSatisfy { inside.contains(Int($0)) } }
        }
    }
}

extension Graph {
    /// Whether the node's retry is that of its delivery net. The order of an ordered group is a bond to others: there it is its
    /// own.
    fileprivate func isTail(_ node: Int, _ layout: GraphLayout) -> Bool {
        guard nodes[node].hasOptions, nodes[node].options.retriesNet, nodes[node].retries > 0, nodes[node].isOperation,
            !nodes[node].receives.isEmpty, !isReceived(node, layout)
        else { return false }
        switch nodes[nodes[node].parent].kind {
        case .group(let group): return !group.isOrdered
        case .operation, .forEach, .decider: return false
        }
    }

    /// Whether somebody receives its value.
    fileprivate func isReceived(_ node: Int, _ layout: GraphLayout) -> Bool {
        layout.dependents[node].contains { nodes[Int($0)].receives.contains(node) }
    }
}
