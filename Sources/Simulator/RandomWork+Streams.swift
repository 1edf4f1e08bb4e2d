import Scheduling
import Wire

/// Who sends while it runs, and who receives that.
extension RandomWork {
    private static let elementsMax = 8
    private static let elementsOfMany = 20

    func addStreams(to graph: inout Graph, using random: inout SimulationRandom) {
        let operations = graph.nodes.indices.filter { if case .operation = graph.nodes[$0].kind { true } else { false } }
        for node in operations where random.oneIn(4) { makeSender(node, in: &graph) }
        for receiver in operations where random.oneIn(3) {
            guard let producer = random.pick(operations), producer != receiver else { continue }
            let before = graph
            makeSender(producer, in: &graph)
            makeSender(receiver, in: &graph)
            graph.nodes[receiver].options.stream = producer
            if !graph.faults().isEmpty { graph = before }
        }
    }

    private func makeSender(_ node: Int, in graph: inout Graph) {
        graph.nodes[node].kind = .operation(OperationNode(type: Self.sender, parameters: 0))
    }

    func addStreams(to body: inout Body, _ assignment: WireAssignment, using random: inout SimulationRandom) {
        let count = random.below(random.oneIn(6) ? Self.elementsOfMany : Self.elementsMax)
        body.elements = (count, random.oneIn(3) ? 0 : 1 + body.milliseconds / Int64(count + 1))
        guard assignment.hasStream else { return }
        if random.oneIn(4) { body.wanted = random.below(5) }
        body.readingMilliseconds = random.oneIn(2) ? 0 : random.below(Int64(400))
    }
}
