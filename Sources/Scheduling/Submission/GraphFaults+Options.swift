extension Graph {
    /// Options that cannot be kept.
    func optionFaults() -> [AdmissionError] {
        var faults: [AdmissionError] = []
        for (index, node) in nodes.enumerated() where node.hasOptions {
            for message in problems(withOptionsOf: node) { faults.append(fault(index, message)) }
        }
        return faults
    }

    private func problems(withOptionsOf node: Node) -> [String] {
        let options = node.options
        var problems: [String] = []
        func check(_ value: Int64, _ name: String) {
            if !(0...Self.millisecondsMax).contains(value) {
                problems.append("has a `\(name)` of \(value) ms; it must be from 0 to \(Self.millisecondsMax)")
            }
        }
        check(options.delayMilliseconds, "delay")
        check(options.notBefore, "notBefore")
        check(options.deadlineMilliseconds, "deadline")
        check(options.deadline, "deadline")
        check(options.queueTimeoutMilliseconds, "queueTimeout")
        if case .operation = node.kind {
        } else if options.queueTimeoutMilliseconds != 0 {
            problems.append("has a `queueTimeout`, which is for operations; a group waits for no worker")
        }
        return problems + self.problems(withConditionsOf: node)
    }

    /// The end of the year 9999, as a time; as a duration far longer than anybody waits.
    private static let millisecondsMax: Int64 = 253_402_300_799_999
}
