/// Operation names as small numbers, so that nothing on the hot path hashes text.
struct OperationClasses {
    /// Splitting a list for a forEach: every worker can.
    static let decide: Int32 = 0
    private var numbers: [String: Int32] = [:]
    /// Operations, or groups (`decide`), whose conditions the same worker is to evaluate.
    private(set) var combined: [(number: Int32, operation: Int32, conditions: [String])] = []

    mutating func number(of name: String) -> Int32 {
        if let known = numbers[name] { return known }
        let number = Int32(numbers.count + 1)
        numbers[name] = number
        return number
    }

    mutating func number(of operation: Int32, with conditions: [String]) -> Int32 {
        guard !conditions.isEmpty else { return operation }
        if let known = combined.first(where: { $0.operation == operation && $0.conditions == conditions }) { return known.number }
        // No name of an operation has a NUL.
        let number = number(of: "\(operation)\0" + conditions.joined(separator: "\0"))
        combined.append((number, operation, conditions))
        return number
    }

    /// How a condition type is remembered among the known types.
    static func knownName(_ condition: String) -> String { "?" + condition }
}

extension Scheduler {
    mutating func classesOfNodes(_ graph: Graph) -> [Int32] {
        let before = classes.combined.count
        let found = graph.nodes.map { node in
            let number =
                if case .operation(let operation) = node.kind { classes.number(of: operation.type) } else { OperationClasses.decide }
            return node.hasOptions ? classes.number(of: number, with: node.probeTypes) : number
        }
        if classes.combined.count > before { renewLanes() }
        return found
    }

    func operationClass(of unit: UnitID) -> Int {
        let index = durable.index(of: unit.submission)
        return Int(nodeClasses[index][Int(durable.submissions[index].units[unit.index].node)])
    }
}
