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

private struct TypeCheck {
    private struct Key: Hashable {
        let type: String
        let version: Int
    }

    /// Registered name of commands.
    private static let commandType = "shell"

    private let graph: Graph
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
    /// By groups, the children of those that deliver.
    private var children: [Int: [Int]] = [:]

    init(_ graph: Graph, _ table: SignatureTable) {
        self.graph = graph
        self.table = table
        var delivering: Set<Int> = []
        for node in graph.nodes {
            for producer in node.receives where !graph.nodes[producer].isOperation { delivering.insert(producer) }
        }
        guard !delivering.isEmpty else { return }
        for (index, node) in graph.nodes.enumerated() where index > 0 && delivering.contains(node.parent) {
            children[node.parent, default: []].append(index)
        }
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
    private mutating func candidates(_ operation: OperationNode) -> [OperationSignature] {
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

    private mutating func deliveryFault(
        _ node: Node, _ operation: OperationNode, _ signatures: [OperationSignature]
    ) -> String? {
        let inputs = signatures.compactMap(\.input)
        guard !inputs.isEmpty else {
            if node.streamProducer == nil, signatures.contains(where: { $0.streamed != nil }) {
                return "receives from `\(graph.path(of: node.receives[0]))`, but `\(operation.type)` takes what that sends while it runs,"
                    + " which no graph file can say; submit both from Swift with `stream(to:)`"
            }
            return "receives from `\(graph.path(of: node.receives[0]))`, but `\(operation.type)` takes no value; "
                + "let it only wait (`after`), or make the type a ReceiverOperation"
        }
        let isArray = node.receivesArray || node.receives.count > 1
        if node.receives.count > 1, !inputs.contains(where: { $0.form == .any || !$0.element.isEmpty }) {
            return "receives \(node.receives.count) values, but `\(operation.type)` takes one (\(inputs[0].shownName)); "
                + "let it receive an array"
        }
        for producer in node.receives {
            let outputs = delivered(by: producer)
            let fits = outputs.contains { output in
                inputs.contains { input in isArray && !input.element.isEmpty ? output.fitsElement(of: input) : output.fits(input) }
            }
            guard !fits, let output = outputs.first, let input = inputs.last else { continue }
            return "receives \(isArray && !input.element.isEmpty ? input.element : input.shownName) "
                + "from `\(graph.path(of: producer))`, which delivers \(output.shownName); let them be the same"
        }
        return nil
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

    /// What it may deliver.
    private mutating func delivered(by index: Int) -> [ValueType] {
        let node = graph.nodes[index]
        switch node.kind {
        case .operation(let operation):
            if node.isHosted { return [.any] }
            if operation.type == Self.commandType { return [ValueType.ofCommand(graph.parameters[operation.parameters])] }
            let outputs = candidates(operation).map(\.output)
            return outputs.isEmpty ? [.any] : outputs
        case .group, .forEach:
            return delivered(byChildrenOf: index)
        case .decider:
            return [.any]
        }
    }

    /// An array of what each child delivers, if that is one type.
    private mutating func delivered(byChildrenOf group: Int) -> [ValueType] {
        // What will be added is not known.
        if children[group]?.contains(where: { graph.nodes[$0].isDecider }) == true { return [.any] }
        var element: ValueType?
        for child in children[group] ?? [] {
            guard case .operation(let operation) = graph.nodes[child].kind, !graph.nodes[child].isHosted else { return [.any] }
            let outputs = Set(candidates(operation).map(\.output))
            guard let output = outputs.first, outputs.count == 1, output.form == .json, element ?? output == output else { return [.any] }
            element = output
        }
        guard let element else { return [.any] }
        return [ValueType(.json, name: "Swift.Array<\(element.name)>", element: element.name)]
    }
}

extension ValueType {
    fileprivate var shownName: String {
        switch form {
        case .any: "any value"
        case .void: "nothing"
        case .json where name.isEmpty: "a list of \(element)"
        case .json, .text, .own: name
        }
    }
}
