import Foundation
import Logging
import Scheduling
import Wire

/// Commits facts on its own thread: everything that waits goes into one transaction, so that one sync of the disk serves
/// all of it, while the caller goes on. Between two commits it does what the thread that makes snapshots asks for.
///
/// Who has little to commit, and nothing else to do meanwhile, may commit it itself: two threads less are woken.
final class JournalWriter: Sendable {
    enum Event: Sendable {
        /// Everything up to here is on the disk.
        case durable(JournalSequence)
        case snapshotMade
        /// What came of ``cutLog()``.
        case logCut(JournalDatabase.LogCut)
        /// The end: what the disk holds is unknown, or not what was written. Nothing may be acknowledged any more, and
        /// nothing more is written.
        case failed(JournalError)
    }

    /// When snapshots are made.
    struct SnapshotPolicy: Sendable {
        let scheduling: Scheduler.Configuration
        /// When so many bytes of facts have come since the last one, and as many as that one had.
        let bytes: Int64
        /// Between two that are made only because something was forgotten.
        var pauseMilliseconds = CoordinatorLimits.snapshotPauseMilliseconds
        /// They are not for snapshots.
        var reserveBytes: Int64 = 0

        /// Whether there is room for a snapshot of so many bytes beside a journal: in its log first, then in the file; and in the log for the
        /// removal of what it stands for.
        func fits(besides journal: String) -> @Sendable (Int64) -> Bool {
            let directory = URL(fileURLWithPath: journal).deletingLastPathComponent().path
            let others = UInt64(max(0, reserveBytes)) + 2 * UInt64(JournalDatabase.prunedBytes)
            return { bytes in DiskReserve.freeBytes(in: directory) ?? .max > 2 * UInt64(max(0, bytes)) + others }
        }

        /// Whether the log of a journal has room for one removal.
        static func mayPrune(_ journal: String) -> @Sendable () -> Bool {
            let directory = URL(fileURLWithPath: journal).deletingLastPathComponent().path
            return { DiskReserve.freeBytes(in: directory) ?? .max > 2 * UInt64(JournalDatabase.prunedBytes) }
        }
    }

    private enum Job: Sendable {
        case facts([Fact])
        case errand(JournalErrand)
        case snapshotMade(Snapshot)
        case snapshotRefused(bytes: Int64)
        case cutLog
        /// Something is due: behind a commit that another thread has made, or as time has passed.
        case look
    }

    private let waiting = WorkQueue<Job>()
    private let pen: JournalPen
    private let thread: OSThread
    private let snapshots: SnapshotThread?
    private let logger: Logger

    /// Starts the threads. `report` runs on them and must not block.
    ///
    /// - Parameters:
    ///   - snapshots: nil: none are made.
    ///   - hasForgotten: something was forgotten that is still in the newest snapshot, or behind it.
    /// - Throws: `ThreadError`, `JournalError`.
    init(
        _ database: JournalDatabase, after end: JournalEnd, snapshots policy: SnapshotPolicy?, hasForgotten: Bool = false, logger: Logger,
        report: @escaping @Sendable (Event) -> Void
    ) throws {
        let backlog = try policy.map { try SnapshotBacklog($0, of: database, hasForgotten: hasForgotten, at: BootClock.milliseconds()) }
        let snapshots = try policy.map { [waiting] policy in
            try SnapshotThread(
                policy.scheduling, path: database.path, logger: logger, fits: policy.fits(besides: database.path),
                perform: { body in
                    let errand = JournalErrand(body)
                    guard waiting.post(.errand(errand)) else { throw JournalErrand.Abandoned() }
                    try errand.wait()
                },
                report: { event in
                    switch event {
                    case .made(let snapshot):
                        waiting.post(.snapshotMade(snapshot))
                        report(.snapshotMade)
                    case .refused(let bytes): waiting.post(.snapshotRefused(bytes: bytes))
                    case .failed(let error):
                        logger.critical("\(error)")
                        report(.failed(error))
                    }
                })
        }
        self.snapshots = snapshots
        self.logger = logger
        let pen = JournalPen(database, after: end, backlog, logger: logger)
        self.pen = pen
        thread = try OSThread(name: "aop-journal") { [waiting] in
            Self.run(database, pen, snapshots, waiting, logger, report)
        }
    }

    /// Hands over the facts that follow those handed over before.
    func append(_ facts: [Fact]) { waiting.post(.facts(facts)) }

    /// Commits the facts on the calling thread, which belongs to who appends, if the journal's own thread would only have to be woken for
    /// them: nothing waits for that one, it does nothing, and the disk is quick.
    ///
    /// - Parameter end: where the journal ends with what was handed over before, all of which is on the disk.
    /// - Returns: where it ends then; nil: nothing was done, ``append(_:)`` them.
    /// - Throws: `JournalError`: the end, as ``Event/failed(_:)``, which is not reported.
    func commitAtOnce(_ facts: [Fact], after end: JournalSequence) throws(JournalError) -> JournalSequence? {
        guard waiting.isEmpty else { return nil }
        do throws(JournalError) {
            guard let done = try pen.commitIfFree(facts, after: end) else { return nil }
            if done.asksForThread { waiting.post(.look) }
            return done.end
        } catch {
            logger.critical("\(error)")
            waiting.close()
            throw error
        }
    }

    /// Makes a snapshot if it is time for one: what was forgotten does not stay on the disk for as long as nothing happens.
    ///
    /// - Returns: false: it is, but the disk has no room for it; nil: that is not known in this moment.
    func makeSnapshotIfDue() -> Bool? {
        let need = pen.snapshotNeed(at: BootClock.milliseconds())
        if need?.isDue == true { waiting.post(.look) }
        return need.map { !$0.lacksRoom }
    }

    /// Asks that SQLite's log be cut. Who commits meanwhile goes behind it.
    func cutLog() { waiting.post(.cutLog) }

    /// Waits until everything handed over is committed and reported.
    func close() {
        snapshots?.close()
        waiting.close()
        thread.join()
    }

    private static func run(
        _ database: JournalDatabase, _ pen: JournalPen, _ snapshots: SnapshotThread?, _ waiting: WorkQueue<Job>, _ logger: Logger,
        _ report: @Sendable (Event) -> Void
    ) {
        while case .jobs(let jobs) = waiting.take() {
            var errands = Self.errands(of: jobs)
            do throws(JournalError) {
                try pen.take { pen throws(JournalError) in
                    let lists = jobs.compactMap { job in if case .facts(let facts) = job { facts } else { nil } }
                    if !lists.isEmpty { report(.durable(try pen.commit(lists, database))) }
                    while !errands.isEmpty { try errands.removeFirst().run(database) }
                    if jobs.contains(where: { if case .cutLog = $0 { true } else { false } }) {
                        report(.logCut(try pen.cutLog(database)))
                    }
                    let now = BootClock.milliseconds()
                    for case .snapshotMade(let snapshot) in jobs { pen.backlog?.end(snapshot) }
                    for case .snapshotRefused(let bytes) in jobs { pen.backlog?.refuse(bytes, at: now) }
                    if let target = pen.snapshotTarget(at: now) { snapshots?.make(upTo: target) }
                    if waiting.isEmpty { try pen.room.makeRoom() }
                }
            } catch {
                logger.critical("\(error)")
                waiting.close()
                report(.failed(error))
                // Nobody waits for ever.
                if case .jobs(let rest) = waiting.take() { errands += Self.errands(of: rest) }
                for errand in errands { errand.abandon() }
                return
            }
        }
    }

    private static func errands(of jobs: [Job]) -> ArraySlice<JournalErrand> {
        jobs.compactMap { job in if case .errand(let errand) = job { errand } else { nil } }[...]
    }
}
