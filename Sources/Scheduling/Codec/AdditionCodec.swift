extension ByteWriter {
    mutating func write(addition: Addition) {
        write(optional: addition.id) { $0.write($1) }
        write(list: addition.products) { $0.write(count: $1) }
        write(graph: addition.graph)
        var options = ByteWriter()
        options.write(optionsOf: addition.graph)
        write(options.bytes)
    }
}

extension ByteReader {
    mutating func addition() throws(DecodingFailure) -> Addition {
        let id = try optional { reader throws(DecodingFailure) in try reader.text() }
        let products = try list { reader throws(DecodingFailure) in try reader.index() }
        var graph = try graph()
        var options = ByteReader(try content()[...])
        try options.readOptions(into: &graph)
        try graph.checkStructure()
        guard products.allSatisfy({ graph.nodes.indices.contains($0) && $0 > 0 }) else {
            throw DecodingFailure("an addition of \(graph.nodes.count) nodes has the products \(products)")
        }
        return Addition(id: id, graph: graph, products: products)
    }
}
