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
        if isOperation { note(state.queuedAt, "queued", "nothing but conditions, locks and a worker was in its way") }
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
        let worker = state.lastWorker.map { " on \(scheduler.durable.workers[$0.index].identity.name)" } ?? ""
        var text = isOperation ? "attempt \(state.attempts) began\(worker)" : "its members may begin"
        if let failure = submission.lastFailures[Int32(unit)] {
            switch state.phase {
            case .retryWait, .provisional: text += ", and failed: \(failure.message)"
            // The one before it is named by itself.
            default: break
            }
        }
        events += failedAttempts(of: unit)
        note(state.startedAt, "started", text)
        note(submission.pauses[Int32(unit)] ?? 0, "paused", "it was paused")
        let overdue = scheduler.overdueAttempt(of: submission.id(unit)).map { [$0.stage] } ?? []
        for stage in (submission.histories[Int32(unit)] ?? []) + overdue { note(stage.at, stage.event.rawValue, stage.text) }
        note(state.finishedAt, "ended", endText(of: unit))
        return events.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    /// Failed attempts that are named: the last ones.
    static let failedAttemptsMax = 10

    /// What failed before the newest attempt began; a failure that is not an outcome yet is told with the begin of its attempt.
    private func failedAttempts(of unit: Int) -> [ExplainedEvent] {
        let state = submission.units[unit]
        let isToldWithItsBegin: Bool
        switch state.phase {
        case .retryWait, .provisional: isToldWithItsBegin = state.startedAt > 0
        default: isToldWithItsBegin = false
        }
        let failed = submission.shownEarlierAttempts(of: unit)
            .filter { $0.ending == .failed && !(isToldWithItsBegin && $0.number == state.attempts) }
        guard let first = failed.suffix(Self.failedAttemptsMax).first else { return [] }
        // Of those that are not kept any more only how many there were is known.
        let hasFailedLast: Bool
        switch state.phase {
        case .ended(.failure), .retryWait: hasFailedLast = true
        default: hasFailedLast = false
        }
        let all = max(failed.count, Int(state.failedAttempts) - (hasFailedLast ? 1 : 0))
        let more = all - min(failed.count, Self.failedAttemptsMax)
        let named = failed.suffix(Self.failedAttemptsMax).map { attempt in
            let worker = scheduler.durable.workers[attempt.worker.index].identity.name
            let text = attempt.text.isEmpty ? "" : ": \(attempt.text)"
            return ExplainedEvent(at: attempt.endedAt, event: "failed", text: "attempt \(attempt.number) on \(worker) failed\(text)")
        }
        guard more > 0 else { return named }
        return [ExplainedEvent(at: first.startedAt, event: "failed", text: "and \(more) more attempts failed before")] + named
    }

    private func endText(of unit: Int) -> String {
        switch submission.units[unit].outcome {
        case .success?: "succeeded"
        case .failure(let own)?: own.first.map { "failed: \($0.message)" } ?? "failed, because members did"
        case .cancelled?: "cancelled"
        case nil: ""
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
