/// A graph of operations as plain data: what is run on each queue, and what a history is judged by.
///
/// Nodes are named by their place in `nodes`; the first one is the root, a group. A group's children are the nodes that
/// name it as their parent, in this order, and come after it.
package struct GraphPlan: Codable, Sendable, Hashable {
    package var nodes: [NodePlan]
    package var cancellations: [CancellationPlan]
    package var pauses: [PausePlan] = []
    /// Whether the program submits it once more, under the same key.
    package var isSubmittedTwice = false
    /// How many operations the queue executes at once; nil for no limit. Only on a queue of one process.
    package var slots: Int?

    package init(nodes: [NodePlan], cancellations: [CancellationPlan] = [], slots: Int? = nil) {
        self.nodes = nodes
        self.cancellations = cancellations
        self.slots = slots
    }
}

/// One operation or group.
package struct NodePlan: Codable, Sendable, Hashable {
    package enum Kind: Codable, Sendable, Hashable {
        case operation(Script)
        case group(GroupPlan)
        /// Makes its children when it executes, and ends as the last one does.
        case wrapper
    }

    package var kind: Kind
    /// The group around it; nil for the root.
    package var parent: Int?
    /// The child of its group after whose end that adds it; nil: it is there from the beginning.
    package var cause: Int?
    /// Whether it is added only if the cause has failed, or not; nil: in any case.
    package var afterFailure: Bool?
    /// The member of its group whose body makes it; it comes to the group with the success of that.
    package var maker: Int?
    /// What it waits for without receiving.
    package var after: [Int] = []
    /// Who delivers to it, in declared order. One that is a group delivers its children's values.
    package var producers: [Int] = []
    /// Whose elements it receives while that runs.
    package var source: Int?
    package var conditions: [ConditionPlan] = []
    package var keys: [KeyPlan] = []
    /// How often it is tried, the first time included; of a group: with all that is in it.
    package var attempts = 1
    /// Whether a closure of the program decides about another attempt, as often as `attempts` says.
    package var asksAboutRetry = false
    /// Whether a closure of the program holds the end back for a moment.
    package var holdsEnd = false
    /// It does not let go: a limit ends that.
    package var holdsForEver = false
    /// Whether its type exists in the program only.
    package var isHosted = false
    package var unique: UniquePlan?
    /// An attempt is stopped when it takes longer than the runner's limit.
    package var hasTimeout = false
    /// The whole is stopped when it takes longer than the runner's limit.
    package var hasDeadline = false
    /// It fails if it has not begun within the runner's limit after it was ready.
    package var hasQueueTimeout = false
    /// When it may begin, beside what else it waits for.
    package var start: StartPlan?
    /// Whatever becomes of its worker, it does not run twice. On a queue of one process that says nothing.
    package var isAtMostOnce = false
    /// It may run again without harm, or what is in it may. On a queue of one process that says nothing.
    package var isRecomputable = false
    /// What its worker must have. On a queue of one process that says nothing.
    package var requires: RequirementPlan?

    package init(_ kind: Kind, in parent: Int?) {
        self.kind = kind
        self.parent = parent
    }
}

/// What the body of an operation does.
package struct Script: Codable, Sendable, Hashable {
    /// How long it works.
    package var ticks = 0
    /// How many runs fail before one succeeds.
    package var failures = 0
    /// It goes on for so many ticks after it was told to stop, and then succeeds; nil if it stops at once.
    package var lingers: Int?
    /// It works until it is told to stop.
    package var isEndless = false
    /// How many elements it sends; nil if it is none that does.
    package var elements: Int?
    /// After so many elements it has what it wants; nil if it reads to the end.
    package var takes: Int?
    /// A failure that it has received is its own; otherwise it goes on without a value.
    package var forwardsFailure = false

    package init(ticks: Int = 0, failures: Int = 0) {
        self.ticks = ticks
        self.failures = failures
    }
}

package struct GroupPlan: Codable, Sendable, Hashable {
    package var isOrdered = false
    /// Whether a failed or cancelled child cancels what has not ended.
    package var stops = false
    /// How many children run at once; nil for no limit.
    package var limit: Int?
    /// Its file writes it as a list, with a member for each element.
    package var isList = false
    /// It adds children as others end. One that is hosted does so in the program only.
    package var decides = false
    /// It adds its children one after the other, each by how the one before has ended. The same is so of one that is hosted.
    package var sequence: SequencePlan?

    package init(isOrdered: Bool = false, stops: Bool = false, limit: Int? = nil) {
        self.isOrdered = isOrdered
        self.stops = stops
        self.limit = limit
    }
}

/// What comes after a step. Each step but the first has the one before as its cause.
package enum SequencePlan: String, Codable, Sendable, Hashable {
    /// The step whose cause that is, and which comes after such an end.
    case steps
    /// The next one after a success.
    case linear
    /// Another attempt after a failure; none after a cancellation.
    case retry
}

package struct RequirementPlan: Codable, Sendable, Hashable {
    /// A label that only some workers have.
    package var label: String?
    /// So many permits of its host, which nobody else has meanwhile.
    package var permits: Int

    package init(label: String? = nil, permits: Int = 0) { (self.label, self.permits) = (label, permits) }
}

/// A time that something waits for, in milliseconds.
package enum StartPlan: Codable, Sendable, Hashable {
    /// After its predecessors have ended.
    case delay(Int)
    /// After the graph was made.
    case notBefore(Int)
}

package indirect enum ConditionPlan: Codable, Sendable, Hashable {
    /// Says these, one evaluation after the other, and then the last one for ever.
    case scripted([Verdict], isNegated: Bool)
    /// The same by what its dependent operations do, one attempt after the other: it has nothing to say itself.
    case prepared([Verdict], isNegated: Bool)
    case noFailedDependencies
    case noCancelledDependencies
    case all([ConditionPlan])
    case any([ConditionPlan])
    case not(ConditionPlan)
    case silent(ConditionPlan)
    /// Where it fails the operation is cancelled.
    case ignored(ConditionPlan)
}

/// What a condition says.
package enum Verdict: String, Codable, Sendable, Hashable {
    case yes, no, notNow
}

/// A lock, or a semaphore.
package struct KeyPlan: Codable, Sendable, Hashable {
    package var name: String
    package var limit: Int

    package init(_ name: String, limit: Int = 1) {
        self.name = name
        self.limit = limit
    }
}

package struct UniquePlan: Codable, Sendable, Hashable {
    package var id: String
    package var joins: Bool

    package init(_ id: String, joins: Bool = false) {
        self.id = id
        self.joins = joins
    }
}

/// When the program cancels a node.
package struct CancellationPlan: Codable, Sendable, Hashable {
    package enum Moment: Codable, Sendable, Hashable {
        case beforeTheQueue
        case onceAdded
        /// When the program is told of the start of this node.
        case atStart(of: Int)
        /// When the program is told of the end of this node.
        case atEnd(of: Int)
    }

    package var node: Int
    package var moment: Moment

    package init(of node: Int, _ moment: Moment) {
        self.node = node
        self.moment = moment
    }
}

/// When the program pauses a node, and for how long.
package struct PausePlan: Codable, Sendable, Hashable {
    package var node: Int
    /// When it is told of the start of this one.
    package var trigger: Int
    package var ticks: Int

    package init(of node: Int, atStartOf trigger: Int, ticks: Int) { (self.node, self.trigger, self.ticks) = (node, trigger, ticks) }
}

extension GraphPlan {
    /// Errors and events name nodes like this.
    package static func name(of node: Int) -> String { "n\(node)" }

    package func node(named name: String?) -> Int? { nodes.indices.first { Self.name(of: $0) == name } }

    package func children(of node: Int) -> [Int] { nodes.indices.filter { nodes[$0].parent == node } }

    /// The groups around `node`, the innermost first.
    package func ancestors(of node: Int) -> [Int] {
        var found: [Int] = []
        var next = nodes[node].parent
        while let group = next {
            found.append(group)
            next = nodes[group].parent
        }
        return found
    }

    /// Whether `node` is `group` or inside of it.
    package func isInside(_ node: Int, _ group: Int) -> Bool { node == group || ancestors(of: node).contains(group) }

    /// Whether something else than the program may be stopping what has members, in `node` or around it: it takes a moment
    /// until that has reached them all, in which `cancel()` finds it stopped and returns.
    package func mayBeStoppedByOthers(around node: Int) -> Bool {
        nodes.indices.contains { other in
            let part = nodes[other]
            guard part.script == nil, isInside(other, node) || isInside(node, other) else { return false }
            // The first condition of one that is tried again always holds.
            return part.conditions.count > (mayBeginAnew(other) ? 1 : 0) || part.hasTimeout || part.hasDeadline
                || !receivers(of: other).isEmpty || part.parent.map { nodes[$0].group?.stops == true } == true
        }
    }

    package func receivers(of node: Int) -> [Int] { nodes.indices.filter { nodes[$0].producers.contains(node) } }

    /// What a child's end adds to its group, in this order.
    package func additions(after child: Int, hasFailed: Bool) -> [Int] {
        nodes.indices.filter { nodes[$0].cause == child && nodes[$0].afterFailure ?? hasFailed == hasFailed }
    }

    /// Whether it is there from the beginning.
    package func isPresent(_ node: Int) -> Bool {
        guard nodes[node].cause == nil, nodes[node].maker == nil else { return false }
        guard let parent = nodes[node].parent else { return true }
        return !nodes[parent].isWrapper && nodes[parent].group?.sequence == nil
    }

    /// What its body makes, in this order.
    package func products(of node: Int) -> [Int] { nodes.indices.filter { nodes[$0].maker == node } }

    package func streamReceivers(of node: Int) -> [Int] { nodes.indices.filter { nodes[$0].source == node } }

    package func dependents(of node: Int) -> [Int] { nodes.indices.filter { nodes[$0].after.contains(node) } }

    /// Whether a cluster has scripted conditions of a node evaluated in the program, or it was made such that it does.
    package func evaluatesInTheProgram(_ node: Int) -> Bool {
        nodes[node].isHosted || nodes[node].conditions.contains(where: \.isEvaluatedWhole)
    }

    package var leaves: [Int] { nodes.indices.filter { nodes[$0].script != nil } }
}

extension ConditionPlan {
    /// Whether a cluster cannot take it apart.
    package var isEvaluatedWhole: Bool {
        switch self {
        case .scripted, .prepared, .noFailedDependencies, .noCancelledDependencies: false
        case .all, .any, .ignored: true
        case .not(let part), .silent(let part): part.isEvaluatedWhole
        }
    }
}

extension NodePlan {
    package var script: Script? { if case .operation(let script) = kind { script } else { nil } }
    package var group: GroupPlan? { if case .group(let group) = kind { group } else { nil } }
    package var isWrapper: Bool { if case .wrapper = kind { true } else { false } }
    /// All that has to end before it begins.
    package var predecessors: [Int] { producers + after }
}
