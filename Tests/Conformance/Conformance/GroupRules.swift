/// What groups do.
let groupRules: [Rule] = [
    Rule(
        "groupsOutcome",
        "Success if all children succeeded, of a sequence: if its last step did; cancelled only if the group itself was; else failure."
    ) { account in
        account.groups.compactMap { group -> Rule.Breach? in
            let all = account.children(of: group).map { account.outcome($0)?.isSuccess == true }
            // Who goes on after a failed step has dealt with it.
            let children = account.node(group).group?.sequence == nil ? all : all.suffix(1)
            switch account.outcome(group) {
            case .success where !children.allSatisfy(\.self): return .init(group, "succeeded without its children")
            case .failure where children.allSatisfy(\.self) && !account.endedByItself(group): return .init(group, "failed alone")
            case .success, .failure, .cancelled, nil: return nil
            }
        }
    },
    Rule(
        "groupsErrors",
        "First failures in child order, then cancelled children and ignored duplicates; not what its own stop cancelled. Flattened."
    ) { account in
        account.groups.compactMap { group -> Rule.Breach? in
            guard case .failure(let faults)? = account.outcome(group), !account.endedByItself(group) else { return nil }
            guard account.children(of: group).contains(where: { account.outcome($0)?.isSuccess != true }) else { return nil }
            return ErrorParts(of: group, account).allow(faults) ? nil : .init(group, "has the errors \(faults)")
        }
    },
    Rule("groupEndsLast", "Ends when all children have ended, never before its last child's listeners.") { account in
        account.groups.flatMap { group -> [Rule.Breach] in
            guard let end = account.finish(of: group)?.place else { return [] }
            return account.children(of: group).compactMap { child -> Rule.Breach? in
                let last = max(account.finish(of: child)?.place ?? -1, account.lastWork(inside: child) ?? -1)
                return last > end ? .init(group, [end, last], "ended before \(GraphPlan.name(of: child))") : nil
            }
        }
    },
    Rule("orderedOneByOne", "One after another; the next starts when the previous has finally ended (retries, body).") { account in
        account.groups.filter { account.node($0).group?.isOrdered == true }.flatMap { group in
            let children = account.children(of: group)
            return zip(children, children.dropFirst()).flatMap { previous, _ -> [Rule.Breach] in
                children.filter { $0 > previous }.compactMap { next in account.overlap(previous, next) }
            }
        }
    },
    Rule("stopEndsTheOrder", "onFailure .stop: a failed or cancelled child cancels what has not ended.") { account in
        account.groups.filter { account.node($0).group.map { $0.isOrdered && $0.stops } == true }.flatMap { group -> [Rule.Breach] in
            let children = account.children(of: group)
            guard let cause = children.first(where: { account.outcome($0)?.isSuccess == false }) else { return [] }
            return children.filter { $0 > cause }.compactMap { child -> Rule.Breach? in
                let isCancelled = account.outcome(child)?.isCancelled == true || account.origin(of: child) == .limit
                let hasRun = !account.runs(inside: child).isEmpty && account.scopes[child] == nil
                return isCancelled && !hasRun ? nil : .init(child, "went on after \(GraphPlan.name(of: cause)) had not succeeded")
            }
        }
    },
    Rule("nothingInsideBegins", "A group whose condition fails ends its children as cancelled.") { account in
        account.groups.filter { account.endedByItself($0) && account.outcome($0)?.faults.first?.isOfCondition == true }.flatMap { group in
            account.children(of: group).compactMap { child -> Rule.Breach? in
                account.outcome(child)?.isCancelled == true ? nil : .init(child, "ended otherwise than cancelled")
            }
        }
    },
    Rule("membersAtOnce", "As many at once as maxConcurrent allows.") { account in
        account.groups.compactMap { group -> Rule.Breach? in
            guard let limit = account.node(group).group?.limit else { return nil }
            let spans = account.children(of: group).map { account.runs(inside: $0) }
            return account.mostAtOnce(spans) > limit ? .init(group, "had more than \(limit) children running") : nil
        }
    },
    Rule("slots", "As many at once as slots allow.") { account in
        guard let slots = account.plan.slots else { return [] }
        let most = account.mostAtOnce(account.plan.leaves.map { account.everyRun[$0] })
        return most > slots ? [.init(0, "ran \(most) at once with \(slots) slots")] : []
    },
]

extension Account {
    var groups: [Int] { plan.nodes.indices.filter { plan.nodes[$0].group != nil } }

    /// Nil if all work of `next` came after all of `previous`.
    func overlap(_ previous: Int, _ next: Int) -> Rule.Breach? {
        guard let end = lastWork(inside: previous), let begin = firstWork(inside: next), begin < end else { return nil }
        guard scopes[previous] == nil else { return overlapOfAttempts(previous, next) }
        return .init(next, [begin, end], "began before \(GraphPlan.name(of: previous)) was over")
    }

    /// Of two that may be tried again together, `next` waits for the last attempt of `previous` that came before.
    private func overlapOfAttempts(_ previous: Int, _ next: Int) -> Rule.Breach? {
        let begins = subtree(next).flatMap { runs[$0].map(\.start) + judgements[$0].map(\.place) }
        for run in runs(inside: previous) {
            if let begin = begins.first(where: { run.start < $0 && $0 < run.end }) {
                return .init(next, [begin, run.end], "began before \(GraphPlan.name(of: previous)) was over")
            }
        }
        return nil
    }

    /// How many of these had a run at the same time at most.
    func mostAtOnce(_ runs: [[Run]]) -> Int {
        let starts = runs.flatMap { $0.map(\.start) }
        return starts.map { start in runs.count { $0.contains { $0.start <= start && start < $0.end } } }.max() ?? 0
    }
}

/// The errors that a group may fail with, child by child.
private struct ErrorParts {
    private struct Part {
        var faults: [Fault]
        /// Whether it may stand among the failures, and behind them.
        var isFailure: Bool
        var isLate: Bool
        var mayBeMissing: Bool
    }

    private var parts: [Part] = []

    init(of group: Int, _ account: Account) {
        for child in account.children(of: group) {
            switch account.outcome(child) {
            case .success, nil: continue
            case .failure(let faults):
                let isDuplicate = faults.first?.isDuplicate == true
                // A group that fails with nothing but a duplicate may be taken for one, or for a failure.
                let isGroup = account.node(child).group != nil
                parts.append(Part(faults: faults, isFailure: !isDuplicate || isGroup, isLate: isDuplicate, mayBeMissing: false))
            case .cancelled(let faults):
                let causes = account.causes(ofCancelling: child)
                // Who shares another one's end may have been cancelled by that.
                if causes == [.stop(of: group)], !account.hasJoined(child) { continue }
                let mayBeMissing = causes.contains(.stop(of: group))
                parts.append(Part(faults: faults, isFailure: false, isLate: true, mayBeMissing: mayBeMissing))
            }
        }
    }

    func allow(_ faults: [Fault]) -> Bool { !faults.isEmpty && match(faults[...], from: 0, isLate: false, used: []) }

    /// Whether the rest is what the parts from `index` on give, and then those that come late.
    private func match(_ rest: ArraySlice<Fault>, from index: Int, isLate: Bool, used: Set<Int>) -> Bool {
        guard index < parts.count else {
            if !isLate { return match(rest, from: 0, isLate: true, used: used) }
            return rest.isEmpty && parts.indices.allSatisfy { used.contains($0) || parts[$0].mayBeMissing }
        }
        let part = parts[index]
        let fits = isLate ? part.isLate : part.isFailure
        if fits, !used.contains(index), rest.starts(with: part.faults),
            match(rest.dropFirst(part.faults.count), from: index + 1, isLate: isLate, used: used.union([index]))
        {
            return true
        }
        return match(rest, from: index + 1, isLate: isLate, used: used)
    }
}
