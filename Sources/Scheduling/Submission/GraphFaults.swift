/// What a graph may not exceed.
public struct GraphLimits: Hashable, Sendable {
    /// The root is one of them.
    public var nodesMax: Int
    public var depthMax: Int
    public var elementsMax: Int
    /// Units of one submission, everything its forEachs make included.
    public var unitsMax: Int
    /// Keys that one node names.
    public var keysPerNodeMax = 64
    public var keyBytesMax = 256
    /// Keys that nodes name, each counted once for every group around the node.
    public var keyPlacesMax = 20_000_000

    public init(nodesMax: Int = 1_000_001, depthMax: Int = 1_000, elementsMax: Int = 1_000_000, unitsMax: Int = 5_000_000) {
        self.unitsMax = unitsMax
        self.nodesMax = nodesMax
        self.depthMax = depthMax
        self.elementsMax = elementsMax
    }

    /// Of what was admitted once, whatever the limits were then.
    static let none: GraphLimits = {
        var limits = GraphLimits(nodesMax: .max, depthMax: .max, elementsMax: .max, unitsMax: .max)
        limits.keysPerNodeMax = .max
        limits.keyBytesMax = .max
        limits.keyPlacesMax = .max
        return limits
    }()
}

extension Graph {
    /// Everything that makes the graph inadmissible, whatever workers there are; empty: none.
    ///
    /// When the node list itself is malformed only that is reported, because nothing else can be said about it.
    /// - Complexity: O(nodes + edges).
    public func faults(limits: GraphLimits = GraphLimits()) -> [AdmissionError] { judged(by: limits).faults }

    /// The same, and how much of the graph can be relied upon all the same.
    func judged(by limits: GraphLimits) -> Judgement {
        let structure = structuralFaults(limits)
        guard structure.isEmpty else { return Judgement(structure, .malformed) }
        let layout = GraphLayout(self)
        guard layout.expandedUnits[0] <= limits.unitsMax else {
            let fault = fault(
                0, "the lists of its forEachs make more than the limit of \(limits.unitsMax) units; split it into several submissions")
            return Judgement([fault], .malformed)
        }
        let faults = idFaults(layout) + deciderFaults() + preparationFaults(layout) + referenceFaults(layout)
        // What they say of a node holds for no other one: the rest is judged as well.
        let options = optionFaults()
        guard faults.isEmpty else { return Judgement(faults + options, .faulty) }
        let cycles = cycleFaults(layout)
        guard cycles.isEmpty else { return Judgement(options + cycles, .connected) }
        let others = placeFaults(layout) + keyFaults(layout) + scopeFaults(layout) + retriedUniquenessFaults(layout)
        return Judgement(options + others, .connected, layout)
    }

    struct Judgement: Sendable {
        let faults: [AdmissionError]
        let soundness: Soundness
        /// nil: it is not to be relied upon.
        let layout: GraphLayout?

        init(_ faults: [AdmissionError], _ soundness: Soundness, _ layout: GraphLayout? = nil) {
            self.faults = faults
            self.soundness = soundness
            self.layout = layout
        }
    }

    enum Soundness {
        /// Nodes have no paths.
        case malformed
        /// Nodes have paths, but may name others that are not there.
        case faulty
        /// All edges are between nodes that may have them.
        case connected
    }

    /// The node's path without the submission's id; a forEach's body is called `*`. The root's is empty.
    public func path(of node: Int) -> String {
        var components: [String] = []
        var current = node
        while current != 0 {
            let id = nodes[current].id
            components.append(id.isEmpty ? "*" : id)
            current = nodes[current].parent
        }
        return components.reversed().joined(separator: "/")
    }

    func fault(_ node: Int, _ message: String) -> AdmissionError {
        AdmissionError(node: node, path: path(of: node), message: message)
    }

    /// Not all that admission asks, so that what an earlier release has admitted can be read: only what a submission cannot do without.
    ///
    /// - Throws: `DecodingFailure`: nothing that was ever admitted looks like this.
    /// - Complexity: O(nodes + edges).
    func checkStructure() throws(DecodingFailure) {
        if let fault = structuralFaults(.none).first { throw DecodingFailure("a graph that cannot be: \(fault.message)") }
        for (index, node) in nodes.enumerated() {
            let ofOptions = node.hasOptions ? problem(withReferencesOf: node, isRoot: index == 0) : nil
            if let problem = problem(withTimesOf: node) ?? ofOptions {
                throw DecodingFailure("a graph that cannot be: node \(index) \(problem)")
            }
        }
        if let (node, target) = hiddenReference {
            throw DecodingFailure("a graph that cannot be: node \(node) waits for node \(target) inside of a forEach")
        }
    }

    private func problem(withTimesOf node: Node) -> String? {
        let hosted = node.hasOptions ? node.options.hostedTimeoutMilliseconds : 0
        let longest = max(node.timeoutMilliseconds, node.graceMilliseconds ?? 0, hosted)
        return longest > Self.millisecondsMax ? "has a duration of \(longest) ms" : nil
    }

    private func problem(withReferencesOf node: Node, isRoot: Bool) -> String? {
        if let producer = node.options.stream, !(1..<nodes.count).contains(producer) {
            return "receives the elements of node \(producer), which is none"
        }
        return problems(withOptionsOf: node, isRoot: isRoot).first
    }

    /// What is waited for from outside of the forEach whose body has it.
    private var hiddenReference: (node: Int, target: Int)? {
        var bodies = [Int](repeating: 0, count: nodes.count)
        var ends = Array(1...nodes.count)
        for index in nodes.indices.dropFirst() {
            let parent = nodes[index].parent
            if case .forEach = nodes[parent].kind { bodies[index] = index } else { bodies[index] = bodies[parent] }
        }
        for index in nodes.indices.dropFirst().reversed() {
            let parent = nodes[index].parent
            ends[parent] = max(ends[parent], ends[index])
        }
        for (index, node) in nodes.enumerated() {
            for target in GraphLayout.dependencies(of: node, previous: -1) {
                let body = bodies[target]
                if !(body..<ends[body]).contains(index) { return (index, target) }
            }
        }
        return nil
    }

    private func structuralFaults(_ limits: GraphLimits) -> [AdmissionError] {
        func bad(_ node: Int, _ message: String) -> [AdmissionError] { [AdmissionError(node: node, path: "", message: message)] }
        guard let root = nodes.first else { return bad(0, "the graph is empty; it needs a root group") }
        guard nodes.count <= limits.nodesMax else {
            return bad(
                0,
                "the graph has \(nodes.count) nodes, more than the limit of \(limits.nodesMax) with its root; split it into several submissions"
            )
        }
        guard case .group = root.kind, root.parent == 0 else { return bad(0, "node 0 must be the root group") }
        guard root.receives.isEmpty, root.after.isEmpty else { return bad(0, "the root group cannot wait for anything") }
        var depth = [Int](repeating: 0, count: nodes.count)
        var lastAtDepth = [0]
        var bodies = [Int](repeating: 0, count: nodes.count)
        for index in 1..<max(nodes.count, 1) {
            let node = nodes[index]
            guard (0..<index).contains(node.parent) else {
                return bad(index, "node \(index): its parent \(node.parent) does not stand before it")
            }
            depth[index] = depth[node.parent] + 1
            guard depth[index] <= limits.depthMax else {
                return bad(index, "node \(index) is nested \(depth[index]) deep, deeper than the limit of \(limits.depthMax)")
            }
            // Pre-order: the parent is the latest node at its depth.
            guard depth[node.parent] < lastAtDepth.count, lastAtDepth[depth[node.parent]] == node.parent else {
                return bad(index, "node \(index): nodes are not in pre-order")
            }
            lastAtDepth.removeSubrange(depth[index]...)
            lastAtDepth.append(index)
            if let problem = problem(withPreparation: node) { return bad(index, "node \(index) \(problem)") }
            switch nodes[node.parent].kind {
            case .operation where node.isPreparation: break
            case .operation: return bad(index, "node \(index): its parent \(node.parent) is an operation")
            case .decider: return bad(index, "node \(index): its parent \(node.parent) is a decider")
            case .forEach where node.isDecider: return bad(index, "node \(index) decides for a forEach; only groups decide")
            case .group: break
            case .forEach: bodies[node.parent] += 1
            }
            let isThere = { (target: Int) in (1..<nodes.count).contains(target) }
            guard node.receives.allSatisfy(isThere), node.after.allSatisfy(isThere) else {
                return bad(index, "node \(index) refers to a node that does not exist")
            }
            guard node.retries >= 0, node.timeoutMilliseconds >= 0, (node.graceMilliseconds ?? 0) >= 0 else {
                return bad(index, "node \(index) has a negative retry count or duration")
            }
            if case .operation(let operation) = node.kind, !parameters.indices.contains(operation.parameters) {
                return bad(index, "node \(index) refers to parameters that do not exist")
            }
            if case .decider(let decider) = node.kind, !parameters.indices.contains(decider.parameters) {
                return bad(index, "node \(index) refers to parameters that do not exist")
            }
        }
        for (index, node) in nodes.enumerated() {
            guard case .forEach(let forEach) = node.kind else { continue }
            guard bodies[index] == 1 else { return bad(index, "node \(index): a forEach has exactly one body, this has \(bodies[index])") }
            if let elements = forEach.elements {
                guard node.receives.isEmpty else { return bad(index, "node \(index): a forEach has a list or a producer, not both") }
                guard elements.count <= limits.elementsMax else {
                    return bad(index, "node \(index) has \(elements.count) elements, more than the limit of \(limits.elementsMax)")
                }
            } else if node.receives.count != 1 {
                return bad(index, "node \(index): a forEach without a list has exactly one producer, this has \(node.receives.count)")
            }
        }
        return malformedKeys(limits: limits, depth: depth)
    }

    private func idFaults(_ layout: GraphLayout) -> [AdmissionError] {
        var faults: [AdmissionError] = []
        for (index, node) in nodes.enumerated() where index > 0 {
            if case .forEach = nodes[node.parent].kind { continue }
            if node.id.isEmpty || node.id.utf8.contains(UInt8(ascii: "/")) {
                faults.append(fault(index, "the id `\(node.id)` is empty or contains `/`; give it another one"))
            }
        }
        for index in nodes.indices {
            let preparations = layout.preparations.isEmpty ? [] : layout.preparations[Int32(index)] ?? []
            let count = layout.children.count(index) + preparations.count
            guard count > 1 else { continue }
            var seen = Set<String>(minimumCapacity: count)
            for child in layout.children[index] + preparations
            where !seen.insert(nodes[Int(child)].id).inserted {
                faults.append(fault(Int(child), "duplicate id `\(nodes[Int(child)].id)` among its siblings; ids are unique within a group"))
            }
        }
        return faults
    }

    private func referenceFaults(_ layout: GraphLayout) -> [AdmissionError] {
        var faults: [AdmissionError] = []
        for (index, node) in nodes.enumerated() {
            if let message = faultOfStream(of: index, layout) {
                faults.append(fault(index, message))
                continue
            }
            for target in node.receives + node.after + (node.streamProducer.map { [$0] } ?? []) {
                if let message = faultOfReference(from: index, to: target, layout) { faults.append(fault(index, message)) }
            }
        }
        return faults
    }

    private func faultOfReference(from index: Int, to target: Int, _ layout: GraphLayout) -> String? {
        if isAncestor(target, of: index) || target == index {
            return "waits for `\(path(of: target))`, which contains it; it would wait for ever"
        }
        if isAncestor(index, of: target) {
            return "waits for `\(path(of: target))`, which is inside it; it would wait for ever"
        }
        if !layout.preparations.isEmpty, preparation(around: index) != preparation(around: target) {
            return "waits for `\(path(of: target))`, and one of both is in a dependent operation of a condition"
                + ", which neither waits for others nor is waited for; let the operation with the condition wait"
        }
        var template = Int(layout.template[index])
        while template >= 0, template != Int(layout.template[target]) { template = layout.outerTemplate(template) }
        if template < 0 {
            return "waits for `\(path(of: target))`, which is made once per element of a forEach; refer to the forEach itself"
        }
        if let group = retriedGroup(around: target, butNot: index, layout) {
            let name = path(of: group)
            return "waits for `\(path(of: target))` inside `\(name)`, which may begin anew (retry); refer to `\(name)` itself"
        }
        return nil
    }

    private func isAncestor(_ candidate: Int, of node: Int) -> Bool {
        var current = node
        while current != 0 {
            current = nodes[current].parent
            if current == candidate { return true }
        }
        return false
    }

    /// The innermost group that may begin anew and holds `target` but not `other`.
    private func retriedGroup(around target: Int, butNot other: Int, _ layout: GraphLayout) -> Int? {
        var current = nodes[target].parent
        while current != 0 {
            if isAncestor(current, of: other) { return nil }
            if nodes[current].mayBeginAnew(isAtMostOnce: layout.policies?.atMostOnce[current] ?? false) { return current }
            current = nodes[current].parent
        }
        return nil
    }

    /// Every node has a start and an end; a start waits for its parent's start and for its dependencies' ends, a group's
    /// end for its children's ends. A circle in that graph can never run.
    private func cycleFaults(_ layout: GraphLayout) -> [AdmissionError] {
        hasCircle(layout) ? circle(layout) : []
    }

    /// Whether some start or end waits for itself: those that are left when everything has begun and ended that can.
    private func hasCircle(_ layout: GraphLayout) -> Bool {
        var starts = [Int32](repeating: 1, count: nodes.count)
        var ends = [Int32](repeating: 1, count: nodes.count)
        for node in nodes.indices {
            starts[node] += Int32(layout.dependencies.count(node))
            ends[node] += Int32(layout.children.count(node))
        }
        for (node, list) in layout.preparations { ends[Int(node)] += Int32(list.count) }
        starts[0] = 0
        var begun: [Int32] = [0]
        var ended: [Int32] = []
        var left = 2 * nodes.count
        func begin(_ node: Int32) {
            starts[Int(node)] -= 1
            if starts[Int(node)] == 0 { begun.append(node) }
        }
        func end(_ node: Int32) {
            ends[Int(node)] -= 1
            if ends[Int(node)] == 0 { ended.append(node) }
        }
        while true {
            if let node = begun.popLast() {
                left -= 1
                end(node)
                for child in layout.children[Int(node)] { begin(child) }
                if !layout.preparations.isEmpty { for child in layout.preparations[node] ?? [] { begin(child) } }
                if !layout.deciders.isEmpty, let decider = layout.deciders[node] { begin(decider) }
            } else if let node = ended.popLast() {
                left -= 1
                // Nothing waits for the end of one who decides.
                if node != 0, !nodes[Int(node)].isDecider { end(Int32(nodes[Int(node)].parent)) }
                for dependent in layout.dependents[Int(node)] { begin(dependent) }
            } else {
                return left > 0
            }
        }
    }

    /// - Precondition: there is one.
    private func circle(_ layout: GraphLayout) -> [AdmissionError] {
        func start(_ node: Int) -> Int { 2 * node }
        func end(_ node: Int) -> Int { 2 * node + 1 }
        func predecessors(_ vertex: Int) -> [Int] {
            let node = vertex / 2
            if vertex.isMultiple(of: 2) {
                return (node == 0 ? [] : [start(nodes[node].parent)]) + layout.dependencies[node].map { end(Int($0)) }
            }
            return [start(node)] + (layout.children[node] + (layout.preparations[Int32(node)] ?? [])).map { end(Int($0)) }
        }
        enum Mark { case new, open, done }
        var marks = [Mark](repeating: .new, count: 2 * nodes.count)
        for origin in marks.indices where marks[origin] == .new {
            var stack: [(vertex: Int, rest: ArraySlice<Int>)] = [(origin, predecessors(origin)[...])]
            marks[origin] = .open
            while let top = stack.last {
                guard let next = top.rest.first else {
                    marks[top.vertex] = .done
                    stack.removeLast()
                    continue
                }
                stack[stack.count - 1].rest = top.rest.dropFirst()
                switch marks[next] {
                case .done: break
                case .new:
                    marks[next] = .open
                    stack.append((next, predecessors(next)[...]))
                case .open:
                    let from = stack.lastIndex { $0.vertex == next } ?? 0
                    var names: [String] = []
                    for vertex in stack[from...].map(\.vertex).reversed() where vertex / 2 != 0 {
                        let name = path(of: vertex / 2)
                        if names.last != name { names.append(name) }
                    }
                    if let first = names.first, names.last != first || names.count == 1 { names.append(first) }
                    return [fault(next / 2, "cycle: \(names.joined(separator: " → ")); take one of these edges out")]
                }
            }
        }
        return []
    }
}
