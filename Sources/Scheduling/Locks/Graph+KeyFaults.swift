/// What makes the keys of a graph inadmissible.
extension Graph {
    /// Faults of the keys as they are written.
    func malformedKeys(limits: GraphLimits, depth: [Int]) -> [AdmissionError] {
        var faults: [AdmissionError] = []
        var places = 0
        for (index, node) in nodes.enumerated() where !node.exclusive.isEmpty {
            func bad(_ message: String) { faults.append(AdmissionError(node: index, path: path(of: index), message: message)) }
            if case .forEach = node.kind { bad("a forEach holds no lock itself; name the key on its body") }
            if node.exclusive.count > limits.keysPerNodeMax {
                bad("names \(node.exclusive.count) keys, more than the limit of \(limits.keysPerNodeMax)")
            }
            for exclusion in node.exclusive {
                let size = exclusion.key.utf8.count
                if size == 0 { bad("the key of a lock is empty; give it a name") }
                if size > limits.keyBytesMax { bad("a key has \(size) bytes, more than the limit of \(limits.keyBytesMax)") }
                if exclusion.key.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
                    bad("a key contains a control character; use another one")
                }
                if exclusion.limit < 1 { bad("the limit of the key `\(exclusion.key)` is \(exclusion.limit); it must be at least 1") }
            }
            places += node.exclusive.count * depth[index]
        }
        if faults.isEmpty, places > limits.keyPlacesMax {
            return [
                AdmissionError(
                    node: 0, path: "",
                    message:
                        "its nodes name keys too often and too deep: \(places) entries in the groups around them, more than the limit of "
                        + "\(limits.keyPlacesMax); split it into several submissions")
            ]
        }
        return faults
    }

    /// Faults of the keys in a graph that is sound otherwise.
    func keyFaults(_ layout: GraphLayout) -> [AdmissionError] {
        guard let plan = layout.locks else { return [] }
        return collidingKeys(plan) + waitsWhileHolding(layout, plan)
    }

    private func collidingKeys(_ plan: LockPlan) -> [AdmissionError] {
        var faults: [AdmissionError] = []
        for (index, node) in nodes.enumerated() where plan.isUnderKey(index) {
            guard case .operation = node.kind else { continue }
            var named: [String: String] = [:]
            for key in keys(above: index) {
                let name = Exclusion.environmentName(of: key)
                guard let other = named.updateValue(key, forKey: name) else { continue }
                faults.append(
                    AdmissionError(
                        node: index, path: path(of: index),
                        message: "runs under the keys `\(other)` and `\(key)`, whose tokens would both be called \(name)"
                            + "; give one of them another name"))
            }
        }
        return faults
    }

    /// While a group holds keys nothing inside of it may wait for something outside of it that needs a key: the holder of
    /// that key might in turn wait for the group, if not in this submission then in another. So might whoever has the unique
    /// id of something that would join it.
    private func waitsWhileHolding(_ layout: GraphLayout, _ plan: LockPlan) -> [AdmissionError] {
        guard nodes.indices.contains(where: { isHolder($0, plan) && $0 != 0 }) else { return [] }
        let needs = KeyNeeds(self, layout, plan)
        var faults: [AdmissionError] = []
        for index in nodes.indices {
            for dependency in layout.dependencies[index] {
                let target = Int(dependency)
                let around = needs.nearestCommon(index, target)
                var current = index == 0 ? 0 : nodes[index].parent
                while current != around, !isHolder(current, plan) { current = nodes[current].parent }
                guard current != around, let key = needs.key(neededBy: target, below: around) else { continue }
                let holder = path(of: current)
                let need = key == KeyNeeds.joins ? "may join another operation (`onDuplicate`)" : "needs the key `\(plan.keys[Int(key)])`"
                faults.append(
                    AdmissionError(
                        node: index, path: path(of: index),
                        message: "waits for `\(path(of: target))`, which \(need) and is not in `\(holder)`"
                            + ", while `\(holder)` holds keys; let `\(holder)` itself wait (`after`), or take the other into it"))
            }
        }
        return faults
    }

    private func isHolder(_ node: Int, _ plan: LockPlan) -> Bool {
        guard case .group = nodes[node].kind else { return false }
        return plan.asks(node)
    }
}

/// Which nodes cannot end, or begin, without somebody taking a lock.
private struct KeyNeeds {
    private let graph: Graph
    private let depth: [Int32]
    /// By vertex, two for each node, its end and its start: a key that has to be taken before; -1: none.
    private var keys: [Int32]
    /// Stands for a key: it may have to wait for whoever has the same unique id, and for what that needs.
    static let joins = Int32.max

    private static func end(_ node: Int) -> Int { 2 * node }
    private static func start(_ node: Int) -> Int { 2 * node + 1 }

    /// - Complexity: O(nodes + edges × depth).
    init(_ graph: Graph, _ layout: GraphLayout, _ plan: LockPlan) {
        self.graph = graph
        var depth = [Int32](repeating: 0, count: graph.nodes.count)
        for node in graph.nodes.indices.dropFirst() { depth[node] = depth[graph.nodes[node].parent] + 1 }
        self.depth = depth
        keys = Array(repeating: -1, count: 2 * graph.nodes.count)
        var waiting = Adjacency.Builder(count: 2 * graph.nodes.count)
        for node in graph.nodes.indices {
            waiting.add(from: Self.start(node), to: Self.end(node))
            if node > 0 { waiting.add(from: Self.end(node), to: Self.end(graph.nodes[node].parent)) }
            for dependency in layout.dependencies[node] {
                let target = Int(dependency)
                for vertex in vertices(neededBy: target, below: nearestCommon(node, target)) {
                    waiting.add(from: vertex, to: Self.start(node))
                }
            }
        }
        let waiters = waiting.build()
        var open: [Int] = []
        for node in graph.nodes.indices {
            let joins = graph.nodes[node].unique?.joins ?? false && plan.scope(of: node) == nil
            guard let key = plan.terms(of: node).first?.key ?? (joins ? Self.joins : nil) else { continue }
            keys[Self.start(node)] = key
            open.append(Self.start(node))
        }
        while let vertex = open.popLast() {
            for waiter in waiters[vertex] where keys[Int(waiter)] < 0 {
                keys[Int(waiter)] = keys[vertex]
                open.append(Int(waiter))
            }
        }
    }

    /// A key that has to be taken before `node` can end, once the node `around`, which holds it, has begun.
    func key(neededBy node: Int, below around: Int) -> Int32? {
        vertices(neededBy: node, below: around).lazy.map { keys[$0] }.first { $0 >= 0 }
    }

    /// The innermost node that both are in.
    func nearestCommon(_ first: Int, _ second: Int) -> Int {
        var (first, second) = (first, second)
        while first != second {
            if depth[first] >= depth[second] { first = graph.nodes[first].parent } else { second = graph.nodes[second].parent }
        }
        return first
    }

    /// The end of `node`, and the starts of those around it; in a group with few places every member may be in the way.
    private func vertices(neededBy node: Int, below around: Int) -> [Int] {
        var vertices = [Self.end(node)]
        var current = graph.nodes[node].parent
        while current != around {
            vertices.append(hasLimit(current) ? Self.end(current) : Self.start(current))
            current = graph.nodes[current].parent
        }
        return vertices
    }

    private func hasLimit(_ node: Int) -> Bool {
        switch graph.nodes[node].kind {
        case .group(let group): group.maxConcurrent > 0
        case .forEach(let forEach): forEach.maxConcurrent > 0
        case .operation, .decider: false
        }
    }
}
