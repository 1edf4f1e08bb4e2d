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
        var comesFree = false

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

    static func end(_ node: Int) -> Int { 2 * node }
    static func start(_ node: Int) -> Int { 2 * node + 1 }

    /// - Complexity: O(nodes × limited groups around one + edges), and that only where something inside of a member waits for what is
    ///   outside of it; beyond that `stepsMax`.
    init(_ graph: Graph, _ layout: GraphLayout) {
        (self.graph, self.layout) = (graph, layout)
        findWaits()
        guard !waits.isEmpty else { return }
        connect()
        var ready = missing.indices.filter { missing[$0] == 0 }
        repeat {
            settle(&ready)
            for group in groups.indices where !groups[group].comesFree && groups[group].held < groups[group].limit { free(group, &ready) }
            guard ready.isEmpty else { continue }
            for group in groups.indices where !groups[group].comesFree && mostHeld(group) < groups[group].limit { free(group, &ready) }
        } while !ready.isEmpty && stepsLeft > 0
    }

    // MARK: What depends on no place

    private mutating func findWaits() {
        for node in graph.nodes.indices {
            // Members of an ordered group run one after another, so that those before have ended. A forEach's wait for the same.
            guard case .group(let kind) = graph.nodes[node].kind, kind.maxConcurrent > 0, !kind.isOrdered else { continue }
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
            group.otherKeyed = group.keyed.count { group.open[$0] == nil }
            for child in layout.children[node] { groupOfMember[Int(child)] = groups.count }
            groups.append(group)
        }
        for (index, wait) in waits.enumerated() { waitsForTarget[wait.target, default: []].append(index) }
    }

    /// Whether a group around the node holds keys while that waits, up to and including the member that it is in.
    private func holdsKey(_ node: Int, inside member: Int) -> Bool {
        guard let plan = layout.locks else { return false }
        var around = node
        repeat {
            around = graph.nodes[around].parent
            if case .group = graph.nodes[around].kind, plan.asks(around) { return true }
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

    private mutating func settle(_ ready: inout [Int]) {
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
        guard left == 0 else { return }
        groups[wait.group].holders -= 1
        groups[wait.group].otherKeyed += groups[wait.group].keyed.contains(wait.own) ? 1 : 0
    }

    private mutating func free(_ group: Int, _ ready: inout [Int]) {
        groups[group].comesFree = true
        for member in layout.children[groups[group].node].map(Int.init) {
            missing[Self.start(member)] -= 1
            if missing[Self.start(member)] == 0 { ready.append(Self.start(member)) }
        }
    }

    // MARK: What has ended before a member begins

    /// The waits in the group that may be part of a circle, each with the members that may wait for places meanwhile.
    mutating func circles(in group: Int) -> [(wait: Wait, blocked: [Int])] {
        var done: [Int: Set<Int>] = [:]
        return openWaits(in: group, &done)
    }

    private mutating func openWaits(in group: Int, _ done: inout [Int: Set<Int>]) -> [(wait: Wait, blocked: [Int])] {
        var found: [(wait: Wait, blocked: [Int])] = []
        for wait in waits where wait.group == group && missing[Self.end(wait.target)] > 0 {
            if done[wait.own] == nil { done[wait.own] = before(wait.own) }
            let blocked = blocked(from: wait.target, but: done[wait.own] ?? [])
            if !blocked.isEmpty { found.append((wait, blocked)) }
        }
        return found
    }

    /// How many places of the group may be held at the same time for as long as something is waited for, or more.
    mutating func mostHeld(_ group: Int) -> Int {
        var done: [Int: Set<Int>] = [:]
        let open = openWaits(in: group, &done)
        guard stepsLeft > 0 else { return .max }
        var members = Set(open.map(\.wait.own))
        if open.contains(where: \.wait.holdsKey) { members.formUnion(groups[group].keyed) }
        return mostAtOnce(members, &done)
    }

    /// How many of these members may run at the same time, or more: into so many lines they can be put in which each begins when the
    /// one before has ended.
    ///
    /// - Parameter done: what has come about when a member begins, by members that were asked for.
    mutating func mostAtOnce(_ members: Set<Int>, _ done: inout [Int: Set<Int>]) -> Int {
        var earlier: [(count: Int, member: Int)] = []
        for member in members.sorted() {
            let before = done[member] ?? before(member)
            done[member] = before
            earlier.append((before.isEmpty ? 0 : members.count { before.contains(Self.end($0)) }, member))
        }
        var lasts: [Int] = []
        for (count, member) in earlier.sorted(by: <) {
            if count > 0, let line = lasts.firstIndex(where: { done[member]?.contains(Self.end($0)) == true }) {
                lasts[line] = member
            } else {
                lasts.append(member)
            }
        }
        return lasts.count
    }

    /// All that has come about when the node begins, because it waits for it.
    mutating func before(_ node: Int) -> Set<Int> {
        var found: Set<Int> = []
        var open = needs(of: Self.start(node))
        while let vertex = open.popLast(), stepsLeft > 0 {
            stepsLeft -= 1
            if found.insert(vertex).inserted { open += needs(of: vertex) }
        }
        return found
    }

    /// Members that wait for a place which may not come free, and for which the end of the node waits, directly or not.
    private mutating func blocked(from node: Int, but done: Set<Int>) -> [Int] {
        var found: [Int] = []
        var seen: Set<Int> = []
        var open = [Self.end(node)]
        while let vertex = open.popLast(), stepsLeft > 0 {
            stepsLeft -= 1
            guard missing[vertex] > 0, !done.contains(vertex), seen.insert(vertex).inserted else { continue }
            if vertex == Self.start(vertex / 2), let group = groupOfMember[vertex / 2], !groups[group].comesFree {
                found.append(vertex / 2)
            }
            open += needs(of: vertex)
        }
        return found.sorted()
    }

    /// The group around the member, by its index in `groups`.
    func group(ofMember member: Int) -> Int? { groupOfMember[member] }
}
