import DequeModule
import Scheduling

/// Which submissions are still to be written into the history, and how far the first of them is. One page is on its way at a time, so
/// that neither the loop nor its memory has more of it than that: the rest is read from the scheduler when it is its turn.
struct HistoryFeed {
    private struct Entry {
        let number: SubmissionNumber
        /// Its end is on the disk when the journal is durable up to here.
        let after: JournalSequence
        /// Boot time.
        let since: Int64
    }

    /// What the history's thread has.
    private enum Writing {
        case nothing
        /// A page of the first one; the next page of it begins with this unit, nil: there is none.
        case page(next: Int?)
        /// A page of one that was forgotten meanwhile.
        case stray
    }

    /// Those that were forgotten are in it, too, until it is their turn or there are many of them.
    private var waiting: Deque<Entry> = []
    /// Those of them that are not forgotten. Looked up, never iterated.
    private var missing: Set<SubmissionNumber> = []
    /// The unit with which the next page of the first one begins.
    private var next = 0
    private var writing = Writing.nothing
    /// Of `HistoryPage`.
    private var file = 0
    /// Boot time at which it was seen that the first one waits for longer than it should; nil: it does not.
    private var behindSince: Int64?

    /// Forgotten ones that may stay in the line.
    private static let forgottenMax = 1000

    /// It has ended, which is on the disk when the journal is durable up to `after`.
    mutating func append(_ number: SubmissionNumber, after: JournalSequence, at boot: Int64) {
        guard missing.insert(number).inserted else { return }
        waiting.append(Entry(number: number, after: after, since: boot))
    }

    /// The page that was taken out was written.
    mutating func taken() {
        switch writing {
        case .nothing, .stray: break
        case .page(let unit?): next = unit
        case .page(nil):
            missing.remove(waiting.removeFirst().number)
            skip()
        }
        writing = .nothing
    }

    /// There is a new file, the one of this number, and nothing is in it: `append` says what is to be.
    mutating func begin(file: Int) {
        self = HistoryFeed()
        self.file = file
    }

    /// It is known no more.
    ///
    /// - Returns: whether it will not be in the history: it waited for that.
    mutating func forget(_ number: SubmissionNumber) -> Bool {
        guard missing.remove(number) != nil else { return false }
        guard waiting.first?.number == number else {
            compact()
            return true
        }
        switch writing {
        // All of it is on its way.
        case .page(nil): return false
        case .page: writing = .stray
        case .nothing, .stray: break
        }
        waiting.removeFirst()
        skip()
        return true
    }

    /// The first one is known.
    private mutating func skip() {
        next = 0
        while let first = waiting.first, !missing.contains(first.number) { waiting.removeFirst() }
    }

    private mutating func compact() {
        guard waiting.count > 2 * missing.count + Self.forgottenMax else { return }
        // All pages of the first one may be on their way.
        let first = waiting.removeFirst()
        waiting.removeAll { !missing.contains($0.number) }
        waiting.prepend(first)
    }

    /// Whether nothing is to be forgotten, as it could not be written any more. Only for so long: a history that is never written again
    /// would keep everything in memory.
    mutating func holdsBack(at boot: Int64) -> Bool {
        guard let first = waiting.first, boot - first.since >= CoordinatorLimits.historyLagMilliseconds else {
            behindSince = nil
            return false
        }
        let since = behindSince ?? boot
        behindSince = since
        return boot - since < CoordinatorLimits.historyHoldMilliseconds
    }

    /// Whether there may be something to be written now: the journal is durable up to `durable`.
    func isDue(upTo durable: JournalSequence) -> Bool {
        guard case .nothing = writing, let first = waiting.first else { return false }
        return first.after <= durable
    }

    /// What is to be written now; nil: nothing.
    ///
    /// - Complexity: O(`CoordinatorLimits.historyUnitsPerPage`).
    mutating func page(upTo durable: JournalSequence, of scheduler: Scheduler) -> HistoryPage? {
        while isDue(upTo: durable), let first = waiting.first {
            guard let run = scheduler.endedOperations(of: first.number, from: next, limit: CoordinatorLimits.historyUnitsPerPage),
                let view = scheduler.endedSubmission(first.number)
            else {
                // Whoever forgets says so before; and what is not there cannot be written in any case.
                missing.remove(first.number)
                waiting.removeFirst()
                skip()
                continue
            }
            writing = .page(next: run.next)
            return HistoryPage(
                id: view.id, isFirst: next == 0, operations: run.operations, submission: run.next == nil ? view : nil, file: file)
        }
        return nil
    }
}
