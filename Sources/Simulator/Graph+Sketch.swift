import Scheduling

extension Graph {
    /// Its nodes in one line each, for those who read what happened in a run.
    var sketch: String { nodes.indices.map { "\n    \(sketch(of: $0))" }.joined() }

    private func sketch(of index: Int) -> String {
        let node = nodes[index]
        var words = ["\(path(of: index).isEmpty ? "the root" : path(of: index)):"]
        switch node.kind {
        case .operation: words.append("operation")
        case .group(let group):
            words += [group.isOrdered ? "ordered" : "", "group", group.stopsOnFailure ? "stops" : ""]
            if group.maxConcurrent > 0 { words.append("\(group.maxConcurrent) at once") }
        case .forEach(let each): words.append(each.elements.map { "forEach of \($0.count)" } ?? "forEach")
        case .decider: words.append("decider")
        }
        if !node.receives.isEmpty { words.append("receives \(node.receives.map { path(of: $0) }.joined(separator: ","))") }
        if !node.after.isEmpty { words.append("after \(node.after.map { path(of: $0) }.joined(separator: ","))") }
        if let producer = node.options.stream { words.append("receives the stream of \(path(of: producer))") }
        if RandomWork.sends(node) { words.append("sends") }
        if node.retries > 0 { words.append("\(node.retries) retries") }
        if node.options.isHosted { words.append("hosted") }
        if node.options.say.holds { words.append("its submitter holds its end") }
        if node.options.say.retries { words.append("its submitter retries it") }
        if node.timeoutMilliseconds > 0 { words.append("timeout \(node.timeoutMilliseconds)") }
        if node.forwardsFailure { words.append("forwards") }
        return (words.filter { !$0.isEmpty } + node.options.words).joined(separator: " ")
    }
}

extension NodeOptions {
    fileprivate var words: [String] {
        var words = exclusive.map { "locks \($0.key)" }
        if !conditions.isEmpty { words.append("conditions \(conditions.map(\.word).joined(separator: ","))") }
        if !conditionTrees.isEmpty { words.append("of which \(conditionTrees.map(word).joined(separator: ","))") }
        if let prepares { words.append("prepares \(prepares)") }
        if retriesNet { words.append("retries its net") }
        if atMostOnce { words.append("at most once") }
        if let unique { words.append("\(unique.joins ? "joins" : "unique") \(unique.id)") }
        if delayMilliseconds > 0 { words.append("delay \(delayMilliseconds)") }
        if notBefore > 0 { words.append("not before \(notBefore)") }
        if deadlineMilliseconds > 0 { words.append("deadline \(deadlineMilliseconds)") }
        if queueTimeoutMilliseconds > 0 { words.append("queue timeout \(queueTimeoutMilliseconds)") }
        if let priority { words.append("priority \(priority)") }
        if let crashLimit { words.append("crash limit \(crashLimit)") }
        if !requires.isEmpty {
            let things = requires.labels + requires.resources.map { "\($0.amount) \($0.name)" }
            words.append("requires \(things.joined(separator: ","))")
        }
        return words
    }

    private func word(_ tree: ConditionTree) -> String {
        let parts = tree.parts.map(word).joined(separator: ",")
        return switch tree {
        case .leaf(let position): "\(position)"
        case .all: "all(\(parts))"
        case .any: "any(\(parts))"
        case .not: "not(\(parts))"
        case .ignored: "ignored(\(parts))"
        }
    }
}

extension Condition {
    fileprivate var word: String {
        let word =
            switch kind {
            case .noFailedDependencies: "none-failed"
            case .noCancelledDependencies: "none-cancelled"
            case .timeWindow(let window): "\(window.startMinute)-\(window.endMinute)\(window.zone)"
            case .rateLimit(let limit): "\(limit.key):\(limit.count)/\(limit.perMilliseconds)"
            case .probe(let probe): probe.isHosted ? "closure" : "probe"
            }
        return isNegated ? "not-\(word)" : word
    }
}
