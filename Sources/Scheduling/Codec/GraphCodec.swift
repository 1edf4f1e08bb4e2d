extension ByteWriter {
    mutating func write(graph: Graph) {
        write(graph.name)
        write(list: graph.parameters) { $0.write($1) }
        write(list: graph.nodes) { $0.write(node: $1) }
    }

    private mutating func write(node: Node) {
        write(node.id)
        write(count: node.parent)
        switch node.kind {
        case .operation(let operation):
            write(UInt8(0))
            write(operation.type)
            write(count: operation.version)
            write(count: operation.parameters)
            write(operation.isTemplated)
        case .group(let group):
            write(UInt8(1))
            write(group.isOrdered)
            write(group.stopsOnFailure)
            write(count: group.maxConcurrent)
        case .forEach(let forEach):
            write(UInt8(2))
            write(forEach.name)
            write(optional: forEach.elements) { $0.write(list: $1) { $0.write($1) } }
            write(forEach.stopsOnFailure)
            write(count: forEach.maxConcurrent)
        case .decider(let decider):
            write(UInt8(3))
            write(decider: decider)
        }
        write(list: node.receives) { $0.write(count: $1) }
        write(node.receivesArray)
        write(list: node.after) { $0.write(count: $1) }
        write(count: node.retries)
        write(node.timeoutMilliseconds)
        write(optional: node.graceMilliseconds) { $0.write($1) }
        write(node.forwardsFailure)
    }
}

extension ByteReader {
    mutating func graph() throws(DecodingFailure) -> Graph {
        let name = try text()
        let parameters = try list { reader throws(DecodingFailure) in try reader.content() }
        let nodes = try list { reader throws(DecodingFailure) in try reader.node() }
        return Graph(name: name, nodes: nodes, parameters: parameters)
    }

    private mutating func node() throws(DecodingFailure) -> Node {
        let id = try text()
        let parent = try index()
        let kind = try kind()
        return Node(
            id: id, parent: parent, kind: kind,
            receives: try list { reader throws(DecodingFailure) in try reader.index() },
            receivesArray: try flag(),
            after: try list { reader throws(DecodingFailure) in try reader.index() },
            retries: try index(),
            timeoutMilliseconds: try signed(),
            graceMilliseconds: try optional { reader throws(DecodingFailure) in try reader.signed() },
            forwardsFailure: try flag()
        )
    }

    private mutating func kind() throws(DecodingFailure) -> Node.Kind {
        switch try byte() {
        case 0:
            return .operation(OperationNode(type: try text(), version: try index(), parameters: try index(), isTemplated: try flag()))
        case 1:
            return .group(GroupNode(isOrdered: try flag(), stopsOnFailure: try flag(), maxConcurrent: try index()))
        case 2:
            return .forEach(
                ForEachNode(
                    name: try text(),
                    elements: try optional { reader throws(DecodingFailure) in
                        try reader.list { reader throws(DecodingFailure) in try reader.content() }
                    },
                    stopsOnFailure: try flag(),
                    maxConcurrent: try index()
                ))
        case 3:
            return .decider(try decider())
        case let other:
            throw DecodingFailure("\(other) is no kind of node")
        }
    }
}
