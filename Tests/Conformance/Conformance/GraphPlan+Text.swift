/// For whoever reads why a test has failed.
extension GraphPlan: CustomStringConvertible {
    package var description: String {
        let lines = nodes.indices.map { node in
            String(repeating: "  ", count: ancestors(of: node).count) + line(of: node)
        }
        let cancelled = cancellations.map { "cancel \(Self.name(of: $0.node)) \($0.moment)" }
        let paused = pauses.map { "pause \(Self.name(of: $0.node)) at start of \(Self.name(of: $0.trigger)) for \($0.ticks)" }
        let again = isSubmittedTwice ? ["submitted twice"] : []
        return (lines + cancelled + paused + again + (slots.map { ["slots: \($0)"] } ?? [])).joined(separator: "\n")
    }

    private func line(of node: Int) -> String {
        let plan = nodes[node]
        var words = [Self.name(of: node)]
        switch plan.kind {
        case .group(let group):
            words.append(group.isOrdered ? "ordered" : "group")
            if let parent = plan.parent { words.append("in \(Self.name(of: parent))") }
            if group.isList { words.append("list") }
            if group.decides { words.append("decides") }
            if let sequence = group.sequence { words.append("sequence of \(sequence.rawValue)") }
            if group.stops { words.append("stops") }
            if let limit = group.limit { words.append("limit \(limit)") }
        case .wrapper:
            words.append("wrapper")
            if let parent = plan.parent { words.append("in \(Self.name(of: parent))") }
        case .operation(let script):
            if let parent = plan.parent { words.append("in \(Self.name(of: parent))") }
            words.append("ticks \(script.ticks)")
            if script.isEndless { words.append("endless") }
            if script.failures > 0 { words.append("fails \(script.failures)×") }
            if let lingers = script.lingers { words.append("lingers \(lingers)") }
            if let elements = script.elements { words.append("sends \(elements)") }
            if let takes = script.takes { words.append("takes \(takes)") }
            if script.forwardsFailure, !plan.producers.isEmpty || plan.source != nil { words.append("forwards") }
        }
        if !plan.producers.isEmpty { words.append("receives \(plan.producers.map(Self.name))") }
        if let cause = plan.cause {
            words.append("added by \(plan.afterFailure.map { $0 ? "failure of " : "success of " } ?? "")\(Self.name(of: cause))")
        }
        if let maker = plan.maker { words.append("made by \(Self.name(of: maker))") }
        if let source = plan.source { words.append("reads \(Self.name(of: source))") }
        if !plan.after.isEmpty { words.append("after \(plan.after.map(Self.name))") }
        if plan.attempts > 1 { words.append("attempts \(plan.attempts)") }
        if !plan.keys.isEmpty { words.append("keys \(plan.keys.map { "\($0.name)/\($0.limit)" })") }
        if let unique = plan.unique { words.append("id \(unique.id)\(unique.joins ? " joins" : "")") }
        if plan.hasTimeout { words.append("timeout") }
        if plan.hasDeadline { words.append("deadline") }
        if plan.hasQueueTimeout { words.append("queue timeout") }
        if let start = plan.start { words.append("\(start)") }
        if plan.isAtMostOnce { words.append("at most once") }
        if plan.isRecomputable { words.append("recomputable") }
        if let required = plan.requires { words.append("requires \(required.label ?? "any") permits \(required.permits)") }
        if plan.asksAboutRetry { words.append("asks") }
        if plan.holdsEnd { words.append(plan.holdsForEver ? "holds for ever" : "holds") }
        if plan.isHosted { words.append("hosted") }
        words += plan.conditions.map(\.description)
        return words.joined(separator: " ")
    }
}

extension ConditionPlan: CustomStringConvertible {
    package var description: String {
        switch self {
        case .scripted(let verdicts, let isNegated): "\(isNegated ? "not" : "")\(verdicts.map(\.rawValue))"
        case .prepared(let verdicts, let isNegated): "\(isNegated ? "not" : "")prepared\(verdicts.map(\.rawValue))"
        case .noFailedDependencies: "noFailed"
        case .noCancelledDependencies: "noCancelled"
        case .all(let parts): "all(\(parts.map(\.description).joined(separator: ", ")))"
        case .any(let parts): "any(\(parts.map(\.description).joined(separator: ", ")))"
        case .not(let part): "not(\(part))"
        case .silent(let part): "silent(\(part))"
        case .ignored(let part): "ignored(\(part))"
        }
    }
}

extension History: CustomStringConvertible {
    package var description: String {
        events.enumerated().map { "\($0.offset)\t\($0.element)" }.joined(separator: "\n")
    }
}

extension Event: CustomStringConvertible {
    package var description: String {
        switch self {
        case .submittedAgain(let isExisting): "submitted again, \(isExisting ? "is the same" : "is another one")"
        case .toldAgain(let node, let outcome): "\(GraphPlan.name(of: node)) told again \(outcome)"
        case .paused(let node): "\(GraphPlan.name(of: node)) is paused"
        case .resumed(let node): "\(GraphPlan.name(of: node)) is about to be resumed"
        case .host(let name, let labels, let permits): "\(name) has \(labels), permits \(permits)"
        case .placed(let node, let run, let host, let permits): "\(GraphPlan.name(of: node)) run \(run) is on \(host) with \(permits)"
        case .made(let isHere): "the graph is made, for \(isHere ? "here" : "elsewhere")"
        case .clock(let milliseconds): "at \(milliseconds) ms"
        case .cancelAsked(let node): "\(GraphPlan.name(of: node)) cancel asked"
        case .cancelInForce(let node): "\(GraphPlan.name(of: node)) cancel in force"
        case .judged(let node, let condition, let verdict): "\(GraphPlan.name(of: node)) condition \(condition): \(verdict)"
        case .started(let node, let run, let process, let received, let tokens):
            "\(GraphPlan.name(of: node)) run \(run) begins in \(process), received \(received.map { "\($0)" } ?? "nothing") \(tokens)"
        case .ended(let node, let run, let end): "\(GraphPlan.name(of: node)) run \(run) ends: \(end)"
        case .retryAsked(let node, let retries, let fault, let again):
            "\(GraphPlan.name(of: node)) asks after \(retries) retries for another attempt because of \(fault): \(again)"
        case .held(let node, let outcome): "\(GraphPlan.name(of: node)) willFinish \(outcome)"
        case .letGo(let node): "\(GraphPlan.name(of: node)) is let go"
        case .consumed(let node, let run, let elements, let end):
            "\(GraphPlan.name(of: node)) run \(run) has read \(elements): \(end)"
        case .generated(let node, let received):
            "\(GraphPlan.name(of: node)) makes its parts, received \(received.map { "\($0)" } ?? "nothing")"
        case .told(let node, let telling): "\(GraphPlan.name(of: node)) told \(telling)"
        case .over(let node): "\(GraphPlan.name(of: node)) over"
        case .attempt(let number, let event): "of attempt \(number): \(event)"
        case .killed(let process): "kill \(process)"
        }
    }
}

extension Fault: CustomStringConvertible {
    package var description: String { "\(kind) by \(publisher ?? "nobody")\(isOfCondition ? ", condition" : "")" }
}
