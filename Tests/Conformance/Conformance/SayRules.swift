/// What closures of the program have a say in.
let sayRules: [Rule] = [
    Rule("heldBeforeItIsTold", "The order of the end: willFinish (holds the finish back; ends by itself on cancel, timeout or deadline).") {
        account in
        account.plan.nodes.indices.compactMap { node -> Rule.Breach? in
            guard let finish = account.finish(of: node) else { return nil }
            // A cancellation, or a limit, may come just when the closure is called.
            guard account.holds[node].last?.outcome == finish.outcome.result else { return nil }
            guard let letGo = account.letGo[node], letGo < finish.place else {
                return .init(node, [finish.place], "was told its end before willFinish let go")
            }
            return nil
        }
    },
    Rule("heldOnce", "willFinish is called once for each end that the body has proposed, with that; not for others.") { account in
        account.plan.nodes.indices.compactMap { node -> Rule.Breach? in
            let held = account.holds[node].map(\.outcome)
            guard held.count < 2 else { return .init(node, account.holds[node].map(\.place), "was held \(held.count) times") }
            let expected = account.node(node).holdsEnd ? account.proposedEnd(of: node) : nil
            if let expected, held != [expected.result] { return .init(node, "was held with \(held) in place of \(expected.result)") }
            let isStrange = held.contains { !account.mayHold(node, $0) }
            return isStrange ? .init(node, account.holds[node].map(\.place), "was held with \(held), which nothing has proposed") : nil
        }
    },
    Rule(
        "askedAfterEachFailure",
        "retryOnFailure is called after every failed attempt, with the number of retries so far, and its answer counts."
    ) {
        account in
        account.plan.leaves.compactMap { node -> Rule.Breach? in
            let questions = account.questions[node]
            // What is tried again with its net is tried again after a no.
            let isAlone = account.scopes[node] == nil
            guard questions.map(\.retries) == Array(0..<questions.count), !isAlone || questions.dropLast().allSatisfy(\.again) else {
                return .init(node, questions.map(\.place), "asked out of order, or after a no")
            }
            guard account.node(node).asksAboutRetry else { return nil }
            // An attempt may be timed out before its body says that it has begun.
            if isAlone, let last = questions.last, !last.again, !account.node(node).hasTimeout,
                account.runs[node].contains(where: { $0.start > last.place })
            {
                return .init(node, [last.place], "ran although it was not to be tried again")
            }
            switch account.origin(of: node) {
            case .body, .conditions:
                return questions.last?.again == false && questions.last?.fault == account.outcome(node)?.faults.first
                    ? nil : .init(node, questions.map(\.place), "failed, and nobody was asked about it")
            case .limit, .duplicate, .loss, .other, nil: return nil
            }
        }
    },
]

extension Account {
    /// The end that its body has come to, if that counts.
    fileprivate func proposedEnd(of node: Int) -> Outcome? {
        guard let outcome = outcome(node), self.node(node).script != nil else { return nil }
        return outcome.isSuccess || origin(of: node) == .body && !isRefusedAlike(node) ? outcome : nil
    }

    /// Whether it was refused, by an error that looks like the one that its body had passed on before.
    private func isRefusedAlike(_ node: Int) -> Bool {
        guard let fault = outcome(node)?.faults.first, let last = runs[node].last else { return false }
        return conditionEnds(of: node, after: last.start).contains(.refused(fault))
    }

    /// Whether a closure may have been told of this end, which need not have become the outcome.
    fileprivate func mayHold(_ node: Int, _ outcome: Outcome) -> Bool {
        guard self.node(node).script != nil else { return true }
        return runs[node].contains { run in
            switch run.result {
            case .value(let value): outcome == .success(value)
            case .failure(let fault): outcome == .failure([fault])
            case .stopped, nil: false
            }
        }
    }
}
