/// What a graph asks of operations that workers have registered: their versions, that values fit, and that parameters do.
extension Scheduler {
    /// Versions that nobody has registered, parameters that cannot be decoded, and deliveries between types that differ.
    ///
    /// Of what no worker has told, nothing is said. The graph is well formed and without circles.
    /// - Parameter withVersions: whether a version that nobody has registered is a fault.
    /// - Complexity: O(nodes + edges).
    func typeFaults(_ graph: Graph, withVersions: Bool = true) -> [AdmissionError] {
        var check = TypeCheck(graph, durable.signatures)
        return check.faults(withVersions: withVersions)
    }
}

/// What one graph asks of registered operations.
struct TypeCheck {
    private struct Key: Hashable {
        let type: String
        let version: Int
    }

    let graph: Graph
    private let table: SignatureTable
    private struct Given: Hashable {
        let key: Key
        let parameters: Int
        let isTemplated: Bool
    }

    private var known: [Key: [OperationSignature]] = [:]
    /// The last one that nothing was wrong with; mostly the next is like it.
    private var sound: OperationNode?
    /// What is wrong with parameters.
    private var judged: [Given: String?] = [:]
    /// By groups and forEachs, the children of those that deliver; without those who decide, and dependent operations of conditions.
    let children: [Int: [Int]]
    /// Groups for which somebody decides what becomes of them, if there are any that deliver.
    let deciding: Set<Int>
    /// By parameters, what commands deliver.
    var commandOutputs: [CommandGiven: ValueType] = [:]
    /// By groups and forEachs, what they deliver.
    var arrays: [Int: Delivered] = [:]
    /// By operations that deliver what they receive: what that is.
    var passedOn: [Int: Delivered] = [:]

    struct CommandGiven: Hashable {
        let parameters: Int
        let isTemplated: Bool
    }

    init(_ graph: Graph, _ table: SignatureTable) {
        self.graph = graph
        self.table = table
        var delivering: Set<Int> = []
        for node in graph.nodes {
            for producer in node.receives where !graph.nodes[producer].isOperation { delivering.insert(producer) }
        }
        var children: [Int: [Int]] = [:]
        var deciding: Set<Int> = []
        if !delivering.isEmpty {
            for (index, node) in graph.nodes.enumerated() where index > 0 {
                if node.isDecider {
                    deciding.insert(node.parent)
                } else if delivering.contains(node.parent), !node.isPreparation {
                    children[node.parent, default: []].append(index)
                }
            }
        }
        self.children = children
        self.deciding = deciding
    }

    mutating func faults(withVersions: Bool) -> [AdmissionError] {
        var faults: [AdmissionError] = []
        for (index, node) in graph.nodes.enumerated() {
            if case .decider(let decider) = node.kind, !node.isHosted {
                let group = OperationNode(type: decider.type, version: decider.version, parameters: decider.parameters)
                let signatures = candidates(group)
                let fault = signatures.isEmpty ? withVersions ? versionFault(group) : nil : parameterFault(group, signatures)
                if let fault { faults.append(graph.fault(index, fault)) }
                continue
            }
            if let fault = listFault(node) { faults.append(graph.fault(index, fault)) }
            guard case .operation(let operation) = node.kind, !node.isHosted else { continue }
            if operation == sound, node.receives.isEmpty, node.streamProducer == nil { continue }
            let found = faults.count
            defer { if faults.count == found { sound = operation } }
            let signatures = candidates(operation)
            if signatures.isEmpty {
                if withVersions, let fault = versionFault(operation) { faults.append(graph.fault(index, fault)) }
                continue
            }
            if signatures.contains(where: \.decides) {
                faults.append(graph.fault(index, Self.fault(ofDecidingType: operation.type)))
                continue
            }
            if let fault = parameterFault(operation, signatures) { faults.append(graph.fault(index, fault)) }
            if !node.receives.isEmpty, let fault = deliveryFault(node, operation, signatures) { faults.append(graph.fault(index, fault)) }
            if let fault = streamFault(node, operation, signatures) { faults.append(graph.fault(index, fault)) }
        }
        return faults
    }

    /// Those that could run it; empty also if the type is not known.
    mutating func candidates(_ operation: OperationNode) -> [OperationSignature] {
        let key = Key(type: operation.type, version: operation.version)
        if let found = known[key] { return found }
        let found = table.signatures(of: operation.type).filter { $0.takes(version: operation.version) }
        known[key] = found
        return found
    }

    private func versionFault(_ operation: OperationNode) -> String? {
        let there = table.signatures(of: operation.type)
        guard !there.isEmpty else { return nil }
        let versions = there.map { $0.oldestVersion == $0.version ? "\($0.version)" : "\($0.oldestVersion) to \($0.version)" }
        return "asks for version \(operation.version) of `\(operation.type)`; workers have registered \(versions.joined(separator: ", "))"
            + "; start one with that version, or submit with --wait-for-workers"
    }

    private static func fault(ofDecidingType type: String) -> String {
        "`\(type)` is a group that decides what it does next, and as one operation its children would be unknown to the cluster;"
            + " submit it from Swift with a ClusterQueue, or write its children as nodes (`group`, `ordered`, `forEach`)"
    }

    private mutating func parameterFault(_ operation: OperationNode, _ signatures: [OperationSignature]) -> String? {
        let given = Given(
            key: Key(type: operation.type, version: operation.version), parameters: operation.parameters,
            isTemplated: operation.isTemplated)
        if let fault = judged[given] { return fault }
        var fault: String?
        for signature in signatures.reversed() {
            let found = signature.parameters.fault(
                of: graph.parameters[operation.parameters], isTemplated: operation.isTemplated)
            guard let found else {
                fault = nil
                break
            }
            fault = fault ?? "has parameters that `\(operation.type)` cannot read: \(found); see its Parameters"
        }
        judged[given] = .some(fault)
        return fault
    }

    private mutating func streamFault(
        _ node: Node, _ operation: OperationNode, _ signatures: [OperationSignature]
    ) -> String? {
        guard let producer = node.streamProducer else { return nil }
        let streamed = signatures.compactMap(\.streamed)
        guard let expected = streamed.last else {
            return
                "receives the stream of `\(graph.path(of: producer))`, but `\(operation.type)` takes none; make the type a StreamReceiver"
        }
        guard case .operation(let sender) = graph.nodes[producer].kind, !graph.nodes[producer].isHosted else { return nil }
        let sent = candidates(sender).compactMap(\.sent)
        guard let found = sent.last, !sent.contains(where: { type in streamed.contains { type.fits($0) } }) else { return nil }
        return "receives elements of \(expected.shownName) from `\(graph.path(of: producer))`, which sends \(found.shownName); "
            + "let them be the same"
    }
}
