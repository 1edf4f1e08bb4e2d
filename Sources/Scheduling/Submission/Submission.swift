import DequeModule

/// One admitted graph and its units.
///
/// Its mutating methods are the evolve half for facts about units: everything that follows from a fact (what becomes
/// ready, which groups end, what is stopped) is worked out here, by a work list and without recursion, in the same way
/// in life and in recovery.
struct Submission {
    let number: SubmissionNumber
    let id: String
    let key: String
    let name: String
    let submittedAt: Int64
    /// The process in which its hosted code is; 0: it has none.
    let submitter: Incarnation
    /// It was admitted whether its operations were known or not.
    let waitsForWorkers: Bool
    /// Whose it is; empty: of the coordinator's own user.
    let principal: String
    /// Names of operations, groups and conditions that may be in it; empty: any.
    let operations: [String]
    /// What its executors are told of the trace that it belongs to. Constant.
    var trace: TraceContext
    var layout: GraphLayout
    /// Those of the last start of the coordinator, the same for all submissions; see `Rules`.
    var rules = Rules.first
    /// How much of the graph was submitted; what follows was added while it ran.
    let admitted: Admitted
    var units: [Unit]
    /// Of a forEach that has expanded over a producer's list, by unit.
    var elements: [Int32: ElementList] = [:]
    /// Of groups with a limit: children that could begin but for it, by group.
    var heldChildren: [Int32: Deque<Int32>] = [:]
    /// Index over the units' phases.
    var counts = Counts()
    var hasBegun = false
    /// What somebody has cancelled by itself, not with what it is in, and why; "" where nothing was said. Looked up, never iterated.
    var cancellations: [Int32: String] = [:]
    /// When units that have one and can begin must have ended: wall times, by unit. Looked up, never iterated.
    var deadlines: [Int32: Int64] = [:]
    /// Of units that are tried again: why their last attempt failed. Looked up, never iterated.
    var lastFailures: [Int32: Failure] = [:]
    /// What conditions said last, by unit, in their order. Looked up, never iterated.
    var verdicts: [Int32: [Verdict]] = [:]
    /// Units that a user has paused, with the wall time since when. Looked up, never iterated.
    var pauses: [Int32: Int64] = [:]
    /// How often a unit of it has ended.
    var endCount: Int32 = 0
    var work = Deque<Work>()
    /// By key of the lock plan: its number in the cluster's lock table.
    var keyNumbers: [Int32] = []
    /// From this node on they were added by the fact that is being folded.
    var newNodes: Int?
    /// Units that have asked for locks or hold some, and need them no more. Empty between two facts.
    var releasing: [Int32] = []
    /// Of units that are active and have a unique id: whether they have it. Looked up, never iterated.
    var standings: [Int32: UniqueStanding] = [:]
    /// What groups deliver that have joined another one. Looked up, never iterated.
    var joinedValues: [Int32: Received] = [:]
    /// What units had joined that have ended as it did: for those who look. Looked up, never iterated.
    var joinedUnits: [Int32: UnitID] = [:]
    /// What of it did not run, as another submission had done it. Constant since then.
    var kept: KeptOutcomes?
    /// Units that are to have their ids, and what is to happen to those of units that have ended. Empty between two facts.
    var claiming = Deque<Int32>()
    var freeing = Deque<UniqueRelease>()
    /// What was added to groups that had begun, by group. Looked up, never iterated.
    var growths: [Int32: Growth] = [:]
    /// Of what was added: which unit has produced it. Looked up, never iterated.
    var producers: [Int32: Int32] = [:]
    /// By the units that were added, in their order.
    var origins: [AdditionOrigin] = []
    /// In ordered groups: the member before the first one of an addition. Looked up, never iterated.
    var before: [Int32: Int32] = [:]
    /// What would have been waited for in a circle, by unit. Looked up, never iterated.
    var lockCycles: [Int32: LockCircle] = [:]
    /// Why units were not tried.
    var quarantines: [Int32: String] = [:]
    /// What does not fit about units that were admitted before anybody knew their types.
    var misfits: [Int32: String] = [:]
    /// Of groups that decide: what is due, and what they know. Looked up, never iterated.
    var decisions: [Int32: DecisionLine] = [:]
    /// By groups that stand for one operation that they were given: that. Looked up, never iterated.
    var wrapped: [Int32: Int32] = [:]
    /// Members of ordered groups that ended while one before them had not. Looked up, never iterated.
    var endedEarly: Set<Int32> = []
    /// Operations whose current attempt has begun, as far as others receive what it sends.
    var begunStreams: Set<Int32> = []
    /// What units succeeded with that are `provisional`. Looked up, never iterated.
    var provisional: [Int32: ProvisionalSuccess] = [:]
    /// Ends in which the submitter has a say. Looked up, never iterated.
    var heldEnds: [Int32: HeldEnd] = [:]
    var heldEndCount = 0
    /// Ends of members of retry scopes that count when the tail has decided. Looked up, never iterated.
    var scoped: [Int32: HeldEnd.Ending] = [:]
    /// Units whose delay is over, as they have begun anew with their scope, or wait for a producer that does. Looked up, never iterated.
    var begunAnew: Set<Int32> = []
    /// How units were stopped whose attempts ran, by unit. Looked up, never iterated.
    var histories: [Int32: [HistoryEntry]] = [:]
    /// Attempts of units that others have followed, or that were lost; of many the last ones. Looked up, never iterated.
    var earlierAttempts: [Int32: [EarlierAttempt]] = [:]
    /// Failures of units that were tried again, and that were no attempts of a worker. Looked up, never iterated.
    var earlierFailures: [Int32: EarlierFailures] = [:]
    /// The workers whose processes died under units, each once, the last ones. Looked up, never iterated.
    var deathPlaces: [Int32: [String]] = [:]
    /// Attempts from which nothing is taken any more, because a lock was released under them.
    var fencedAttempts: Set<Attempt> = []
    /// Attempts that were given up and may go on, in that order. Empty when the submission has ended.
    var strays: [Stray] = []
    /// Which lock was released under units, and why. Looked up, never iterated.
    var seizures: [Int32: String] = [:]
    /// The stop that is being carried out asks for no grace.
    var isHurrying = false

    /// One consequence that has still to be drawn.
    enum Work {
        /// One thing that the unit waited for is there.
        case release(Int32)
        /// It is paused no more.
        case enter(Int32)
        /// It may begin as far as its group's limit is concerned.
        case begin(Int32)
        case stop(Int32, Unit.Stop)
        /// All children of the group have ended.
        case close(Int32)
        /// Its producer has ended: its own success counts.
        case accept(Int32)
        /// One of its conditions' dependent operations has ended.
        case prepared(Int32)
        /// Its producer has ended: it need not wait for another attempt of that to begin.
        case resume(Int32)
    }

    init(_ admission: Admission) {
        number = admission.number
        id = admission.id
        key = admission.key
        name = admission.name
        submittedAt = admission.at
        submitter = admission.submitter
        waitsForWorkers = admission.waitsForWorkers
        principal = admission.principal
        operations = admission.operations
        trace = admission.trace
        layout = admission.examined.layout
        admitted = Admitted(nodes: admission.graph.nodes.count, parameters: admission.graph.parameters.count)
        units = []
        appendInstance(of: 0, parent: -1, position: 0)
    }

    struct Admitted {
        let nodes: Int
        let parameters: Int
    }

    var graph: Graph { layout.graph }
    var admittedNodes: Int { admitted.nodes }

    /// The graph as it was submitted.
    var submittedGraph: Graph {
        Graph(
            name: layout.graph.name, nodes: Array(layout.graph.nodes.prefix(admitted.nodes)),
            parameters: Array(layout.graph.parameters.prefix(admitted.parameters)))
    }

    /// Whether this graph was submitted.
    func isMade(of graph: Graph) -> Bool {
        guard graph.nodes.count == admitted.nodes else { return false }
        // A program of an earlier release does not say whether its graph is described.
        var root = graph.nodes[0]
        root.options.isDescribed = layout.graph.nodes[0].options.isDescribed
        return graph.name == layout.graph.name && graph.parameters.count == admitted.parameters
            && root == layout.graph.nodes[0] && graph.nodes.dropFirst().elementsEqual(layout.graph.nodes[1..<admitted.nodes])
            && graph.parameters.elementsEqual(layout.graph.parameters.prefix(admitted.parameters))
    }

    @inline(__always)
    func node(_ unit: Int) -> Node { layout.graph.nodes[Int(units[unit].node)] }
    func id(_ unit: Int) -> UnitID { UnitID(number, unit) }

    /// The outcome of the root: the submission's.
    var outcome: Outcome? { units[0].outcome }

    // MARK: Structure

    /// The unit that `node` is in the instance that `unit` belongs to, or in one around it.
    func unit(ofNode node: Int, seenFrom unit: Int) -> Int {
        var base = Int(units[unit].base)
        while layout.template[Int(units[base].node)] != layout.template[node] {
            base = Int(units[Int(units[base].parent)].base)
        }
        return base + Int(layout.offset[node])
    }

    /// Units of the group's or forEach's children, in child order. Empty for operations.
    func children(of unit: Int) -> ChildUnits {
        if case .forEach = node(unit).kind {
            let size = units[unit].instances == 0 ? 0 : bodyUnits(ofForEach: Int(units[unit].node))
            return ChildUnits(instances: Int(units[unit].firstInstance), count: Int(units[unit].instances), stride: size)
        }
        return ChildUnits(
            nodes: layout.children[Int(units[unit].node)], base: Int(units[unit].base), offsets: layout.offset,
            added: growths.isEmpty ? [] : growths[Int32(unit)]?.children ?? [])
    }

    func bodyUnits(ofForEach node: Int) -> Int {
        let body = Int(layout.children[node].first ?? 0)
        return layout.templates[Int(layout.template[body])].count
    }

    /// Whether so many elements of a forEach can be made without more units than `limit`.
    func hasRoom(for elements: Int, ofForEach unit: Int, limit: Int) -> Bool {
        let body = Int(layout.children[Int(units[unit].node)].first ?? 0)
        let (more, overflows) = layout.expandedUnits[Int(layout.template[body])].multipliedReportingOverflow(by: elements)
        return !overflows && more <= limit - min(units.count, limit)
    }

    /// Appends the units of one instance of a template; their dependency counts are taken against what has ended.
    mutating func appendInstance(of template: Int, parent: Int, position: Int) {
        let base = units.count
        let nodes = layout.templates[template]
        for node in nodes {
            let isRoot = node == 0 || layout.template[graph.nodes[Int(node)].parent] != Int32(template)
            let parentUnit = isRoot ? parent : base + Int(layout.offset[graph.nodes[Int(node)].parent])
            units.append(
                Unit(
                    node: node, parent: Int32(parentUnit), base: Int32(base),
                    position: layout.position[Int(node)] + (isRoot ? Int32(position) : 0)
                ))
            if case .operation = graph.nodes[Int(node)].kind { counts.total += 1 }
        }
        for unit in base..<units.count { resetCounters(unit) }
    }

    /// What a unit that has not begun waits for, counted afresh.
    mutating func resetCounters(_ unit: Int) {
        units[unit].unmet = unmetDependencies(unit)
        let isGroup = if case .group = node(unit).kind { true } else { false }
        units[unit].openChildren = isGroup ? Int32(layout.children.count(Int(units[unit].node))) : 0
    }

    func unmetDependencies(_ unit: Int) -> Int32 {
        var unmet: Int32 = 0
        if units[unit].parent >= 0, !hasCalled(Int(units[unit].parent), unit) { unmet += 1 }
        if duplicate(unit) != nil { unmet += 1 }
        for dependency in layout.dependencies[Int(units[unit].node)]
        where isUnmet(self.unit(ofNode: Int(dependency), seenFrom: unit), of: unit) {
            unmet += 1
        }
        if !before.isEmpty, before[Int32(unit)] != nil, memberBefore(unit) != nil { unmet += 1 }
        return unmet
    }

    /// Path below the submission: ids of the nodes, positions of forEach elements. The root's is empty.
    @inline(__always)
    func path(of unit: Int) -> String { Self.path(of: unit, units, layout.graph.nodes) }

    /// Of those who ask from outside nobody is to copy a submission for it, which is dozens of references.
    private static func path(of unit: Int, _ units: [Unit], _ nodes: [Node]) -> String {
        func component(_ unit: Int) -> String {
            let id = nodes[Int(units[unit].node)].id
            return id.isEmpty ? String(units[unit].position) : id
        }
        let parent = Int(units[unit].parent)
        guard parent >= 0 else { return "" }
        // Mostly it stands in the root.
        guard units[parent].parent >= 0 else { return component(unit) }
        var components: [String] = []
        var current = unit
        while units[current].parent >= 0 {
            components.append(component(current))
            current = Int(units[current].parent)
        }
        return components.reversed().joined(separator: "/")
    }

    /// The unit with this path.
    /// - Complexity: O(path length × siblings).
    func unit(atPath path: String) -> Int? {
        var current = 0
        for component in path.split(separator: "/") {
            let children = children(of: current)
            if case .forEach = node(current).kind {
                guard let position = Int(component), (0..<children.count).contains(position) else { return nil }
                current = children[position]
            } else {
                let isIt = { (unit: Int) in node(unit).id == component }
                guard let child = children.first(where: isIt) ?? preparations(of: current).first(where: isIt) else { return nil }
                current = child
            }
        }
        return current
    }

    func isInside(_ unit: Int, of ancestor: Int) -> Bool {
        var current = unit
        while current != ancestor {
            guard units[current].parent >= 0 else { return false }
            current = Int(units[current].parent)
        }
        return true
    }
}
