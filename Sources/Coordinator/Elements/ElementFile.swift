import Foundation
import GRDB

/// The connection to the spool's file, every commit of which is on the disk when it returns.
///
/// After a write that failed for another reason than a lack of room or time it is not known what of it has reached the disk: the kernel may
/// take for written what is not. The connection is not used to write again then, but made anew; what is in SQLite's log is copied into the
/// file first, and synced there, before anything of it counts as stored.
struct ElementFile {
    let path: String
    private(set) var queue: DatabaseQueue
    private var isDoubtful = false

    /// `lost`: elements that were acknowledged and are gone. `removed`: those that gave way to others. `unhashed`: submissions that have
    /// elements without a hash, of an earlier release.
    private static let schema = Schema(migrations: [
        .init(
            name: "elements",
            sql: """
                CREATE TABLE element (
                    submission INTEGER NOT NULL, unit INTEGER NOT NULL, number INTEGER NOT NULL, position INTEGER NOT NULL,
                    encoding INTEGER NOT NULL, bytes BLOB NOT NULL,
                    PRIMARY KEY (submission, unit, number, position)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE removed (
                    submission INTEGER NOT NULL, unit INTEGER NOT NULL, number INTEGER NOT NULL, next INTEGER NOT NULL,
                    PRIMARY KEY (submission, unit)
                ) STRICT, WITHOUT ROWID
                """),
        .init(
            name: "hashes",
            sql: """
                ALTER TABLE element ADD COLUMN digest BLOB;
                CREATE TABLE unhashed (submission INTEGER PRIMARY KEY) STRICT;
                INSERT INTO unhashed SELECT DISTINCT submission FROM element;
                CREATE TABLE lost (
                    submission INTEGER NOT NULL, unit INTEGER NOT NULL, number INTEGER NOT NULL, next INTEGER NOT NULL,
                    PRIMARY KEY (submission, unit)
                ) STRICT, WITHOUT ROWID
                """),
    ])

    /// Opens the file, making it where it is missing.
    ///
    /// - Throws: `JournalError`.
    init(path: String) throws(JournalError) {
        self.path = path
        queue = try Self.connect(path, hasToCopyAll: false)
    }

    /// In memory; it ends with this value.
    ///
    /// - Throws: GRDB's errors.
    init() throws {
        path = ":memory:"
        queue = try Self.schema.makeInMemory()
    }

    /// Opens the file to look at it. Nothing is changed.
    ///
    /// - Returns: nil: there is none, or it is of an earlier release.
    /// - Throws: `JournalError`.
    static func openToRead(in directory: DataDirectory) throws(JournalError) -> DatabaseQueue? {
        let path = directory.elementsPath
        var status = stat()
        // A log without its file is nothing that SQLite would read.
        guard stat(path, &status) == 0, status.st_size > 0 else { return nil }
        do throws(JournalError) {
            return try reporting(path, "open the spool of partial results") {
                _ = try WriteAheadLogCheck.inspect(path + "-wal")
                var configuration = Configuration()
                configuration.label = "aop-elements"
                configuration.busyMode = .timeout(JournalDatabase.patienceSeconds)
                let queue = try directory.reader(of: path, configuration)
                try queue.read { try schema.checkReadable($0, path: path) }
                return queue
            }
        } catch {
            guard case .olderSchema = error else { throw error }
            return nil
        }
    }

    /// - Throws: `JournalError.damagedSpool`, GRDB's errors.
    func scan() throws -> ElementScan {
        let path = path
        return try queue.read { try ElementScan($0, path: path) }
    }

    // MARK: Doubt

    /// A write has failed with this error.
    mutating func noteFailure(_ error: any Error) {
        guard let error = error as? DatabaseError, path != ":memory:" else { return }
        switch error.resultCode {
        // Nothing of it was written, or it was taken back before it was to be synced.
        case .SQLITE_FULL, .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_NOMEM: break
        default: isDoubtful = true
        }
    }

    /// Opens the file anew if the last write has left a doubt.
    ///
    /// - Returns: what is in it; nil: there was no doubt.
    /// - Throws: `JournalError`: it cannot be relied upon, and nothing is to be written.
    mutating func reopenIfDoubtful() throws(JournalError) -> ElementScan? {
        guard isDoubtful else { return nil }
        let (queue, path) = (self.queue, self.path)
        try Self.reporting(path, "close the spool of partial results") { try queue.close() }
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw .database(path: path, action: "open the spool of partial results again", reason: DataDirectory.reason(errno))
        }
        let opened = try Self.reporting(path, "open the spool of partial results again") {
            _ = try WriteAheadLogCheck.inspect(path + "-wal")
            return try Self.connect(path, hasToCopyAll: true)
        }
        let scan = try Self.reporting(path, "read the spool of partial results") { try opened.read { try ElementScan($0, path: path) } }
        self.queue = opened
        isDoubtful = false
        return scan
    }

    // MARK: Opening

    /// - Parameter hasToCopyAll: it fails where something of SQLite's log cannot be copied into the file.
    private static func connect(_ path: String, hasToCopyAll: Bool) throws(JournalError) -> DatabaseQueue {
        try reporting(path, "open the spool of partial results") {
            var configuration = Configuration()
            configuration.label = "aop-elements"
            configuration.journalMode = .wal
            configuration.busyMode = .timeout(JournalDatabase.patienceSeconds)
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.writeWithoutTransaction { database in
                // After the connection was made, which sets NORMAL: a commit has to be on the disk when it returns.
                try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = \(JournalDatabase.logBytesMax)")
                guard try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2 else {
                    throw JournalError.database(path: path, action: "set synchronous to FULL", reason: "SQLite did not take it")
                }
                try database.inTransaction(.immediate) {
                    try schema.migrate(database, path: path)
                    return .commit
                }
                // What the last process wrote and did not sync counts as stored from here on.
                if try copyLog(database) { return }
                guard !hasToCopyAll else { throw JournalError.locked(path: path, action: "copy its log into the file") }
                try syncLog(of: path)
            }
            return queue
        }
    }

    /// - Returns: whether all of SQLite's log is in the file now, and synced there.
    private static func copyLog(_ database: Database) throws -> Bool {
        guard let row = try Row.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)") else { return false }
        let counts: [DatabaseValue] = [row[1], row[2]]
        return counts[0] == counts[1]
    }

    private static func syncLog(of path: String) throws(JournalError) {
        let log = path + "-wal"
        let descriptor = open(log, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return }
        guard descriptor >= 0 else { throw .database(path: log, action: "open the file", reason: DataDirectory.reason(errno)) }
        defer { close(descriptor) }
        guard fdatasync(descriptor) == 0 else { throw .database(path: log, action: "sync", reason: DataDirectory.reason(errno)) }
    }

    // MARK: Errors

    /// Says of a file that is damaged what may be done about this one.
    static func reporting<Result>(
        _ path: String, _ action: String, _ body: () throws -> Result
    ) throws(JournalError) -> Result {
        do { return try body() } catch let error as JournalError {
            switch error {
            case .damagedLog(_, let frame, let commits):
                throw .damagedSpool(
                    path: path,
                    reason: "frame \(frame) of the write-ahead log is damaged and \(commits) committed transactions stand behind it, which "
                        + "SQLite would drop")
            case .damagedFile(_, let action, let reason): throw .damagedSpool(path: path, reason: "cannot \(action): \(reason)")
            default: throw error
            }
        } catch let error as DatabaseError {
            let reason = error.message ?? "SQLite result \(error.resultCode)"
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED: throw .locked(path: path, action: action)
            case .SQLITE_IOERR, .SQLITE_FULL, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_NOMEM, .SQLITE_AUTH:
                throw .database(path: path, action: action, reason: reason)
            // Also that a table or a column is not there, which no release has left so.
            default: throw .damagedSpool(path: path, reason: "cannot \(action): \(reason)")
            }
        } catch {
            throw .damagedSpool(path: path, reason: "cannot \(action): \(error)")
        }
    }
}
