/// Groups that are tried again.
let retriedGroupRules: [Rule] = [
    Rule("groupAttemptsAreLimited", "Retry on a group: so many attempts, the first included.") { account in
        account.retriedGroups.compactMap { group -> Rule.Breach? in
            let begins = account.certainAttempts(of: group).map(\.lowerBound)
            let most = account.node(group).attempts
            return begins.count > most ? .init(group, begins, "was tried \(begins.count) times of \(most)") : nil
        }
    },
    Rule("groupAttemptsOneByOne", "All children start again as new attempts: these wait for the ends of all bodies of the ones before.") {
        account in
        // Where processes are killed a condition may be asked in vain while an attempt is under way.
        guard !account.hasKills else { return [] }
        return account.retriedGroups.flatMap { group -> [Rule.Breach] in
            let begins = account.attempts(of: group, in: account.windows[group]).map(\.lowerBound)
            return account.runs(inside: group).compactMap { run -> Rule.Breach? in
                let next = begins.first { run.start < $0 && $0 < run.end }
                return next.map { .init(run.node, [run.start, $0, run.end], "went on when \(GraphPlan.name(of: group)) began anew") }
            }
        }
    },
    Rule("onlyFailedGroupsBeginAnew", "A group is tried again when it has failed, not when all its children have succeeded.") { account in
        account.retriedGroups.flatMap { group -> [Rule.Breach] in
            account.attempts(of: group).dropLast().filter { account.hasSucceeded(group, in: $0) }.map {
                Rule.Breach(group, [$0.lowerBound, $0.upperBound], "was tried again after it had succeeded")
            }
        }
    },
    Rule("groupFailureIsItsLastAttempts", "A group stays unfinished while it may be retried: it ends with its last attempt.") { account in
        account.retriedGroups.compactMap { group -> Rule.Breach? in
            // One that was stopped by a limit of its own is not tried again.
            guard case .failure(let faults)? = account.outcome(group), !faults.contains(where: { account.isLimit($0, of: group) })
            else { return nil }
            let (count, attempts) = (account.beginnings(of: group), account.node(group).attempts)
            return count < attempts ? .init(group, "failed after \(count) of \(attempts) attempts") : nil
        }
    },
]

extension Account {
    fileprivate var retriedGroups: [Int] { plan.nodes.indices.filter(plan.mayBeginAnew) }

    /// Those that were attempts, and not the same one, whose conditions were asked again.
    fileprivate func certainAttempts(of group: Int) -> [Range<Int>] {
        guard hasKills else {
            let working = attempts(of: group)
            return attempts(of: group, in: windows[group]).filter { working.contains($0) || pauses.isEmpty && isRefused(group, in: $0) }
        }
        return attempts(of: group).reduce(into: []) { certain, attempt in
            guard let last = certain.last, !isOther(attempt, than: last, of: group) else { return certain.append(attempt) }
        }
    }

    /// Answers are forgotten in a pause: what refused then is asked again.
    private func isRefused(_ group: Int, in attempt: Range<Int>) -> Bool {
        conditionEnds(of: group, before: attempt.upperBound, after: attempt.lowerBound - 1).contains(where: \.isRefusal)
    }

    /// Whether something ran in both that is not tried again by itself.
    private func isOther(_ attempt: Range<Int>, than other: Range<Int>, of group: Int) -> Bool {
        subtree(group).filter { node($0).script != nil && node($0).attempts == 1 }.contains { inner in
            // In groups that are tried again by themselves it may run more often.
            guard plan.groupsThatMayBeginAnew(around: inner).first == group else { return false }
            return [attempt, other].allSatisfy { places in everyRun[inner].contains { places.contains($0.start) && !$0.isDoubtful } }
        }
    }

    /// Whether all in it that ends by itself has succeeded in an attempt, and nothing else may have ended it otherwise.
    fileprivate func hasSucceeded(_ group: Int, in attempt: Range<Int>) -> Bool {
        subtree(group).filter { $0 != group }.allSatisfy { inner in
            let planned = node(inner)
            guard !planned.hasTimeout, !planned.hasDeadline else { return false }
            // What was refused in the last attempt of another group in it may have run in an earlier one.
            guard planned.conditions.isEmpty || plan.groupsThatMayBeginAnew(around: inner).first == group else { return false }
            guard planned.script != nil else { return true }
            guard let last = everyRun[inner].last(where: { attempt.contains($0.start) }), !last.isDoubtful else { return false }
            if case .value? = last.result { return true }
            return false
        }
    }
}
