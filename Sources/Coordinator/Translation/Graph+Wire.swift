import Scheduling
import Wire

extension Graph {
    /// Reads a submitted graph. What is wrong with its meaning (cycles, duplicate ids, unknown types) the scheduler finds.
    ///
    /// - Throws: `TranslationError` for what cannot be expressed: a node without a kind, numbers out of range.
    init(wire: WireGraph) throws(TranslationError) {
        try TranslationError.checkCount(
            wire.nodes.count, "nodes in one graph", limit: Limits.graphNodes, named: "graphNodes")
        try TranslationError.checkName(wire.name, "the graph's name")
        for (index, parameters) in wire.parameters.enumerated() {
            try TranslationError.checkBytes(parameters.count, "\(wire.user(ofParameters: index)) has parameters")
        }
        var nodes: [Node] = []
        nodes.reserveCapacity(wire.nodes.count)
        for (index, node) in wire.nodes.enumerated() {
            nodes.append(try Node(wire: node, index: index, graph: wire))
        }
        self.init(name: wire.name, nodes: nodes, parameters: wire.parameters.map { [UInt8]($0) })
    }
}

extension WireGraph {
    /// The first node that they are for, in words.
    fileprivate func user(ofParameters index: Int) -> String {
        guard let node = nodes.firstIndex(where: { $0.uses(parameters: index) }) else { return "the graph" }
        let id = nodes[node].id
        return "node \(node)\(id.isEmpty || id.utf8.count > Limits.nameBytes ? "" : " (`\(id)`)") of the graph"
    }
}

extension WireNode {
    /// For itself, or for one of its conditions.
    fileprivate func uses(parameters index: Int) -> Bool {
        switch kind {
        case .operation(let operation) where operation.parameters == index: true
        case .decider(let decider) where decider.parameters == index: true
        case .operation, .decider, .group, .forEach, nil: conditions.contains { $0.uses(parameters: index) }
        }
    }
}

extension WireCondition {
    fileprivate func uses(parameters index: Int) -> Bool {
        switch kind {
        case .probe(let probe): probe.parameters == index
        case .composed(let composed): composed.parts.contains { $0.uses(parameters: index) }
        case .noFailedDependencies, .noCancelledDependencies, .timeWindow, .rateLimit, nil: false
        }
    }
}

extension Node {
    fileprivate init(wire: WireNode, index: Int, graph: WireGraph) throws(TranslationError) {
        func refuse(_ problem: String) -> TranslationError { TranslationError("node \(index) of the graph \(problem)") }
        let count = graph.nodes.count
        guard wire.parent < count else { throw refuse("has the parent \(wire.parent); the graph has \(count) nodes") }
        for target in wire.receives + wire.after + (wire.hasStream ? [wire.stream] : []) where target >= count {
            throw refuse("waits for node \(target); the graph has \(count) nodes")
        }
        try TranslationError.checkName(wire.id, "the id of node \(index) of the graph")
        guard wire.timeoutMilliseconds <= UInt32.max else {
            throw refuse("has a timeout of \(wire.timeoutMilliseconds) ms; the limit is \(UInt32.max) ms (49 days)")
        }
        let kind: Kind
        switch wire.kind {
        case .operation(let operation):
            guard operation.parameters < graph.parameters.count else {
                throw refuse("has the parameters \(operation.parameters); the graph has \(graph.parameters.count)")
            }
            try TranslationError.checkName(operation.type, "the operation type of node \(index) of the graph")
            kind = .operation(
                OperationNode(
                    type: operation.type, version: Int(operation.version), parameters: Int(operation.parameters),
                    isTemplated: operation.templated))
        case .group(let group):
            kind = .group(
                GroupNode(
                    isOrdered: group.ordered, stopsOnFailure: group.stopOnFailure, maxConcurrent: Int(group.maxConcurrent)))
        case .forEach(let forEach):
            try TranslationError.checkCount(
                forEach.elements.count, "elements in the forEach of node \(index)", limit: Limits.forEachElements,
                named: "forEachElements")
            for element in forEach.elements {
                try TranslationError.checkBytes(element.count, "node \(index) of the graph has an element")
            }
            kind = .forEach(
                ForEachNode(
                    name: forEach.as, elements: forEach.literal ? forEach.elements.map { [UInt8]($0) } : nil,
                    stopsOnFailure: forEach.stopOnFailure, maxConcurrent: Int(forEach.maxConcurrent)))
        case .decider(let decider):
            guard decider.parameters < graph.parameters.count else {
                throw refuse("has the parameters \(decider.parameters); the graph has \(graph.parameters.count)")
            }
            try TranslationError.checkName(decider.type, "the type of node \(index) of the graph")
            kind = .decider(try DeciderNode(wire: decider, index: index))
        case nil:
            throw refuse("has no kind; the client may be newer than this coordinator (\(ProductVersion.current))")
        }
        self.init(
            id: wire.id, parent: Int(wire.parent), kind: kind, receives: wire.receives.map(Int.init),
            receivesArray: wire.receivesArray, after: wire.after.map(Int.init), retries: Int(wire.retries),
            timeoutMilliseconds: Int64(wire.timeoutMilliseconds),
            graceMilliseconds: wire.hasGraceMilliseconds ? Int64(wire.graceMilliseconds) : nil,
            forwardsFailure: wire.forwardFailure, options: try NodeOptions(wire: wire, index: index))
    }
}
