/// What conditions come to, by what their scripted parts have said.
extension Account {
    /// What a condition says in a round.
    enum ConditionEnd: Equatable {
        case holds
        case refused(Fault)
        case notNow
        case ignored
        /// A part of it has not been asked.
        case unknown
    }

    /// What each condition of a node says, by the last answers before a place.
    func conditionEnds(of node: Int, before place: Int = .max, after start: Int = -1) -> [ConditionEnd] {
        conditionEnds(of: node) { condition in
            judgements[node].last { $0.condition == condition && $0.place < place && $0.place > start }?.verdict
        }
    }

    /// What they said in a round: each is asked once in each.
    func conditionEnds(of node: Int, inRound round: Int) -> [ConditionEnd] {
        conditionEnds(of: node) { condition in
            let answers = judgements[node].filter { $0.condition == condition }
            return answers.indices.contains(round) ? answers[round].verdict : nil
        }
    }

    private func conditionEnds(of node: Int, _ verdict: (Int) -> Verdict?) -> [ConditionEnd] {
        var next = 0
        return self.node(node).conditions.map { end(of: $0, node, isSilent: false, &next, verdict) }
    }

    private func end(
        of condition: ConditionPlan, _ node: Int, isSilent: Bool, _ next: inout Int, _ verdict: (Int) -> Verdict?
    ) -> ConditionEnd {
        func end(of part: ConditionPlan, _ next: inout Int, isSilent isAlsoSilent: Bool = false) -> ConditionEnd {
            self.end(of: part, node, isSilent: isSilent || isAlsoSilent, &next, verdict)
        }
        switch condition {
        case .scripted(_, let isNegated), .prepared(_, let isNegated):
            let number = next
            next += 1
            // What is silent has no dependent operation, and holds if that has everything to say.
            let isUnasked = isSilent && condition.isPrepared
            let end: ConditionEnd
            switch isUnasked ? .yes : verdict(number) {
            case nil: end = .unknown
            case .yes: end = .holds
            case .no: end = .refused(Fault(.own(Texts.no(of: node, condition: number)), by: Texts.scriptedCondition, isOfCondition: true))
            case .notNow: end = .notNow
            }
            return isNegated ? end.negated(Texts.scriptedCondition) : end
        case .noFailedDependencies:
            guard !outcomesOfPredecessors(of: node).allSatisfy({ $0?.isSuccess == true }) else { return .holds }
            return .refused(Fault(.failedDependencies, by: "NoFailedDependencies", isOfCondition: true))
        case .noCancelledDependencies:
            guard !outcomesOfPredecessors(of: node).allSatisfy({ $0?.isCancelled == false }) else { return .holds }
            return .refused(Fault(.cancelledDependencies, by: "NoCancelledDependencies", isOfCondition: true))
        case .all(let parts): return .all(parts.map { end(of: $0, &next) })
        case .any(let parts): return .any(parts.map { end(of: $0, &next) })
        case .not(let part): return end(of: part, &next).negated(part.key)
        case .silent(let part): return end(of: part, &next, isSilent: true)
        case .ignored(let part):
            let end = end(of: part, &next)
            if case .refused = end { return .ignored }
            return end
        }
    }

    private func outcomesOfPredecessors(of node: Int) -> [Outcome?] { self.node(node).predecessors.map { outcome($0) } }

    /// How many rounds there were in which all was asked.
    private func rounds(of node: Int) -> Int {
        let asked = self.node(node).conditions.flatMap { $0.areAsked(isSilent: false) }.enumerated().filter(\.element).map(\.offset)
        return asked.map { condition in judgements[node].count { $0.condition == condition } }.min() ?? 0
    }

    /// How often its conditions have failed at least, and at most.
    func refusals(of node: Int) -> (least: Int, most: Int) {
        let ends = (0..<rounds(of: node)).map { zip(self.node(node).conditions, conditionEnds(of: node, inRound: $0)) }
        // How dependencies ended that begin anew with it is known of the last time only.
        let hasKnownDependencies = !restsOnAttempts(node)
        let refused = ends.count { $0.contains { $1.isRefusal && (hasKnownDependencies || !$0.looksAtDependencies) } }
        // A round may have been asked in parts, and others taken from another one.
        let asked = Dictionary(grouping: judgements[node], by: \.condition).values.map(\.count).reduce(0, +)
        return (refused, asked)
    }

    /// Whether a condition has cancelled it instead of letting it fail.
    func isIgnored(_ node: Int, before place: Int) -> Bool {
        guard self.node(node).conditions.contains(where: \.mayIgnore) else { return false }
        let ends = conditionEnds(of: node, before: place)
        return ends.contains(.ignored) && !ends.contains(where: \.isRefusal)
    }
}

extension Account.ConditionEnd {
    var isRefusal: Bool { if case .refused = self { true } else { false } }

    fileprivate func negated(_ key: String) -> Self {
        switch self {
        case .holds: .refused(Fault(.negated, by: "Not<\(key)>", isOfCondition: true))
        case .refused, .ignored: .holds
        case .notNow, .unknown: self
        }
    }

    /// A failure counts before "ignored", that before "not now".
    fileprivate static func all(_ parts: [Self]) -> Self {
        let refused = parts.filter(\.isRefusal)
        if refused.count > 1 { return .refused(Fault(.severalRefuse, by: Texts.allCondition, isOfCondition: true)) }
        if parts.contains(.unknown) { return .unknown }
        return refused.first ?? [.ignored, .notNow].first { parts.contains($0) } ?? .holds
    }

    /// One that holds counts before "not now", that before a failure.
    fileprivate static func any(_ parts: [Self]) -> Self {
        if parts.contains(.holds) { return .holds }
        if parts.contains(.unknown) { return .unknown }
        if parts.contains(.notNow) { return .notNow }
        let isIgnored = !parts.isEmpty && parts.allSatisfy { $0 == .ignored }
        return isIgnored ? .ignored : .refused(Fault(.noAlternative, by: Texts.anyCondition, isOfCondition: true))
    }
}

extension ConditionPlan {
    /// The conditions that it is made of; itself if it is made of none.
    var leaves: [ConditionPlan] {
        switch self {
        case .scripted, .prepared, .noFailedDependencies, .noCancelledDependencies: [self]
        case .all(let parts), .any(let parts): parts.flatMap(\.leaves)
        case .not(let part), .silent(let part), .ignored(let part): part.leaves
        }
    }

    package var scriptedCount: Int { areAsked(isSilent: false).count }

    /// Whether it has a dependent operation inside of what it is made of.
    package var isPreparedInside: Bool { isEvaluatedWhole && leaves.contains(where: \.isPrepared) }

    fileprivate var isPrepared: Bool { if case .prepared = self { true } else { false } }

    /// Whether parts are silent whose dependent operations have everything to say.
    var hasUnaskedParts: Bool { areAsked(isSilent: false).contains(false) }

    /// By scripted part: whether it is asked, itself or by its dependent operation.
    fileprivate func areAsked(isSilent: Bool) -> [Bool] {
        switch self {
        case .scripted: [true]
        case .prepared: [!isSilent]
        case .noFailedDependencies, .noCancelledDependencies: []
        case .all(let parts), .any(let parts): parts.flatMap { $0.areAsked(isSilent: isSilent) }
        case .not(let part), .ignored(let part): part.areAsked(isSilent: isSilent)
        case .silent(let part): part.areAsked(isSilent: true)
        }
    }

    var looksAtDependencies: Bool { leaves.count > scriptedCount }

    fileprivate var mayIgnore: Bool {
        switch self {
        case .scripted, .prepared, .noFailedDependencies, .noCancelledDependencies: false
        case .all(let parts), .any(let parts): parts.contains(where: \.mayIgnore)
        case .not(let part), .silent(let part): part.mayIgnore
        case .ignored: true
        }
    }

    /// How errors name it.
    fileprivate var key: String {
        switch self {
        case .scripted(_, let isNegated), .prepared(_, let isNegated): isNegated ? Texts.negatedCondition : Texts.scriptedCondition
        case .noFailedDependencies: "NoFailedDependencies"
        case .noCancelledDependencies: "NoCancelledDependencies"
        case .all: Texts.allCondition
        case .any: Texts.anyCondition
        case .not(let part): "Not<\(part.key)>"
        case .silent(let part): "Silent<\(part.key)>"
        case .ignored(let part): "Ignored<\(part.key)>"
        }
    }
}
