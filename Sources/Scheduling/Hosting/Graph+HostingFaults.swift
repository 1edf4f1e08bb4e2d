extension Node {
    /// Whether it executes in the process that submitted the graph.
    var isHosted: Bool { hasOptions && options.isHosted }

    /// Whether that process has to be asked before it starts, because of conditions that exist only there.
    var isAskedAtSubmitter: Bool { hasOptions && options.conditions.contains(where: \.isHosted) }
}

extension Node {
    /// Whether that process has a say in its end.
    var isConcludedAtSubmitter: Bool { hasOptions && options.say != SubmitterSay() }

    /// Whether something of it is in the process that submitted the graph.
    var needsSubmitter: Bool { isHosted || isAskedAtSubmitter || isConcludedAtSubmitter }
}

extension Node {
    /// Whether it, and all in it, may be done once more when it has failed: because it says so, or because its submitter may.
    ///
    /// - Parameter isAtMostOnce: it must not run twice, whatever its submitter says.
    func mayBeginAnew(isAtMostOnce: Bool) -> Bool { retries > 0 || (hasOptions && options.say.retries && !isAtMostOnce) }
}

extension Graph {
    /// What cannot be hosted.
    func hostingFaults() -> [AdmissionError] {
        guard nodes.contains(where: \.needsSubmitter) else { return [] }
        var faults: [AdmissionError] = []
        // By node: whether it is made once per element of a forEach.
        var isRepeated = [Bool](repeating: false, count: nodes.count)
        for (index, node) in nodes.enumerated() {
            let isInForEach = if index > 0, case .forEach = nodes[node.parent].kind { true } else { false }
            isRepeated[index] = isInForEach || (index > 0 && isRepeated[node.parent])
            for message in problems(withHostingOf: node, isRepeated: isRepeated[index]) { faults.append(fault(index, message)) }
        }
        return faults
    }

    private func problems(withHostingOf node: Node, isRepeated: Bool) -> [String] {
        guard node.needsSubmitter else { return [] }
        var problems: [String] = []
        if isRepeated { problems.append("has hosted code inside of a forEach, whose elements its submitter does not know") }
        if node.isConcludedAtSubmitter, case .forEach = node.kind {
            problems.append("is a forEach in whose end its submitter has a say; only operations and groups are")
        }
        if node.isHosted, !node.isOperation, !node.isDecider { problems.append("is hosted and no operation; only operations are") }
        if node.isHosted, !node.requires.isEmpty {
            problems.append("is hosted and requires something of a worker; take `requires` off")
        }
        if node.isHosted, !node.probeTypes.isEmpty {
            problems.append(
                "is hosted and has conditions that workers evaluate (\(node.probeTypes.map { "`\($0)`" }.joined(separator: ", ")));"
                    + " its submitter evaluates them all")
        }
        return problems
    }
}
