/// The order a graph asks for, as a graph of moments: each node starts and ends.
///
/// An edge says "before": a node starts before it ends; a group starts before its members and ends after them; members of
/// an ordered group follow each other; a node that waits starts after what it waits for has ended. A circle in it means
/// that nothing on it can ever start.
struct CycleSearch {
    private let drafts: [NodeDraft]
    /// Successors of moment m: `targets[offsets[m]..<offsets[m + 1]]`.
    private var offsets: [Int]
    private var targets: [Int]
    /// The strongly connected component of each moment.
    private var component: [Int]

    /// A circle: the nodes in the order they would have to run, and the reference that closes it.
    struct Cycle {
        let nodes: [Int]
        let reference: Reference
        let usesOrder: Bool
    }

    private static func start(_ node: Int) -> Int { 2 * node }
    private static func end(_ node: Int) -> Int { 2 * node + 1 }

    init(_ drafts: [NodeDraft]) {
        self.drafts = drafts
        offsets = [Int](repeating: 0, count: 2 * drafts.count + 1)
        targets = []
        component = []
        Self.edges(of: drafts) { from, _ in offsets[from + 1] += 1 }
        for index in 1..<offsets.count { offsets[index] += offsets[index - 1] }
        var filled = offsets
        var targets = [Int](repeating: 0, count: offsets[offsets.count - 1])
        Self.edges(of: drafts) { from, to in
            targets[filled[from]] = to
            filled[from] += 1
        }
        self.targets = targets
        component = components()
    }

    private static func edges(of drafts: [NodeDraft], _ body: (Int, Int) -> Void) {
        for (node, draft) in drafts.enumerated() {
            body(start(node), end(node))
            if node > 0 {
                body(start(draft.parent), start(node))
                body(end(node), end(draft.parent))
            }
            if let next = draft.nextSibling, drafts[draft.parent].isOrdered { body(end(node), start(next)) }
            for reference in draft.receives + draft.after {
                if let target = reference.target { body(end(target), start(node)) }
            }
        }
    }

    /// One circle of each set of nodes that wait for each other, in the order of the file. O(nodes + edges).
    func cycles() -> [Cycle] {
        var seen: Set<Int> = []
        var cycles: [Cycle] = []
        for (node, draft) in drafts.enumerated() {
            for reference in draft.receives + draft.after {
                guard let target = reference.target else { continue }
                let moment = Self.start(node)
                guard component[moment] == component[Self.end(target)], seen.insert(component[moment]).inserted else { continue }
                cycles.append(cycle(from: node, to: target, closedBy: reference))
            }
        }
        return cycles
    }

    /// The shortest way from a node's start to the end of what it waits for.
    private func cycle(from node: Int, to target: Int, closedBy reference: Reference) -> Cycle {
        let first = Self.start(node)
        let goal = Self.end(target)
        var previous: [Int: Int] = [first: first]
        var queue = [first]
        var head = 0
        while head < queue.count, previous[goal] == nil {
            let moment = queue[head]
            head += 1
            for next in targets[offsets[moment]..<offsets[moment + 1]] where component[next] == component[first] && previous[next] == nil {
                previous[next] = moment
                queue.append(next)
            }
        }
        var moments = [goal]
        while let last = moments.last, last != first, let before = previous[last] { moments.append(before) }
        moments.reverse()
        let usesOrder = zip(moments, moments.dropFirst()).contains { from, to in
            from % 2 == 1 && to % 2 == 0 && drafts[from / 2].nextSibling == to / 2 && drafts[drafts[from / 2].parent].isOrdered
        }
        var nodes: [Int] = []
        for moment in moments where nodes.last != moment / 2 { nodes.append(moment / 2) }
        return Cycle(nodes: nodes + [node], reference: reference, usesOrder: usesOrder)
    }

    /// Tarjan's strongly connected components, with a stack of its own.
    private func components() -> [Int] {
        let count = offsets.count - 1
        var component = [Int](repeating: -1, count: count)
        var number = [Int](repeating: -1, count: count)
        var lowest = number
        var next = offsets
        var path: [Int] = []
        var candidates: [Int] = []
        var counter = 0
        var found = 0
        for root in 0..<count where number[root] < 0 {
            path.append(root)
            while let moment = path.last {
                if number[moment] < 0 {
                    number[moment] = counter
                    lowest[moment] = counter
                    counter += 1
                    candidates.append(moment)
                }
                if next[moment] < offsets[moment + 1] {
                    let successor = targets[next[moment]]
                    next[moment] += 1
                    if number[successor] < 0 {
                        path.append(successor)
                    } else if component[successor] < 0 {
                        lowest[moment] = min(lowest[moment], number[successor])
                    }
                    continue
                }
                path.removeLast()
                if let below = path.last { lowest[below] = min(lowest[below], lowest[moment]) }
                if lowest[moment] == number[moment] {
                    while let member = candidates.popLast() {
                        component[member] = found
                        if member == moment { break }
                    }
                    found += 1
                }
            }
        }
        return component
    }
}

extension GraphReader {
    /// Reports circles of nodes that wait for each other, through groups and their order too.
    mutating func findCycles() {
        findingsBeforeCycles = findings.count
        for cycle in CycleSearch(drafts).cycles() {
            let node = reportedNode(cycle.nodes[0])
            var names: [String] = []
            for name in cycle.nodes.map({ path(of: reportedNode($0)) }) where names.last != name { names.append(name) }
            let order = cycle.usesOrder ? " (members of an `ordered:` group run one after another)" : ""
            report("cycle: \(Self.chain(names))\(order)", at: cycle.reference.position, node: node)
            if let last = cycle.nodes.last { drafts[last].leaveOut(cycle.reference) }
        }
    }

    /// A long circle without its middle.
    private static func chain(_ names: [String]) -> String {
        let shown = names.count <= 12 ? names : names.prefix(6) + ["… (\(names.count - 10) more) …"] + names.suffix(4)
        return shown.joined(separator: " → ")
    }

    /// A forEach's body is the forEach to those who read the file.
    private func reportedNode(_ node: Int) -> Int {
        drafts[drafts[node].parent].isForEach ? drafts[node].parent : node
    }
}
