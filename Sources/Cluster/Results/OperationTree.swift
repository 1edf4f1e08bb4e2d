import Wire

/// The operations of a submission as the tree they form.
package struct OperationTree: Sendable {
    package struct Node: Sendable {
        package var view: WireOperationView
        /// Indices in `nodes`, in child order.
        package internal(set) var children: [Int] = []
        /// Indices in `nodes` of the dependent operations of its conditions.
        var preparations: [Int] = []

        package var isGroup: Bool {
            switch view.kind {
            case .operation, .decider: false
            case .group, .ordered, .forEach, .UNRECOGNIZED: true
            }
        }
    }

    /// Parents before children; the first is the root of what was asked for.
    package private(set) var nodes: [Node]

    /// Indices of the nodes whose parent is not here; one, the first, unless the views are a selection.
    private var tops: [Int] = []

    /// Builds the tree from views in unit order; the first one is its root.
    ///
    /// - Parameter isPartial: the views are a selection (failed ones only): nodes without their parent stand by themselves.
    package init(_ views: some Sequence<WireOperationView>, isPartial: Bool = false) {
        nodes = views.filter { !$0.isRestingDecider }.map { Node(view: $0) }
        var indexOfUnit: [UInt32: Int] = [:]
        indexOfUnit.reserveCapacity(nodes.count)
        for index in nodes.indices { indexOfUnit[nodes[index].view.unit] = index }
        for index in nodes.indices {
            if index > 0, let parent = indexOfUnit[nodes[index].view.parent], parent != index {
                if nodes[index].view.preparation {
                    nodes[parent].preparations.append(index)
                } else {
                    nodes[parent].children.append(index)
                }
            } else if index == 0 || isPartial {
                tops.append(index)
            }
        }
        for index in nodes.indices {
            let children = nodes[index].children
            nodes[index].children = children.sorted { nodes[$0].view.position < nodes[$1].view.position }
        }
    }

    package var root: Node? { nodes.first }

    /// All nodes from the root down, each group's children in child order, the dependent operations of a node's conditions
    /// before them, without recursion.
    package func depthFirst() -> [Node] {
        var ordered: [Node] = []
        ordered.reserveCapacity(nodes.count)
        var open = Array(tops.reversed())
        while let index = open.popLast() {
            ordered.append(nodes[index])
            open.append(contentsOf: nodes[index].children.reversed())
            open.append(contentsOf: nodes[index].preparations.reversed())
        }
        return ordered
    }
}

extension WireOperationView {
    /// Whether it decides for a group and has nothing to do: it is shown only while it does.
    fileprivate var isRestingDecider: Bool {
        guard kind == .decider else { return false }
        return switch state {
        case .queued, .running, .stopping, .paused: false
        case .blocked, .locking, .evaluating, .retrying, .succeeded, .failed, .cancelled, .UNRECOGNIZED: true
        }
    }
}
