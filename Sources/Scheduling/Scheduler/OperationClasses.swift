/// Operation names as small numbers, so that nothing on the hot path hashes text.
struct OperationClasses {
    /// Splitting a list for a forEach: every worker can.
    static let decide: Int32 = 0
    private var numbers: [String: Int32] = [:]

    mutating func number(of name: String) -> Int32 {
        if let known = numbers[name] { return known }
        let number = Int32(numbers.count + 1)
        numbers[name] = number
        return number
    }
}

extension Scheduler {
    mutating func classesOfNodes(_ graph: Graph) -> [Int32] {
        graph.nodes.map { node in
            if case .operation(let operation) = node.kind { classes.number(of: operation.type) } else { OperationClasses.decide }
        }
    }

    func operationClass(of unit: UnitID) -> Int {
        let index = durable.index(of: unit.submission)
        return Int(nodeClasses[index][Int(durable.submissions[index].units[unit.index].node)])
    }
}
