/// Which operations of a graph receive what others send while they run.
struct StreamPlan: Sendable {
    /// By producer: who receives from it, in node order. Looked up, never iterated.
    private var receivers: [Int32: [Int32]] = [:]

    /// nil: no node does.
    init?(_ graph: Graph) {
        guard graph.nodes.contains(where: { $0.streamProducer != nil }) else { return nil }
        grow(graph, from: 0)
    }

    /// Of nodes none of which does.
    init() {}

    /// Takes in the nodes from `first` on.
    mutating func grow(_ graph: Graph, from first: Int) {
        for node in first..<graph.nodes.count {
            guard let producer = graph.nodes[node].streamProducer else { continue }
            receivers[Int32(producer), default: []].append(Int32(node))
        }
    }

    func receivers(of producer: Int32) -> [Int32] { receivers[producer] ?? [] }
}

extension Node {
    /// The operation whose elements it receives while that runs.
    var streamProducer: Int? { hasOptions ? options.stream : nil }

    /// Whether it waits for that operation to begin, and not for its end as well.
    func onlyStreams(from producer: Int) -> Bool {
        streamProducer == producer && !receives.contains(producer) && !after.contains(producer)
    }
}

extension Graph {
    /// What keeps a node from receiving the stream that it names; nil: nothing, or it names none.
    func faultOfStream(of index: Int, _ layout: GraphLayout) -> String? {
        guard let producer = nodes[index].streamProducer else { return nil }
        guard nodes.indices.contains(producer) else { return "receives the stream of a node that does not exist" }
        let name = path(of: producer)
        guard nodes[index].isOperation else { return "receives the stream of `\(name)` and is no operation; let an operation in it do so" }
        guard nodes[producer].isOperation else { return "receives the stream of `\(name)`, which is a group and sends nothing" }
        guard layout.template[index] == layout.template[producer] else {
            return "receives the stream of `\(name)` from inside of a forEach; let an operation beside `\(name)` receive it"
        }
        let isOnce = layout.policies.map { ($0.atMostOnce[index], $0.atMostOnce[producer]) } ?? (false, false)
        guard !isOnce.0 || isOnce.1 else {
            return "has `atMostOnce` and receives the stream of `\(name)`, which may begin anew, and then it would have to as well;"
                + " give `\(name)` `atMostOnce`, or take it off here"
        }
        return nil
    }
}
