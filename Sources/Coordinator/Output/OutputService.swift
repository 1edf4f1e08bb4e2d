import Logging
import Scheduling
import Wire

/// The spool of output on its own thread. What cannot be stored is logged and lost, and of a file that is damaged a new one is begun: no work
/// depends on it.
final class OutputService: Sendable {
    enum Job: Sendable {
        case append([OutputRecord])
        case read(OutputTicket, OutputQuery)
        /// These are known no more.
        case forget([SubmissionNumber])
    }

    enum Event: Sendable {
        /// Records of so many bytes, of these submissions, are off the queue.
        case taken(bytes: Int, of: Set<SubmissionNumber>)
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
                switch jobs.take(withinMilliseconds: worker.millisecondsToSync) {
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
    /// Boot time at which what is stored must be on the disk; nil: it is.
    private var syncAt: Int64?
    private var log = RateLimit()

    init(database: OutputDatabase, logger: Logger, report: @escaping @Sendable (OutputService.Event) -> Void) {
        self.database = database
        self.logger = logger
        self.report = report
    }

    var millisecondsToSync: Int64? { syncAt.map { max(0, $0 - BootClock.milliseconds()) } }

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
                do { try use { try $0.forget(submissions) } } catch {
                    logger.error("\(database.path): cannot remove what is known no more; the next start tries again: \(error)")
                }
            }
        }
        store()
        if let syncAt, BootClock.milliseconds() >= syncAt { sync() }
    }

    mutating func end() {
        sync()
        do { try database.close() } catch { logger.error("\(database.path): cannot close: \(error)") }
    }

    /// Does something with the file, or with the one that takes the place of a damaged one.
    private mutating func use<Result>(_ body: (inout OutputDatabase) throws -> Result) throws -> Result {
        let logger = logger
        return try database.perform({ logger.warning("\($0)") }, body)
    }

    private mutating func store() {
        guard !waiting.isEmpty else { return }
        let records = waiting
        do {
            try use { try $0.append(records) }
            syncAt = syncAt ?? BootClock.milliseconds() + CoordinatorLimits.outputSyncMilliseconds
        } catch {
            if let skipped = log.allow(at: BootClock.milliseconds()) {
                logger.error("\(database.path): \(waiting.count) records of output are lost: \(error)\(skipped)")
            }
        }
        report(.taken(bytes: waiting.reduce(0) { $0 + $1.spooledBytes }, of: Set(waiting.map(\.unit.submission))))
        waiting.removeAll(keepingCapacity: true)
    }

    private mutating func sync() {
        syncAt = nil
        do { try use { try $0.sync() } } catch { logger.error("\(database.path): cannot sync: \(error)") }
    }
}
