import AOperation
import Foundation
import Wire

/// Turns operations that are in no queue into a graph.
///
/// A group that comes alone is the root; anything else becomes the content of an unordered one. Iterative: graphs are as
/// deep as a program makes them.
package struct GraphBuilder {
    /// Where the operations have been made, and may execute.
    package enum Place: Sendable {
        /// A process that submits them, and executes what only it has; `requiresRemote`: it does not.
        case submitter(requiresRemote: Bool)
        /// A worker, which has nothing but what any worker has.
        case worker
    }

    private var graph = OperationGraph()
    private var nodes: [ObjectIdentifier: Int] = [:]
    private var manifests: [(node: Int, manifest: OperationManifest)] = []
    private var parameters: [Data: UInt32] = [:]
    /// What is wrong with a type's values; nil: nothing.
    private var typeFaults: [ObjectIdentifier: String?] = [:]
    /// Values that have no codec, by the operation that makes them here.
    private var uncoded: [ObjectIdentifier: String] = [:]
    /// Nodes that are, or are inside of, a group that is tried again. Looked up, never iterated.
    private var beginsAnew: [Int: Bool] = [:]
    private let place: Place
    /// Its root stands for a group that is there already.
    private let isAddition: Bool

    private init(_ place: Place, isAddition: Bool) {
        self.place = place
        self.isAddition = isAddition
    }

    /// An operation that has still to become a node.
    private struct Pending {
        let operation: AOperation
        let manifest: OperationManifest
        let parent: Int
        let id: String
        /// The condition of its parent that it is done for.
        var prepares: Int?
        var dependent: DependentManifest?
    }

    /// The graph of `operations` and everything inside of them, with whatever is wrong with it.
    ///
    /// - Parameters:
    ///   - requiresRemote: what only this process has is wrong, too.
    ///   - hostedTimeout: how long a step in this process may take, other than to execute.
    package static func graph(
        of operations: [AOperation], requiresRemote: Bool = false, hostedTimeout: Duration = WireNode.hostedTimeout
    ) -> OperationGraph {
        var builder = GraphBuilder(.submitter(requiresRemote: requiresRemote), isAddition: false)
        builder.build(operations)
        if hostedTimeout != WireNode.hostedTimeout { builder.graph.limitHostedSteps(to: hostedTimeout) }
        return builder.graph
    }

    /// The same of operations that become children of a group that runs: node 0 stands for that.
    package static func addition(of operations: [AOperation], from place: Place) -> OperationGraph {
        var builder = GraphBuilder(place, isAddition: true)
        builder.build(operations)
        return builder.graph
    }

    private mutating func build(_ operations: [AOperation]) {
        AOperation.listBeside(operations, true)
        defer { AOperation.listBeside(operations, false) }
        let top = operations.map { ($0, $0.manifest()) }
        if !isAddition, let (root, manifest) = top.first, top.count == 1, case .group = manifest.body {
            graph.wire.name = manifest.label
            add([Pending(operation: root, manifest: manifest, parent: 0, id: "")])
        } else {
            graph.wire.name = top.last?.1.label ?? ""
            var node = WireNode()
            node.group = WireGroupNode()
            graph.append(.init(nil, path: "", parent: 0, isGroup: true), node)
            add(named(top, under: 0))
        }
        if !isAddition { graph.wire.nodes[0].described = true }
        for (node, manifest) in manifests { connect(node, manifest) }
        noteWhoIsAwaitedElsewhere()
        refuseCircles()
    }

    /// It makes a difference only to what is tried again with the end of a delivery net.
    private mutating func noteWhoIsAwaitedElsewhere() {
        guard graph.wire.nodes.contains(where: \.retriesNet) else { return }
        for (index, member) in graph.members.enumerated() {
            guard let operation = member.operation else { continue }
            if operation.isAwaited(besides: { nodes[ObjectIdentifier($0)] != nil }) { graph.wire.nodes[index].awaitedElsewhere = true }
        }
    }

    // MARK: Nodes

    private mutating func add(_ first: [Pending]) {
        var pending = Array(first.reversed())
        while let next = pending.popLast() {
            let index = graph.members.count
            let isGroup = if case .group = next.manifest.body { true } else { false }
            let isRoot = index == 0
            let parentPath = isRoot ? "" : graph.members[next.parent].path
            let path = parentPath.isEmpty ? next.id : "\(parentPath)/\(next.id)"
            var node = WireNode()
            node.id = next.id
            node.parent = UInt32(next.parent)
            node.take(next.manifest)
            // It is not tried again, and nobody is left that it receives from.
            if next.operation.hasEndedAsCancelled { (node.retries, node.retriesNet) = (0, false) }
            let mayBeginAnew = beginsAnew[next.parent, default: false] || isGroup && node.retries > 0
            if mayBeginAnew { beginsAnew[index] = true }
            if let condition = next.prepares { node.prepares = UInt32(condition) }
            if let part = next.dependent?.part { node.preparesPart = UInt32(part) }
            var member = OperationGraph.Member(next.operation, next.manifest, path: path, parent: next.parent, isGroup: isGroup)
            member.dependent = next.dependent
            graph.append(member, node)
            if isAddition, isGroup, node.retries > 0 {
                graph.fault(
                    index, "is a group with a RetryPolicy, and comes to a graph that runs; let its children be tried again, each by itself")
            }
            take(next.manifest.conditions, index)
            let dependents = dependents(of: next.manifest.conditions, index)
            if next.manifest.holdsEnd {
                refuseHosted("has a `willFinish` closure", "use `didFinish`, or an operation that comes after it", index)
            }
            if next.manifest.decidesRetry {
                refuseHosted("has a retry that this process decides", "use `retry` with a RetryPolicy without `retries`", index)
            }
            for part in next.manifest.localParts { graph.fault(index, "\(part.what); \(part.remedy)") }
            for (name, amount) in next.manifest.requirements.resources.sorted(by: { $0.key < $1.key }) where amount < 0 {
                graph.fault(index, "requires \(amount) of `\(name)`; give it 0 or more")
            }
            // What was cancelled before is a node that is cancelled before it begins.
            if !next.operation.isInitialized, !next.operation.hasEndedAsCancelled {
                graph.fault(index, "is in another queue, or has ended; make a fresh one")
            }
            guard nodes.updateValue(index, forKey: ObjectIdentifier(next.operation)) == nil else {
                graph.fault(
                    index,
                    next.dependent == nil
                        ? "is in two groups; give each its own operation"
                        : "is the dependent operation of two conditions, or part of the graph besides; give each its own operation")
                continue
            }
            manifests.append((index, next.manifest))
            switch next.manifest.body {
            case .operation(let operation): take(operation, index)
            case .hosted(let hosted): host(next.operation, hosted, index)
            case .group(let group):
                if group.maxConcurrent == 0 { graph.fault(index, "has `maxConcurrentOperationCount` 0 and starts nothing; raise it") }
                if let decider = group.decider { add(decider, of: next.operation, index, path: path) }
                pending += children(of: group, index).reversed()
            case .none: break
            }
            pending += dependents.reversed()
        }
    }

    private mutating func children(of group: OperationManifest.Group, _ index: Int) -> [Pending] {
        var children: [(AOperation, OperationManifest)] = []
        for child in group.children {
            if let child = child as? AOperation {
                children.append((child, child.manifest()))
            } else {
                graph.plain.append(child)
                graph.fault(
                    index,
                    "holds the plain operation `\(child.name ?? "\(type(of: child))")`, which lives in this process; "
                        + "make it a ClusterOperation, or run it on an AOperationQueue")
            }
        }
        return named(children, under: index)
    }

    /// What conditions want done before they are evaluated: nodes in the node whose conditions they are.
    private mutating func dependents(of conditions: [ConditionManifest], _ index: Int) -> [Pending] {
        var dependents: [Pending] = []
        for (position, condition) in conditions.flatMap(\.leaves).enumerated() {
            for dependent in condition.dependents {
                let manifest = dependent.operation.manifest()
                let part = dependent.part.map { ".\($0)" } ?? ""
                dependents.append(
                    Pending(
                        operation: dependent.operation, manifest: manifest, parent: index,
                        id: "?\(manifest.label).\(position)\(part)", prepares: position, dependent: dependent))
            }
        }
        return dependents
    }

    /// Gives each an id of its own among its siblings.
    private func named(_ siblings: [(AOperation, OperationManifest)], under parent: Int) -> [Pending] {
        var used: Set<String> = []
        var last: [String: Int] = [:]
        return siblings.map { operation, manifest in
            let label = manifest.label
            var id = label
            var number = last[label, default: 1]
            while !used.insert(id).inserted {
                number += 1
                id = "\(label)-\(number)"
            }
            last[label] = number
            return Pending(operation: operation, manifest: manifest, parent: parent, id: id)
        }
    }

    private mutating func take(_ operation: any ClusterOperation, _ index: Int) {
        let type = type(of: operation)
        if let fault = fault(of: type) { graph.fault(index, fault) }
        var node = WireOperationNode()
        node.type = type.operationName
        node.version = UInt32(clamping: type.operationVersion)
        do {
            node.parameters = place(of: try operation.encodedParameters())
        } catch {
            graph.fault(index, "has parameters without a wire form: \(error.localizedDescription)")
        }
        graph.wire.nodes[index].operation = node
    }

    /// An operation that executes in this process.
    private mutating func host(_ operation: AOperation, _ hosted: OperationManifest.Hosted, _ index: Int) {
        refuseHosted("executes in this process (\(hosted.typeName))", "conform it to ClusterOperation and register it with a worker", index)
        if !hosted.hasCodec { uncoded[ObjectIdentifier(operation)] = operation.deliveredTypeName }
        var node = WireOperationNode()
        node.type = hosted.typeName
        node.parameters = place(of: Self.noParameters)
        graph.wire.nodes[index].operation = node
        graph.wire.nodes[index].hosted = true
    }

    private static let noParameters = Data("{}".utf8)

    private mutating func refuseHosted(_ what: String, _ remedy: String, _ index: Int) {
        graph.hasHostedCode = true
        if beginsAnew[index] == true {
            graph.fault(
                index,
                "\(what), and is, or is in, a group with a RetryPolicy, of which nothing is told here before its last attempt; \(remedy),"
                    + " or let the children of the group be tried again, each by itself")
        }
        switch place {
        case .submitter(requiresRemote: true):
            graph.fault(index, "\(what), and the queue has `requireRemote`; \(remedy), or clear `requireRemote`")
        case .worker: graph.fault(index, "\(what), but was produced on a worker, which does not stay; \(remedy)")
        case .submitter(requiresRemote: false): break
        }
    }

    private mutating func take(_ conditions: [ConditionManifest], _ index: Int) {
        var position = 0
        for condition in conditions {
            do {
                let wire = try wire(condition, index, &position)
                graph.wire.nodes[index].conditions.append(wire)
            } catch {
                graph.fault(index, "has a condition without a wire form: \(error.localizedDescription)")
            }
        }
    }

    /// - Parameter position: of the next one that is made of no others.
    private mutating func wire(_ condition: ConditionManifest, _ index: Int, _ position: inout Int) throws -> WireCondition {
        if case .composed(let form, let parts) = condition.kind {
            var composed = WireComposedCondition()
            composed.form =
                switch form {
                case .all: .all
                case .any: .any
                case .not: .not
                case .ignored: .ignored
                }
            for part in parts { composed.parts.append(try wire(part, index, &position)) }
            return .with { $0.composed = composed }
        }
        if case .hosted(let hosted) = condition.kind {
            refuseHosted(
                "has the condition \(hosted.key), which this process evaluates",
                "conform it to ClusterCondition and register it with a worker", index)
            graph.members[index].hostedConditions[position] = hosted
        }
        position += 1
        let (kind, parameters) = try condition.wire()
        var wire = WireCondition.with {
            $0.kind = kind
            $0.negated = condition.isNegated
        }
        if let parameters { wire.probe.parameters = place(of: parameters) }
        return wire
    }

    /// Who decides what a group does next is a node of its own, which stands for nothing in this process.
    private mutating func add(_ decider: OperationManifest.Decider, of group: AOperation, _ parent: Int, path: String) {
        var node = WireNode()
        node.id = WireNode.deciderID
        node.parent = UInt32(parent)
        switch decider {
        case .registered(let registered, let occasion):
            let type = type(of: registered)
            if let fault = fault(of: type) { graph.fault(parent, fault) }
            node.decider.type = type.operationName
            node.decider.version = UInt32(clamping: type.operationVersion)
            switch occasion {
            case .eachChild: node.decider.occasion = .eachChild
            case .failures: node.decider.occasion = .failures
            case .steps: (node.decider.occasion, node.decider.atBegin) = (.steps, true)
            }
            do {
                node.decider.parameters = place(of: try registered.encodedParameters())
            } catch {
                graph.fault(parent, "has parameters without a wire form: \(error.localizedDescription)")
            }
        case .hosted(let typeName):
            refuseHosted(
                "is a group that decides in this process what it does next (\(typeName))",
                "conform it to ClusterGroup and register it with a worker", parent)
            node.takeHosted(typeName, parameters: place(of: Self.noParameters))
        case .wrapper(let typeName, let hasCodec):
            refuseHosted(
                "makes in this process the operation that it runs (\(typeName))", "give the queue that operation", parent)
            if !hasCodec { uncoded[ObjectIdentifier(group)] = group.deliveredTypeName }
            node.takeHosted(typeName, parameters: place(of: Self.noParameters))
            node.decider.wrapper = true
        }
        let ownPath = path.isEmpty ? node.id : "\(path)/\(node.id)"
        graph.append(.init(nil, path: ownPath, parent: parent, isGroup: false), node)
    }

    private mutating func fault(of type: any ClusterOperation.Type) -> String? {
        let key = ObjectIdentifier(type)
        if let known = typeFaults[key] { return known }
        var fault: String?
        do {
            _ = try type.clusterInterface()
        } catch {
            fault = "cannot leave the process: \(error.localizedDescription)"
        }
        typeFaults[key] = .some(fault)
        return fault
    }

    private mutating func place(of bytes: Data) -> UInt32 {
        if let known = parameters[bytes] { return known }
        let place = UInt32(graph.wire.parameters.count)
        parameters[bytes] = place
        graph.wire.parameters.append(bytes)
        return place
    }

    // MARK: Edges

    private mutating func connect(_ index: Int, _ manifest: OperationManifest) {
        var producers: Set<ObjectIdentifier> = []
        // What a wrapper receives, it receives here.
        let isHosted = graph.wire.nodes[index].hosted || manifest.isWrapper
        if let reception = manifest.reception {
            for producer in reception.producers {
                producers.insert(ObjectIdentifier(producer))
                guard let node = nodes[ObjectIdentifier(producer)] else {
                    graph.fault(
                        index,
                        graph.members[index].isDependent
                            ? "is done for a condition and receives from `\(producer.errorName)`, which is not; put both into a GroupOperation, and "
                                + "let that be the condition's `dependentOperation`"
                            : "receives from `\(producer.errorName)`, which was submitted before, was cancelled, or is in another queue; "
                                + "add both to this one, together, or in one group")
                    continue
                }
                if !isHosted, let type = uncoded[ObjectIdentifier(producer)] {
                    graph.fault(
                        index,
                        "receives from `\(producer.errorName)`, which executes in this process and delivers \(type), which has no codec; "
                            + "make that type Codable, or a ClusterValue")
                }
                if !reception.isList, !reception.isCustom, let receiver = graph.members[index].operation, !receiver.fits(producer) {
                    graph.fault(
                        index,
                        "receives \(receiver.inputTypeName) from `\(producer.errorName)`, which delivers \(producer.deliveredTypeName); "
                            + "let them be the same")
                }
                graph.wire.nodes[index].receives.append(UInt32(node))
            }
            graph.wire.nodes[index].receivesArray = reception.isList || reception.isCustom
        }
        if let producer = manifest.streamProducer {
            producers.insert(ObjectIdentifier(producer))
            if let node = nodes[ObjectIdentifier(producer)] {
                graph.wire.nodes[index].stream = UInt32(node)
            } else {
                graph.fault(
                    index,
                    "receives the stream of `\(producer.errorName)`, which was submitted before, or is in another queue; "
                        + "add both to this one, together")
            }
        }
        var known = producers
        for dependency in manifest.dependencies where known.insert(ObjectIdentifier(dependency)).inserted {
            guard let node = nodes[ObjectIdentifier(dependency)] else {
                if graph.wire.nodes[index].conditions.contains(where: \.isOnDependencies) {
                    graph.members[index].dependenciesOutside.append(dependency)
                }
                let isOver = (dependency as? AOperation)?.isEnded ?? dependency.isFinished
                guard !isOver else { continue }
                graph.outside.append(dependency)
                if let awaited = dependency as? AOperation, awaited.isInNoKnownQueue, isForCondition(index) {
                    graph.broughtAlong.append(awaited)
                }
                continue
            }
            if node == 0 || isInside(index, of: node) {
                graph.fault(index, "waits for the group that it is in; take the dependency off")
            } else if index == 0 {
                graph.fault(index, "waits for something inside of it; take the dependency off")
            } else {
                graph.wire.nodes[index].after.append(UInt32(node))
            }
        }
    }

    /// Whether a condition wants it done, or what it is in.
    private func isForCondition(_ index: Int) -> Bool {
        var current = index
        while current != 0 {
            if graph.wire.nodes[current].hasPrepares { return true }
            current = graph.members[current].parent
        }
        return false
    }

    private func isInside(_ index: Int, of group: Int) -> Bool {
        var current = index
        while current != 0 {
            current = graph.members[current].parent
            if current == group { return true }
        }
        return false
    }

    /// What the graph waits for before it is submitted must not wait for the graph.
    private mutating func refuseCircles() {
        var seen: Set<ObjectIdentifier> = []
        var pending = graph.outside
        while let next = pending.popLast() {
            if let node = nodes[ObjectIdentifier(next)] {
                graph.fault(
                    node,
                    "is waited for by an operation of another queue, which other operations of this graph wait for; "
                        + "add these by themselves, after this one")
                return
            }
            guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
            pending += (next as? AOperation)?.prerequisites ?? next.dependencies
        }
    }
}

extension WireNode {
    /// What who decides for a group is called in it.
    package static let deciderID = "(decisions)"

    /// Decided by the process that submits it.
    fileprivate mutating func takeHosted(_ typeName: String, parameters: UInt32) {
        hosted = true
        decider.type = typeName
        decider.parameters = parameters
        decider.atBegin = true
    }
}

extension OperationGraph.Member {
    fileprivate init(_ operation: AOperation?, path: String, parent: Int, isGroup: Bool) {
        self.init(
            operation: operation, path: path, parent: parent, isGroup: isGroup, timeout: nil, queueTimeout: nil, deadline: nil,
            uniqueId: nil)
    }

    fileprivate init(_ operation: AOperation, _ manifest: OperationManifest, path: String, parent: Int, isGroup: Bool) {
        self.init(
            operation: operation, path: path, parent: parent, isGroup: isGroup, timeout: manifest.timeout,
            queueTimeout: manifest.queueTimeout, deadline: manifest.deadline, uniqueId: manifest.unique?.id)
    }
}

extension OperationManifest {
    fileprivate var isWrapper: Bool {
        if case .group(let group) = body, case .wrapper? = group.decider { true } else { false }
    }

    /// What a node is called, but for a number: the operation's own name, or what its kind is called in graphs.
    fileprivate var label: String {
        var kind = name
        switch body {
        case .operation(let operation): if name == "\(type(of: operation))" { kind = type(of: operation).operationName }
        case .group(let group):
            if ["GroupOperation", "OrderedGroupOperation"].contains(name) { kind = group.isOrdered ? "ordered" : "group" }
        case .hosted, .none: break
        }
        let plain = kind.unicodeScalars.prefix(Self.labelLength).map { scalar in
            scalar == "/" || scalar.value < 0x20 || scalar.value == 0x7F ? "-" : Character(scalar)
        }
        return plain.isEmpty ? "operation" : String(plain)
    }

    /// Ids are for people; longer ones are cut.
    private static let labelLength = 100
}
