/// What the nodes of a graph take before they begin. Computed once per graph; a graph that names no key has none.
///
/// A **holder** takes locks in one step: an operation takes what it names, a group what it and all inside of it name, so
/// that nothing inside of it ever waits for others while the group holds something. Inside of a group that holds a key
/// those who name it take turns. The root and forEachs are no such groups: members of the one and elements of the other
/// take their locks for themselves, unless the root itself names a key.
struct LockPlan: Sendable {
    struct Term: Hashable, Sendable {
        /// Index into `keys`.
        let key: Int32
        let limit: Int32
    }

    /// The graph's keys, each once, in the order in which they are named.
    private(set) var keys: [String]
    /// By key: its place among them.
    private var numbers: [String: Int32]
    /// By node, one array in the manner of `Adjacency`: what it takes.
    private var starts: [Int32]
    private var terms: [Term]
    /// By node: the nearest node around it that holds locks for what is inside of it; -1: none.
    private var scopes: [Int32]
    /// By node: it, or a node around it, names a key.
    private var underKey: [Bool]

    /// nil: the graph names no key.
    /// - Complexity: O(nodes + keys named × depth).
    init?(_ graph: Graph) {
        guard graph.nodes.contains(where: { !$0.exclusive.isEmpty }) else { return nil }
        var numbers: [String: Int32] = [:]
        var keys: [String] = []
        var own: [[Int32: Int32]] = []
        own.reserveCapacity(graph.nodes.count)
        for node in graph.nodes {
            var named: [Int32: Int32] = [:]
            for exclusion in node.exclusive {
                let known = numbers[exclusion.key] ?? Int32(keys.count)
                if Int(known) == keys.count {
                    keys.append(exclusion.key)
                    numbers[exclusion.key] = known
                }
                named[known] = min(Int32(clamping: exclusion.limit), named[known] ?? .max)
            }
            own.append(named)
        }
        // Nodes are in pre-order: what is inside of a node has been added to it before its turn comes.
        var inside = own
        var taken: [[Term]] = Array(repeating: [], count: graph.nodes.count)
        for node in graph.nodes.indices.reversed() {
            let takes: Bool
            switch graph.nodes[node].kind {
            case .operation: takes = true
            case .group: takes = node != 0 || !own[node].isEmpty
            case .forEach, .decider: takes = false
            }
            if takes { taken[node] = inside[node].keys.sorted().map { Term(key: $0, limit: inside[node][$0] ?? 1) } }
            if node > 0 { inside[graph.nodes[node].parent].merge(inside[node], uniquingKeysWith: min) }
            inside[node] = [:]
        }
        var scopes = [Int32](repeating: -1, count: graph.nodes.count)
        var underKey = own.map { !$0.isEmpty }
        for node in graph.nodes.indices.dropFirst() {
            let parent = graph.nodes[node].parent
            scopes[node] = taken[parent].isEmpty ? scopes[parent] : Int32(parent)
            underKey[node] = underKey[node] || underKey[parent]
        }
        var starts: [Int32] = [0]
        for list in taken { starts.append((starts.last ?? 0) + Int32(list.count)) }
        self.keys = keys
        self.numbers = numbers
        self.starts = starts
        self.scopes = scopes
        self.underKey = underKey
        terms = taken.flatMap(\.self)
    }

    /// Of so many nodes that name no key.
    init(nodes: Int) {
        keys = []
        numbers = [:]
        starts = Array(repeating: 0, count: nodes + 1)
        terms = []
        scopes = Array(repeating: -1, count: nodes)
        underKey = Array(repeating: false, count: nodes)
    }

    /// Takes in the nodes from `first` on, which were added to a group that has begun.
    ///
    /// - Parameter own: what they take among themselves, by their places in the addition, whose root stands for the group.
    mutating func grow(by own: LockPlan?, _ graph: Graph, from first: Int) {
        let shift = Int32(first) - 1
        for index in first..<graph.nodes.count {
            let local = index - Int(shift)
            let group = graph.nodes[index].parent
            if let own {
                terms += own.terms(of: local).map { Term(key: number(of: own.keys[Int($0.key)]), limit: $0.limit) }
            }
            starts.append(Int32(terms.count))
            if let scope = own?.scope(of: local) {
                scopes.append(Int32(scope) + shift)
            } else if group < first {
                scopes.append(asks(group) ? Int32(group) : scopes[group])
            } else {
                scopes.append(scopes[group])
            }
            underKey.append(own?.isUnderKey(local) == true || underKey[group])
        }
    }

    private mutating func number(of key: String) -> Int32 {
        if let known = numbers[key] { return known }
        let number = Int32(keys.count)
        keys.append(key)
        numbers[key] = number
        return number
    }

    /// The nearest node around `node` that holds `key` for what is inside of it; nil: the lock is the cluster's. Of what was
    /// added later the nearest holder may hold other keys only.
    func scope(of node: Int, for key: Int32) -> Int? {
        var scope = scope(of: node)
        while let holder = scope, !terms(of: holder).contains(where: { $0.key == key }) { scope = self.scope(of: holder) }
        return scope
    }

    /// What `node` asks for in one step.
    func terms(of node: Int) -> ArraySlice<Term> { terms[Int(starts[node])..<Int(starts[node + 1])] }
    func asks(_ node: Int) -> Bool { starts[node] < starts[node + 1] }
    /// The nearest node around `node` within which its locks are taken in turns; nil: they are the cluster's.
    func scope(of node: Int) -> Int? { scopes[node] < 0 ? nil : Int(scopes[node]) }
    /// Whether attempts of `node` run under a key.
    func isUnderKey(_ node: Int) -> Bool { underKey[node] }
}

extension Graph {
    /// The keys that attempts of `node` run under, sorted: those that it and the nodes around it name.
    func keys(above node: Int) -> [String] {
        var keys = Set<String>()
        var current = node
        while true {
            for exclusion in nodes[current].exclusive { keys.insert(exclusion.key) }
            if current == 0 { return keys.sorted() }
            current = nodes[current].parent
        }
    }
}
