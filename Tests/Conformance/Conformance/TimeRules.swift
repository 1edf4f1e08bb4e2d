/// When something may begin, and how long it waits for that.
let timeRules: [Rule] = [
    Rule("notBeforeItsTime", "delay: so long after what it waits for has ended; notBefore: at that time at the earliest.") { account in
        account.plan.nodes.indices.compactMap { node -> Rule.Breach? in
            // What is tried again does not wait again.
            guard let first = account.runs(inside: node).map(\.start).min(), let begun = account.times[first] else { return nil }
            guard let (due, place) = account.due(node, before: first), begun + Account.clockSlackMilliseconds < due else { return nil }
            return .init(node, [place, first].compactMap(\.self), "began at \(begun) ms, and not before \(due) ms was its time")
        }
    },
    Rule("queueTimeoutIsBeforeTheStart", "queueTimeout (ready to start): what has begun is not ended by it.") { account in
        account.plan.leaves.compactMap { node -> Rule.Breach? in
            // Of one that begins elsewhere in that moment it is heard later; then it is stopped.
            guard account.outcome(node)?.faults == [Fault(.queueTimeout, by: GraphPlan.name(of: node))], account.isHere,
                !account.hasJoined(node), let run = account.runs[node].first
            else { return nil }
            return .init(node, [run.start], "was timed out before its start, and had begun")
        }
    },
]

extension Account {
    /// Clocks are read, and handed on, in whole milliseconds.
    fileprivate static let clockSlackMilliseconds = 1

    /// When a node may begin at the earliest that begins at this place, and where that was known. What is noted of an end is before it,
    /// and of a beginning after it.
    fileprivate func due(_ node: Int, before first: Int) -> (due: Int, place: Int?)? {
        guard let start = self.node(node).start, let madeAt else { return nil }
        switch start {
        case .notBefore(let milliseconds): return (madeAt + milliseconds, nil)
        case .delay(let milliseconds):
            // One whose conditions have refused it was there before, and does not wait again with its net.
            let known = min(first, firstWork(inside: node) ?? first)
            // The end of a net waits from when its producers have ended for the first time: they begin anew when it has been decided about.
            let counted = plan.isTail(node) ? 1 : Int.max
            let ends = self.node(node).predecessors.flatMap { runs(inside: $0).map(\.end).filter { $0 < known }.sorted().prefix(counted) }
            guard let last = ends.max(by: { times[$0] ?? 0 < times[$1] ?? 0 }), let end = times[last] else {
                return (madeAt + milliseconds, nil)
            }
            return (end + milliseconds, last)
        }
    }
}
