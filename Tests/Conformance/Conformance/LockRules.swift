/// Mutual exclusion and uniqueness.
let lockRules: [Rule] = [
    Rule("holdersNeverOverlap", "Two holders never overlap; a lock is held through every attempt. limit: n makes it a semaphore.") {
        account in
        account.keyNames.flatMap { key -> [Rule.Breach] in
            let holders = account.holders(of: key)
            return holders.compactMap { holder -> Rule.Breach? in
                let others = holders.filter {
                    $0.node != holder.node && $0.scope == holder.scope && $0.holds(at: holder.start)
                        && !account.areOfOneNet($0.node, holder.node)
                }
                let limit = ([holder] + others).map(\.limit).min() ?? 1
                guard others.count >= limit else { return nil }
                return .init(holder.node, [holder.start], "began to hold \(key) beside \(others.map { GraphPlan.name(of: $0.node) })")
            }
        }
    },
    Rule("judgedUnderTheLock", "Conditions are evaluated when the locks are held.") { account in
        account.keyNames.flatMap { key -> [Rule.Breach] in
            let holders = account.holders(of: key).filter { $0.limit == 1 }
            return account.plan.nodes.indices.filter { account.node($0).keys.contains(KeyPlan(key)) }.flatMap { node -> [Rule.Breach] in
                account.everyJudgement[node].compactMap { judgement -> Rule.Breach? in
                    let other = holders.first {
                        $0.node != node && !account.areOfOneNet($0.node, node)
                            && !account.plan.isInside(node, $0.node) && !account.plan.isInside($0.node, node)
                            && $0.scope == account.scope(of: node, key) && $0.holds(at: judgement.place)
                    }
                    return other.map { .init(node, [judgement.place], "was judged while \(GraphPlan.name(of: $0.node)) held \(key)") }
                }
            }
        }
    },
    Rule("groupsTakeAllKeys", "A group takes in one step all keys that its descendants name, until it ends.") { account in
        account.keyNames.flatMap { key -> [Rule.Breach] in
            let named = account.plan.nodes.indices.filter { node in account.node(node).keys.contains { $0.name == key } }
            guard named.allSatisfy({ account.node($0).keys.contains(KeyPlan(key)) }) else { return [] }
            return account.groups.dropFirst().flatMap { group -> [Rule.Breach] in
                let inside = named.filter { account.plan.isInside($0, group) }.flatMap { account.everyRun(inside: $0) }
                let outside = named.filter { !account.plan.isInside($0, group) && !account.plan.isInside(group, $0) }
                let others = outside.flatMap { account.everyRun(inside: $0) }
                // One that is tried again holds them through all its attempts.
                return account.everyWindow(of: group).flatMap { window -> [Rule.Breach] in
                    let runs = inside.filter { window.contains($0.start) }
                    guard let first = runs.map(\.start).min(), let last = runs.map(\.end).max() else { return [] }
                    return others.filter { $0.start > first && $0.start < last }.map { run in
                        .init(run.node, [first, run.start, last], "held \(key) while \(GraphPlan.name(of: group)) held it")
                    }
                }
            }
        }
    },
    Rule("tokensRise", "Every attempt that runs under a key gets a new fencing token; tokens of a key rise for ever.") { account in
        account.keyNames.flatMap { key -> [Rule.Breach] in
            let named = account.plan.leaves.filter { node in account.node(node).keys.contains { $0.name == key } }
            let runs = named.flatMap { account.everyRun[$0] }.sorted { $0.start < $1.start }
            return runs.enumerated().compactMap { index, run -> Rule.Breach? in
                guard let token = run.tokens[key] else { return .init(run.node, [run.start], "ran without a token for \(key)") }
                // Who holds a key of several at once may have taken it long before its body begins.
                let earlier = runs[..<index].filter { $0.end < run.start }.compactMap { earlier -> UInt64? in
                    let isAlone = [earlier.node, run.node].contains { node in
                        account.node(node).keys.contains { $0.name == key && $0.limit == 1 }
                    }
                    return isAlone || earlier.tokens[key] == token ? earlier.tokens[key] : nil
                }.max()
                guard let earlier, token <= earlier else { return nil }
                return .init(run.node, [run.start], "has the token \(token) after \(earlier)")
            }
        }
    },
    Rule("oneActivePerID", "uniqueId: unique among active operations.") { account in
        account.plan.leaves.flatMap { node -> [Rule.Breach] in
            guard let first = account.runs[node].first?.start, let last = account.runs[node].map(\.end).max() else { return [] }
            return account.sharers(of: node).filter { $0 > node }.compactMap { other -> Rule.Breach? in
                let run = account.runs[other].first { $0.start < last && $0.end > first }
                return run.map { .init(other, [first, $0.start, last], "ran beside \(GraphPlan.name(of: node)), which has the same id") }
            }
        }
    },
    Rule("duplicatesDoNothing", "A duplicate takes no lock, slot or condition: it ends at once with IgnoredDuplicate(of:).") { account in
        account.plan.leaves.compactMap { node -> Rule.Breach? in
            guard account.origin(of: node) == .duplicate, !account.hasJoined(node) else { return nil }
            let name = GraphPlan.name(of: node)
            let expected = account.node(node).unique.map { _ in [Fault(.duplicate, by: name)] }
            let hasFirst = account.sharers(of: node).contains { account.origin(of: $0) != .duplicate }
            guard account.outcome(node)?.faults != expected || !hasFirst || account.firstWork(inside: node) != nil else { return nil }
            return .init(node, "is an ignored duplicate of nobody, or did something")
        }
    },
    Rule("joinersEndAlike", "With .join: it ends with the first one's outcome.") { account in
        account.plan.leaves.compactMap { node -> Rule.Breach? in
            guard account.mayHaveJoined(node), !account.hasJoined(node), let outcome = account.outcome(node) else { return nil }
            switch account.origin(of: node) {
            case .limit, .conditions, .duplicate, .loss: return nil
            case .body, .other: return .init(node, "failed like nobody with its id: \(outcome)")
            case nil: return outcome.isSuccess ? .init(node, "succeeded like nobody with its id: \(outcome)") : nil
            }
        }
    },
]

extension Account {
    /// Somebody who names a key, from its first run to its last in one attempt of the groups around it.
    struct Holder {
        var node: Int
        var start: Int
        var end: Int
        var limit: Int
        /// The nearest around it that names the key too: there they take turns.
        var scope: Int?

        func holds(at place: Int) -> Bool { start <= place && place < end }
    }

    fileprivate var keyNames: [String] { Set(plan.nodes.flatMap { $0.keys.map(\.name) }).sorted() }

    fileprivate func scope(of node: Int, _ key: String) -> Int? {
        plan.ancestors(of: node).first { group in self.node(group).keys.contains { $0.name == key } }
    }

    fileprivate func holders(of key: String) -> [Holder] {
        plan.nodes.indices.flatMap { node -> [Holder] in
            guard let limit = self.node(node).keys.first(where: { $0.name == key })?.limit else { return [] }
            let every = everyRun(inside: node)
            let scope = scope(of: node, key)
            return everyWindow(of: node).compactMap { window -> Holder? in
                let runs = every.filter { window.contains($0.start) }
                guard let start = runs.map(\.start).min(), let end = runs.map(\.end).max() else { return nil }
                return Holder(node: node, start: start, end: end, limit: scope == nil ? limit : 1, scope: scope)
            }
        }
    }
}
