/// Outcome and body, cancellation, limits.
let outcomeRules: [Rule] = [
    Rule("oneOutcome", "An operation has one outcome. Never two, never none, never twice.") { account in
        account.plan.nodes.indices.filter(account.exists).compactMap { node -> Rule.Breach? in
            let tellings = account.tellings[node]
            let finishes = tellings.compactMap { if case .finish(let outcome) = $0.telling { outcome } else { nil } }
            let results = tellings.compactMap { if case .result(let outcome) = $0.telling { outcome } else { nil } }
            guard finishes.count == 1, results == finishes.map(\.result) else {
                return .init(node, tellings.map(\.place), "observers were told \(finishes), didFinish \(results)")
            }
            return nil
        }
    },
    Rule("listenersInOrder", "The order of the end: observers, then didFinish. Each listener once.") { account in
        account.plan.nodes.indices.compactMap { node -> Rule.Breach? in
            let starts = account.places(of: node) { $0 == .start }
            let cancels = account.places(of: node) { $0 == .cancel }
            let finish = account.finish(of: node)?.place ?? .max
            let result = account.places(of: node) { if case .result = $0 { true } else { false } }.first ?? .max
            guard starts.count > 1 || cancels.count > 1 || starts.contains(where: { $0 > finish }) || result < finish else { return nil }
            return .init(node, starts + cancels, "was told out of order, or twice")
        }
    },
    Rule("startIsTold", "Listeners are told of the start of what executes, and of nothing else.") { account in
        // What others have added is heard of at its end; what a wrapper makes, when that is made.
        let told = account.plan.leaves.filter { account.plan.isPresent($0) || account.isPart($0) }
        return told.filter { !account.isHeardAtItsEnd($0) }.compactMap { node -> Rule.Breach? in
            let isTold = !account.places(of: node) { $0 == .start }.isEmpty
            let hasRun = !account.runs[node].isEmpty
            if account.outcome(node)?.isSuccess == true, hasRun, !isTold { return .init(node, "succeeded, and its start was not told") }
            // What a killed process has run, it may not have noted; and an attempt may be timed out before its body says that it has begun.
            // In a group that is tried again it may have begun before.
            let hasEverRun = !account.everyRun[node].isEmpty
            if account.origin(of: node) == .conditions, !hasEverRun, isTold, !account.hasKills, !account.node(node).hasTimeout {
                return .init(node, "did not execute, and its start was told")
            }
            return nil
        }
    },
    Rule("successIsTheBodys", "success(value): what the body of the last attempt has reported.") { account in
        account.plan.leaves.compactMap { node -> Rule.Breach? in
            guard case .success(let value)? = account.outcome(node), !account.mayHaveJoined(node) else { return nil }
            guard account.runs[node].last?.result != .value(value) else { return nil }
            return .init(node, account.runs[node].map(\.end), "succeeded with \(value), which its last run did not end with")
        }
    },
    Rule("failureIsTheBodys", "failure(errors, the first leads): the error that the body of the last attempt has reported.") { account in
        account.plan.leaves.compactMap { node -> Rule.Breach? in
            guard case .failure(let faults)? = account.outcome(node), !account.mayHaveJoined(node) else { return nil }
            switch account.origin(of: node) {
            case .body where faults.count == 1: return nil
            case .limit, .conditions, .duplicate, .loss, nil: return nil
            case .body, .other: return .init(node, account.runs[node].map(\.end), "failed with \(faults), which nothing has said")
            }
        }
    },
    Rule(
        "limitsAreDeclared",
        "timeout (one attempt, from start), queueTimeout (ready to start), deadline (whole operation): failure with the limit's error."
    ) { account in
        account.plan.nodes.indices.compactMap { node -> Rule.Breach? in
            guard let fault = account.outcome(node)?.faults.first, account.isLimit(fault, of: node) else { return nil }
            let plan = account.node(node)
            let isDue =
                switch fault.kind {
                case .deadline: plan.hasDeadline
                case .queueTimeout: plan.hasQueueTimeout
                default: plan.hasTimeout
                }
            return isDue ? nil : .init(node, "was stopped by a limit that it does not have: \(fault)")
        }
    },
    Rule("lossNeedsALoss", "Loss of a worker is not a failure: the unit is queued again.") { account in
        account.plan.nodes.indices.compactMap { node -> Rule.Breach? in
            guard account.outcome(node)?.faults.contains(where: { $0.kind == .workerLost }) == true, !account.hasKills else { return nil }
            return .init(node, "has lost its worker, and none was")
        }
    },
    Rule("cancellationHasACause", "Cancelled only if it itself, or something around it, was cancelled. Finished first stays finished.") {
        account in
        account.plan.nodes.indices.compactMap { node -> Rule.Breach? in
            guard account.outcome(node)?.isCancelled == true, !account.hasJoined(node) else { return nil }
            return account.causes(ofCancelling: node).isEmpty ? .init(node, "was cancelled by nobody") : nil
        }
    },
    Rule("cancelledNamesItself", "Cancelled is also visible as the error IsCancelled, which names the operation or group.") { account in
        account.plan.nodes.indices.compactMap { node -> Rule.Breach? in
            guard case .cancelled(let faults)? = account.outcome(node), !account.hasJoined(node) else { return nil }
            let name = GraphPlan.name(of: node)
            return faults == [Fault(.cancelled(name), by: name)] ? nil : .init(node, "was cancelled with \(faults)")
        }
    },
    Rule("cancelledNeverBegins", "Cancelled before it starts: ends without executing.") { account in
        account.cancelInForce.sorted { $0.key < $1.key }.flatMap { node, place in
            account.subtree(node).flatMap { member in
                // A body says that it runs a moment after it was started, and the start was told before that.
                // Of the attempts of a sequence it is heard when all are over, and of what a queue makes anew when the group is.
                let wasStarted = account.everyStart(of: member).contains { $0 < place } || account.isHeardAtItsEnd(member)
                return account.everyRun[member].filter { $0.start > place }.dropFirst(wasStarted ? 1 : 0).map { run in
                    Rule.Breach(run.node, [place, run.start], "began after its cancellation")
                }
            }
        }
    },
    Rule("nothingAfterTheEnd", "Whatever waits for an operation waits for the end of its body; after its end nothing of it runs.") {
        account in
        account.plan.nodes.indices.flatMap { node -> [Rule.Breach] in
            let end = account.over[node] ?? .max
            return account.everyRun[node].filter { $0.start > end || $0.end > end && !$0.isDoubtful }.map {
                Rule.Breach(node, [end, $0.start], "ran after it was over")
            }
        }
    },
    Rule("everyBodyEnds", "The body ends when run() has returned, or the process is gone.") { account in
        account.plan.leaves.flatMap { node in
            account.everyRun[node].filter { $0.result == nil && !$0.isDoubtful }.map {
                Rule.Breach(node, [$0.start], "has a run without an end")
            }
        }
    },
    Rule("errorsKeepTheirOrigin", "An error keeps the state and publisher it was born with when it is forwarded.") { account in
        account.plan.nodes.indices.compactMap { node -> Rule.Breach? in
            let received = account.everyRun[node].compactMap { if case .failure(let fault)? = $0.received { fault } else { nil } }
            let strange = ((account.outcome(node)?.faults ?? []) + received).filter { !$0.hasItsOrigin }
            return strange.isEmpty ? nil : .init(node, "has errors of another origin: \(strange)")
        }
    },
]

extension Account {
    /// Whether nobody listens to it but the sequence that it is an attempt of, or the group that is tried again.
    fileprivate func isHeardAtItsEnd(_ node: Int) -> Bool {
        guard let parent = self.node(node).parent else { return false }
        return self.node(parent).group?.sequence == .retry || isHere && plan.isMadeAnewByItself(parent)
    }

    /// Whether a wrapper makes it.
    fileprivate func isPart(_ node: Int) -> Bool { self.node(node).parent.map { self.node($0).isWrapper } ?? false }

    /// Whether what it ended with is to be judged as another one's outcome.
    func mayHaveJoined(_ node: Int) -> Bool { self.node(node).unique?.joins == true && runs[node].isEmpty }
}

extension Fault {
    /// Whether state and publisher are those with which an error of this kind is born.
    fileprivate var hasItsOrigin: Bool {
        switch kind {
        case .own(let text):
            if text.contains("?") { return isOfCondition && publisher == Texts.scriptedCondition }
            return !isOfCondition && publisher == text.split(separator: "!").first.map(String.init)
        case .cancelled(let name): return !isOfCondition && publisher == name
        case .negated: return isOfCondition && publisher?.hasPrefix("Not<") == true
        case .severalRefuse: return isOfCondition && publisher == Texts.allCondition
        case .noAlternative: return isOfCondition && publisher == Texts.anyCondition
        case .failedDependencies: return isOfCondition && publisher == "NoFailedDependencies"
        case .cancelledDependencies: return isOfCondition && publisher == "NoCancelledDependencies"
        case .timeout, .deadline, .queueTimeout, .duplicate, .receivedNothing, .workerLost, .other: return !isOfCondition
        }
    }
}
