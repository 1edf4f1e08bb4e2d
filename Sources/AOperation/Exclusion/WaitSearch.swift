/// Finds out whether something can come before certain other things have come; and if not, why not.
///
/// What can be reached is explored first. Then it is said of the targets that they stay away, and of everything that cannot
/// come without them, until nothing more is to be said. That misses those who wait for one of several, each of whom waits for
/// them: so it is also said of everything that it comes, whose needs come; once as if the targets came, and once as if not.
struct WaitSearch {
    private struct Node {
        let event: WaitEvent?
        let isTarget: Bool
        /// What it needs, by the nodes; those that are holders of a share have its number.
        var needs: [(node: Int, need: WaitEvent.Need, share: Int?)] = []
        /// By the nodes that need this: as one of the holders of which share.
        var dependents: [(node: Int, share: Int?)] = []
    }

    /// A lock that one node waits for.
    private struct Share {
        /// How many holders must let go.
        let needed: Int
        /// How many must stay for the lock not to come free.
        let limit: Int
    }

    private var nodes: [Node] = []
    private var known: [WaitEvent.Key: Int] = [:]
    private var shares: [Share] = []
    private let targets: Set<WaitEvent.Key>
    private let isInLine: Bool
    private let facts: PlainFacts
    private let isAmongQueued: Bool
    private let ending: Set<ObjectIdentifier>
    /// By the nodes: whether it stays away because of the targets; empty if the beginning does not.
    private var staysAway: [Bool] = []

    /// - Parameters:
    ///   - isInLine: whether who asks for a lock waits for those who asked before him as well.
    ///   - isAmongQueued: whether operations that are in no queue yet are taken to wait for nothing.
    ///   - ending: operations that wait for nothing any more.
    ///   - facts: what is known of plain operations.
    /// - Complexity: O(what can be reached).
    init(
        from needs: WaitEvent.Needs, to targets: [WaitEvent], isInLine: Bool = true, isAmongQueued: Bool = false,
        without ending: Set<ObjectIdentifier> = [], knowing facts: PlainFacts = PlainFacts()
    ) {
        self.ending = ending
        self.facts = facts
        self.isAmongQueued = isAmongQueued
        self.targets = Set(targets.map(\.key))
        self.isInLine = isInLine
        nodes.append(Node(event: nil, isTarget: false))
        explore(from: needs)
        staysAway = propagateAbsence()
        guard !staysAway[0] else { return }
        let comes = propagate(targetsCome: false)
        staysAway = !comes[0] && propagate(targetsCome: true)[0] ? comes.map { !$0 } : []
    }

    /// Whether something that is needed, directly or not, is one of `targets`: they need not be what keeps it away.
    ///
    /// - Parameter limit: nil is the answer when it is not found among the first so many.
    /// - Complexity: O(what can be reached).
    static func leads(from events: [WaitEvent], to targets: [WaitEvent], lookingAt limit: Int) -> Bool? {
        let targets = Set(targets.map(\.key))
        var answer: Bool? = false
        walk(from: events) { event, count in
            if targets.contains(event.key) { answer = true } else if count > limit { answer = nil }
            return answer == false
        }
        return answer
    }

    /// Everything that is needed, directly or not, and `events` themselves.
    ///
    /// - Complexity: O(what can be reached).
    static func reached(from events: [WaitEvent]) -> Set<WaitEvent.Key> {
        walk(from: events) { _, _ in true }
    }

    /// Comes to everything once; until `goesOn`, which is told how many there were before it, and with it, says otherwise.
    @discardableResult
    private static func walk(from events: [WaitEvent], while goesOn: (WaitEvent, Int) -> Bool) -> Set<WaitEvent.Key> {
        var seen: Set<WaitEvent.Key> = []
        let facts = PlainFacts()
        var pending = events
        while let event = pending.popLast() {
            guard seen.insert(event.key).inserted else { continue }
            guard goesOn(event, seen.count) else { break }
            let needs = event.needs(inLine: true, knowing: facts)
            pending += needs.all.map(\.event)
            for share in needs.shares { pending += share.holders.map(\.event) }
        }
        return seen
    }

    private mutating func explore(from first: WaitEvent.Needs) {
        var next = 0
        while next < nodes.count {
            let node = nodes[next]
            let needs = node.event.map { node.isTarget ? WaitEvent.Needs() : self.needs(of: $0) } ?? first
            for need in needs.all { link(next, need, share: nil) }
            for share in needs.shares where share.holders.count >= share.limit {
                shares.append(Share(needed: share.holders.count - share.limit + 1, limit: share.limit))
                for need in share.holders { link(next, need, share: shares.count - 1) }
            }
            next += 1
        }
    }

    private func needs(of event: WaitEvent) -> WaitEvent.Needs {
        guard !ending.contains(event.key.object) else { return WaitEvent.Needs() }
        return isAmongQueued && event.isOfNoQueue ? WaitEvent.Needs() : event.needs(inLine: isInLine, knowing: facts)
    }

    private mutating func link(_ node: Int, _ need: WaitEvent.Need, share: Int?) {
        let key = need.event.key
        let target = known[key] ?? nodes.count
        if target == nodes.count {
            nodes.append(Node(event: need.event, isTarget: targets.contains(key)))
            known[key] = target
        }
        nodes[node].needs.append((target, need, share))
        nodes[target].dependents.append((node, share))
    }

    /// Which of the nodes cannot come without the targets.
    private func propagateAbsence() -> [Bool] {
        var staysAway = nodes.map(\.isTarget)
        var open = shares.map(\.limit)
        var pending = nodes.indices.filter { staysAway[$0] }
        while let index = pending.popLast() {
            for (dependent, share) in nodes[index].dependents where !staysAway[dependent] {
                if let share {
                    open[share] -= 1
                    guard open[share] == 0 else { continue }
                }
                staysAway[dependent] = true
                pending.append(dependent)
            }
        }
        return staysAway
    }

    /// Which of the nodes come.
    private func propagate(targetsCome: Bool) -> [Bool] {
        var comes = nodes.map { _ in false }
        var missing = nodes.map { node in
            node.needs.count { $0.share == nil } + Set(node.needs.compactMap(\.share)).count
        }
        var open = shares.map(\.needed)
        var pending = nodes.indices.filter { nodes[$0].isTarget ? targetsCome : missing[$0] == 0 }
        while let index = pending.popLast() {
            guard !comes[index] else { continue }
            comes[index] = true
            for (dependent, share) in nodes[index].dependents {
                if let share {
                    open[share] -= 1
                    guard open[share] == 0 else { continue }
                }
                missing[dependent] -= 1
                if missing[dependent] == 0, !nodes[dependent].isTarget { pending.append(dependent) }
            }
        }
        return comes
    }

    /// Whether what the beginning needs stays away because of the targets.
    func keepsAway(_ event: WaitEvent) -> Bool {
        guard !staysAway.isEmpty, let node = known[event.key] else { return false }
        return staysAway[node]
    }

    /// One way from the beginning to a target; nil if it can come without them, or stays away for another reason.
    var circle: WaitForGraph.Circle? {
        guard staysAway.first == true else { return nil }
        var circle = WaitForGraph.Circle()
        for need in wayToTarget {
            if let (key, holder) = need.lock {
                circle.keys.append(key)
                circle.holders.append(holder)
            }
            if let joiner = need.joiner { circle.joiner = joiner }
            if case .end(let operation) = need.event { circle.operations.append(operation) }
            if case .grant(let request) = need.event { circle.askers.append(request) }
        }
        return circle
    }

    /// Where a way has come to.
    private struct Stop: Hashable {
        let node: Int
        /// Whether it waits for a lock, or somebody who has joined another one, before.
        let isMendable: Bool
    }

    /// The shortest one through what stays away that has a lock in it, or a join; if there is none, the shortest one: nothing can be
    /// done about that.
    private var wayToTarget: [WaitEvent.Need] {
        var cause: [Stop: (stop: Stop, need: WaitEvent.Need)] = [:]
        func way(to last: Stop) -> [WaitEvent.Need] {
            var way: [WaitEvent.Need] = []
            var last = last
            while let (before, need) = cause[last] {
                way.append(need)
                last = before
            }
            return way.reversed()
        }
        let first = Stop(node: 0, isMendable: false)
        var pending = [first]
        var other: Stop?
        var next = 0
        while next < pending.count {
            let stop = pending[next]
            next += 1
            for (node, need, _) in nodes[stop.node].needs where staysAway[node] && node != 0 {
                let step = Stop(node: node, isMendable: stop.isMendable || need.lock != nil || need.joiner != nil)
                guard cause[step] == nil else { continue }
                cause[step] = (stop, need)
                if !nodes[node].isTarget {
                    pending.append(step)
                } else if step.isMendable {
                    return way(to: step)
                } else if other == nil {
                    other = step
                }
            }
        }
        return other.map(way) ?? []
    }
}
