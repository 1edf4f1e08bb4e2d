/// What the nodes of a graph require, as it holds for each. Computed once per graph; one that requires nothing has none.
struct RequirementPlan: Sendable {
    /// Each once.
    private let distinct: [Requirements]
    /// By node: index into `distinct`; -1: nothing.
    private let places: [Int32]

    /// nil: no node requires anything.
    init?(_ graph: Graph) {
        guard graph.nodes.contains(where: { !$0.requires.isEmpty }) else { return nil }
        var distinct: [Requirements] = []
        var numbers: [Requirements: Int32] = [:]
        func number(_ requirements: Requirements) -> Int32 {
            guard !requirements.isEmpty else { return -1 }
            if let known = numbers[requirements] { return known }
            let number = Int32(distinct.count)
            distinct.append(requirements)
            numbers[requirements] = number
            return number
        }
        // By node: what it hands on to everything inside of it.
        var handedOn = [Int32](repeating: -1, count: graph.nodes.count)
        var places = handedOn
        for (index, node) in graph.nodes.enumerated() {
            handedOn[index] = index == 0 ? -1 : handedOn[node.parent]
            if !node.requires.isEmpty {
                let outer = handedOn[index] < 0 ? Requirements() : distinct[Int(handedOn[index])]
                handedOn[index] = number(node.requires.inside(outer))
            }
            // What a group requires is not required of a submitter.
            guard handedOn[index] >= 0, !node.isHosted else { continue }
            switch node.kind {
            case .operation: places[index] = number(distinct[Int(handedOn[index])].ofOperation)
            case .group: if !node.probeTypes.isEmpty { places[index] = number(distinct[Int(handedOn[index])].ofGroup) }
            case .forEach: break
            }
        }
        self.distinct = distinct
        self.places = places
    }

    /// What a worker must have to take a unit of `node`; nil: nothing.
    func requirements(of node: Int) -> Requirements? { places[node] < 0 ? nil : distinct[Int(places[node])] }
}

extension Node {
    /// What it asks for itself.
    var requires: Requirements { hasOptions ? options.requires : Requirements() }
}

extension Submission {
    /// What an attempt of the unit takes of its worker's host.
    func need(of unit: Int) -> [ResourceAmount] {
        layout.requirements?.requirements(of: Int(units[unit].node))?.resources ?? []
    }
}
