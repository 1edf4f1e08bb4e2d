import DequeModule

/// Parts of a submission.
extension ByteWriter {
    mutating func write(wholeGraph graph: Graph) {
        write(graph: graph)
        var options = ByteWriter()
        options.write(optionsOf: graph)
        write(options.bytes)
    }

    mutating func write(addition graph: Graph, below group: Int, _ origin: AdditionOrigin) {
        write(count: group)
        write(wholeGraph: graph)
        write(origin.firstUnit)
        write(origin.attempt.rawValue)
        write(optional: origin.id) { $0.write($1) }
    }

    mutating func write(line: DecisionLine) {
        write(units: line.due)
        write(count: line.count)
        write(optional: line.state) { $0.write($1) }
        write(wholeFailures: line.failures)
        write(line.hasFailed)
        write(units: line.forgiven.sorted())
        write(optional: line.step) { writer, step in
            writer.write(step.unit)
            writer.write(units: step.open.sorted())
        }
    }

    mutating func write(standing: UniqueStanding) {
        switch standing {
        case .claimed(let id):
            write(UInt8(0))
            write(id)
        case .duplicate(let duplicate):
            write(UInt8(1))
            write(duplicate.id)
            write(duplicate.first.rawValue)
            write(duplicate.joins)
            write(optional: duplicate.ending) { writer, ending in
                writer.write(outcome: ending.outcome)
                writer.write(optional: ending.received) { $0.write(received: $1) }
            }
        }
    }

    mutating func write(received: Received) {
        switch received {
        case .value(let payload):
            write(UInt8(0))
            write(payload: payload)
        case .failure(let failures):
            write(UInt8(1))
            write(wholeFailures: failures)
        case .list(let list):
            write(UInt8(2))
            write(list: list) { $0.write(received: $1) }
        }
    }

    mutating func write(success: ProvisionalSuccess) {
        write(payload: success.payload)
        write(optional: success.addition) { $0.write(addition: $1) }
        write(success.attempt.rawValue)
    }

    mutating func write(ending: HeldEnd.Ending) {
        switch ending {
        case .success(let success):
            write(UInt8(0))
            write(success: success)
        case .failure(let failures):
            write(UInt8(1))
            write(wholeFailures: failures)
        }
    }
}

extension ByteReader {
    mutating func wholeGraph() throws(DecodingFailure) -> Graph {
        var graph = try graph()
        var options = ByteReader(try content()[...])
        try options.readOptions(into: &graph)
        try graph.checkStructure()
        return graph
    }

    mutating func addition(to layout: inout GraphLayout) throws(DecodingFailure) -> AdditionOrigin {
        let group = try index()
        guard layout.graph.nodes.indices.contains(group) else {
            throw DecodingFailure("something was added to node \(group), which is none")
        }
        let graph = try wholeGraph()
        let (firstNode, firstParameter) = (layout.graph.nodes.count, layout.graph.parameters.count)
        _ = layout.grow(by: graph, below: group)
        return AdditionOrigin(
            firstUnit: try signed32(), firstNode: Int32(firstNode), firstParameter: Int32(firstParameter), root: graph.nodes[0],
            attempt: Attempt(rawValue: try unsigned()), id: try optional { reader throws(DecodingFailure) in try reader.text() })
    }

    mutating func decisionLine() throws(DecodingFailure) -> DecisionLine {
        DecisionLine(
            due: Deque(try units()), count: try index(),
            state: try optional { reader throws(DecodingFailure) in try reader.content() }, failures: try wholeFailures(),
            hasFailed: try flag(), forgiven: Set(try units()),
            step: try optional { reader throws(DecodingFailure) in
                DecidedStep(unit: try reader.signed32(), open: Set(try reader.units()))
            })
    }

    mutating func standing() throws(DecodingFailure) -> UniqueStanding {
        switch try byte() {
        case 0: return .claimed(try text())
        case 1:
            return .duplicate(
                UniqueStanding.Duplicate(
                    id: try text(), first: UnitID(rawValue: try unsigned()), joins: try flag(),
                    ending: try optional { reader throws(DecodingFailure) in
                        UniqueStanding.Ending(
                            outcome: try reader.unitOutcome(),
                            received: try reader.optional { reader throws(DecodingFailure) in try reader.received(depth: 0) })
                    }))
        case let other: throw DecodingFailure("\(other) is nothing that becomes of a unique id")
        }
    }

    /// - Parameter depth: how many lists it is in: groups in groups.
    mutating func received(depth: Int) throws(DecodingFailure) -> Received {
        switch try byte() {
        case 0: return .value(try payload())
        case 1: return .failure(try wholeFailures())
        case 2:
            guard depth < Self.receivedDepthMax else { throw DecodingFailure("lists of values are nested deeper than graphs can be") }
            return .list(try list { reader throws(DecodingFailure) in try reader.received(depth: depth + 1) })
        case let other: throw DecodingFailure("\(other) is nothing that can be received")
        }
    }

    /// Lists in lists that are read: as deep as groups may be nested, with room.
    private static let receivedDepthMax = 4_000

    mutating func success() throws(DecodingFailure) -> ProvisionalSuccess {
        ProvisionalSuccess(
            payload: try payload(), addition: try optional { reader throws(DecodingFailure) in try reader.addition() },
            attempt: Attempt(rawValue: try unsigned()))
    }

    mutating func ending() throws(DecodingFailure) -> HeldEnd.Ending {
        switch try byte() {
        case 0: return .success(try success())
        case 1: return .failure(try wholeFailures())
        case let other: throw DecodingFailure("\(other) is no end that is held")
        }
    }
}
