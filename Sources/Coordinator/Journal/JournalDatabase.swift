import Foundation
import GRDB
import Scheduling

/// The journal's file: SQLite in WAL mode, every commit on the disk before it returns, one connection.
final class JournalDatabase: Sendable {
    let path: String
    /// How the last process left SQLite's log.
    let logFinding: WriteAheadLogCheck.Finding
    let queue: DatabaseQueue
    /// nil: nothing is written.
    private let witness: JournalWitness?

    /// WAL pages after which a commit copies them into the database file (4 KiB each): about 16 MiB.
    static let checkpointPages = 4096
    /// So long it is waited for another program that has the file locked.
    static let patienceSeconds = 10.0
    /// The WAL file is cut back to this after a checkpoint, unless another program reads what is in it: see `LogWatch`.
    static let logBytesMax = 64 << 20

    /// Opens the journal of a locked directory, making it where it is missing.
    ///
    /// - Throws: `JournalError`, `DataDirectoryError`.
    init(_ directory: DataDirectory) throws {
        let path = directory.journalPath
        self.path = path
        try directory.prepareFile(path)
        logFinding = try WriteAheadLogCheck.inspect(path + "-wal")
        witness = try JournalWitness(directory)
        queue = try JournalDatabase.reporting(path, "open the journal") {
            try DatabaseQueue(path: path, configuration: Self.configuration)
        }
        try reporting("set up the journal") {
            try queue.writeWithoutTransaction { database in
                try Self.makeDurable(database, path: path)
                try database.inTransaction(.immediate) {
                    try JournalSchema.schema.migrate(database, path: path)
                    return .commit
                }
                // A fresh log: what a crash left behind the last commit cannot be met again.
                _ = try Row.fetchAll(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            }
        }
    }

    /// Opens the journal of a locked directory to look at it. Nothing is changed.
    ///
    /// - Throws: `JournalError`.
    init(readingOnly directory: DataDirectory) throws(JournalError) {
        let path = directory.journalPath
        self.path = path
        witness = nil
        logFinding = try WriteAheadLogCheck.inspect(path + "-wal")
        queue = try JournalDatabase.reporting(path, "open the journal") {
            var configuration = Configuration()
            configuration.label = "aop-journal"
            let queue = try directory.reader(of: path, configuration)
            try queue.read { try JournalSchema.schema.checkReadable($0, path: path) }
            return queue
        }
    }

    /// What there is in a locked directory, before anything in it is changed.
    enum Found {
        case nothing
        /// Written by an earlier release: what is in it is seen when it has been brought to the newest schema.
        case earlier
        case journal(JournalDatabase)
    }

    /// - Throws: `JournalError`.
    static func look(at directory: DataDirectory) throws(JournalError) -> Found {
        var status = stat()
        guard stat(directory.journalPath, &status) == 0, status.st_size > 0 else { return .nothing }
        do throws(JournalError) { return .journal(try JournalDatabase(readingOnly: directory)) } catch {
            guard case .olderSchema(_, let number) = error else { throw error }
            return number == 0 ? .nothing : .earlier
        }
    }

    /// What SQLite finds wrong with its file; empty: nothing.
    func integrityProblems() throws(JournalError) -> [String] {
        try reporting("check the file") {
            try queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check").filter { $0 != "ok" } }
        }
    }

    /// Also of what is not read at a start, and is written later: a damaged page there would end the work when it comes to that.
    ///
    /// - Throws: `JournalError.damagedFile`.
    /// - Complexity: O(size of the file).
    func checkFile() throws(JournalError) {
        let problem = try reporting("check the file") {
            try queue.read { try String.fetchAll($0, sql: "PRAGMA quick_check(1)").first { $0 != "ok" } }
        }
        guard let problem else { return }
        throw .damagedFile(path: path, action: "check the file", reason: problem)
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "aop-journal"
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(patienceSeconds)
        return configuration
    }

    /// GRDB sets `synchronous=NORMAL` when it chooses WAL, after `prepareDatabase` has run: so it is set here, when the
    /// connection is open, and read back.
    private static func makeDurable(_ database: Database, path: String) throws {
        try database.execute(sql: "PRAGMA synchronous = FULL")
        try database.execute(sql: "PRAGMA wal_autocheckpoint = \(checkpointPages)")
        try database.execute(sql: "PRAGMA journal_size_limit = \(logBytesMax)")
        let setting = try Int.fetchOne(database, sql: "PRAGMA synchronous") ?? -1
        guard setting == 2 else { throw JournalError.notFullySynchronous(path: path, setting: setting) }
        let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode") ?? ""
        guard mode == "wal" else {
            throw JournalError.database(
                path: path, action: "switch to the write-ahead log", reason: "SQLite answers journal_mode=\(mode)")
        }
    }

    /// Reads the facts behind `start`, oldest first, checking chain and continuity on the way.
    ///
    /// - Returns: where the journal ends.
    /// - Throws: `JournalError.damagedBatch` at the first batch that is not what was written, `.misfit` when `each`
    ///   throws.
    func fold(after start: JournalEnd = .empty, _ each: (Fact) throws -> Void) throws(JournalError) -> JournalEnd {
        try reporting("read the journal") {
            try queue.read { database in
                var end = start
                let rows = try Row.fetchCursor(
                    database, sql: "SELECT \(StoredBatch.columns) FROM journal WHERE first > ? ORDER BY first",
                    arguments: [Int64(bitPattern: start.sequence.rawValue)])
                while let row = try rows.next() { end = try StoredBatch(row, path: path).fold(after: end, path: path, each) }
                return end
            }
        }
    }

    /// Whether the journal went exactly to `end` once; nil: nothing of that time is left.
    func went(to end: JournalEnd) throws(JournalError) -> Bool? {
        try reporting("look for a fact of the journal") {
            try queue.read { database in
                let place = Int64(bitPattern: end.sequence.rawValue)
                let row = try Row.fetchOne(
                    database, sql: "SELECT \(StoredBatch.columns) FROM journal WHERE first <= ? ORDER BY first DESC LIMIT 1",
                    arguments: [place])
                if let batch = try row.map({ try StoredBatch($0, path: path) }), batch.last >= end.sequence.rawValue {
                    return batch.last == end.sequence.rawValue && batch.chain == end.chain
                }
                let chain = try DatabaseValue.fetchOne(
                    database, sql: "SELECT \(SoundColumn.blob("chain")) FROM snapshots WHERE sequence = ?", arguments: [place])
                return chain.flatMap { Data.fromDatabaseValue($0) }.map { [UInt8]($0) == end.chain }
            }
        }
    }

    /// Batches behind `start`, as they are stored.
    ///
    /// - Parameter bytesMax: no further one is read when those that were have so many bytes.
    func batches(after start: JournalSequence, bytesMax: Int) throws(JournalError) -> [StoredBatch] {
        try reporting("read the journal") {
            try queue.read { database in
                var batches: [StoredBatch] = []
                var bytes = 0
                let rows = try Row.fetchCursor(
                    database, sql: "SELECT \(StoredBatch.columns) FROM journal WHERE first > ? ORDER BY first",
                    arguments: [Int64(bitPattern: start.rawValue)])
                while bytes < bytesMax, let row = try rows.next() {
                    batches.append(try StoredBatch(row, path: path))
                    bytes += batches[batches.count - 1].body.count
                }
                return batches
            }
        }
    }

    /// Commits the batches as one transaction: all of them are on the disk when this returns, and the witness knows of them.
    ///
    /// - Returns: where the journal ends then.
    /// - Throws: `JournalError.database`. What is on the disk is then unknown: nothing may be acknowledged any more.
    func commit(
        _ batches: [JournalBatch], after end: JournalEnd, patienceMilliseconds: Int64 = Int64(JournalDatabase.patienceSeconds * 1_000)
    ) throws(JournalError) -> JournalEnd {
        let end = try reporting("commit to the journal") {
            var end = end
            try queue.writeWithoutTransaction { database in
                database.setPatience(milliseconds: patienceMilliseconds)
                defer { database.setPatience(milliseconds: Int64(Self.patienceSeconds * 1_000)) }
                // A statement by itself is a transaction, and mostly there is one: it has no others begun and ended around it.
                guard batches.count > 1 else {
                    for batch in batches { try Self.insert(batch, &end, database) }
                    return
                }
                try database.inTransaction(.immediate) {
                    for batch in batches { try Self.insert(batch, &end, database) }
                    return .commit
                }
            }
            return end
        }
        try witness?.note(end)
        return end
    }

    /// The same, but not where another program has the file locked: nobody is waited for, and nothing is written.
    ///
    /// - Returns: nil: it is locked.
    func commitUnlessLocked(_ batches: [JournalBatch], after end: JournalEnd) throws(JournalError) -> JournalEnd? {
        do throws(JournalError) {
            return try commit(batches, after: end, patienceMilliseconds: 0)
        } catch .locked {
            return nil
        }
    }

    private static func insert(_ batch: JournalBatch, _ end: inout JournalEnd, _ database: Database) throws {
        let insert = try database.cachedStatement(sql: "INSERT INTO journal (first, last, body, chain) VALUES (?, ?, ?, ?)")
        let chain = batch.chain(after: end.chain)
        try insert.execute(arguments: [
            Int64(bitPattern: batch.first.rawValue), Int64(bitPattern: batch.last.rawValue), Data(batch.body), Data(chain),
        ])
        end = JournalEnd(sequence: batch.last, chain: chain)
    }

    /// Bytes of the batches behind `start`.
    func bodyBytes(after start: JournalSequence) throws(JournalError) -> Int64 {
        try reporting("read the journal") {
            try queue.read {
                try Int64.fetchOne(
                    $0, sql: "SELECT coalesce(sum(length(body)), 0) FROM journal WHERE first > ?",
                    arguments: [Int64(bitPattern: start.rawValue)]) ?? 0
            }
        }
    }

    /// What came of a try to cut SQLite's log.
    enum LogCut: Equatable, Sendable {
        /// All of it is in the file, and it has no length.
        case cut
        /// Another program reads what is in it, or has the file locked.
        case held
        /// The disk has none for what is in it.
        case noRoom
    }

    /// Copies SQLite's log into the file and takes its length from it. Waits for no other program.
    ///
    /// - Throws: `JournalError`: it is not known what of it has reached the file.
    /// - Complexity: O(what is in the log and nobody reads).
    func cutLog() throws(JournalError) -> LogCut {
        try reporting("copy the log into the file") {
            try queue.writeWithoutTransaction { database -> LogCut in
                database.setPatience(milliseconds: 0)
                let cut: LogCut
                do {
                    cut = try Int.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)") == 0 ? .cut : .held
                } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
                    cut = .noRoom
                }
                database.setPatience(milliseconds: Int64(Self.patienceSeconds * 1_000))
                return cut
            }
        }
    }

    /// Value of a pragma of the writing connection, for tests.
    func setting(_ pragma: String) throws -> Int? {
        try queue.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA \(pragma)") }
    }

    /// How many rows the journal has.
    func batchCount() throws -> Int {
        try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM journal") ?? 0 }
    }

    /// Closes the connection; the WAL is copied into the file.
    ///
    /// - Throws: `JournalError.database`.
    func close() throws(JournalError) {
        try reporting("close the journal") { try queue.close() }
        try witness?.sync()
    }

    func reporting<Result>(_ action: String, _ body: () throws -> Result) throws(JournalError) -> Result {
        try Self.reporting(path, action, body)
    }

    static func reporting<Result>(
        _ path: String, _ action: String, _ body: () throws -> Result
    ) throws(JournalError) -> Result {
        do { return try body() } catch let error as JournalError { throw error } catch let error as DatabaseError {
            var reason = error.message ?? "SQLite result \(error.resultCode)"
            // A journal with a log of its own leaves none of these.
            if DurableFiles.isThere(path + "-journal") { reason += "; \(path)-journal is not the coordinator's: move it away" }
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED: throw .locked(path: path, action: action)
            case .SQLITE_CONSTRAINT:
                throw .database(path: path, action: action, reason: "\(reason): somebody else writes it, perhaps another coordinator")
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: throw .damagedFile(path: path, action: action, reason: reason)
            default: throw .database(path: path, action: action, reason: reason)
            }
        } catch {
            throw .database(path: path, action: action, reason: "\(error)")
        }
    }
}
