/// Dependencies and delivery.
let orderRules: [Rule] = [
    Rule("predecessorsEndFirst", "b waits for a; no receiver starts before its predecessor's final outcome exists.") { account in
        account.plan.nodes.indices.flatMap { node in
            account.node(node).predecessors.compactMap { account.overlap($0, node) }
        }
    },
    Rule(
        "receivedIsDelivered",
        "receivedValue is the producers' results in declared order, or the failure of the first failed one; nil only without a producer."
    ) { account in
        account.plan.leaves.flatMap { node -> [Rule.Breach] in
            // What was held until the end of the net is decided may be stopped meanwhile, and has been received.
            guard !account.node(node).producers.contains(where: account.mayBeStoppedWhileHeld) else { return [] }
            // Of earlier attempts of a group it may not be known.
            guard account.node(node).producers.allSatisfy({ account.outcome($0) != nil }) else { return [] }
            let expected = account.delivery(to: node)
            return account.runs[node].filter {
                $0.received != expected && !account.isBeforeAnotherAttempt($0)
            }.map { run in
                .init(
                    node, [run.start],
                    "received \(run.received.map { "\($0)" } ?? "nothing") in place of \(expected.map { "\($0)" } ?? "nothing")")
            }
        }
    },
    Rule("receivedIsOfTheLastAttempt", "The failed member and everything below it start again: what they receive is of the last attempt.") {
        account in
        account.plan.leaves.filter { account.restsOnAttempts($0) && account.node($0).producers.count == 1 }.flatMap { node in
            account.runs[node].compactMap { run -> Rule.Breach? in
                guard case .value(let value)? = run.received, let producer = account.node(node).producers.first,
                    let last = account.runs[producer].last(where: { $0.end < run.start }), !last.isDoubtful, last.result != .value(value)
                else { return nil }
                return .init(
                    node, [last.end, run.start], "received \(value), and \(GraphPlan.name(of: producer)) had ended otherwise since")
            }
        }
    },
]

extension Account {
    /// Whether something that it has received from began anew later: then this is a matter of another rule.
    fileprivate func isBeforeAnotherAttempt(_ run: Run) -> Bool {
        node(run.node).producers.contains { producer in
            scopes[producer] != nil
                && subtree(producer).contains { inner in
                    runs[inner].contains { $0.start > run.start } || judgements[inner].contains { $0.place > run.start }
                }
        }
    }

    /// Whether it was stopped, and its net may have been told another end before.
    fileprivate func mayBeStoppedWhileHeld(_ node: Int) -> Bool {
        scopes[node] != nil && (outcome(node)?.isCancelled == true || origin(of: node) == .limit)
    }

    /// What a node receives by the outcomes of its producers.
    func delivery(to node: Int) -> Received? {
        let producers = self.node(node).producers
        var values: [String] = []
        for producer in producers {
            switch outcome(producer) {
            case .failure(let faults), .cancelled(let faults): return faults.first.map { .failure($0) }
            case .success(let value): values.append(value)
            case nil: return nil
            }
        }
        guard let first = producers.first else { return nil }
        guard self.node(first).group == nil else { return .values(plan.children(of: first).map { outcome($0)?.value ?? "" }) }
        return producers.count == 1 ? .value(values[0]) : .values(values)
    }
}

extension Outcome {
    fileprivate var value: String? { if case .success(let value) = self { value } else { nil } }
}
