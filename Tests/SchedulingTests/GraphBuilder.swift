import Scheduling

/// Describes a graph in a test; references are by id, looked up over the whole graph.
indirect enum Sketch: Sendable {
    case op(
        String, type: String = "noop", receives: [String] = [], after: [String] = [], retries: Int = 0, timeout: Int64 = 0,
        forwards: Bool = false, exclusive: [Exclusion] = [])
    case group(
        String, [Sketch], ordered: Bool = false, stop: Bool = false, max: Int = 0, after: [String] = [], retries: Int = 0,
        timeout: Int64 = 0, exclusive: [Exclusion] = [])
    /// The inner operation with parameters of its own.
    case given(String, Sketch)
    /// The inner one with options.
    case having(NodeOptions, Sketch)
    /// The inner one, whose conditions have these dependent operations, by their positions.
    case preparing(Sketch, [Int: Sketch])
    /// The inner one, one of whose conditions has parts with these dependent operations, by their places.
    case preparingParts(Sketch, of: Int, [Int: Sketch])
    /// The inner one, a group, decides what it does next.
    case deciding(Sketch, DeciderNode, hosted: Bool = false)
    case forEach(String, of: String?, list: [String]? = nil, body: Sketch, max: Int = 0, stop: Bool = false)

    static func keyed(_ id: String, _ keys: String..., after: [String] = [], retries: Int = 0) -> Sketch {
        .op(id, after: after, retries: retries, exclusive: keys.map { Exclusion(key: $0) })
    }

    static func holding(_ id: String, _ key: String, _ children: [Sketch]) -> Sketch {
        .group(id, children, exclusive: [Exclusion(key: key)])
    }

    static func ordered(_ id: String, _ children: [Sketch], stop: Bool = true, retries: Int = 0) -> Sketch {
        .group(id, children, ordered: true, stop: stop, retries: retries)
    }

    /// Attempts after the first of the node itself.
    var retries: Int {
        switch self {
        case .op(_, _, _, _, let retries, _, _, _), .group(_, _, _, _, _, _, let retries, _, _): retries
        case .having(_, let inner), .given(_, let inner), .deciding(let inner, _, _), .preparing(let inner, _),
            .preparingParts(let inner, _, _):
            inner.retries
        case .forEach: 0
        }
    }

    func having(_ change: (inout NodeOptions) -> Void) -> Sketch {
        var options = NodeOptions()
        change(&options)
        return .having(options, self)
    }

    func graph(name: String = "test") -> Graph {
        var builder = GraphBuilder()
        builder.add(self, parent: 0, isBody: false)
        return builder.graph(name: name)
    }
}

private struct GraphBuilder {
    private var nodes: [Node] = []
    private var references: [(receives: [String], after: [String])] = []
    private var names: [String] = []
    private var parameters = [Array("{}".utf8)]

    mutating func add(_ sketch: Sketch, parent: Int, isBody: Bool) {
        let index = nodes.count
        func id(_ name: String) -> String { index == 0 || isBody ? "" : name }
        switch sketch {
        case .op(let name, let type, let receives, let after, let retries, let timeout, let forwards, let exclusive):
            append(
                name,
                Node(
                    id: id(name), parent: parent, kind: .operation(OperationNode(type: type, parameters: 0)),
                    retries: retries, timeoutMilliseconds: timeout, forwardsFailure: forwards,
                    options: options(exclusive)
                ), receives, after)
        case .group(let name, let children, let ordered, let stop, let max, let after, let retries, let timeout, let exclusive):
            append(
                name,
                Node(
                    id: id(name), parent: parent,
                    kind: .group(GroupNode(isOrdered: ordered, stopsOnFailure: stop, maxConcurrent: max)),
                    retries: retries, timeoutMilliseconds: timeout, options: options(exclusive)
                ), [], after)
            for child in children { add(child, parent: index, isBody: false) }
        case .given(let text, let inner):
            add(inner, parent: parent, isBody: isBody)
            guard case .operation(var operation) = nodes[index].kind else { return }
            operation.parameters = parameters.count
            parameters.append(Array(text.utf8))
            nodes[index].kind = .operation(operation)
        case .having(let options, let inner):
            add(inner, parent: parent, isBody: isBody)
            let exclusive = nodes[index].options.exclusive
            nodes[index].options = options
            nodes[index].options.exclusive += exclusive
        case .preparing(let inner, let preparations):
            add(inner, parent: parent, isBody: isBody)
            for (condition, sketch) in preparations.sorted(by: { $0.key < $1.key }) {
                let preparation = nodes.count
                add(sketch, parent: index, isBody: false)
                nodes[preparation].options.prepares = condition
            }
        case .preparingParts(let inner, let condition, let preparations):
            add(inner, parent: parent, isBody: isBody)
            for (part, sketch) in preparations.sorted(by: { $0.key < $1.key }) {
                let preparation = nodes.count
                add(sketch, parent: index, isBody: false)
                nodes[preparation].options.prepares = condition
                nodes[preparation].options.preparesPart = part
            }
        case .deciding(let inner, let decider, let isHosted):
            add(inner, parent: parent, isBody: isBody)
            var options = NodeOptions()
            options.isHosted = isHosted
            append("", Node(id: "(decisions)", parent: index, kind: .decider(decider), options: options), [], [])
        case .forEach(let name, let producer, let list, let body, let max, let stop):
            append(
                name,
                Node(
                    id: id(name), parent: parent,
                    kind: .forEach(
                        ForEachNode(
                            name: "item", elements: list.map { $0.map { Array($0.utf8) } }, stopsOnFailure: stop, maxConcurrent: max
                        ))
                ), producer.map { [$0] } ?? [], [])
            add(body, parent: index, isBody: true)
        }
    }

    private func options(_ exclusive: [Exclusion]) -> NodeOptions {
        var options = NodeOptions()
        options.exclusive = exclusive
        return options
    }

    private mutating func append(_ name: String, _ node: Node, _ receives: [String], _ after: [String]) {
        nodes.append(node)
        names.append(name)
        references.append((receives, after))
    }

    func graph(name: String) -> Graph {
        var nodes = nodes
        func index(_ name: String) -> Int { names.firstIndex(of: name) ?? -1 }
        for (position, reference) in references.enumerated() {
            nodes[position].receives = reference.receives.map(index)
            nodes[position].after = reference.after.map(index)
        }
        return Graph(name: name, nodes: nodes, parameters: parameters)
    }
}
