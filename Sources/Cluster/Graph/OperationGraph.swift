import AOperation
import Foundation
import Wire

/// Operations as a graph that can be submitted: the nodes in pre-order, and the operation behind each of them.
struct OperationGraph: Sendable {
    /// A node of the graph, and what it stands for.
    struct Member: Sendable {
        /// Nil: the root that holds what the program has put into no group.
        let operation: AOperation?
        let path: String
        let parent: Int
        let isGroup: Bool
        let timeout: TimeInterval?
        let queueTimeout: Duration?
        let deadline: Duration?
        let uniqueId: String?
        /// Conditions that this process evaluates, by their positions among the node's.
        var hostedConditions: [Int: HostedCondition] = [:]
    }

    var wire = WireGraph()
    var members: [Member] = []
    /// What has to end before it can be submitted: operations that are not in it.
    var outside: [Foundation.Operation] = []
    /// Why it cannot be submitted; empty: nothing is known.
    var faults: [ClusterError.GraphError] = []
    /// Plain operations that some group holds.
    var plain: [Foundation.Operation] = []
    /// Whether it has code that only this process has.
    var hasHostedCode = false
    /// Errors of what executes here, to be themselves again when they come back.
    let hostedErrors = HostedErrors()
    /// By path.
    private(set) var places: [String: Int] = [:]

    /// The nodes that the program has added, without what is inside of them.
    var top: [Int] {
        guard let root = members.first else { return [] }
        return root.operation == nil ? members.indices.filter { $0 > 0 && members[$0].parent == 0 } : [0]
    }

    func member(at path: String) -> Member? { places[path].map { members[$0] } }

    mutating func append(_ member: Member, _ node: WireNode) {
        places[member.path] = members.count
        members.append(member)
        wire.nodes.append(node)
    }

    mutating func fault(_ node: Int, _ message: String) {
        let member = members[node]
        let name = member.operation.map { "`\($0.errorName)`" } ?? "the graph"
        faults.append(.init(node: node, path: member.path, message: "\(name) \(message)"))
    }

    /// What the operations end with when the graph cannot be submitted: all that is wrong with it.
    func errors(for error: ClusterError) -> [AOperationError] {
        guard !error.errors.isEmpty else { return [AOperationError(error)] }
        return error.errors.map { fault in
            let place = fault.path.isEmpty ? "" : "\(fault.path): "
            let one = ClusterError(error.code, "\(place)\(fault.message)", errors: [fault])
            let name = members.indices.contains(fault.node) ? members[fault.node].operation?.errorName : nil
            return AOperationError(one, state: .execution, publisher: name)
        }
    }
}
