import Logging
import Scheduling
import Wire

/// The history on its own thread. No work depends on it: what cannot be written is tried again and again, and of a file that is damaged
/// a new one is begun.
final class HistoryService: Sendable {
    enum Event: Sendable {
        /// The page that was posted is written.
        case taken
        /// The file was damaged, and nothing is in the new one, which has this number: whatever was posted is to be posted anew.
        case begunAnew(file: Int)
    }

    private let jobs = WorkQueue<HistoryPage>()
    private let thread: OSThread

    /// Starts the thread. `report` runs on it and must not block.
    ///
    /// - Parameters:
    ///   - age: for how long after its end a submission stays in the history.
    ///   - retryMilliseconds: after which what could not be written is tried again.
    /// - Throws: `ThreadError`.
    init(
        _ database: HistoryDatabase, age: HistoryAge, retryMilliseconds: Int64 = CoordinatorLimits.historyRetryMilliseconds,
        logger: Logger, report: @escaping @Sendable (Event) -> Void
    ) throws(ThreadError) {
        thread = try OSThread(name: "aop-history") { [jobs] in
            var worker = HistoryWorker(
                database: database, age: age, retryMilliseconds: retryMilliseconds, logger: logger, report: report)
            worker.begin()
            while true {
                switch jobs.take(withinMilliseconds: worker.millisecondsToWork) {
                case .jobs(let pages): worker.take(pages)
                case .closed: return worker.end()
                }
                worker.work()
            }
        }
    }

    /// Hands over a page: the next one when that was `taken`.
    func post(_ page: HistoryPage) { jobs.post(page) }

    /// Waits until what was posted is stored, or was tried.
    func close() {
        jobs.close()
        thread.join()
    }
}

/// What the history's thread does.
private struct HistoryWorker {
    private let place: HistoryDatabase.Place
    /// nil: it was damaged, and a new one could not be begun yet.
    private var database: HistoryDatabase?
    /// How many were begun in the place of damaged ones.
    private var file = 0
    /// The page that is to be written.
    private var page: HistoryPage?
    /// Boot time before which it is not tried.
    private var retryAt = Int64.min
    /// Boot time at which it is looked for what is too old or too much.
    private var roomAt = BootClock.milliseconds()
    private var age: HistoryAge
    private let retryMilliseconds: Int64
    private let logger: Logger
    private let report: @Sendable (HistoryService.Event) -> Void
    private var log = RateLimit(intervalMilliseconds: HistoryWorker.logMilliseconds)

    /// What goes on failing is told once in so long.
    private static let logMilliseconds: Int64 = 60_000

    init(
        database: HistoryDatabase, age: HistoryAge, retryMilliseconds: Int64, logger: Logger,
        report: @escaping @Sendable (HistoryService.Event) -> Void
    ) {
        place = database.place
        self.database = database
        self.age = age
        self.retryMilliseconds = retryMilliseconds
        self.logger = logger
        self.report = report
    }

    var millisecondsToWork: Int64 {
        max(0, (page == nil ? roomAt : min(roomAt, retryAt)) - BootClock.milliseconds())
    }

    mutating func begin() { _ = attempt("remove what was left unfinished") { try $0.removeUnfinished() } }

    mutating func take(_ pages: [HistoryPage]) {
        // Those for an earlier file are posted anew.
        for page in pages where page.file == file { self.page = page }
    }

    mutating func work() {
        write()
        makeRoomIfDue()
    }

    private mutating func write() {
        guard let page, BootClock.milliseconds() >= retryAt else { return }
        let isWritten = attempt("write submission \(page.id), which is tried again every \(retryMilliseconds) ms", isRepeated: true) {
            try $0.append(page)
        }
        guard isWritten else {
            retryAt = BootClock.milliseconds() + retryMilliseconds
            return
        }
        retryAt = .min
        self.page = nil
        report(.taken)
    }

    private mutating func makeRoomIfDue() {
        let now = BootClock.milliseconds()
        guard now >= roomAt else { return }
        roomAt = now + CoordinatorLimits.historyLookMilliseconds
        let time = age.limit(at: HistoryAge.now)
        var removed = 0
        _ = attempt("remove what is too old") { removed = try $0.makeRoom(endedBefore: time) }
        if removed > 0 { logger.info("\(removed) submissions that ended long ago were taken out of the history") }
    }

    mutating func end() {
        if let page { logger.notice("\(place.path): submission \(page.id) is not written; the next start writes it") }
        do { try database?.close() } catch { logger.error("\(place.path): cannot close: \(error)") }
    }

    /// Does something with the file. Of one that is damaged a new one is begun, and the loop is told.
    ///
    /// - Returns: whether it was done.
    private mutating func attempt(
        _ action: String, isRepeated: Bool = false, _ body: (inout HistoryDatabase) throws -> Void
    ) -> Bool {
        do {
            var open = try database ?? HistoryDatabase(place)
            defer { database = open }
            try body(&open)
            return true
        } catch let error where SideFile.isDamage(error) {
            beginAnew(error)
        } catch {
            if let skipped = isRepeated ? log.allow(at: BootClock.milliseconds()) : "" {
                logger.error("\(place.path): cannot \(action): \(error)\(skipped)")
            }
        }
        return false
    }

    private mutating func beginAnew(_ reason: any Error) {
        do {
            try database?.close()
            // Whatever comes of this: the next page is for a file that was opened anew, and begins with the first one of its submission.
            database = nil
            file += 1
            page = nil
            report(.begunAnew(file: file))
            let text = try place.file.setAside(because: reason)
            logger.warning("\(text)")
            database = try HistoryDatabase(place)
        } catch {
            if let skipped = log.allow(at: BootClock.milliseconds()) {
                logger.error(
                    "\(place.path): the history is damaged, and a new one cannot be begun, which is tried again: \(error)\(skipped)")
            }
        }
    }
}
