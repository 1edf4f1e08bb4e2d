import Shapes

/// A graph as JSON: every operation and group, and what waits for what.
package struct GraphShape: Sendable {
    private let outline: GraphOutline
    private var graph: PictureGraph { outline.graph }

    package init(_ graph: PictureGraph, depth: GraphDepth = .everything) {
        outline = GraphOutline(graph, GraphFolding(graph, depth, squares: false))
    }

    /// `nodes` and `edges`, in the order of the graph.
    package var members: [(String, JSONValue)] {
        [
            ("nodes", .array(outline.shown.map(json))),
            (
                "edges",
                .array(
                    outline.arrows.map { arrow in
                        .object([("from", .string(graph.nodes[arrow.from].path)), ("to", .string(graph.nodes[arrow.to].path))])
                    })
            ),
        ]
    }

    private func json(_ index: Int) -> JSONValue {
        let node = graph.nodes[index]
        var members: [(String, JSONValue)] = [
            ("path", .string(node.path)), ("parent", node.parent.map { .string(graph.nodes[$0].path) } ?? .null),
            ("kind", .string(node.kind.rawValue)), ("type", .optional(node.type)),
            ("folded", .bool(node.isGroup && !outline.isOpen(index))),
        ]
        if node.isGroup { members.append(("operations", .integer(Int64(node.total)))) }
        guard let standing = node.standing else { return .object(members) }
        members += [
            ("state", .string(standing.state)), ("attempts", .integer(Int64(standing.attempts))), ("worker", .optional(standing.worker)),
            ("startedAt", .time(standing.startedAt)), ("finishedAt", .time(standing.finishedAt)), ("error", .optional(standing.error)),
        ]
        if node.isGroup {
            members.append(("counts", .object(node.tally.sorted { $0.key < $1.key }.map { ($0.key, .integer(Int64($0.value))) })))
        }
        return .object(members)
    }
}
