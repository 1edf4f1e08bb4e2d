/// Operations that make others when they execute.
extension GraphGenerator {
    /// Lets an operation make another one that does what it would have done, at the end of a chain.
    mutating func wrap(_ node: Int) {
        guard features.contains(.wrappers), mayWrap(node), newestRandom.chance(0.35), let script = plan.nodes[node].script else { return }
        plan.nodes[node].kind = .wrapper
        plan.nodes[node].isHosted = false
        var end = NodePlan(.operation(script), in: node)
        end.isHosted = features.contains(.hosted) && newestRandom.chance(0.4)
        if newestRandom.chance(0.5) {
            plan.nodes.append(NodePlan(.operation(drawPart()), in: node))
            end.producers = [plan.nodes.count - 1]
        } else if features.contains(.retries), newestRandom.chance(0.5) {
            end.attempts = 2
        }
        if features.contains(.conditions), newestRandom.chance(0.3) {
            end.conditions = [.scripted([newestRandom.pick([.yes, .notNow]), newestRandom.pick([.yes, .yes, .no])], isNegated: false)]
        }
        end.hasTimeout = features.contains(.timeouts) && newestRandom.chance(0.2)
        plan.nodes.append(end)
        guard features.contains(.cancellations), newestRandom.chance(0.25),
            !plan.ancestors(of: node).contains(where: { plan.nodes[$0].group?.stops == true })
        else { return }
        let part = plan.nodes.count - 1
        plan.cancellations.append(CancellationPlan(of: part, .atStart(of: part)))
    }

    private mutating func drawPart() -> Script {
        Script(ticks: newestRandom.below(4), failures: newestRandom.chance(0.3) ? 99 : 0)
    }

    private func mayWrap(_ node: Int) -> Bool {
        let planned = plan.nodes[node]
        let scopes = plan.widestScopes
        guard let parent = planned.parent, let group = plan.nodes[parent].group, !group.decides, group.sequence == nil else { return false }
        return planned.unique == nil && planned.attempts == 1 && !streams(node) && plan.streamReceivers(of: node).isEmpty
            && scopes[node] == nil && !plan.isTail(node) && plan.receivers(of: node).allSatisfy { !plan.isTail($0) }
    }
}
