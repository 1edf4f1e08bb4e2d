/// What must not run twice.
let lossRules: [Rule] = [
    Rule("atMostOnceIsTriedOnce", "atMostOnce is never retried: once it may have begun, nothing of it begins again.") { account in
        account.plan.leaves.filter { account.node($0).isAtMostOnce }.compactMap { node -> Rule.Breach? in
            guard let first = account.runs[node].first else { return nil }
            let again = account.runs[node].dropFirst().map(\.start) + account.judgements[node].map(\.place).filter { $0 > first.start }
            return again.isEmpty ? nil : .init(node, [first.start] + again, "was begun again")
        }
    },
    Rule("lostWithItsWorkerOnly", "Loss of its worker: fails with WorkerLost; what its body has come to otherwise is its outcome.") {
        account in
        account.plan.leaves.filter { account.node($0).isAtMostOnce }.compactMap { node -> Rule.Breach? in
            guard account.outcome(node)?.faults == [Fault(.workerLost, by: GraphPlan.name(of: node))] else { return nil }
            // One that was stopped may have had a worker that was not answered.
            let ended = account.runs[node].first { !$0.isDoubtful && $0.result != .stopped }
            return ended.map { .init(node, [$0.end], "was lost, and its worker was there when its body ended") }
        }
    },
]
