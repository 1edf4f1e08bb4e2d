/// What can be computed from a graph once: children, dependents, and how nodes become units.
///
/// A **template** is a set of nodes that come into being together: the root's, one for the body of each forEach, and one for
/// each addition to a group that has begun.
/// An instance of a template is a run of consecutive units, in template order, so that the unit of a node is the
/// instance's base plus the node's offset, and no unit needs lists of its own.
struct GraphLayout: Sendable {
    var graph: Graph
    /// Nodes of each template, in unit order. Template 0 holds the root.
    var templates: [[Int32]]
    /// The forEach whose body a template is, or the group that it was added to; -1 for template 0.
    var ownerOfTemplate: [Int32]
    /// By node: its template, and its place in it.
    var template: [Int32]
    var offset: [Int32]
    /// By node: how many units of its template its subtree takes, itself included (a nested forEach counts without body).
    var subtreeUnits: [Int32]
    /// By node: how many nodes stand in it in pre-order, itself and all bodies included.
    var subtreeNodes: [Int32]
    /// By node: position among its siblings, or among those that were added with it.
    var position: [Int32]
    /// Without deciders, and without what is done before conditions are evaluated.
    var children: Adjacency
    /// By node with conditions: their dependent operations, in the order of the conditions. Looked up, never iterated; empty
    /// for most graphs.
    var preparations: [Int32: [Int32]]
    /// By group: who decides for it. Looked up, never iterated; empty for most graphs.
    var deciders: [Int32: Int32]
    /// By node: the distinct nodes it waits for, the previous member of an ordered group included.
    var dependencies: Adjacency
    /// By node: the nodes that wait for it.
    var dependents: Adjacency
    /// By template: units of one instance, those of forEachs inside it included whose lists are written in the graph.
    /// `Int.max` when there are more than can be counted.
    var expandedUnits: [Int]
    /// nil: no node names a key.
    var locks: LockPlan?
    /// nil: no node asks for what they hold.
    var policies: NodePolicies?
    /// nil: no node requires anything of its worker.
    var requirements: RequirementPlan?
    /// nil: no node receives what another one sends while it runs.
    var streams: StreamPlan?
    /// nil: no node is tried again with the end of its net.
    var scopes: ScopePlan?
    /// Whether any node has a unique id.
    var hasUnique: Bool
    /// Whether it has what operations say of themselves in their initializers (`NodeOptions.isDescribed`).
    let isDescribed: Bool

    /// - Precondition: `graph` has passed `Graph.faults(limits:)`, or `Graph.checkStructure()` where it comes from the journal.
    /// - Complexity: O(nodes + edges).
    init(_ graph: Graph) {
        self.graph = graph
        let count = graph.nodes.count
        var childLists = Adjacency.Builder(count: count)
        var position = [Int32](repeating: 0, count: count)
        var childCount = [Int32](repeating: 0, count: count)
        var deciders: [Int32: Int32] = [:]
        var preparations: [Int32: [Int32]] = [:]
        for node in 1..<max(count, 1) {
            let parent = graph.nodes[node].parent
            guard !graph.nodes[node].isDecider else {
                deciders[Int32(parent)] = Int32(node)
                continue
            }
            guard !graph.nodes[node].isPreparation else {
                position[node] = Int32(preparations[Int32(parent)]?.count ?? 0)
                preparations[Int32(parent), default: []].append(Int32(node))
                continue
            }
            position[node] = childCount[parent]
            childCount[parent] += 1
            childLists.add(from: parent, to: node)
        }
        let children = childLists.build()

        var template = [Int32](repeating: 0, count: count)
        var offset = [Int32](repeating: 0, count: count)
        var templates: [[Int32]] = [[]]
        var ownerOfTemplate: [Int32] = [-1]
        for node in 0..<count {
            let parent = graph.nodes[node].parent
            if node == 0 {
                template[node] = 0
            } else if case .forEach = graph.nodes[parent].kind {
                template[node] = Int32(templates.count)
                templates.append([])
                ownerOfTemplate.append(Int32(parent))
            } else {
                template[node] = template[parent]
            }
            let own = Int(template[node])
            offset[node] = Int32(templates[own].count)
            templates[own].append(Int32(node))
        }
        var subtreeUnits = [Int32](repeating: 1, count: count)
        var subtreeNodes = subtreeUnits
        for node in stride(from: count - 1, to: 0, by: -1) {
            let parent = graph.nodes[node].parent
            subtreeNodes[parent] += subtreeNodes[node]
            if template[node] == template[parent] { subtreeUnits[parent] += subtreeUnits[node] }
        }

        var waits = Adjacency.Builder(count: count)
        var waited = Adjacency.Builder(count: count)
        var previous = [Int32](repeating: -1, count: count)
        for node in 0..<count {
            if case .group(let group) = graph.nodes[node].kind, group.isOrdered {
                for (left, right) in zip(children[node], children[node].dropFirst()) { previous[Int(right)] = left }
            }
        }
        for node in 0..<count {
            for dependency in Self.dependencies(of: graph.nodes[node], previous: previous[node]) {
                waits.add(from: node, to: dependency)
                waited.add(from: dependency, to: node)
            }
        }
        self.children = children
        self.deciders = deciders
        self.preparations = preparations
        self.position = position
        self.template = template
        self.offset = offset
        self.templates = templates
        self.ownerOfTemplate = ownerOfTemplate
        self.subtreeUnits = subtreeUnits
        self.subtreeNodes = subtreeNodes
        dependencies = waits.build()
        dependents = waited.build()
        locks = LockPlan(graph)
        policies = NodePolicies(graph)
        requirements = RequirementPlan(graph)
        streams = StreamPlan(graph)
        hasUnique = graph.nodes.contains { $0.unique != nil }
        expandedUnits = Self.expandedUnits(graph, templates, ownerOfTemplate, template)
        isDescribed = graph.nodes.first?.options.isDescribed ?? false
        scopes = ScopePlan(graph, self)
    }

    private static func expandedUnits(
        _ graph: Graph, _ templates: [[Int32]], _ ownerOfTemplate: [Int32], _ template: [Int32]
    ) -> [Int] {
        var units = templates.map(\.count)
        // A template's number is larger than that of the one around it.
        for inner in stride(from: templates.count - 1, to: 0, by: -1) {
            let forEach = Int(ownerOfTemplate[inner])
            guard case .forEach(let kind) = graph.nodes[forEach].kind, let elements = kind.elements else { continue }
            let outer = Int(template[forEach])
            let (product, overflows) = units[inner].multipliedReportingOverflow(by: elements.count)
            let (sum, overflowsToo) = units[outer].addingReportingOverflow(overflows ? 0 : product)
            units[outer] = overflows || overflowsToo || units[outer] == .max ? .max : sum
        }
        return units
    }

    /// The distinct nodes that `node` waits for, in declared order.
    static func dependencies(of node: Node, previous: Int32) -> [Int] {
        let declared = node.receives + node.after + (node.streamProducer.map { [$0] } ?? []) + (previous >= 0 ? [Int(previous)] : [])
        guard declared.count > 1 else { return declared }
        var seen = Set<Int>(minimumCapacity: declared.count)
        return declared.filter { seen.insert($0).inserted }
    }

    /// The template that `template`'s owner belongs to; -1 above the root's.
    func outerTemplate(_ template: Int) -> Int {
        let owner = ownerOfTemplate[template]
        return owner < 0 ? -1 : Int(self.template[Int(owner)])
    }

    /// The node and everything inside of it, as it was written.
    func subtree(of node: Int) -> Range<Int> { node..<(node + Int(subtreeNodes[node])) }
}
