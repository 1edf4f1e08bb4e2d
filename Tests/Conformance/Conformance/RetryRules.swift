/// Attempts.
let retryRules: [Rule] = [
    Rule("attemptsDoNotOverlap", "The next attempt waits for the end of the body.") { account in
        account.plan.leaves.flatMap { node in
            zip(account.everyRun[node], account.everyRun[node].dropFirst()).filter { $0.end > $1.start }.map { previous, next in
                Rule.Breach(node, [next.start, previous.end], "began another attempt before the body of the last one was over")
            }
        }
    },
    Rule("attemptsAreLimited", "RetryPolicy: so many attempts.") { account in
        // What has read elements of an attempt that was void has not been tried.
        account.plan.leaves.filter { account.node($0).source == nil }.compactMap { node -> Rule.Breach? in
            // A worker that begins it by itself may do so in vain: something else has come to its place in a group.
            guard account.isHere || !account.plan.mayRunAtWill(node) else { return nil }
            // Answers are forgotten with a process that had them, and in a pause: what refused then is asked again, and was no attempt.
            let isForgetful = account.hasKills || !account.pauses.isEmpty
            let count = account.runs[node].count { !$0.isDoubtful } + (isForgetful ? 0 : account.refusals(of: node).least)
            let most = account.node(node).attempts * account.rounds(of: node)
            return count > most ? .init(node, account.runs[node].map(\.start), "was tried \(count) times of \(most)") : nil
        }
    },
    Rule("failureIsTheLastAttempts", "A logical operation stays unfinished while it may be retried.") { account in
        account.plan.leaves.compactMap { node -> Rule.Breach? in
            switch account.origin(of: node) {
            case .body, .conditions: break
            case .limit, .duplicate, .loss, .other, nil: return nil
            }
            // An attempt may be timed out before its body says that it has begun, and is not seen then.
            guard !account.mayHaveJoined(node), !account.hasUnseenConditions(node), !account.node(node).hasTimeout else { return nil }
            let count = account.runs[node].count + account.refusals(of: node).most
            let attempts = account.node(node).attempts
            return count < attempts ? .init(node, "failed after \(count) of \(attempts) attempts") : nil
        }
    },
    Rule("onlyFailuresAreTriedAgain", "Cancelled operations are not retried; nothing is done again after its success.") { account in
        account.plan.leaves.filter { account.node($0).source == nil }.flatMap { node in
            account.runs[node].dropLast().compactMap { run -> Rule.Breach? in
                guard !run.isDoubtful, !account.node(node).hasTimeout, !account.isVoid(run) else { return nil }
                if case .failure? = run.result { return nil }
                return .init(node, [run.end], "was tried again after a run that had not failed")
            }
        }
    },
    Rule("scopeBeginsAnew", "When the tail of a net is tried again, the member that failed and everything below it start again.") {
        account in
        account.scopes.sorted { $0.key < $1.key }.flatMap { member, tail -> [Rule.Breach] in
            guard account.beginsAnewVisibly(member) else { return [] }
            return zip(account.runs[tail], account.runs[tail].dropFirst()).compactMap { failed, next -> Rule.Breach? in
                guard !failed.isDoubtful, let last = account.runs[member].last(where: { $0.end < failed.start }),
                    case .failure? = last.result, !account.runs[member].contains(where: { $0.start > failed.end && $0.end < next.start })
                else { return nil }
                return .init(member, [last.end, next.start], "had failed, and was not tried again with \(GraphPlan.name(of: tail))")
            }
        }
    },
]

extension Account {
    /// How often all of its scope begins anew, the first time included.
    fileprivate func rounds(of node: Int) -> Int { scopes[node].map { self.node($0).attempts } ?? 1 }

    /// Whether what a run came to does not count any more, as something that it rests on has begun anew after it.
    fileprivate func isVoid(_ run: Run) -> Bool {
        guard let tail = scopes[run.node] else { return false }
        let next = runs[run.node].first { $0.start > run.end }?.start ?? .max
        let above = plan.nodes.indices.filter { scopes[$0] == tail && $0 != run.node && rests(run.node, on: $0) }
        return above.contains { node in
            // It may have been refused, and asked again, without anything being seen of it.
            self.node(node).hasTimeout || hasUnseenConditions(node)
                || (runs[node].map(\.start) + judgements[node].map(\.place)).contains { $0 > run.end && $0 < next }
        }
    }

    /// Whether nothing but its body decides how it ends, it is an operation beside the tail, and nothing between them has ended for
    /// good. Who has its id may wait for it.
    fileprivate func beginsAnewVisibly(_ member: Int) -> Bool {
        let planned = node(member)
        return planned.script != nil && planned.parent == scopes[member].flatMap { node($0).parent } && planned.conditions.isEmpty
            && planned.unique == nil && !planned.hasTimeout
            && plan.nodes.indices.filter { scopes[$0] == scopes[member] && ($0 == member || rests($0, on: member)) }.allSatisfy {
                !node($0).hasDeadline && outcome($0)?.isCancelled == false
            }
    }
}

extension Account {
    /// Whether some may fail without anything being seen of it.
    fileprivate func hasUnseenConditions(_ node: Int) -> Bool {
        self.node(node).conditions.contains { $0.looksAtDependencies || $0.hasUnaskedParts }
    }
}
