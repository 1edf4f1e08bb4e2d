/// Options of a graph's nodes, behind everything else of its admission: a journal that was written before there were any
/// ends there.
///
/// One section for each kind of option that a node of the graph has: its tag, and its content with the length before.
/// Tags are never given another meaning.
private enum Section {
    static let locks: UInt8 = 1
    static let start: UInt8 = 40
    static let deadline: UInt8 = 41
    static let queueTimeout: UInt8 = 42
    static let backoff: UInt8 = 43
    static let retryOn: UInt8 = 44
    static let atMostOnce: UInt8 = 45
    static let priority: UInt8 = 46
    static let recomputable: UInt8 = 47
    static let weight: UInt8 = 48
    static let crashLimit: UInt8 = 49
    static let conditions: UInt8 = 60
    static let conditionTrees: UInt8 = 61
    static let requires: UInt8 = 100
    static let unique: UInt8 = 120
    static let hosted: UInt8 = 140
    static let stream: UInt8 = 180
    static let say: UInt8 = 200
    static let hostedTimeout: UInt8 = 201
    static let prepares: UInt8 = 190
    static let retriesNet: UInt8 = 242
    static let preparesPart: UInt8 = 252
    static let described: UInt8 = 251
    static let awaitedElsewhere: UInt8 = 254
    static let beginsCancelled: UInt8 = 255
    static let endedBefore: UInt8 = 253
}

extension ByteWriter {
    mutating func write(optionsOf graph: Graph) {
        write(section: Section.start, of: graph) {
            $0.delayMilliseconds != 0 || $0.notBefore != 0
        } content: { writer, options in
            writer.write(options.delayMilliseconds)
            writer.write(options.notBefore)
        }
        write(section: Section.locks, of: graph) {
            !$0.exclusive.isEmpty
        } content: { writer, options in
            writer.write(list: options.exclusive) { writer, exclusion in
                writer.write(exclusion.key)
                writer.write(count: exclusion.limit)
            }
        }
        write(section: Section.deadline, of: graph) {
            $0.deadlineMilliseconds != 0 || $0.deadline != 0
        } content: { writer, options in
            writer.write(options.deadlineMilliseconds)
            writer.write(options.deadline)
        }
        write(section: Section.queueTimeout, of: graph) {
            $0.queueTimeoutMilliseconds != 0
        } content: { writer, options in
            writer.write(options.queueTimeoutMilliseconds)
        }
        write(section: Section.backoff, of: graph) {
            $0.backoff != .standard
        } content: { writer, options in
            writer.write(options.backoff.kind.rawValue)
            writer.write(options.backoff.initialMilliseconds)
            writer.write(options.backoff.maxMilliseconds)
            writer.write(count: options.backoff.jitterPermille)
            writer.write(count: options.backoff.factorPermille)
        }
        write(section: Section.atMostOnce, of: graph) {
            $0.atMostOnce
        } content: { _, _ in
        }
        write(section: Section.recomputable, of: graph) {
            $0.recomputable
        } content: { _, _ in
        }
        write(section: Section.hosted, of: graph) {
            $0.isHosted
        } content: { _, _ in
        }
        write(section: Section.retriesNet, of: graph) {
            $0.retriesNet
        } content: { _, _ in
        }
        write(section: Section.endedBefore, of: graph) {
            $0.endedBefore != EndsBefore()
        } content: { writer, options in
            for names in [options.endedBefore.failed, options.endedBefore.cancelled] { writer.write(list: names) { $0.write($1) } }
        }
        write(section: Section.beginsCancelled, of: graph) {
            $0.beginsCancelled
        } content: { _, _ in
        }
        write(section: Section.described, of: graph) {
            $0.isDescribed
        } content: { _, _ in
        }
        write(section: Section.awaitedElsewhere, of: graph) {
            $0.isAwaitedElsewhere
        } content: { _, _ in
        }
        write(section: Section.stream, of: graph) {
            $0.stream != nil
        } content: { writer, options in
            writer.write(count: options.stream ?? 0)
        }
        write(section: Section.say, of: graph) {
            $0.say != SubmitterSay()
        } content: { writer, options in
            writer.write(options.say.holds)
            writer.write(options.say.retries)
        }
        write(section: Section.hostedTimeout, of: graph) {
            $0.hostedTimeoutMilliseconds != 0
        } content: { writer, options in
            writer.write(options.hostedTimeoutMilliseconds)
        }
        write(section: Section.prepares, of: graph) {
            $0.prepares != nil
        } content: { writer, options in
            writer.write(count: options.prepares ?? 0)
        }
        write(section: Section.preparesPart, of: graph) {
            $0.preparesPart != nil
        } content: { writer, options in
            writer.write(count: options.preparesPart ?? 0)
        }
        write(section: Section.priority, of: graph) {
            $0.priority != nil
        } content: { writer, options in
            writer.write(Int64(options.priority ?? 0))
        }
        write(section: Section.crashLimit, of: graph) {
            $0.crashLimit != nil
        } content: { writer, options in
            writer.write(count: options.crashLimit ?? 0)
        }
        write(section: Section.weight, of: graph) {
            $0.weight != 0
        } content: { writer, options in
            writer.write(count: options.weight)
        }
        write(section: Section.conditions, of: graph) {
            !$0.conditions.isEmpty
        } content: { writer, options in
            writer.write(conditions: options.conditions)
        }
        write(section: Section.conditionTrees, of: graph) {
            !$0.conditionTrees.isEmpty
        } content: { writer, options in
            writer.write(list: options.conditionTrees) { $0.write(tree: $1) }
        }
        write(section: Section.requires, of: graph) {
            !$0.requires.isEmpty
        } content: { writer, options in
            writer.write(requirements: options.requires)
        }
        write(section: Section.unique, of: graph) {
            $0.unique != nil
        } content: { writer, options in
            let unique = options.unique ?? Uniqueness(id: "")
            writer.write(unique.id)
            writer.write(unique.isTemplated)
            writer.write(unique.joins)
            writer.write(unique.output)
        }
        write(section: Section.retryOn, of: graph) {
            !$0.retryOn.isEmpty
        } content: { writer, options in
            writer.write(list: options.retryOn) { $0.write(reason: $1) }
        }
    }

    private mutating func write(reason: RetryReason) {
        switch reason {
        case .exitCode(let code):
            write(UInt8(0))
            write(Int64(code))
        case .error(let name):
            write(UInt8(1))
            write(name)
        case .signal(let number):
            write(UInt8(2))
            write(Int64(number))
        }
    }

    private mutating func write(
        section: UInt8, of graph: Graph, where isWanted: (NodeOptions) -> Bool, content: (inout ByteWriter, NodeOptions) -> Void
    ) {
        let wanted = graph.nodes.indices.filter { graph.nodes[$0].hasOptions && isWanted(graph.nodes[$0].options) }
        guard !wanted.isEmpty else { return }
        var inner = ByteWriter()
        inner.write(list: wanted) { writer, node in
            writer.write(count: node)
            content(&writer, graph.nodes[node].options)
        }
        write(section)
        write(inner.bytes)
    }
}

extension ByteReader {
    mutating func readOptions(into graph: inout Graph) throws(DecodingFailure) {
        while !isAtEnd {
            let section = try byte()
            var inner = ByteReader(try content()[...])
            let count = try inner.unsigned()
            for _ in 0..<count {
                let node = try inner.index()
                guard graph.nodes.indices.contains(node) else { throw DecodingFailure("options of node \(node), which there is not") }
                try inner.readOptions(section, &graph.nodes[node].options)
            }
            guard inner.isAtEnd else { throw DecodingFailure("bytes are left behind section \(section) of a graph's options") }
        }
    }

    private mutating func readOptions(_ section: UInt8, _ options: inout NodeOptions) throws(DecodingFailure) {
        switch section {
        case Section.start:
            options.delayMilliseconds = try signed()
            options.notBefore = try signed()
        case Section.locks:
            options.exclusive = try list { reader throws(DecodingFailure) in
                Exclusion(key: try reader.text(), limit: try reader.index())
            }
        case Section.deadline:
            options.deadlineMilliseconds = try signed()
            options.deadline = try signed()
        case Section.queueTimeout:
            options.queueTimeoutMilliseconds = try signed()
        case Section.atMostOnce:
            options.atMostOnce = true
        case Section.recomputable:
            options.recomputable = true
        case Section.hosted:
            options.isHosted = true
        case Section.retriesNet:
            options.retriesNet = true
        case Section.described:
            options.isDescribed = true
        case Section.awaitedElsewhere:
            options.isAwaitedElsewhere = true
        case Section.endedBefore:
            options.endedBefore.failed = try list { reader throws(DecodingFailure) in try reader.text() }
            options.endedBefore.cancelled = try list { reader throws(DecodingFailure) in try reader.text() }
        case Section.beginsCancelled:
            options.beginsCancelled = true
        case Section.stream:
            options.stream = try index()
        case Section.say:
            options.say = SubmitterSay(holds: try flag(), retries: try flag())
        case Section.hostedTimeout:
            options.hostedTimeoutMilliseconds = try signed()
        case Section.prepares:
            options.prepares = try index()
        case Section.preparesPart:
            options.preparesPart = try index()
        case Section.priority:
            options.priority = Int(try signed())
        case Section.crashLimit:
            options.crashLimit = try index()
        case Section.weight:
            options.weight = try index()
        case Section.backoff:
            let raw = try byte()
            guard let kind = Backoff.Kind(rawValue: raw) else { throw DecodingFailure("\(raw) is no kind of back-off") }
            options.backoff = Backoff(
                kind: kind, initialMilliseconds: try signed(), maxMilliseconds: try signed(), jitterPermille: try index(),
                factorPermille: try index())
        case Section.retryOn:
            options.retryOn = try list { reader throws(DecodingFailure) in try reader.reason() }
        case Section.conditions:
            options.conditions = try conditions()
        case Section.conditionTrees:
            options.conditionTrees = try list { reader throws(DecodingFailure) in try reader.conditionTree() }
        case Section.requires:
            options.requires = try requirements()
        case Section.unique:
            options.unique = Uniqueness(id: try text(), isTemplated: try flag(), joins: try flag(), output: try text())
        default:
            throw DecodingFailure("\(section) is no section of a graph's options that this version knows")
        }
    }

    private mutating func reason() throws(DecodingFailure) -> RetryReason {
        switch try byte() {
        case 0: return .exitCode(try signed32())
        case 1: return .error(try text())
        case 2: return .signal(try signed32())
        case let other: throw DecodingFailure("\(other) is no reason to try again")
        }
    }
}
