/// What has happened to units, as far as the state still knows.
extension Explainer {
    /// Since when the unit is in its state; 0: not known.
    func since(of unit: Int, _ state: OperationState) -> Int64 {
        let own = submission.units[unit]
        switch state {
        case .succeeded, .failed, .cancelled: return own.finishedAt
        case .running: return own.startedAt
        case .queued: return own.queuedAt
        case .locking: return scheduler.durable.locks.requests[submission.id(unit)]?.askedAt ?? 0
        case .stopping: return submission.histories[Int32(unit)]?.first { $0.event == .requested }?.at ?? 0
        case .paused: return submission.pausedUnit(around: unit).flatMap { submission.pauses[Int32($0)] } ?? 0
        case .evaluating:
            guard case .postponed = own.phase else { return 0 }
            return submission.verdicts[Int32(unit)]?.map(\.at).max() ?? 0
        case .blocked:
            guard own.parent >= 0 else { return submission.submittedAt }
            let parent = submission.units[Int(own.parent)]
            if parent.phase == .open { return submission.isAdded(unit) ? 0 : parent.startedAt }
            return submission.isAdded(unit) || own.attempts > 0 ? 0 : submission.submittedAt
        case .retrying: return 0
        }
    }

    func history(of unit: Int) -> [ExplainedEvent] {
        let state = submission.units[unit]
        let isOperation = submission.node(unit).isOperation
        var events: [ExplainedEvent] = []
        func note(_ at: Int64, _ event: String, _ text: String) {
            if at > 0 { events.append(ExplainedEvent(at: at, event: event, text: text)) }
        }
        if !submission.isAdded(unit) { note(submission.submittedAt, "submitted", "the graph was submitted") }
        if submission.keptFrom(unit) != nil {
            note(state.finishedAt, "ended", endText(of: unit))
            return events
        }
        let queued = "nothing but conditions, locks and a worker was in its way"
        if isOperation {
            let since = submission.earlierFailures[Int32(unit)]?.since ?? 0
            note(since, "queued", queued)
            if state.queuedAt != since { note(state.queuedAt, "queued", since == 0 ? queued : "\(queued), again") }
        }
        if let request = scheduler.durable.locks.requests[submission.id(unit)] {
            note(request.askedAt, "locksAsked", "it asked for its locks")
            if let since = request.heldSince { note(since, "locksTaken", "it has its locks") }
        }
        for view in submission.conditionViews(of: unit) {
            let evaluator = view.verdict.evaluator.isEmpty ? "the coordinator" : view.verdict.evaluator
            note(
                view.verdict.at, "verdict",
                "\(view.key): \(view.verdict.word), says \(evaluator)\(view.verdict.reason.isEmpty ? "" : ": \(view.verdict.reason)")")
        }
        for verdict in composedVerdicts(of: unit) { note(verdict.at, "verdict", verdict.text) }
        let failed = failedAttempts(of: unit)
        let worker = state.lastWorker.map { " on \(scheduler.durable.workers[$0.index].identity.name)" } ?? ""
        let again = state.attempts > 1 ? "attempt \(state.attempts): " : ""
        var text = isOperation ? "attempt \(state.attempts) began\(worker)" : "\(again)its members may begin"
        if let failure = submission.lastFailures[Int32(unit)] {
            switch state.phase {
            case .provisional: text += ", and failed: \(failure.message)"
            // An earlier version has not kept it by itself.
            case .retryWait where failed.isEmpty: text += ", and failed: \(failure.message)"
            default: break
            }
        }
        events += failed
        note(state.startedAt, "started", text)
        note(submission.pauses[Int32(unit)] ?? 0, "paused", "it was paused")
        if mayBePaused(state) {
            var around = Int(state.parent)
            while around >= 0 {
                let name = scheduler.durable.name(of: submission.id(around))
                note(submission.pauses[Int32(around)] ?? 0, "paused", "\(name) was paused, which it is in")
                around = Int(submission.units[around].parent)
            }
        }
        let overdue = scheduler.overdueAttempt(of: submission.id(unit)).map { [$0.stage] } ?? []
        for stage in (submission.histories[Int32(unit)] ?? []) + overdue { note(stage.at, stage.event.rawValue, stage.text) }
        note(state.finishedAt, "ended", endText(of: unit))
        return events.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    /// Failed attempts that are named: the last ones.
    static let failedAttemptsMax = 10

    /// What failed before the newest attempt began, or before the next one; a failure about whose end others decide is told with the begin
    /// of its attempt.
    private func failedAttempts(of unit: Int) -> [ExplainedEvent] {
        let state = submission.units[unit]
        let isToldWithItsBegin = state.phase == .provisional && state.startedAt > 0
        let attempts = submission.shownEarlierAttempts(of: unit)
            .filter { $0.ending == .failed && !(isToldWithItsBegin && $0.number == state.attempts) }
        let others = submission.earlierFailures[Int32(unit)]
        let otherCount = Int(others?.count ?? 0)
        let hasFailedLast = if case .failure? = state.outcome { true } else { isToldWithItsBegin }
        // Of attempts that are not kept any more only how many there were is known.
        let attemptCount =
            attempts.isEmpty ? 0 : max(attempts.count, Int(state.failedAttempts) - otherCount - (hasFailedLast ? 1 : 0))
        var events = attempts.map { attempt in
            let worker = scheduler.durable.workers[attempt.worker.index].identity.name
            let text = attempt.text.isEmpty ? "" : ": \(attempt.text)"
            return ExplainedEvent(at: attempt.endedAt, event: "failed", text: "attempt \(attempt.number) on \(worker) failed\(text)")
        }
        events += (others?.last ?? []).map { failure in
            let what = failure.number == 0 ? "failed before it began" : "attempt \(failure.number) failed"
            return ExplainedEvent(at: failure.at, event: "failed", text: failure.text.isEmpty ? what : "\(what): \(failure.text)")
        }
        let named = events.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
            .suffix(Self.failedAttemptsMax)
        let more = attemptCount + otherCount - named.count
        guard let first = named.first, more > 0 else { return Array(named) }
        return [ExplainedEvent(at: first.at, event: "failed", text: "and \(more) more attempts failed before")] + named
    }

    /// What conditions come to that are made of others, as far as these were judged last: each by itself may hold where all together fail.
    private func composedVerdicts(of unit: Int) -> [(at: Int64, text: String)] {
        let state = submission.units[unit]
        // While they are judged anew the verdicts are of different times.
        guard !state.isEvaluating, state.phase != .ready, let verdicts = submission.verdicts[Int32(unit)] else { return [] }
        let conditions = submission.conditions(of: unit)
        let results = submission.results(of: unit, verdicts)
        var found: [(at: Int64, text: String)] = []
        for (tree, result) in zip(submission.node(unit).requiredConditions, results) {
            if case .leaf = tree { continue }
            let leaves = Set(tree.leaves)
            guard let word = result.words, let at = verdicts.filter({ leaves.contains($0.condition) }).map(\.at).max() else { continue }
            found.append((at, "\(tree.key(conditions)), made of these: \(word)"))
        }
        return found
    }

    private func endText(of unit: Int) -> String {
        if let kept = submission.keptFrom(unit) { return "succeeded in \(kept), and is kept from there: it did not run again" }
        let joined = submission.joinedUnits[Int32(unit)].map { "; it \(joinText(to: $0))" } ?? ""
        switch submission.units[unit].outcome {
        case .success?: return "succeeded\(joined)"
        case .failure(let own)?: return (own.first.map { "failed: \($0.message)" } ?? "failed, because members did") + joined
        case .cancelled?: return "cancelled\(joined)"
        case nil: return ""
        }
    }
}

extension Verdict {
    fileprivate var word: String {
        switch finding {
        case .satisfied: "satisfied"
        case .failed: "failed"
        case .ignored: "ignored"
        case .notNow: "not now"
        }
    }
}

extension ConditionResult {
    /// nil: it is not known.
    fileprivate var words: String? {
        switch self {
        case .satisfied: "satisfied"
        case .failed(let failure): "failed: \(failure.message)"
        case .ignored: "ignored"
        case .notNow: "not now"
        case .unknown: nil
        }
    }
}
