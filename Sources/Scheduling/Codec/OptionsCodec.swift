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
    static let conditions: UInt8 = 60
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
        write(section: Section.conditions, of: graph) {
            !$0.conditions.isEmpty
        } content: { writer, options in
            writer.write(conditions: options.conditions)
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
        case Section.conditions:
            options.conditions = try conditions()
        default:
            throw DecodingFailure("\(section) is no section of a graph's options that this version knows")
        }
    }
}
