import Logging
import Scheduling
import Wire

/// Commits facts on its own thread: everything that waits goes into one transaction, so that one sync of the disk serves
/// all of it, while the caller goes on. Between two commits it does what the thread that makes snapshots asks for.
final class JournalWriter: Sendable {
    enum Event: Sendable {
        /// Everything up to here is on the disk.
        case durable(JournalSequence)
        /// A snapshot was made, and these are the large values that it names.
        case snapshotNames(Set<BlobDigest>)
        /// The end: what the disk holds is unknown, or not what was written. Nothing may be acknowledged any more, and
        /// nothing more is written.
        case failed(JournalError)
    }

    /// When snapshots are made.
    struct SnapshotPolicy: Sendable {
        let scheduling: Scheduler.Configuration
        /// When so many bytes of facts have come since the last one, and as many as that one had.
        let bytes: Int64
    }

    /// Facts of a batch are merged into one row up to this size, so that recovery reads rows of bounded size.
    static let rowBytes = 4 << 20

    private enum Job: Sendable {
        case facts([Fact])
        case errand(JournalErrand)
        case snapshotMade(Snapshot)
    }

    private let waiting = WorkQueue<Job>()
    private let thread: OSThread
    private let snapshots: SnapshotThread?

    /// Starts the threads. `report` runs on them and must not block.
    ///
    /// - Parameter snapshots: nil: none are made.
    /// - Throws: `ThreadError`, `JournalError`.
    init(
        _ database: JournalDatabase, after end: JournalEnd, snapshots policy: SnapshotPolicy?, logger: Logger,
        report: @escaping @Sendable (Event) -> Void
    ) throws {
        let backlog = try policy.map { try SnapshotBacklog($0.bytes, of: database) }
        let snapshots = try policy.map { [waiting] policy in
            try SnapshotThread(
                policy.scheduling, path: database.path, logger: logger,
                perform: { body in
                    let errand = JournalErrand(body)
                    guard waiting.post(.errand(errand)) else { throw JournalErrand.Abandoned() }
                    try errand.wait()
                },
                done: { snapshot, digests in
                    waiting.post(.snapshotMade(snapshot))
                    report(.snapshotNames(digests))
                },
                failed: { error in
                    logger.critical("\(error)")
                    report(.failed(error))
                })
        }
        self.snapshots = snapshots
        thread = try OSThread(name: "aop-journal") { [waiting] in
            Self.run(database, end, backlog, snapshots, waiting, logger, report)
        }
    }

    /// Hands over the facts that follow those handed over before.
    func append(_ facts: [Fact]) { waiting.post(.facts(facts)) }

    /// Waits until everything handed over is committed and reported.
    func close() {
        snapshots?.close()
        waiting.close()
        thread.join()
    }

    private static func run(
        _ database: JournalDatabase, _ start: JournalEnd, _ backlog: SnapshotBacklog?, _ snapshots: SnapshotThread?,
        _ waiting: WorkQueue<Job>, _ logger: Logger, _ report: @Sendable (Event) -> Void
    ) {
        var (end, backlog) = (start, backlog)
        while case .jobs(let jobs) = waiting.take() {
            var errands = Self.errands(of: jobs)
            do throws(JournalError) {
                try commit(jobs, database, &end, &backlog, report)
                while !errands.isEmpty { try errands.removeFirst().run(database) }
            } catch {
                logger.critical("\(error)")
                waiting.close()
                report(.failed(error))
                // Nobody waits for ever.
                if case .jobs(let rest) = waiting.take() { errands += Self.errands(of: rest) }
                for errand in errands { errand.abandon() }
                return
            }
            for case .snapshotMade(let snapshot) in jobs { backlog?.end(snapshot) }
            let now = BootClock.milliseconds()
            if backlog?.isDue(at: now) == true {
                backlog?.begin(at: now)
                snapshots?.make(upTo: end.sequence)
            }
        }
    }

    private static func errands(of jobs: [Job]) -> ArraySlice<JournalErrand> {
        jobs.compactMap { job in if case .errand(let errand) = job { errand } else { nil } }[...]
    }

    private static func commit(
        _ jobs: [Job], _ database: JournalDatabase, _ end: inout JournalEnd, _ backlog: inout SnapshotBacklog?,
        _ report: @Sendable (Event) -> Void
    ) throws(JournalError) {
        let lists = jobs.compactMap { job in if case .facts(let facts) = job { facts } else { nil } }
        guard !lists.isEmpty else { return }
        let batches = batches(of: lists, after: end.sequence)
        end = try database.commit(batches, after: end)
        backlog?.add(batches.reduce(0) { $0 + Int64($1.body.count) })
        if lists.contains(where: { $0.contains(where: \.forgets) }) { backlog?.noteForgotten() }
        report(.durable(end.sequence))
    }

    private static func batches(of lists: [[Fact]], after sequence: JournalSequence) -> [JournalBatch] {
        var batches: [JournalBatch] = []
        var batch = JournalBatch(after: sequence)
        for facts in lists {
            for fact in facts {
                if batch.body.count >= rowBytes {
                    let full = batch
                    batches.append(full)
                    batch = JournalBatch(after: full.last)
                }
                batch.append(fact)
            }
        }
        if !batch.isEmpty { batches.append(batch) }
        return batches
    }
}

extension Fact {
    fileprivate var forgets: Bool { if case .forgotten = self { true } else { false } }
}
