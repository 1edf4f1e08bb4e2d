/// What the nodes of a graph require, as it holds for each. Computed once per graph; one that requires nothing has none.
struct RequirementPlan: Sendable {
    /// Each once.
    private var distinct: [Requirements] = []
    private var numbers: [Requirements: Int32] = [:]
    /// By node: index into `distinct`; -1: nothing.
    private var places: [Int32]
    /// By node: what it hands on to everything inside of it.
    private var handedOn: [Int32]

    /// nil: no node requires anything.
    init?(_ graph: Graph) {
        guard graph.nodes.contains(where: { !$0.requires.isEmpty }) else { return nil }
        self.init(nodes: 0)
        grow(graph, from: 0)
    }

    /// Of so many nodes that require nothing.
    init(nodes: Int) {
        places = Array(repeating: -1, count: nodes)
        handedOn = places
    }

    /// Takes in the nodes from `first` on. Parents stand before their children.
    mutating func grow(_ graph: Graph, from first: Int) {
        for index in first..<graph.nodes.count {
            let node = graph.nodes[index]
            handedOn.append(index == 0 ? -1 : handedOn[node.parent])
            places.append(-1)
            if !node.requires.isEmpty { handedOn[index] = number(of: node.requires.inside(requirements(inside: index))) }
            // What a group requires is not required of a submitter.
            guard handedOn[index] >= 0, !node.isHosted else { continue }
            switch node.kind {
            case .operation: places[index] = number(of: requirements(inside: index).ofOperation)
            case .group: if !node.probeTypes.isEmpty { places[index] = number(of: requirements(inside: index).ofGroup) }
            case .decider: places[index] = number(of: requirements(inside: index).ofGroup)
            case .forEach: break
            }
        }
    }

    private mutating func number(of requirements: Requirements) -> Int32 {
        guard !requirements.isEmpty else { return -1 }
        if let known = numbers[requirements] { return known }
        let number = Int32(distinct.count)
        distinct.append(requirements)
        numbers[requirements] = number
        return number
    }

    /// What is required of everything inside of `node` that does not say otherwise.
    func requirements(inside node: Int) -> Requirements { handedOn[node] < 0 ? Requirements() : distinct[Int(handedOn[node])] }

    /// What a worker must have to take a unit of `node`; nil: nothing.
    func requirements(of node: Int) -> Requirements? { places[node] < 0 ? nil : distinct[Int(places[node])] }
}

extension Node {
    /// What it asks for itself.
    var requires: Requirements { hasOptions ? options.requires : Requirements() }
}

extension Submission {
    /// What an attempt of the unit takes of its worker's host. The process that submitted the graph has nothing that is counted.
    @inline(__always)  // else the submission is copied for the call
    func need(of unit: Int) -> [ResourceAmount] {
        guard let requirements = layout.requirements, !isForSubmitter(unit) else { return [] }
        return requirements.requirements(of: Int(units[unit].node))?.resources ?? []
    }
}
