import Foundation
import GRDB
import Scheduling

/// The partial results of operations, in a SQLite file of its own. What was stored is on the disk: workers forget it then.
/// Of each operation the elements of its newest attempt are kept. Belongs to one thread.
struct ElementDatabase {
    let path: String
    var totalBytesMax: Int64
    private let queue: DatabaseQueue
    /// Bytes stored by submission.
    private var sizes: [SubmissionNumber: Int64] = [:]
    private(set) var totalBytes: Int64 = 0
    /// By attempt: the first index not yet stored; what is missing here is looked up in the file.
    private var nextIndex: [Name: UInt64] = [:]

    private struct Name: Hashable {
        let unit: UnitID
        let number: Int
    }

    private static let attemptsRemembered = 10_000
    /// What an element takes besides its bytes.
    private static let overhead = 64

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
                """)
    ])

    /// - Throws: `JournalError` (a newer schema, a file that cannot be used), `DataDirectoryError`.
    init(_ directory: DataDirectory, totalBytesMax: Int64) throws {
        path = directory.elementsPath
        self.totalBytesMax = totalBytesMax
        try directory.prepareFile(path)
        var configuration = Configuration()
        configuration.label = "aop-elements"
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(JournalDatabase.patienceSeconds)
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
            let path = path
            try queue.writeWithoutTransaction { database in
                // After the connection was made, which sets NORMAL: a commit has to be on the disk when it returns.
                try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = \(JournalDatabase.logBytesMax)")
                guard try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2 else {
                    throw JournalError.database(path: path, action: "set synchronous to FULL", reason: "SQLite did not take it")
                }
                try database.inTransaction(.immediate) {
                    try Self.schema.migrate(database, path: path)
                    return .commit
                }
            }
            try loadSizes()
        } catch let error as JournalError { throw error } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            throw JournalError.locked(path: path, action: "open the file")
        } catch {
            throw JournalError.database(
                path: path, action: "open the spool of partial results (removing this file loses them)", reason: "\(error)")
        }
    }

    /// A spool in memory, without a limit; it ends with this value.
    ///
    /// - Throws: GRDB's errors.
    init() throws {
        path = ":memory:"
        totalBytesMax = .max
        queue = try Self.schema.makeInMemory()
    }

    private mutating func loadSizes() throws {
        sizes = try queue.read { database in
            var sizes: [SubmissionNumber: Int64] = [:]
            let rows = try Row.fetchCursor(
                database,
                sql: "SELECT submission, sum(length(bytes) + \(Self.overhead)) AS size FROM element GROUP BY submission")
            while let row = try rows.next() { sizes[SubmissionNumber(row["submission"])] = row["size"] }
            return sizes
        }
        totalBytes = sizes.values.reduce(0, +)
    }

    // MARK: Storing

    /// Stores the runs in order, without what was stored before and as far as there is room. What was stored is on the disk
    /// when this returns.
    ///
    /// - Throws: GRDB's errors; nothing was stored then.
    mutating func append(_ runs: [ElementRun]) throws -> [ElementReceipt] {
        var added: [SubmissionNumber: Int64] = [:]
        var newNext: [Name: UInt64] = [:]
        var receipts: [ElementReceipt] = []
        try queue.writeWithoutTransaction { database in
            try database.inTransaction(.immediate) {
                let insert = try database.cachedStatement(
                    sql: "INSERT INTO element (submission, unit, number, position, encoding, bytes) VALUES (?, ?, ?, ?, ?, ?)")
                for run in runs {
                    let name = Name(unit: run.unit, number: run.number)
                    if newNext[name] == nil {
                        let freed = try begin(name, database)
                        if freed.bytes > 0 { added[run.unit.submission, default: 0] -= freed.bytes }
                        newNext[name] = freed.next
                    }
                    var receipt = ElementReceipt(
                        peer: run.peer, unit: run.unit, attempt: run.attempt, next: newNext[name] ?? 0, isClosed: run.isClosed)
                    if run.first > receipt.next {
                        // What came before it was not taken, and is going to be sent again.
                        receipt.full = Self.fullText(totalBytesMax)
                        receipt.isClosed = false
                        receipts.append(receipt)
                        continue
                    }
                    for element in run.elements where element.index >= receipt.next {
                        let total = totalBytes + added.values.reduce(0, +)
                        guard total + Int64(element.spooledBytes) <= totalBytesMax else {
                            receipt.full = Self.fullText(totalBytesMax)
                            receipt.isClosed = false
                            break
                        }
                        try insert.execute(arguments: [
                            run.unit.submission.rawValue, run.unit.index, run.number, Int64(bitPattern: element.index),
                            element.encoding, Data(element.bytes),
                        ])
                        receipt.next = element.index + 1
                        added[run.unit.submission, default: 0] += Int64(element.spooledBytes)
                    }
                    newNext[name] = receipt.next
                    receipts.append(receipt)
                }
                return .commit
            }
        }
        nextIndex.merge(newNext) { $1 }
        for (submission, bytes) in added { count(bytes, of: submission) }
        if nextIndex.count > Self.attemptsRemembered { nextIndex.removeAll() }
        return receipts
    }

    static func fullText(_ limit: Int64) -> String {
        "held back: the coordinator's spool of partial results is full (\(limit) bytes); it goes on when submissions that have"
            + " them end, or when the coordinator is started with a larger --partial-result-bytes"
    }

    private mutating func count(_ bytes: Int64, of submission: SubmissionNumber) {
        sizes[submission, default: 0] += bytes
        totalBytes += bytes
        if sizes[submission] == 0 { sizes[submission] = nil }
    }

    /// The first index of an attempt that is not stored. One that is new makes those before it void.
    private func begin(_ name: Name, _ database: Database) throws -> (next: UInt64, bytes: Int64) {
        if let known = nextIndex[name] { return (known, 0) }
        let place: StatementArguments = [name.unit.submission.rawValue, name.unit.index, name.number]
        let next = try Int64.fetchOne(
            database, sql: "SELECT max(position) + 1 FROM element WHERE submission = ? AND unit = ? AND number = ?", arguments: place)
        if let next { return (UInt64(bitPattern: next), 0) }
        let removed = try Int64.fetchOne(
            database, sql: "SELECT next FROM removed WHERE submission = ? AND unit = ? AND number = ?", arguments: place)
        if let removed { return (UInt64(bitPattern: removed), 0) }
        let bytes = try Int64.fetchOne(
            database,
            sql: """
                SELECT coalesce(sum(length(bytes) + \(Self.overhead)), 0) FROM element
                WHERE submission = ? AND unit = ? AND number < ?
                """, arguments: place)
        try database.execute(sql: "DELETE FROM element WHERE submission = ? AND unit = ? AND number < ?", arguments: place)
        return (0, bytes ?? 0)
    }

    // MARK: Making room

    /// Submissions that have elements here, oldest first.
    var submissions: [SubmissionNumber] { sizes.keys.sorted() }

    /// Removes the elements of submissions that have ended, the first ones first, until a quarter of the room is free. That
    /// there were some is remembered: a late reader is told how many it misses.
    ///
    /// - Throws: GRDB's errors.
    mutating func remove(_ ended: [SubmissionNumber]) throws {
        for submission in ended where totalBytes > totalBytesMax / 4 * 3 {
            try queue.writeWithoutTransaction { database in
                try database.inTransaction(.immediate) {
                    try database.execute(
                        sql: """
                            INSERT OR REPLACE INTO removed (submission, unit, number, next)
                            SELECT submission, unit, number, max(position) + 1 FROM element WHERE submission = ?
                            GROUP BY submission, unit, number
                            """, arguments: [submission.rawValue])
                    try database.execute(sql: "DELETE FROM element WHERE submission = ?", arguments: [submission.rawValue])
                    return .commit
                }
            }
            count(-(sizes[submission] ?? 0), of: submission)
        }
    }

    /// Removes everything of submissions that are known no more.
    ///
    /// - Throws: GRDB's errors.
    mutating func forget(_ submissions: [SubmissionNumber]) throws {
        try queue.writeWithoutTransaction { database in
            try database.inTransaction(.immediate) {
                for submission in submissions {
                    for table in ["element", "removed"] {
                        try database.execute(sql: "DELETE FROM \(table) WHERE submission = ?", arguments: [submission.rawValue])
                    }
                }
                return .commit
            }
        }
        for submission in submissions { count(-(sizes[submission] ?? 0), of: submission) }
    }

    // MARK: Reading

    /// Reads a page: elements in their order, at least one where there is one.
    ///
    /// - Throws: GRDB's errors.
    func read(_ query: ElementQuery) throws -> ElementPage {
        try queue.read { database in
            var page = ElementPage(next: query.from)
            var bytes = 0
            let place = [query.unit.submission.rawValue, UInt32(clamping: query.unit.index), UInt32(clamping: query.number)]
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT position, encoding, bytes FROM element
                    WHERE submission = ? AND unit = ? AND number = ? AND position >= ? ORDER BY position
                    """, arguments: StatementArguments(place.map { Int64($0) } + [Int64(bitPattern: query.from)]))
            while let row = try rows.next() {
                let element = ElementRun.Element(
                    index: UInt64(bitPattern: row["position"] as Int64), encoding: row["encoding"], bytes: [UInt8](row["bytes"] as Data))
                if !page.elements.isEmpty && bytes + element.spooledBytes > query.limitBytes {
                    page.more = true
                    return page
                }
                bytes += element.spooledBytes
                page.elements.append(element)
                page.next = element.index + 1
            }
            let removed = try Int64.fetchOne(
                database, sql: "SELECT next FROM removed WHERE submission = ? AND unit = ? AND number = ?",
                arguments: StatementArguments(place.map { Int64($0) }))
            if let removed { page.next = max(page.next, UInt64(bitPattern: removed)) }
            return page
        }
    }

    /// Closes the connection; the WAL is copied into the file.
    ///
    /// - Throws: GRDB's errors.
    func close() throws { try queue.close() }
}
