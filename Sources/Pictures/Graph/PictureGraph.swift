/// A graph to be drawn: of a graph file, or of a submission with how it stands.
package struct PictureGraph: Sendable {
    package enum Kind: String, Sendable {
        case operation, group, ordered, forEach, decisions
    }

    /// How an operation or group stands.
    package struct Standing: Sendable {
        /// A word of `aop show`.
        package var state: String
        package var attempts: Int
        /// Empty: none.
        package var worker: String
        /// Milliseconds since 1970; 0: not yet.
        package var startedAt: Int64
        package var finishedAt: Int64
        /// Why it failed; empty: it has not.
        package var error: String

        package init(
            state: String, attempts: Int = 0, worker: String = "", startedAt: Int64 = 0, finishedAt: Int64 = 0, error: String = ""
        ) {
            self.state = state
            self.attempts = attempts
            self.worker = worker
            self.startedAt = startedAt
            self.finishedAt = finishedAt
            self.error = error
        }

        var isFinal: Bool { ["succeeded", "failed", "cancelled"].contains(state) }
    }

    package struct Node: Sendable {
        package var path: String
        package var kind: Kind
        /// Of operations; empty: of groups.
        package var type: String
        /// Of a submission.
        package var standing: Standing?
        /// Index; nil: of the root.
        package internal(set) var parent: Int?
        package internal(set) var children: [Int] = []
        /// Indices of those that it waits for.
        package internal(set) var dependencies: [Int]
        /// 0: of the root.
        package internal(set) var depth = 0
        /// Of groups: how many of the operations in it are in which state; of a graph file all are "".
        package internal(set) var tally: [String: Int] = [:]

        package init(
            path: String, kind: Kind, type: String = "", standing: Standing? = nil, parent: Int?, dependencies: [Int] = []
        ) {
            self.path = path
            self.kind = kind
            self.type = type
            self.standing = standing
            self.parent = parent
            self.dependencies = dependencies
        }

        package var isGroup: Bool {
            switch kind {
            case .group, .ordered, .forEach: true
            case .operation, .decisions: false
            }
        }

        /// The last part of its path.
        var name: Substring { path.split(separator: "/", omittingEmptySubsequences: false).last ?? "" }

        /// Operations in it.
        var total: Int { tally.values.reduce(0, +) }

        var ended: Int { (tally["succeeded"] ?? 0) + (tally["failed"] ?? 0) + (tally["cancelled"] ?? 0) }

        /// The state that it is shown in: of a group that goes on, the liveliest in it. nil: of a graph file.
        var shownState: String? {
            guard let standing else { return nil }
            guard isGroup, !standing.isFinal else { return standing.state }
            let lively = ["running", "stopping", "retrying", "locking", "evaluating", "queued", "paused"]
            return lively.first { tally[$0] ?? 0 > 0 } ?? standing.state
        }
    }

    /// Of the graph or submission.
    package let name: String
    /// Parents before children; the first is the root.
    package let nodes: [Node]

    /// - Parameter nodes: parents before children, siblings in their order; the first is the root.
    /// - Complexity: O(nodes × depth + edges).
    package init(name: String, _ nodes: [Node]) {
        self.name = name
        var nodes = nodes
        for index in nodes.indices.dropFirst() {
            let parent = nodes[index].parent ?? 0
            nodes[index].parent = parent
            nodes[index].depth = nodes[parent].depth + 1
            nodes[parent].children.append(index)
        }
        for index in nodes.indices where !nodes[index].isGroup {
            let state = nodes[index].standing?.state ?? ""
            var up = nodes[index].parent
            while let group = up {
                nodes[group].tally[state, default: 0] += 1
                up = nodes[group].parent
            }
        }
        self.nodes = nodes
    }
}
