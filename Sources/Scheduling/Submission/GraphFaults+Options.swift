extension Graph {
    /// Options that cannot be kept.
    func optionFaults() -> [AdmissionError] {
        var faults: [AdmissionError] = []
        for (index, node) in nodes.enumerated() where node.hasOptions {
            for message in problems(withOptionsOf: node, isRoot: index == 0) { faults.append(fault(index, message)) }
        }
        return faults + onceFaults() + hostingFaults()
    }

    func problems(withOptionsOf node: Node, isRoot: Bool) -> [String] {
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
        check(options.backoff.initialMilliseconds, "backoff")
        check(options.backoff.maxMilliseconds, "backoff")
        if !(0...1_000).contains(options.backoff.jitterPermille) {
            problems.append("has a jitter of \(options.backoff.jitterPermille) thousandths; it must be from 0 to 1000")
        }
        if !Backoff.factors.contains(options.backoff.factorPermille) {
            problems.append(
                "has a back-off that grows by \(options.backoff.factorPermille) thousandths; it must be from \(Backoff.factors.lowerBound) to \(Backoff.factors.upperBound)"
            )
        }
        if let priority = options.priority, !Self.priorities.contains(priority) {
            problems.append(
                "has a `priority` of \(priority); it must be from \(Self.priorities.lowerBound) to \(Self.priorities.upperBound)")
        }
        if let limit = options.crashLimit, !Self.crashLimits.contains(limit) {
            problems.append(
                "has a `crashLimit` of \(limit); it must be from \(Self.crashLimits.lowerBound) to \(Self.crashLimits.upperBound)")
        }
        if options.weight != 0, !isRoot || !Self.weights.contains(options.weight) {
            problems.append(
                "has a `weight` of \(options.weight); a whole graph may have one, from \(Self.weights.lowerBound) to \(Self.weights.upperBound)"
            )
        }
        if !options.retryOn.isEmpty, node.retries == 0 {
            problems.append("says which failures it is tried again for, but not how often; give `retry` its `attempts`")
        }
        if case .operation = node.kind {
        } else if options.queueTimeoutMilliseconds != 0 {
            problems.append("has a `queueTimeout`, which is for operations; a group waits for no worker")
        }
        return problems + self.problems(withRequirementsOf: node) + self.problems(withConditionsOf: node)
            + self.problems(withUniquenessOf: node)
    }

    /// What must not run twice cannot be tried again, neither by itself nor with a group around it.
    private func onceFaults() -> [AdmissionError] {
        var faults: [AdmissionError] = []
        var once = [Bool](repeating: false, count: nodes.count)
        var retried = [Bool](repeating: false, count: nodes.count)
        var again = [Bool](repeating: false, count: nodes.count)
        // By node: it is a dependent operation, or inside of one.
        var prepares = [Bool](repeating: false, count: nodes.count)
        for (index, node) in nodes.enumerated() {
            let isOnce = node.hasOptions && node.options.atMostOnce
            let mayRunAgain = node.hasOptions && node.options.recomputable
            prepares[index] = node.isPreparation || (index > 0 && prepares[node.parent])
            if isOnce, prepares[index] {
                faults.append(
                    fault(
                        index,
                        "has `atMostOnce` in a dependent operation of a condition, which is done anew for each attempt; leave it out"))
            } else if isOnce, mayRunAgain {
                faults.append(fault(index, "has `atMostOnce` and `recomputable`, which exclude each other; leave one out"))
            } else if isOnce, index > 0, again[node.parent] {
                faults.append(
                    fault(
                        index, "has `atMostOnce`, and a group around it has `recomputable`, which lets it run again; leave one of them out")
                )
            } else if mayRunAgain, index > 0, once[node.parent], !node.isPreparation {
                faults.append(
                    fault(
                        index,
                        "has `recomputable`, and a group around it has `atMostOnce`: what must not run twice cannot; leave one of them out")
                )
            } else if isOnce, node.retries > 0 {
                faults.append(fault(index, "has `atMostOnce` and `retry`, which exclude each other; leave one out"))
            } else if isOnce, index > 0, retried[node.parent] {
                faults.append(
                    fault(
                        index, "has `atMostOnce`, and a group around it has `retry`, which would run it again; leave one of them out"))
            } else if node.retries > 0, index > 0, once[node.parent], !node.isPreparation {
                faults.append(
                    fault(
                        index,
                        "has `retry`, and a group around it has `atMostOnce`: what must not run twice is not tried again; leave one of them out"
                    ))
            }
            once[index] = isOnce || (index > 0 && once[node.parent] && !node.isPreparation)
            again[index] = mayRunAgain || (index > 0 && again[node.parent] && !node.isPreparation)
            retried[index] = node.mayBeginAnew(isAtMostOnce: once[index]) || (index > 0 && retried[node.parent])
        }
        return faults
    }

    private static let priorities = -100...100
    private static let crashLimits = 1...1_000
    private static let weights = 1...100

    /// The end of the year 9999, as a time; as a duration far longer than anybody waits.
    static let millisecondsMax: Int64 = 253_402_300_799_999
}
