import Foundation
import Logging
import Scheduling
import Wire

/// Forgets submissions that have ended, in a directory on which no coordinator runs: what retention does by itself, now.
public struct JournalPrune: Sendable {
    /// Which ones.
    public enum Choice: Sendable, Hashable {
        /// Those that ended before this: milliseconds since 1970.
        case endedBefore(Int64)
        /// Those that ended first, until the rest takes no more than so many bytes (``KeptSubmission/bytes``).
        case keepingBytes(Int64)
        /// These, by their whole ids.
        case submissions([String])
    }

    /// Of the journal.
    public let path: String
    /// Those that are known no more, the first that ended first.
    public let forgotten: [KeptSubmission]
    /// Of those that were chosen, the ids of which something may still come or of which there is nothing.
    public let refused: [String]
    /// What those take that have ended and stay.
    public let keptBytes: Int64
    /// Large values that nothing names any more, those that nothing had named before included.
    public let removedValues: Int
    public let removedValueBytes: UInt64
    /// Those that nothing had named before: an earlier call was interrupted, or a coordinator ended before it came to them.
    public let leftValues: Int
    public let leftValueBytes: UInt64
    /// By how much the journal's file has become smaller.
    public let freedBytes: Int64
    /// Why the file still has its size; nil: it has become smaller, or has little that nothing needs.
    public let notCompacted: String?
    /// Files beside the journal that were damaged, and what was lost with them.
    public let warnings: [String]

    /// - Parameters:
    ///   - isDryRun: nothing is changed.
    ///   - now: milliseconds since 1970.
    /// - Throws: `DataDirectoryError` (a coordinator runs on it), `JournalError`, `BlobStoreError`, `BackupError`. What was forgotten by then stays so; the rest
    ///   is done by the next start, or by the next call. Nothing was where one of the files cannot be used: they are opened before, and what
    ///   became of a submission is in the history before it is forgotten, where there is a history.
    /// - Complexity: O(facts), and the size of the state.
    public init(
        dataDirectory: String, _ choice: Choice, isDryRun: Bool = false, at now: Int64 = WallClock.milliseconds(),
        logger: Logger = Logger(label: "aop.journal")
    ) throws {
        let directory = try isDryRun ? DataDirectory(reading: dataDirectory) : DataDirectory(path: dataDirectory)
        guard !DurableFiles.isThere(JournalRestore.marker(in: directory.path)) else {
            throw DataDirectoryError.restoring(path: directory.path)
        }
        if !isDryRun { try JournalRestore.removeRemains(in: directory.path) }
        path = directory.journalPath
        let scheduling = CoordinatorConfiguration(dataDirectory: dataDirectory).scheduling
        var scheduler = Scheduler(scheduling)
        let reader = try JournalDatabase(readingOnly: directory)
        let (_, end, hadForgotten) = try Recovery.fold(reader, into: &scheduler)
        try JournalWitness.check(in: directory, reader, reaches: end)
        try reader.close()
        let ended = scheduler.keptSubmissions
        let chosen = Self.choose(choice, of: ended)
        forgotten = chosen.filter(\.mayBeForgotten)
        var refused = chosen.filter { !$0.mayBeForgotten }.map(\.id)
        if case .submissions(let ids) = choice { refused += ids.filter { id in !ended.contains { $0.id == id } } }
        self.refused = refused
        keptBytes = ended.reduce(0) { $0 + $1.bytes } - forgotten.reduce(0) { $0 + $1.bytes }
        let left = try UnnamedValues(below: directory.blobsPath, of: scheduler)
        (leftValues, leftValueBytes) = (left.count, left.bytes)
        guard !isDryRun else {
            (removedValues, removedValueBytes, freedBytes, notCompacted, warnings) = (0, 0, 0, nil, [])
            return
        }
        let database = try JournalDatabase(directory)
        var damaged: [String] = []
        var output = try OutputDatabase.open(directory) { damaged.append($0) }
        var elements = try ElementDatabase(directory, totalBytesMax: .max, isForgotten: scheduler.isForgotten)
        if !elements.losses.isEmpty { damaged.append(ElementLoss.text(elements.losses, path: elements.path)) }
        try Self.write(forgotten, of: scheduler, into: directory) { damaged.append($0) }
        let newEnd = try Self.commit(forgotten.map(\.number), after: end, at: now, to: database, &scheduler)
        let unnamed = try UnnamedValues(below: directory.blobsPath, of: scheduler)
        (removedValues, removedValueBytes) = (unnamed.count, unnamed.bytes)
        // Also of those that an earlier call forgot and was then interrupted.
        let printed = output.submissions.filter(scheduler.isForgotten)
        let sent = elements.submissions.filter(scheduler.isForgotten)
        // The facts go when a snapshot stands for them: also those of what a coordinator forgot that made none since.
        if hadForgotten || !forgotten.isEmpty || !printed.isEmpty || !sent.isEmpty {
            let maker = SnapshotMaker(scheduling: scheduling, path: database.path, logger: logger, perform: { try $0(database) })
            _ = try maker.make(upTo: newEnd.sequence)
        }
        try unnamed.remove()
        let size = try DurableFiles.size(of: database.path)
        notCompacted = try database.hasMuchUnused() || !forgotten.isEmpty ? database.compact() : nil
        try database.close()
        freedBytes = max(0, size - (try DurableFiles.size(of: path)))
        // Last: by what is left of them the next call knows that this one was interrupted.
        try output.perform({ damaged.append($0) }) { try $0.forget(printed) }
        try elements.forget(sent)
        warnings = damaged
    }

    /// Writes what is not in the history yet, where there is one.
    ///
    /// - Throws: `JournalError`, `DataDirectoryError`.
    private static func write(
        _ submissions: [KeptSubmission], of scheduler: Scheduler, into directory: DataDirectory, _ warn: (String) -> Void
    ) throws {
        let path = directory.historyPath
        guard !submissions.isEmpty, DurableFiles.isThere(path) else { return }
        func writeAll() throws(JournalError) {
            try JournalDatabase.reporting(
                path, "write what became of submissions (where that is not needed, remove this file and its -wal: nothing depends on it)"
            ) {
                var history = try HistoryDatabase.open(directory, warn: warn)
                var feed = HistoryFeed()
                for one in submissions where !history.holds(one.id, endedAt: one.endedAt) { feed.append(one.number, after: .none, at: 0) }
                while let page = feed.page(upTo: scheduler.sequence, of: scheduler) {
                    try history.append(page)
                    feed.taken()
                }
                try history.close()
            }
        }
        do throws(JournalError) { try writeAll() } catch {
            guard SideFile.isDamage(error) else { throw error }
            // Its connection has ended with the error.
            warn(try SideFile.history(path).setAside(because: error))
            try writeAll()
        }
    }

    /// - Returns: where the journal ends then.
    private static func commit(
        _ forgotten: [SubmissionNumber], after end: JournalEnd, at now: Int64, to database: JournalDatabase, _ scheduler: inout Scheduler
    ) throws(JournalError) -> JournalEnd {
        guard !forgotten.isEmpty else { return end }
        var batch = JournalBatch(after: end.sequence)
        for number in forgotten {
            let fact = Fact.forgotten(number, at: now)
            do { try scheduler.restore(fact) } catch {
                throw JournalError.misfit(path: database.path, sequence: batch.last.next.rawValue, reason: "\(error)")
            }
            batch.append(fact)
        }
        return try database.commit([batch], after: end)
    }

    private static func choose(_ choice: Choice, of ended: [KeptSubmission]) -> [KeptSubmission] {
        switch choice {
        case .endedBefore(let time): return ended.filter { $0.endedAt < time }
        case .submissions(let ids): return ended.filter { ids.contains($0.id) }
        case .keepingBytes(let limit):
            var bytes = ended.reduce(0) { $0 + $1.bytes }
            var chosen: [KeptSubmission] = []
            for submission in ended where submission.mayBeForgotten && bytes > limit {
                chosen.append(submission)
                bytes -= submission.bytes
            }
            return chosen
        }
    }
}

extension JournalDatabase {
    /// Whether it is worth while to compact the file.
    fileprivate func hasMuchUnused() throws(JournalError) -> Bool {
        try reporting("look how much of the file is unused") {
            try queue.read { database in
                let unused = try Int64.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
                let pages = try Int64.fetchOne(database, sql: "PRAGMA page_count") ?? 0
                let pageBytes = try Int64.fetchOne(database, sql: "PRAGMA page_size") ?? 0
                return unused * pageBytes >= Self.unusedBytesMin && unused >= pages / Self.unusedShare
            }
        }
    }

    /// What a file may have that nothing needs before it is compacted for that alone.
    private static let unusedBytesMin: Int64 = 1 << 20
    /// One part in so many.
    private static let unusedShare: Int64 = 8

    /// Gives the disk back what the file does not need, for which as much room is needed once more.
    ///
    /// - Returns: why that was not done; nil: it was. Nothing is lost either way.
    func compact() -> String? {
        do throws(JournalError) {
            try reporting("compact the file") {
                try queue.writeWithoutTransaction { database in
                    try database.execute(sql: "VACUUM")
                    _ = try Int.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
                }
            }
            return nil
        } catch { return "\(error)" }
    }
}
