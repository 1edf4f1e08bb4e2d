import Shapes
import Wire

extension PictureGraph {
    /// A submission, or a part of it.
    ///
    /// - Parameter views: in unit order, with their dependencies; the first is the root of what is drawn.
    package init(name: String, views: [WireOperationView]) {
        var indexOfUnit: [UInt32: Int] = [:]
        var order = [Int](views.indices)
        // Those that came later may stand before others.
        if let first = order.first {
            order = [first] + order.dropFirst().sorted { (views[$0].position, views[$0].unit) < (views[$1].position, views[$1].unit) }
            order = Self.parentsFirst(order, views)
        }
        for (index, view) in order.enumerated() { indexOfUnit[views[view].unit] = index }
        let nodes = order.enumerated().map { index, place in
            let view = views[place]
            return Node(
                path: view.path, kind: Kind(view.kind), type: view.kind == .operation ? view.type : "", standing: Standing(view),
                parent: index == 0 ? nil : indexOfUnit[view.parent] ?? 0, dependencies: view.dependencies.compactMap { indexOfUnit[$0] })
        }
        self.init(name: name, nodes)
    }

    /// The same order, but with what is around something before it.
    private static func parentsFirst(_ order: [Int], _ views: [WireOperationView]) -> [Int] {
        let known = Set(views.map(\.unit))
        let root = views[order[0]].unit
        var inside: [UInt32: [Int]] = [:]
        for place in order.dropFirst() {
            let parent = views[place].parent
            inside[known.contains(parent) && parent != views[place].unit ? parent : root, default: []].append(place)
        }
        var sorted = [order[0]]
        var next = 0
        while next < sorted.count {
            sorted += inside.removeValue(forKey: views[sorted[next]].unit) ?? []
            next += 1
        }
        return sorted
    }
}

extension PictureGraph.Kind {
    init(_ kind: WireOperationView.Kind) {
        switch kind {
        case .group: self = .group
        case .ordered: self = .ordered
        case .forEach: self = .forEach
        case .decider: self = .decisions
        case .operation, .UNRECOGNIZED: self = .operation
        }
    }
}

extension PictureGraph.Standing {
    init(_ view: WireOperationView) {
        self.init(
            state: view.state.word, attempts: Int(view.attempts), worker: view.worker, startedAt: view.startedAt,
            finishedAt: view.finishedAt, error: (view.errors.first ?? (view.hasLastFailure ? view.lastFailure : nil))?.message ?? "")
    }
}
