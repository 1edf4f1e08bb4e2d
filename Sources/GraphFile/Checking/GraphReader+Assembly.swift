import Foundation
import Wire

/// Drafts without errors as the graph that is handed in.
extension GraphReader {
    func wireGraph(named name: String) -> WireGraph {
        var graph = WireGraph()
        graph.name = name
        graph.parameters = parameters.texts.map(Self.bytes)
        graph.nodes = drafts.map(wireNode)
        return graph
    }

    private static func bytes(_ text: String) -> Data { Data(text.utf8) }

    private func wireNode(_ draft: NodeDraft) -> WireNode {
        var node = WireNode()
        node.id = draft.id
        node.parent = UInt32(draft.parent)
        switch draft.kind {
        case .operation(let type, let parameters, let isTemplated):
            var operation = WireOperationNode()
            operation.type = type
            operation.parameters = UInt32(parameters)
            operation.templated = isTemplated
            node.operation = operation
        case .group(let isOrdered):
            var group = WireGroupNode()
            group.ordered = isOrdered
            group.stopOnFailure = draft.stopsOnFailure
            group.maxConcurrent = UInt32(draft.maxConcurrent)
            node.group = group
        case .forEach(let name, let elements):
            var each = WireForEachNode()
            each.as = name
            each.elements = (elements ?? []).map(Self.bytes)
            each.literal = elements != nil
            each.stopOnFailure = draft.stopsOnFailure
            each.maxConcurrent = UInt32(draft.maxConcurrent)
            node.forEach = each
        case .invalid:
            preconditionFailure("node \(path(of: Int(node.parent)))/\(draft.id) is invalid, but no error was reported")
        }
        node.receives = draft.receives.compactMap(\.target).map(UInt32.init)
        node.receivesArray = draft.receivesArray
        node.after = draft.after.compactMap(\.target).map(UInt32.init)
        node.retries = UInt32(draft.retries)
        node.timeoutMilliseconds = UInt64(draft.timeoutMilliseconds)
        if let grace = draft.graceMilliseconds { node.graceMilliseconds = UInt32(grace) }
        node.forwardFailure = draft.forwardsFailure
        if let condition = draft.prepares { node.prepares = UInt32(condition) }
        draft.options.write(to: &node)
        return node
    }
}
