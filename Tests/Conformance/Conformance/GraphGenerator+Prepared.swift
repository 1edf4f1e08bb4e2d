/// Conditions with dependent operations.
extension GraphGenerator {
    /// Lets conditions leave what they say to their dependent operations, alone or inside of others.
    mutating func prepare(_ node: Int) {
        guard features.contains(.preparedConditions), mayPrepare(node), latestRandom.chance(0.4) else { return }
        plan.nodes[node].conditions = plan.nodes[node].conditions.map { prepared($0) }
        guard plan.nodes[node].conditions.isEmpty || latestRandom.chance(0.5) else { return }
        plan.nodes[node].conditions.append(mayBeWhole(node) ? drawWhole() : drawPrepared())
    }

    private func mayPrepare(_ node: Int) -> Bool {
        let scopes = plan.widestScopes
        return mayCompose(node) && !streams(node) && scopes[node] == nil && !scopes.values.contains(node)
    }

    /// Whether a cluster takes a condition of it that is made of others: what a worker adds has none.
    private func mayBeWhole(_ node: Int) -> Bool {
        guard let parent = plan.nodes[node].parent, plan.nodes[parent].group?.decides == true else { return true }
        return plan.nodes[node].cause != nil && plan.nodes[parent].isHosted
    }

    /// Nothing is asked again later: who is asked again has no other dependent operation.
    private mutating func prepared(_ condition: ConditionPlan) -> ConditionPlan {
        switch condition {
        case .scripted(let verdicts, let isNegated):
            let decided = verdicts.map { $0 == .notNow ? .yes : $0 }
            return latestRandom.chance(0.6) ? .prepared(decided, isNegated: isNegated) : .scripted(decided, isNegated: isNegated)
        case .prepared, .noFailedDependencies, .noCancelledDependencies: return condition
        case .all(let parts): return .all(parts.map { prepared($0) })
        case .any(let parts): return .any(parts.map { prepared($0) })
        case .not(let part): return .not(prepared(part))
        case .silent(let part): return .silent(prepared(part))
        case .ignored(let part): return .ignored(prepared(part))
        }
    }

    private mutating func drawVerdicts() -> [Verdict] { (0...latestRandom.below(2)).map { _ in latestRandom.pick([.yes, .yes, .no]) } }

    private mutating func drawPrepared() -> ConditionPlan { .prepared(drawVerdicts(), isNegated: latestRandom.chance(0.2)) }

    private mutating func drawWhole() -> ConditionPlan {
        let said = ConditionPlan.prepared(drawVerdicts(), isNegated: false)
        switch latestRandom.below(features.mayCancel ? 7 : 6) {
        case 0: return .all([said, drawPrepared()])
        case 1: return .all([.scripted(drawVerdicts(), isNegated: false), said])
        case 2: return .any([said, .scripted(drawVerdicts(), isNegated: false)])
        case 3: return .any([drawPrepared(), said])
        case 4: return .not(.all([said, drawPrepared()]))
        case 5: return .any([.silent(said), .not(said)])
        default: return .ignored(said)
        }
    }
}
