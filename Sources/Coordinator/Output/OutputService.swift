import Logging
import Scheduling
import Wire

/// The spool of output on its own thread. What cannot be stored is logged and tried again; of what is too much for that a record says that it
/// is missing, where its sender does not have it any more. Of a file that is damaged a new one is begun: no work depends on it.
final class OutputService: Sendable {
    enum Job: Sendable {
        case append([OutputRecord])
        case read(OutputTicket, OutputQuery)
        /// These are known no more.
        case forget([SubmissionNumber])
    }

    enum Event: Sendable {
        /// Records of so many bytes are off the queue.
        case taken(bytes: Int)
        /// There are more of these submissions; what senders are told.
        case stored(of: Set<SubmissionNumber>, [OutputReceipt])
        case page(OutputTicket, OutputPage)
        case unreadable(OutputTicket, reason: String)
    }

    private let jobs = WorkQueue<Job>()
    private let thread: OSThread

    /// Starts the thread. `report` runs on it and must not block.
    ///
    /// - Throws: `ThreadError`.
    init(
        _ database: OutputDatabase, logger: Logger, report: @escaping @Sendable (Event) -> Void
    ) throws(ThreadError) {
        thread = try OSThread(name: "aop-output") { [jobs] in
            var worker = OutputWorker(database: database, logger: logger, report: report)
            while true {
                switch jobs.take(withinMilliseconds: worker.millisecondsToWork) {
                case .jobs(let list): worker.perform(list)
                case .closed: return worker.end()
                }
            }
        }
    }

    func post(_ job: Job) { jobs.post(job) }

    /// Waits until everything posted is stored and on the disk.
    func close() {
        jobs.close()
        thread.join()
    }
}

/// What the spool's thread does.
private struct OutputWorker {
    private var database: OutputDatabase
    private let logger: Logger
    private let report: @Sendable (OutputService.Event) -> Void
    private var waiting: [OutputRecord] = []
    /// Could not be stored; before `waiting`.
    private var retried: [OutputRecord] = []
    private var retriedBytes = 0
    /// Boot time of the next try; nil: the last one succeeded.
    private var retryAt: Int64?
    /// The last records of attempts that are given up, until they are stored as what says so.
    private var gaps: [AttemptName: OutputRecord] = [:]
    /// Boot time at which what is stored must be on the disk; nil: it is.
    private var syncAt: Int64?
    /// Known no more, and not removed yet.
    private var gone: [SubmissionNumber] = []
    /// Boot time of the next try to remove them; nil: the last one succeeded.
    private var removeAt: Int64?
    private var log = RateLimit()

    init(database: OutputDatabase, logger: Logger, report: @escaping @Sendable (OutputService.Event) -> Void) {
        self.database = database
        self.logger = logger
        self.report = report
        wait(milliseconds: CoordinatorLimits.spoolLockMilliseconds)
    }

    /// How long this thread waits for a program that has the file locked.
    private mutating func wait(milliseconds: Int64) {
        database.setPatience(milliseconds: milliseconds)
    }

    var millisecondsToWork: Int64? { [syncAt, retryAt, removeAt].compactMap(\.self).min().map { max(0, $0 - BootClock.milliseconds()) } }

    mutating func perform(_ jobs: [OutputService.Job]) {
        for job in jobs {
            switch job {
            case .append(let records): waiting += records
            case .read(let ticket, let query):
                store()
                do {
                    let page = try use { try $0.read(query) }
                    report(.page(ticket, page))
                } catch {
                    logger.error("\(database.path): cannot read output: \(error)")
                    report(.unreadable(ticket, reason: "the stored output cannot be read; the coordinator's log says why"))
                }
            case .forget(let submissions):
                store()
                gone += submissions
            }
        }
        store()
        removeGone()
        if let syncAt, BootClock.milliseconds() >= syncAt { sync() }
    }

    mutating func end() {
        if retryAt != nil {
            // Nothing waits for this thread any more.
            wait(milliseconds: Int64(JournalDatabase.patienceSeconds * 1_000))
            retryAt = Int64.min
            store()
            if !retried.isEmpty { logger.error("\(database.path): \(retried.count) records of output could not be stored to the end") }
        }
        sync()
        do { try database.close() } catch { logger.error("\(database.path): cannot close: \(error)") }
    }

    /// Does something with the file, or with the one that takes the place of a damaged one.
    private mutating func use<Result>(_ body: (inout OutputDatabase) throws -> Result) throws -> Result {
        let logger = logger
        return try database.perform({ logger.warning("\($0)") }, body)
    }

    private mutating func store() {
        let news = waiting
        waiting.removeAll(keepingCapacity: true)
        defer { if !news.isEmpty { report(.taken(bytes: news.reduce(0) { $0 + $1.spooledBytes })) } }
        if let retryAt, BootClock.milliseconds() < retryAt { return hold(news) }
        let records = retried + news
        guard !records.isEmpty || !gaps.isEmpty else { return retryAt = nil }
        let held = retried.count
        let lost = gaps.values.sorted { ($0.unit, $0.attempt, $0.index) < ($1.unit, $1.attempt, $1.index) }
        do {
            let (count, standings) = try use { try $0.store(records + lost) }
            if count > 0 {
                syncAt = syncAt ?? BootClock.milliseconds() + CoordinatorLimits.outputSyncMilliseconds
                let submissions = (records + lost).prefix(count).map(\.unit.submission)
                report(.stored(of: Set(submissions), OutputReceipt.receipts(for: Array(records.prefix(count)), standings)))
            }
            guard count < records.count + lost.count else {
                (retried, retriedBytes, retryAt, gaps) = ([], 0, nil, [:])
                return
            }
            noteFailure(of: records.count + lost.count - count, "less than half of --disk-reserve is free, and what is older takes less")
            retried.removeFirst(min(count, held))
            retriedBytes = retried.reduce(0) { $0 + $1.spooledBytes }
            // Behind the receipts for what is before it.
            hold(Array(news.dropFirst(max(0, count - held))))
        } catch {
            noteFailure(of: records.count, error)
            hold(news)
        }
    }

    private mutating func noteFailure(of count: Int, _ reason: Any) {
        retryAt = BootClock.milliseconds() + CoordinatorLimits.outputRetryMilliseconds
        guard let skipped = log.allow(at: BootClock.milliseconds()) else { return }
        logger.error("\(database.path): \(count) records of output cannot be stored, and are tried again: \(reason)\(skipped)")
    }

    /// Keeps records for the next try, as far as there is room. Who has the others sends them again; nobody else has them.
    private mutating func hold(_ news: [OutputRecord]) {
        var refused: [AttemptName: OutputStanding] = [:]
        var left: [OutputRecord] = []
        for record in news {
            let name = AttemptName(unit: record.unit, attempt: record.attempt)
            if retriedBytes + record.spooledBytes <= CoordinatorLimits.outputRetriedBytes, gaps[name] == nil, refused[name] == nil {
                retried.append(record)
                retriedBytes += record.spooledBytes
            } else if record.keptFrom != nil {
                refused[name] = OutputStanding(next: 0, isRefused: true)
                left.append(record)
            } else if gaps[name] != nil || gaps.count < CoordinatorLimits.outputGapsMax {
                gaps[name] = record.gap(at: record.index)
            }
        }
        if !left.isEmpty { report(.stored(of: [], OutputReceipt.receipts(for: left, refused))) }
    }

    private mutating func removeGone() {
        guard !gone.isEmpty, BootClock.milliseconds() >= removeAt ?? .min else { return }
        let submissions = gone
        let unknown = Set(submissions)
        retried.removeAll { unknown.contains($0.unit.submission) }
        retriedBytes = retried.reduce(0) { $0 + $1.spooledBytes }
        gaps = gaps.filter { !unknown.contains($0.key.unit.submission) }
        do {
            try use { try $0.forget(submissions) }
            (gone, removeAt) = ([], nil)
        } catch {
            removeAt = BootClock.milliseconds() + CoordinatorLimits.outputRetryMilliseconds
            guard let skipped = log.allow(at: BootClock.milliseconds()) else { return }
            logger.error("\(database.path): cannot remove what is known no more, which is tried again: \(error)\(skipped)")
        }
    }

    private mutating func sync() {
        syncAt = nil
        do { try use { try $0.sync() } } catch { logger.error("\(database.path): cannot sync: \(error)") }
    }
}
