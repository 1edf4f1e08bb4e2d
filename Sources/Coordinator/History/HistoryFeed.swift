import DequeModule
import Scheduling

/// Which submissions are still to be written into the history, and how far the first of them is. One page is on its way at a time, so
/// that neither the loop nor its memory has more of it than that.
struct HistoryFeed {
    private var waiting: Deque<(number: SubmissionNumber, after: JournalSequence)> = []
    /// The unit with which the next page of the first one begins.
    private var next = 0
    private var isBusy = false

    /// It has ended, which is on the disk when the journal is durable up to `after`.
    mutating func append(_ number: SubmissionNumber, after: JournalSequence) { waiting.append((number, after)) }

    /// The page that was taken out was written.
    mutating func taken() { isBusy = false }

    /// Whether there may be something to be written now: the journal is durable up to `durable`.
    func isDue(upTo durable: JournalSequence) -> Bool { !isBusy && waiting.first.map { $0.after <= durable } ?? false }

    /// What is to be written now; nil: nothing.
    ///
    /// - Complexity: O(`CoordinatorLimits.historyUnitsPerPage`).
    mutating func page(upTo durable: JournalSequence, of scheduler: Scheduler) -> HistoryPage? {
        while isDue(upTo: durable), let first = waiting.first {
            let from = next
            guard let run = scheduler.endedOperations(of: first.number, from: from, limit: CoordinatorLimits.historyUnitsPerPage)
            else {
                pass()
                continue
            }
            if let rest = run.next { next = rest } else { pass() }
            isBusy = true
            return HistoryPage(
                number: first.number, isFirst: from == 0, operations: run.operations,
                submission: run.next == nil ? scheduler.endedSubmission(first.number) : nil)
        }
        return nil
    }

    private mutating func pass() {
        waiting.removeFirst()
        next = 0
    }
}
