import AOperation
import Foundation
import Wire

/// Operations as a graph that can be submitted: the nodes in pre-order, and the operation behind each of them.
package struct OperationGraph: Sendable {
    /// A node of the graph, and what it stands for.
    package struct Member: Sendable {
        /// Nil: the root that holds what the program has put into no group, or what another queue has taken.
        package var operation: AOperation?
        package let path: String
        package let parent: Int
        package let isGroup: Bool
        package let timeout: TimeInterval?
        package let queueTimeout: Duration?
        package let deadline: Duration?
        package let uniqueId: String?
        /// What it depends on and is not in the graph, if it has conditions on dependencies.
        package var dependenciesOutside: [Foundation.Operation] = []
        /// Conditions that this process evaluates, by their positions among the node's.
        package var hostedConditions: [Int: HostedCondition] = [:]
        /// The condition of its parent that it is done for; nil: it is part of the graph for its own sake, or is not of this process.
        package var dependent: DependentManifest? { didSet { isDependent = dependent != nil } }
        /// Whether it is done for a condition of its parent, and is none of that one's children.
        package var isDependent = false

        package init(
            operation: AOperation?, path: String, parent: Int, isGroup: Bool, timeout: TimeInterval? = nil,
            queueTimeout: Duration? = nil, deadline: Duration? = nil, uniqueId: String? = nil
        ) {
            self.operation = operation
            self.path = path
            self.parent = parent
            self.isGroup = isGroup
            self.timeout = timeout
            self.queueTimeout = queueTimeout
            self.deadline = deadline
            self.uniqueId = uniqueId
        }

        /// The same at another place.
        package func moved(to path: String, parent: Int) -> Member {
            var moved = Member(
                operation: operation, path: path, parent: parent, isGroup: isGroup, timeout: timeout, queueTimeout: queueTimeout,
                deadline: deadline, uniqueId: uniqueId)
            moved.hostedConditions = hostedConditions
            moved.dependent = dependent
            moved.isDependent = isDependent
            return moved
        }
    }

    package var wire = WireGraph()
    package var members: [Member] = []
    /// What has to end before it can be submitted: operations that are not in it.
    package var outside: [Foundation.Operation] = []
    /// Those of them that are in no queue, and that something waits for which a condition wants done: they come along, as on any queue.
    package var broughtAlong: [AOperation] = []
    /// Why it cannot be submitted; empty: nothing is known.
    package var faults: [GraphFault] = []
    /// Plain operations that some group holds.
    package var plain: [Foundation.Operation] = []
    /// Whether it has code that only this process has.
    package var hasHostedCode = false
    /// Errors of what executes here, to be themselves again when they come back.
    package let hostedErrors = HostedErrors()
    /// By path.
    package private(set) var places: [String: Int] = [:]

    package init() {}

    /// The nodes that the program has added, without what is inside of them.
    package var top: [Int] {
        guard let root = members.first else { return [] }
        return root.operation == nil ? members.indices.filter { $0 > 0 && members[$0].parent == 0 } : [0]
    }

    /// Whether a member is who decides for a group.
    package func isDecider(_ member: Int, of group: Int) -> Bool {
        guard members.indices.contains(member), members.indices.contains(group) else { return false }
        let path = members[group].path
        return members[member].path == (path.isEmpty ? WireNode.deciderID : "\(path)/\(WireNode.deciderID)")
    }

    /// What is done before conditions are evaluated: part of no group.
    package var dependents: [AOperation] { members.compactMap { $0.isDependent ? $0.operation : nil } }

    package func member(at path: String) -> Member? { places[path].map { members[$0] } }

    package mutating func append(_ member: Member, _ node: WireNode) {
        places[member.path] = members.count
        members.append(member)
        wire.nodes.append(node)
    }

    /// What came to the graph while it ran.
    package mutating func append(_ member: Member) {
        places[member.path] = members.count
        members.append(member)
    }

    /// What came to the graph while it ran, and is not there any more. Nothing is found at its path.
    package mutating func appendDropped() {
        members.append(Member(operation: nil, path: "", parent: 0, isGroup: false))
    }

    package mutating func fault(_ node: Int, _ message: String) {
        let member = members[node]
        let name = member.operation.map { "`\($0.errorName)`" } ?? "the graph"
        faults.append(.init(node: node, path: member.path, message: "\(name) \(message)"))
    }
}

/// What is wrong with a node of a graph.
package struct GraphFault: Sendable {
    package let node: Int
    package let path: String
    /// With the name of the operation.
    package let message: String

    package init(node: Int, path: String, message: String) {
        self.node = node
        self.path = path
        self.message = message
    }
}

extension OperationGraph {
    /// The graph as it is sent when everything is over that is waited for outside of it.
    package var wireWithEnds: WireGraph {
        var wire = wire
        for (node, member) in members.enumerated() where !member.dependenciesOutside.isEmpty {
            let ends = AOperation.namesOfUnsuccessful(member.dependenciesOutside)
            guard !ends.failed.isEmpty || !ends.cancelled.isEmpty else { continue }
            wire.nodes[node].endedBefore = .with {
                $0.failed = ends.failed
                $0.cancelled = ends.cancelled
            }
        }
        return wire
    }
}

extension WireCondition {
    /// Whether it, or what it is made of, looks at dependencies.
    var isOnDependencies: Bool {
        switch kind {
        case .noFailedDependencies, .noCancelledDependencies: true
        case .composed(let composed): composed.parts.contains(where: \.isOnDependencies)
        case .timeWindow, .rateLimit, .probe, nil: false
        }
    }
}
