/// What waits while the program has paused it.
let pauseRules: [Rule] = [
    Rule("nothingBeginsWhilePaused", "pause: nothing of it that has not begun does so until it is resumed; what runs goes on.") { account in
        account.pauses.flatMap { pause in
            account.subtree(pause.node).flatMap { node in
                account.runs[node].compactMap { run -> Rule.Breach? in
                    guard pause.places.contains(run.start), let ready = account.ready(run, after: pause.places.lowerBound) else {
                        return nil
                    }
                    return .init(
                        node, [pause.places.lowerBound, ready, run.start], "began while \(GraphPlan.name(of: pause.node)) was paused")
                }
            }
        }
    }
]

extension Account {
    /// Where the last of what a run had to wait for was over, if that was after `place`: what was given out before a pause may begin in it.
    fileprivate func ready(_ run: Run, after place: Int) -> Int? {
        let ends = waits(of: run.node).compactMap { awaited in runs(inside: awaited).map(\.end).filter { $0 < run.start }.max() }
        return ends.max().flatMap { $0 > place ? $0 : nil }
    }

    /// What a node, or a group around it, has to wait for.
    private func waits(of node: Int) -> [Int] {
        ([node] + plan.ancestors(of: node)).flatMap { member -> [Int] in
            let planned = self.node(member)
            guard let parent = planned.parent, self.node(parent).group?.isOrdered == true else { return planned.predecessors }
            return planned.predecessors + plan.children(of: parent).filter { $0 < member }
        }
    }
}
