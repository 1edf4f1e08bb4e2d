/// The conditions of an operation, with composite ones taken apart: what is evaluated are the leaves.
///
/// Invariant behind `@unchecked Sendable`: constant; its conditions are asked for one operation, one after the other.
struct ConditionTree: @unchecked Sendable {
    /// A condition that is no composite.
    struct Leaf {
        let condition: any AOperationCondition
        /// Whether its dependent operation is run: not below a silent condition.
        let runsDependentOperation: Bool

        var key: String { type(of: condition).key }
    }

    private indirect enum Node {
        case leaf(Int)
        case composite(any CompositeCondition, [Node])
    }

    private(set) var leaves: [Leaf] = []
    private var roots: [Node] = []

    init(_ conditions: [any AOperationCondition]) {
        for condition in conditions { roots.append(add(condition, runsDependentOperation: true)) }
    }

    private mutating func add(_ condition: any AOperationCondition, runsDependentOperation: Bool) -> Node {
        guard let composite = condition as? any CompositeCondition else {
            leaves.append(Leaf(condition: condition, runsDependentOperation: runsDependentOperation))
            return .leaf(leaves.count - 1)
        }
        let runs = runsDependentOperation && composite.runsDependentOperations
        return .composite(composite, composite.components.map { add($0, runsDependentOperation: runs) })
    }

    /// The locks that the leaves name.
    var exclusions: [MutualExclusion] { leaves.compactMap(\.condition.exclusion) }

    /// One result for each condition, from those of the leaves.
    func combine(_ results: [OperationConditionResult]) -> [OperationConditionResult] {
        roots.map { result(of: $0, results) }
    }

    private func result(of node: Node, _ results: [OperationConditionResult]) -> OperationConditionResult {
        switch node {
        case .leaf(let index):
            results[index].published(by: leaves[index].key)
        case .composite(let composite, let nodes):
            composite.combine(nodes.map { result(of: $0, results) }).published(by: type(of: composite).key)
        }
    }
}

extension OperationConditionResult {
    /// The same result; an error that nobody has published yet is published by the condition `key`.
    fileprivate func published(by key: String) -> OperationConditionResult {
        guard case .failure(let error) = self else { return self }
        var published = error.published(by: key)
        published.state = .condition
        return .failure(published)
    }
}
