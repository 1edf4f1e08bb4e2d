import Scheduling

/// What has ended is written into the history, which has a thread of its own.
extension CoordinatorLoop {
    /// What the history's thread says.
    func receive(_ event: HistoryService.Event) {
        switch event {
        case .taken: historyFeed.taken()
        case .begunAnew(let file):
            historyFeed.begin(file: file)
            fillHistory { _, _ in true }
        }
    }

    /// What has ended and is missing there is to be written. It has waited for long: nothing is forgotten before it is there.
    func fillHistory(where isMissing: (_ id: String, _ endedAt: Int64) -> Bool) {
        let since = now.boot - CoordinatorLimits.historyLagMilliseconds
        for (number, id, endedAt) in scheduler.endedSubmissions where isMissing(id, endedAt) {
            historyFeed.append(number, after: scheduler.sequence, at: since)
        }
    }

    /// Tells the scheduler, before it forgets anything, whether something waits for its place in the history.
    func tellOfHistory() {
        let isBehind = historyFeed.holdsBack(at: now.boot)
        guard isBehind != isHistoryBehind else { return }
        isHistoryBehind = isBehind
        inputs.append(.historyBehind(isBehind))
    }

    /// It is known no more, and is not told to the history any more.
    func dropFromHistory(_ number: SubmissionNumber) {
        guard historyFeed.forget(number), let skipped = unwrittenLog.allow(at: now.boot) else { return }
        logger.warning(
            """
            submission \(labels.submissionIDs[number] ?? "\(number.rawValue)") is forgotten, and could not be written into the history\
            \(skipped)
            """)
    }
}
