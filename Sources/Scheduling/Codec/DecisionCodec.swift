extension ByteWriter {
    mutating func write(decision: GroupDecision, failures: (inout ByteWriter, [Failure]) -> Void) {
        write(optional: decision.state) { $0.write($1) }
        write(optional: decision.addition) { $0.write(addition: $1) }
        write(list: decision.forgiven) { $0.write(count: $1) }
        write(list: decision.forgivenNodes) { $0.write(count: $1) }
        failures(&self, decision.failures)
    }

    mutating func write(decider: DeciderNode) {
        write(decider.type)
        write(count: decider.version)
        write(count: decider.parameters)
        write(decider.occasion.rawValue)
        write(decider.isAskedAtBegin)
        write(decider.isWrapper)
    }
}

extension ByteReader {
    mutating func decision(
        failures: (inout ByteReader) throws(DecodingFailure) -> [Failure]
    ) throws(DecodingFailure) -> GroupDecision {
        let state = try optional { reader throws(DecodingFailure) in try reader.content() }
        let addition = try optional { reader throws(DecodingFailure) in try reader.addition() }
        let forgiven = try list { reader throws(DecodingFailure) in try reader.index() }
        let nodes = try list { reader throws(DecodingFailure) in try reader.index() }
        guard nodes.allSatisfy({ $0 > 0 && $0 < addition?.graph.nodes.count ?? 0 }) else {
            throw DecodingFailure("a decision forgives nodes that it does not add")
        }
        return GroupDecision(
            state: state, addition: addition, forgiven: forgiven, forgivenNodes: nodes, failures: try failures(&self))
    }

    mutating func decider() throws(DecodingFailure) -> DeciderNode {
        let (type, version, parameters) = (try text(), try index(), try index())
        let raw = try byte()
        guard let occasion = DeciderNode.Occasion(rawValue: raw) else { throw DecodingFailure("\(raw) is no occasion to decide") }
        return DeciderNode(
            type: type, version: version, parameters: parameters, occasion: occasion, isAskedAtBegin: try flag(), isWrapper: try flag())
    }
}
