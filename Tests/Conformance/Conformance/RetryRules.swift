/// Attempts.
let retryRules: [Rule] = [
    Rule("attemptsDoNotOverlap", "The next attempt waits for the end of the body.") { account in
        account.plan.leaves.flatMap { node in
            zip(account.runs[node], account.runs[node].dropFirst()).filter { $0.end > $1.start }.map { previous, next in
                Rule.Breach(node, [next.start, previous.end], "began another attempt before the body of the last one was over")
            }
        }
    },
    Rule("attemptsAreLimited", "RetryPolicy: so many attempts.") { account in
        // What has read elements of an attempt that was void has not been tried.
        account.plan.leaves.filter { account.node($0).source == nil }.compactMap { node -> Rule.Breach? in
            let count = account.runs[node].count { !$0.isDoubtful } + (account.hasKills ? 0 : account.refusals(of: node).least)
            let most = account.node(node).attempts
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
            guard !account.mayHaveJoined(node), !account.hasDependencyConditions(node), !account.node(node).hasTimeout else { return nil }
            let count = account.runs[node].count + account.refusals(of: node).most
            let attempts = account.node(node).attempts
            return count < attempts ? .init(node, "failed after \(count) of \(attempts) attempts") : nil
        }
    },
    Rule("onlyFailuresAreTriedAgain", "Cancelled operations are not retried; nothing is done again after its success.") { account in
        account.plan.leaves.filter { account.node($0).source == nil }.flatMap { node in
            account.runs[node].dropLast().compactMap { run -> Rule.Breach? in
                guard !run.isDoubtful, !account.node(node).hasTimeout else { return nil }
                if case .failure? = run.result { return nil }
                return .init(node, [run.end], "was tried again after a run that had not failed")
            }
        }
    },
]

extension Account {
    fileprivate func hasDependencyConditions(_ node: Int) -> Bool {
        self.node(node).conditions.contains(where: \.looksAtDependencies)
    }
}
