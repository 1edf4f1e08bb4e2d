import Executing
import Scheduling
import Wire

/// What is submitted, and what becomes of it when it runs: drawn from the seed.
struct RandomWork {
    static let operation = "work"
    /// It sends elements while it runs, and reads those of another one if it is told to.
    static let sender = "send"
    /// A group that decides what it does next.
    static let decider = "decide"
    static let condition = "probe"
    static let keys = ["k0", "k1", "k2"]

    /// How many may hold a key at once.
    static func limit(of key: String) -> Int { key == "k2" ? 2 : 1 }

    /// Some nodes of a run are tried again when they fail; in the others a success counts for ever.
    let retries: Bool
    /// In some runs operations send while they run, and others receive that.
    let streams: Bool
    /// In some runs there is code that exists only in the program that submits.
    let hosts: Bool
    let size: Int
    /// Bodies are short, and most of them may run again: much of it begins before the coordinator knows.
    let isQuick: Bool
    let features: WorkFeatures
    let largestOffer: [ResourceAmount]
    /// How long what has ended is kept; or so many bytes of it, for a while at least. 0: all of it.
    let retention: (milliseconds: Int64, bytes: Int64)

    /// - Parameter rare: where what features need is drawn from: what a seed draws without them stays as it is.
    init(with features: WorkFeatures, using random: inout SimulationRandom, rare: inout SimulationRandom) {
        self.features = features
        largestOffer = Self.largestOffer(using: &rare)
        retention = features.contains(.retention) ? Self.retention(using: &rare) : (0, 0)
        retries = random.oneIn(2)
        streams = random.oneIn(2)
        hosts = random.oneIn(3)
        isQuick = random.oneIn(3)
        size = 2 + random.below(isQuick ? 30 : 14)
    }

    /// What executors register.
    static let types: [WireOperationType] = [
        .with { $0.name = operation },
        .with {
            $0.name = sender
            $0.sent = .init()
            $0.streamed = .init()
        },
        .with {
            $0.name = decider
            $0.decides = true
        },
    ]

    static func sends(_ node: Node) -> Bool { if case .operation(let operation) = node.kind { operation.type == sender } else { false } }

    // MARK: Graphs

    func graph(using random: inout SimulationRandom) -> Graph {
        var graph = Graph(name: "random", nodes: [], parameters: [Array("{}".utf8)])
        var left = size
        addGroup(to: &graph, parent: 0, isRoot: true, depth: 0, left: &left, names: [], isInForEach: false, &random)
        if random.oneIn(3) { addReferences(to: &graph, using: &random) }
        if hosts { addHostedCode(to: &graph, using: &random) }
        if streams { addStreams(to: &graph, using: &random) }
        ask(of: &graph, using: &random)
        return graph
    }

    private func addGroup(
        to graph: inout Graph, parent: Int, isRoot: Bool, depth: Int, left: inout Int, names: Set<String>, isInForEach: Bool,
        _ random: inout SimulationRandom
    ) {
        let index = graph.nodes.count
        let group = GroupNode(
            isOrdered: random.oneIn(isQuick ? 2 : 3), stopsOnFailure: random.oneIn(4),
            maxConcurrent: random.oneIn(4) ? 1 + random.below(2) : 0)
        var node = Node(id: isRoot ? "" : "g\(index)", parent: isRoot ? 0 : parent, kind: .group(group))
        var names = names
        if !isRoot { dress(&node, isGroup: true, names: &names, isInForEach: isInForEach, &random) }
        graph.nodes.append(node)
        var siblings: [Int] = []
        for _ in 0..<(1 + random.below(isQuick ? 10 : 5)) where left > 0 || siblings.isEmpty {
            left -= 1
            let child = graph.nodes.count
            switch depth < 3 ? random.below(8) : 7 {
            case 0, 1:
                addGroup(
                    to: &graph, parent: index, isRoot: false, depth: depth + 1, left: &left, names: names, isInForEach: isInForEach, &random
                )
            case 2 where !isInForEach: addForEach(to: &graph, parent: index, producer: random.pick(siblings), names: names, &random)
            default: addOperation(to: &graph, parent: index, siblings: siblings, names: names, isInForEach: isInForEach, &random)
            }
            siblings.append(child)
        }
        addPreparations(to: &graph, of: index, names: names, isInForEach: isInForEach, &random)
        guard !isInForEach, random.oneIn(8) else { return }
        if random.oneIn(3) { addWrapper(to: &graph, parent: index, &random) } else { addDecider(to: &graph, of: index, &random) }
    }

    private func addOperation(
        to graph: inout Graph, parent: Int, siblings: [Int], names: Set<String>, isInForEach: Bool, isBody: Bool = false,
        _ random: inout SimulationRandom
    ) {
        let index = graph.nodes.count
        var node = Node(
            id: isBody ? "" : "n\(index)", parent: parent, kind: .operation(OperationNode(type: Self.operation, parameters: 0)),
            timeoutMilliseconds: random.oneIn(isQuick ? 20 : 8) ? Int64(200 + random.below(4_000)) : 0,
            graceMilliseconds: random.oneIn(3) ? Int64(random.below(3_000)) : nil, forwardsFailure: random.oneIn(2))
        if isQuick, let last = siblings.last, random.oneIn(2) { node.receives = [last] }
        for sibling in siblings where !node.receives.contains(sibling) && random.oneIn(isQuick ? 12 : 4) {
            if random.oneIn(2) { node.receives.append(sibling) } else { node.after.append(sibling) }
        }
        var names = names
        dress(&node, isGroup: false, names: &names, isInForEach: isInForEach, &random)
        graph.nodes.append(node)
        addPreparations(to: &graph, of: index, names: names, isInForEach: isInForEach, &random)
    }

    private func addForEach(to graph: inout Graph, parent: Int, producer: Int?, names: Set<String>, _ random: inout SimulationRandom) {
        let index = graph.nodes.count
        let elements = producer == nil ? (0..<random.below(4)).map { Array("\($0)".utf8) } : nil
        graph.nodes.append(
            Node(
                id: "f\(index)", parent: parent,
                kind: .forEach(ForEachNode(name: "item", elements: elements, maxConcurrent: random.below(3))),
                receives: producer.map { [$0] } ?? []))
        addOperation(to: &graph, parent: index, siblings: [], names: names, isInForEach: true, isBody: true, &random)
    }

    /// - Parameter names: the keys that are held around it, and then by it.
    func dress(
        _ node: inout Node, isGroup: Bool, names: inout Set<String>, isInForEach: Bool, _ random: inout SimulationRandom
    ) {
        if retries, random.oneIn(isGroup ? 6 : 3) { node.retries = 1 + random.below(2) }
        var options = NodeOptions()
        if names.isEmpty, !isInForEach, random.oneIn(isGroup || isQuick ? 8 : 3) {
            for key in Self.keys where random.oneIn(2) {
                options.exclusive.append(Exclusion(key: key, limit: Self.limit(of: key)))
                names.insert(key)
            }
        }
        if !isQuick, random.oneIn(8) { options.delayMilliseconds = random.below(Int64(5_000)) }
        if random.oneIn(8) { options.priority = random.below(5) - 2 }
        if random.oneIn(12) {
            options.conditions = [Condition(.probe(Probe(type: Self.condition, parameters: 0, waits: random.oneIn(2))), isNegated: false)]
        }
        if !isGroup, node.retries == 0, !retries, random.oneIn(6) { options.atMostOnce = true }
        let hasMore = !features.isDisjoint(with: [.conditions, .times])
        if hasMore, random.oneIn(isGroup ? 6 : 3) { addConditions(to: &options, using: &random) }
        if options != .standard { node.options = options }
    }

    // MARK: Bodies

    struct Body {
        var milliseconds: Int64
        var ending: UnitEnding
        var isCommand: Bool
        var obeys: Bool
        /// What it sends while it runs; nil: it is none that sends.
        var elements: (count: Int, gapMilliseconds: Int64)?
        /// How many elements of another one it reads; nil: all.
        var wanted: Int?
        var readingMilliseconds: Int64 = 0
        /// What it produces while it runs.
        var products: [Product] = []
    }

    func body(of assignment: WireAssignment, _ faults: FaultMix, using random: inout SimulationRandom) -> Body {
        let isDeaf = faults.contains(.deafBodies) && random.oneIn(4)
        var body = Body(
            milliseconds: duration(faults, using: &random), ending: .cancelled, isCommand: !isDeaf || random.oneIn(2), obeys: !isDeaf)
        switch assignment.kind {
        case .conclude:
            (body.milliseconds, body.obeys) = (random.below(Int64(50)), true)
            body.ending = .concluded(conclusion(assignment.conclusion, using: &random))
        case .execute, .UNRECOGNIZED:
            body.ending = executed(assignment, faults, using: &random)
            addProducts(to: &body, using: &random)
            if assignment.operation == Self.sender { addStreams(to: &body, assignment, using: &random) }
        case .evaluate:
            (body.milliseconds, body.obeys) = (random.below(Int64(50)), true)
            body.ending = .answers(assignment.conditions.map { answer($0, faults, using: &random) })
        case .decide:
            (body.milliseconds, body.obeys) = (random.below(Int64(50)), true)
            body.ending =
                assignment.hasDecision
                ? .decided(decision(assignment.decision, using: &random))
                : .elements(.with { $0.elements = (0..<random.below(4)).map { .init("\($0)".utf8) } })
        }
        return body
    }

    private func duration(_ faults: FaultMix, using random: inout SimulationRandom) -> Int64 {
        if isQuick { return random.below(Int64(60)) }
        if faults.contains(.longBodies), random.oneIn(2) { return random.below(Int64(60_000)) }
        return switch random.below(10) {
        case 0, 1: 0
        default: random.below(Int64(2_000))
        }
    }

    private func executed(_ assignment: WireAssignment, _ faults: FaultMix, using random: inout SimulationRandom) -> UnitEnding {
        if faults.contains(.failures), random.oneIn(5) {
            return .failure([Self.failure("drawn")])
        }
        let value = WireValue.with {
            $0.encoding = .text
            let text = Array("\(assignment.path)#\(assignment.attempt)".utf8)
            if features.contains(.files), assignment.attempt.isMultiple(of: 2) {
                $0.blob = WireBlobReference(digest: BlobDigest(hashing: text), size: UInt64(text.count))
            } else {
                $0.inline = .init(text)
            }
        }
        return random.oneIn(12) ? .production(value, Self.addition(count: 1 + random.below(2))) : .success(value)
    }

    static func failure(_ message: String) -> WireOperationFailure {
        .with {
            $0.code = .operation
            $0.message = message
            $0.typeName = "Drawn"
        }
    }

    /// So many operations that an attempt adds to its group with its success.
    static func addition(count: Int) -> WireAddition {
        .with {
            $0.graph.nodes = [.with { $0.group = .init() }]
            for number in 0..<count {
                $0.graph.nodes.append(
                    .with {
                        $0.id = "made\(number)"
                        $0.operation.type = Self.operation
                    })
            }
            $0.graph.parameters = [.init("{}".utf8)]
            $0.products = (1...count).map(UInt32.init)
        }
    }

    private func answer(_ question: WireConditionQuestion, _ faults: FaultMix, using random: inout SimulationRandom) -> WireConditionAnswer
    {
        .with {
            $0.condition = question.condition
            $0.finding = .satisfied
            guard faults.contains(.failures) else { return }
            switch random.below(8) {
            case 0: $0.finding = .failed
            case 1:
                $0.finding = .notNow
                $0.retryAfterMilliseconds = UInt32(1 + random.below(3_000))
            default: break
            }
        }
    }
}
