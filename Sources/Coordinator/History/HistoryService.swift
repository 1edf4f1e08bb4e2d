import Logging
import Scheduling
import Wire

/// The history on its own thread. What cannot be written is logged, and written by the next start: no work depends on it.
final class HistoryService: Sendable {
    enum Event: Sendable {
        /// The page that was posted is off the queue.
        case taken
    }

    private let jobs = WorkQueue<HistoryPage>()
    private let thread: OSThread

    /// Starts the thread. `report` runs on it and must not block.
    ///
    /// - Parameter keepMilliseconds: for how long after its end a submission stays in the history; nil: for ever.
    /// - Throws: `ThreadError`.
    init(
        _ database: HistoryDatabase, keepMilliseconds: Int64?, logger: Logger, report: @escaping @Sendable (Event) -> Void
    ) throws(ThreadError) {
        thread = try OSThread(name: "aop-history") { [jobs] in
            var worker = HistoryWorker(database: database, keepMilliseconds: keepMilliseconds, logger: logger)
            worker.begin()
            while true {
                switch jobs.take(withinMilliseconds: worker.millisecondsToRoom) {
                case .jobs(let pages):
                    for page in pages {
                        worker.append(page)
                        report(.taken)
                    }
                case .closed: return worker.end()
                }
                worker.makeRoomIfDue()
            }
        }
    }

    func post(_ page: HistoryPage) { jobs.post(page) }

    /// Waits until everything posted is stored.
    func close() {
        jobs.close()
        thread.join()
    }
}

/// What the history's thread does.
private struct HistoryWorker {
    private let database: HistoryDatabase
    private let keepMilliseconds: Int64?
    private let logger: Logger
    /// Boot time at which it is looked for what is too old or too much.
    private var roomAt = BootClock.milliseconds()
    /// A page of it could not be written: the rest of it is not, either.
    private var broken: SubmissionNumber?
    private var log = RateLimit()

    init(database: HistoryDatabase, keepMilliseconds: Int64?, logger: Logger) {
        self.database = database
        self.keepMilliseconds = keepMilliseconds
        self.logger = logger
    }

    var millisecondsToRoom: Int64 { max(0, roomAt - BootClock.milliseconds()) }

    func begin() {
        do { try database.removeUnfinished() } catch { logger.error("\(database.path): cannot remove what was left unfinished: \(error)") }
    }

    mutating func append(_ page: HistoryPage) {
        if page.isFirst { broken = nil }
        guard broken == nil else { return }
        do { try database.append(page) } catch {
            broken = page.number
            if let skipped = log.allow(at: BootClock.milliseconds()) {
                logger.error(
                    """
                    \(database.path): submission \(page.number.rawValue) cannot be written; the next start tries again: \
                    \(error)\(skipped)
                    """)
            }
        }
    }

    mutating func makeRoomIfDue() {
        let now = BootClock.milliseconds()
        guard now >= roomAt else { return }
        roomAt = now + CoordinatorLimits.historyLookMilliseconds
        do {
            let removed = try database.makeRoom(endedBefore: keepMilliseconds.map { WallClock.milliseconds() - $0 } ?? .min)
            if removed > 0 { logger.info("\(removed) submissions that ended long ago were taken out of the history") }
        } catch { logger.error("\(database.path): cannot remove what is too old: \(error)") }
    }

    func end() {
        do { try database.close() } catch { logger.error("\(database.path): cannot close: \(error)") }
    }
}
