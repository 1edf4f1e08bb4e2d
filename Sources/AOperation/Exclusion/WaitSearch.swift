/// Finds out whether something can come before certain other things have come; and if not, why not.
///
/// What can be reached is explored first; then it is said of the targets that they stay away, and of everything that
/// cannot come without them, until nothing more is to be said.
struct WaitSearch {
    private struct Node {
        let needs: WaitEvent.Needs
        let event: WaitEvent?
        /// Who needs this, how, and as one of the holders of which share.
        var dependents: [(node: Int, need: WaitEvent.Need, share: Int?)] = []
        /// Why this stays away: because of another node, which it needs like this.
        var cause: (node: Int, need: WaitEvent.Need)?
        var staysAway = false
    }

    private var nodes: [Node] = []
    private var known: [WaitEvent.Key: Int] = [:]
    /// How many more holders of each share must stay away until its lock does.
    private var shares: [Int] = []
    private let targets: Set<WaitEvent.Key>
    private let isInLine: Bool

    /// - Parameter isInLine: whether who asks for a lock waits for those who asked before him as well.
    /// - Complexity: O(what can be reached).
    init(from needs: WaitEvent.Needs, to targets: [WaitEvent], isInLine: Bool = true) {
        self.targets = Set(targets.map(\.key))
        self.isInLine = isInLine
        nodes.append(Node(needs: needs, event: nil))
        explore()
        propagate()
    }

    private mutating func explore() {
        var next = 0
        while next < nodes.count {
            for need in nodes[next].needs.all { link(next, need, share: nil) }
            for share in nodes[next].needs.shares {
                shares.append(share.limit)
                for need in share.holders { link(next, need, share: shares.count - 1) }
            }
            next += 1
        }
    }

    private mutating func link(_ node: Int, _ need: WaitEvent.Need, share: Int?) {
        let key = need.event.key
        let target = known[key] ?? nodes.count
        if target == nodes.count {
            let isTarget = targets.contains(key)
            nodes.append(
                Node(needs: isTarget ? WaitEvent.Needs() : need.event.needs(inLine: isInLine), event: need.event, staysAway: isTarget))
            known[key] = target
        }
        nodes[target].dependents.append((node, need, share))
    }

    private mutating func propagate() {
        var pending = nodes.indices.filter { nodes[$0].staysAway }
        while let index = pending.popLast() {
            for (dependent, need, share) in nodes[index].dependents where !nodes[dependent].staysAway {
                if let share {
                    shares[share] -= 1
                    guard shares[share] == 0 else { continue }
                }
                nodes[dependent].staysAway = true
                nodes[dependent].cause = (index, need)
                pending.append(dependent)
            }
        }
    }

    /// One way from the beginning to a target; nil if it can come without them.
    var circle: WaitForGraph.Circle? {
        guard nodes[0].staysAway else { return nil }
        var circle = WaitForGraph.Circle()
        var next = nodes[0].cause
        while let (node, need) = next {
            if let (key, holder) = need.lock {
                circle.keys.append(key)
                circle.holders.append(holder)
            }
            if let joiner = need.joiner { circle.joiner = joiner }
            if case .grant(let request) = need.event { circle.askers.append(request) }
            next = nodes[node].cause
        }
        return circle
    }
}
