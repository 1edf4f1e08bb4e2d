/// Whether the places of groups with `maxConcurrent` always come free, whoever has them.
///
/// A member keeps its place while something inside of it waits for what is outside of it. Whether that comes about may depend on places in
/// turn, of the same group or of another one. So the check begins with what depends on no place, and goes on with groups of which fewer
/// members than there are places wait like that for anything that is not shown to come about: one of their places comes free. What is left
/// in the end may wait in a circle.
///
/// A member that has such a place may hold keys; then others that need a key, whichever, may have places for as long: they may stand in
/// its line behind another submission's unit that needs both.
struct PlaceCheck {
    /// Something inside of a member waits for something outside of it.
    struct Wait {
        let node: Int
        let target: Int
        /// The member around it, which holds a place.
        let own: Int
        /// Index into `groups`.
        let group: Int
        let holdsKey: Bool
    }

    struct Group {
        let node: Int
        let limit: Int
        /// By member: how many waits inside of it are not shown to end. Looked up, never iterated.
        var open: [Int: Int] = [:]
        /// How many members have such waits.
        var holders = 0
        /// How many such waits there are in which a key is held.
        var openUnderKey = 0
        /// Members that need a key.
        var keyed: Set<Int> = []
        /// How many of them are no holders.
        var otherKeyed = 0
        /// Its waits: a run in `waits`.
        var waits = 0..<0
        var comesFree = false
        /// It is on the agenda.
        var isListed = false
        /// What was found when it was looked at last: waits that may be part of a circle, each with the members that wait for places
        /// meanwhile, and how many places may be held like that at the same time.
        var circles: [(wait: Wait, blocked: [Int])] = []
        var heldInCircles = 0
        /// Groups of which something waits for a place of this one.
        var awaitedBy: [Int] = []

        /// How many of its places may be held for as long as something is waited for, or more.
        var held: Int { holders + (openUnderKey > 0 ? otherKeyed : 0) }
    }

    /// How many steps the exact part may take; a graph for which that is too few is refused.
    static let stepsMax = 2_000_000

    let graph: Graph
    let layout: GraphLayout
    private(set) var waits: [Wait] = []
    private(set) var groups: [Group] = []
    private(set) var stepsLeft = stepsMax
    /// By vertex, two for each node, its end and its start: how much that it needs is not shown to come about.
    private var missing: [Int32] = []
    private var needing = Adjacency.Builder(count: 0).build()
    /// By target: indices of waits. Looked up, never iterated.
    private var waitsForTarget: [Int: [Int]] = [:]
    /// By member of one of `groups`: its index. Looked up, never iterated.
    private var groupOfMember: [Int: Int] = [:]
    /// By member: what has come about when it begins. Looked up, never iterated.
    private var befores: [Int: Set<Int>] = [:]
    /// Vertices of which nothing is missing any more.
    private var ready: [Int] = []
    /// Groups of which a place comes free, as their waits show.
    private var freeable: [Int] = []
    /// Groups to look at.
    private var agenda: [Int] = []

    static func end(_ node: Int) -> Int { 2 * node }
    static func start(_ node: Int) -> Int { 2 * node + 1 }

    /// - Complexity: O(nodes × limited groups around one + edges), and that only where something inside of a member waits for what is
    ///   outside of it; beyond that `stepsMax`.
    init(_ graph: Graph, _ layout: GraphLayout) {
        (self.graph, self.layout) = (graph, layout)
        findWaits()
        guard !waits.isEmpty else { return }
        connect()
        ready = missing.indices.filter { missing[$0] == 0 }
        for group in groups.indices.reversed() {
            if groups[group].held < groups[group].limit { freeable.append(group) } else { list(group) }
        }
        while true {
            settle()
            if let group = freeable.popLast() {
                free(group)
            } else if stepsLeft > 0, let group = agenda.popLast() {
                groups[group].isListed = false
                if !groups[group].comesFree { look(at: group) }
            } else {
                return
            }
        }
    }

    // MARK: What depends on no place

    private mutating func findWaits() {
        for node in graph.nodes.indices {
            // Members of an ordered group run one after another, so that those before have ended. A forEach's wait for the same.
            guard case .group(let kind) = graph.nodes[node].kind, !kind.isOrdered, hasFewPlaces(node, kind.maxConcurrent) else { continue }
            let inside = layout.subtree(of: node)
            var member = [Int32](repeating: -1, count: inside.count)
            var group = Group(node: node, limit: kind.maxConcurrent)
            for child in layout.children[node] { member[Int(child) - node] = child }
            let first = waits.count
            for inner in inside.dropFirst() {
                if graph.nodes[inner].parent != node { member[inner - node] = member[graph.nodes[inner].parent - node] }
                let own = Int(member[inner - node])
                guard own >= 0 else { continue }
                if graph.nodes[inner].hasOptions, !graph.nodes[inner].options.exclusive.isEmpty { group.keyed.insert(own) }
                guard inner != own else { continue }
                for target in layout.dependencies[inner].map(Int.init) where !layout.subtree(of: own).contains(target) {
                    let wait = Wait(node: inner, target: target, own: own, group: groups.count, holdsKey: holdsKey(inner, inside: own))
                    if group.open[own] == nil { group.holders += 1 }
                    group.open[own, default: 0] += 1
                    group.openUnderKey += wait.holdsKey ? 1 : 0
                    waits.append(wait)
                }
            }
            guard waits.count > first else { continue }
            group.waits = first..<waits.count
            group.otherKeyed = group.keyed.count { group.open[$0] == nil }
            for child in layout.children[node] { groupOfMember[Int(child)] = groups.count }
            groups.append(group)
        }
        for (index, wait) in waits.enumerated() { waitsForTarget[wait.target, default: []].append(index) }
    }

    /// Whether members may have to wait for places.
    private func hasFewPlaces(_ group: Int, _ limit: Int) -> Bool { limit > 0 && layout.children.count(group) > limit }

    /// Whether something around the node holds keys while that waits, up to and including the member that it is in.
    private func holdsKey(_ node: Int, inside member: Int) -> Bool {
        guard let plan = layout.locks else { return false }
        var around = node
        repeat {
            around = graph.nodes[around].parent
            if plan.asks(around) { return true }
        } while around != member
        return false
    }

    private mutating func connect() {
        missing = Array(repeating: 0, count: 2 * graph.nodes.count)
        var needing = Adjacency.Builder(count: 2 * graph.nodes.count)
        for vertex in missing.indices {
            for needed in needs(of: vertex) {
                needing.add(from: needed, to: vertex)
                missing[vertex] += 1
            }
        }
        for member in groupOfMember.keys { missing[Self.start(member)] += 1 }  // its place
        self.needing = needing.build()
    }

    /// What has to come first, but for places.
    private func needs(of vertex: Int) -> [Int] {
        let node = vertex / 2
        if vertex == Self.end(node) {
            return [Self.start(node)] + (layout.children[node] + (layout.preparations[Int32(node)] ?? [])).map { Self.end(Int($0)) }
        }
        return (node > 0 ? [Self.start(graph.nodes[node].parent)] : []) + layout.dependencies[node].map { Self.end(Int($0)) }
    }

    private mutating func settle() {
        while let vertex = ready.popLast() {
            for waiter in needing[vertex] {
                missing[Int(waiter)] -= 1
                if missing[Int(waiter)] == 0 { ready.append(Int(waiter)) }
            }
            guard vertex == Self.end(vertex / 2) else { continue }
            for index in waitsForTarget[vertex / 2] ?? [] { clear(waits[index]) }
        }
    }

    private mutating func clear(_ wait: Wait) {
        let left = (groups[wait.group].open[wait.own] ?? 0) - 1
        groups[wait.group].open[wait.own] = left
        groups[wait.group].openUnderKey -= wait.holdsKey ? 1 : 0
        if left == 0 {
            groups[wait.group].holders -= 1
            groups[wait.group].otherKeyed += groups[wait.group].keyed.contains(wait.own) ? 1 : 0
        }
        if groups[wait.group].held < groups[wait.group].limit { freeable.append(wait.group) } else { list(wait.group) }
    }

    private mutating func list(_ group: Int) {
        guard !groups[group].isListed, !groups[group].comesFree else { return }
        groups[group].isListed = true
        agenda.append(group)
    }

    private mutating func free(_ group: Int) {
        guard !groups[group].comesFree else { return }
        groups[group].comesFree = true
        for member in layout.children[groups[group].node].map(Int.init) {
            missing[Self.start(member)] -= 1
            if missing[Self.start(member)] == 0 { ready.append(Self.start(member)) }
        }
        for other in groups[group].awaitedBy { list(other) }
        groups[group].awaitedBy = []
    }

    // MARK: What has ended before a member begins

    /// Counts how many of its places may be held at the same time for as long as something is waited for, or more.
    private mutating func look(at group: Int) {
        var circles: [(wait: Wait, blocked: [Int])] = []
        var awaited: Set<Int> = []
        for index in groups[group].waits {
            stepsLeft -= 1
            let wait = waits[index]
            guard stepsLeft > 0, missing[Self.end(wait.target)] > 0 else { continue }
            let blocked = blocked(wait)
            guard !blocked.isEmpty else { continue }
            circles.append((wait, blocked))
            awaited.formUnion(blocked.compactMap { groupOfMember[$0] })
        }
        var members = Set(circles.map(\.wait.own))
        if circles.contains(where: \.wait.holdsKey) { members.formUnion(groups[group].keyed) }
        groups[group].circles = circles
        groups[group].heldInCircles = mostAtOnce(members)
        guard stepsLeft > 0 else { return }
        if groups[group].heldInCircles < groups[group].limit { return free(group) }
        for other in awaited.sorted() where other != group { groups[other].awaitedBy.append(group) }
    }

    /// How many of these members may run at the same time, or more: into so many lines they can be put in which each begins when the
    /// one before has ended.
    mutating func mostAtOnce(_ members: Set<Int>) -> Int {
        var earlier: [(count: Int, member: Int)] = []
        for member in members.sorted() {
            let before = before(member)
            stepsLeft -= min(before.count, members.count)
            let count =
                before.count < members.count
                ? before.count { $0 == Self.end($0 / 2) && members.contains($0 / 2) } : members.count { before.contains(Self.end($0)) }
            earlier.append((count, member))
        }
        var lasts: [Int] = []
        for (count, member) in earlier.sorted(by: <) {
            guard stepsLeft > 0 else { return members.count }
            guard count > 0, let before = befores[member] else {
                lasts.append(member)
                continue
            }
            stepsLeft -= lasts.count
            if let line = lasts.firstIndex(where: { before.contains(Self.end($0)) }) {
                lasts[line] = member
            } else {
                lasts.append(member)
            }
        }
        return lasts.count
    }

    mutating func take(steps: Int) { stepsLeft -= steps }

    /// What has come about when the node begins because it waits for it, but for starts of groups around it.
    mutating func before(_ node: Int) -> Set<Int> {
        if let known = befores[node] { return known }
        var found: Set<Int> = []
        var open = layout.dependencies[node].map { Self.end(Int($0)) }
        while let vertex = open.popLast(), stepsLeft > 0 {
            stepsLeft -= 1
            if !isStart(vertex, around: node), found.insert(vertex).inserted { open += needs(of: vertex) }
        }
        befores[node] = found
        return found
    }

    /// Members that wait for a place which may not come free, and for which the wait lasts, directly or not.
    private mutating func blocked(_ wait: Wait) -> [Int] {
        let done = before(wait.own)
        var found: [Int] = []
        var seen: Set<Int> = []
        var open = [Self.end(wait.target)]
        while let vertex = open.popLast(), stepsLeft > 0 {
            stepsLeft -= 1
            guard missing[vertex] > 0, !done.contains(vertex), !isStart(vertex, around: wait.own), seen.insert(vertex).inserted else {
                continue
            }
            if vertex == Self.start(vertex / 2), let group = groupOfMember[vertex / 2], !groups[group].comesFree {
                found.append(vertex / 2)
            }
            open += needs(of: vertex)
        }
        return found.sorted()
    }

    /// Whether it is the start of the node, or of a group around it.
    private func isStart(_ vertex: Int, around node: Int) -> Bool {
        vertex == Self.start(vertex / 2) && layout.subtree(of: vertex / 2).contains(node)
    }

    /// The group around the member, by its index in `groups`.
    func group(ofMember member: Int) -> Int? { groupOfMember[member] }
}
