import Logging
import Scheduling
import Wire

/// The spool of partial results on its own thread.
final class ElementService: Sendable {
    enum Job: Sendable {
        case append([ElementRun])
        case read(ElementTicket, ElementQuery)
        /// These have ended, and may be removed to make room.
        case remove([SubmissionNumber])
        /// These are known no more.
        case forget([SubmissionNumber])
    }

    enum Event: Sendable {
        /// What became of runs that took so many bytes of the queue.
        case stored([ElementReceipt], bytes: Int)
        /// There is no room: these submissions have elements, oldest first.
        case full([SubmissionNumber])
        case page(ElementTicket, ElementPage)
        case unreadable(ElementTicket, reason: String)
    }

    private let jobs = WorkQueue<Job>()
    private let thread: OSThread

    /// Starts the thread. `report` runs on it and must not block.
    ///
    /// - Throws: `ThreadError`.
    init(
        _ database: ElementDatabase, logger: Logger, report: @escaping @Sendable (Event) -> Void
    ) throws(ThreadError) {
        thread = try OSThread(name: "aop-elements") { [jobs] in
            var worker = ElementWorker(database: database, logger: logger, report: report)
            while true {
                switch jobs.take(withinMilliseconds: nil) {
                case .jobs(let list): worker.perform(list)
                case .closed: return worker.end()
                }
            }
        }
    }

    func post(_ job: Job) { jobs.post(job) }

    /// Waits until everything posted is on the disk.
    func close() {
        jobs.close()
        thread.join()
    }
}

/// What the spool's thread does.
private struct ElementWorker {
    private var database: ElementDatabase
    private let logger: Logger
    private let report: @Sendable (ElementService.Event) -> Void
    private var waiting: [ElementRun] = []
    /// Known no more, and not removed yet: the next ones are tried together with them.
    private var gone: [SubmissionNumber] = []
    private var log = RateLimit()

    init(database: ElementDatabase, logger: Logger, report: @escaping @Sendable (ElementService.Event) -> Void) {
        self.database = database
        self.logger = logger
        self.report = report
        // Who sends partial results has them until they are taken; what comes behind them in the queue would wait as well.
        self.database.writePatienceMilliseconds = CoordinatorLimits.spoolLockMilliseconds
    }

    mutating func perform(_ jobs: [ElementService.Job]) {
        for job in jobs {
            switch job {
            case .append(let runs): waiting += runs
            case .read(let ticket, let query):
                store()
                do { report(.page(ticket, try database.read(query))) } catch {
                    logger.error("\(database.path): cannot read partial results of submission \(query.unit.submission.rawValue): \(error)")
                    report(.unreadable(ticket, reason: Self.reason(error)))
                }
            case .remove(let submissions):
                store()
                do { try database.remove(submissions) } catch { logger.error("\(database.path): cannot make room: \(error)") }
            case .forget(let submissions):
                store()
                gone += submissions
                do {
                    try database.forget(gone)
                    gone = []
                } catch {
                    logger.error("\(database.path): cannot remove what is known no more, which is tried again with the next: \(error)")
                }
            }
        }
        store()
    }

    private static func reason(_ error: any Error) -> String {
        if let error = error as? DamagedElement { return "\(error)" }
        return "the stored partial results cannot be read; the coordinator's log says why, and `aop journal verify` what is damaged"
    }

    mutating func end() {
        do { try database.close() } catch { logger.error("\(database.path): cannot close: \(error)") }
    }

    private mutating func store() {
        guard !waiting.isEmpty else { return }
        let runs = waiting
        waiting = []
        let bytes = runs.reduce(0) { $0 + $1.spooledBytes }
        do {
            let receipts = try database.append(runs)
            let losses = receipts.compactMap(\.loss)
            if !losses.isEmpty { logger.warning("\(ElementLoss.text(losses, path: database.path))") }
            report(.stored(receipts, bytes: bytes))
            if receipts.contains(where: { $0.full != nil }) { report(.full(database.submissions)) }
        } catch {
            if let skipped = log.allow(at: BootClock.milliseconds()) {
                logger.error("\(database.path): partial results cannot be stored; their operations are held back: \(error)\(skipped)")
            }
            let receipts = runs.map { run in
                ElementReceipt(
                    peer: run.peer, unit: run.unit, attempt: run.attempt, next: 0, isClosed: false, full: ElementDatabase.unstorableText)
            }
            report(.stored(receipts, bytes: bytes))
        }
    }
}
