import Foundation
import GRDB
import Scheduling
import Wire

/// What commands print, in a SQLite file of its own: bounded, and durable a second later, since losing the end of a log
/// loses no work. Belongs to one thread.
struct OutputDatabase {
    let path: String
    private let totalBytesMax: Int64
    private let queue: DatabaseQueue
    /// It was damaged and is closed, and a new one could not be begun yet.
    private var isClosed = false
    /// Bytes stored by submission.
    private var sizes: [SubmissionNumber: Int64] = [:]
    private var totalBytes: Int64 = 0
    /// First chunk index not yet stored, by attempt; what is missing here is looked up in the file.
    private var nextIndex: [AttemptName: UInt64] = [:]
    /// What stays free on the disk.
    var reserve = SpoolReserve.none
    /// How long it waits for another program; nil: as when it was opened.
    private var patienceMilliseconds: Int64?

    private static let attemptsRemembered = 10_000
    /// Rows removed at a time where the total is over its limit.
    private static let removalRows = 2000
    /// Bytes removed at a time, at least, where the disk has no room.
    private static let removalBytesMin: Int64 = 64 << 10
    private static let pageBytes = 4096

    private static let schema = Schema(migrations: [
        .init(
            name: "output",
            sql: """
                CREATE TABLE output (
                    position INTEGER PRIMARY KEY AUTOINCREMENT,
                    submission INTEGER NOT NULL, unit INTEGER NOT NULL, attempt INTEGER NOT NULL, number INTEGER NOT NULL,
                    stream INTEGER NOT NULL, chunk INTEGER NOT NULL, at INTEGER NOT NULL, truncated INTEGER NOT NULL,
                    path TEXT NOT NULL, bytes BLOB NOT NULL
                ) STRICT;
                CREATE INDEX output_of_submission ON output (submission);
                CREATE INDEX output_of_unit ON output (submission, unit)
                """)
    ])

    /// - Throws: `JournalError` (a newer schema, a file that cannot be used), `DataDirectoryError`; GRDB's errors where it is damaged.
    init(_ directory: DataDirectory, totalBytesMax: Int64 = CoordinatorLimits.outputTotalBytes) throws {
        try self.init(path: directory.outputPath, totalBytesMax: totalBytesMax)
    }

    /// In a directory that is locked.
    private init(path: String, totalBytesMax: Int64) throws {
        self.path = path
        self.totalBytesMax = totalBytesMax
        try SideFile.output(path).prepare()
        var configuration = Configuration()
        configuration.label = "aop-output"
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(JournalDatabase.patienceSeconds)
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.writeWithoutTransaction { database in
                // What is removed is not written over: all of it would go through SQLite's log.
                try database.execute(sql: "PRAGMA secure_delete = FAST; PRAGMA journal_size_limit = \(JournalDatabase.logBytesMax)")
                try database.inTransaction(.immediate) {
                    try Self.schema.migrate(database, path: path)
                    try Self.beginPositions(database)
                    return .commit
                }
            }
            try loadSizes()
        } catch let error as JournalError { throw error } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            throw JournalError.locked(path: path, action: "open the file")
        } catch let error as DatabaseError where SideFile.isDamage(error) || error.resultCode == .SQLITE_ERROR {
            throw error
        } catch {
            throw SideFile.output(path).failure("open the spool of output (removing this file loses nothing but output)", error)
        }
    }

    /// No position is given twice, also where this file is new in the place of another one, or an earlier state of it: who
    /// follows asks for what comes after the last position that was read.
    private static func beginPositions(_ database: Database) throws {
        let first = max(0, WallClock.milliseconds() / 1_000) << positionBitsPerSecond
        try database.execute(
            sql: """
                INSERT INTO sqlite_sequence (name, seq) SELECT 'output', 0
                WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'output')
                """)
        try database.execute(sql: "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'output'", arguments: [first])
    }

    /// A file gets fewer records each second than that has positions; and JSON's numbers take them until the year 2242.
    private static let positionBitsPerSecond = 20

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
                database, sql: "SELECT submission, sum(length(bytes)) AS size FROM output GROUP BY submission")
            while let row = try rows.next() {
                let submission: UInt32 = try row.whole("submission")
                let size: Int64 = try row.whole("size")
                sizes[SubmissionNumber(submission)] = size
            }
            return sizes
        }
        totalBytes = sizes.values.reduce(0, &+)
    }

    /// Stores the records in order, without those stored before, and makes room where the total is over its limit.
    ///
    /// Where something is missing before a record and its sender has that, the record is not taken; where nobody has it, a record in its
    /// place says so.
    ///
    /// - Returns: what has become of the output of each attempt.
    /// - Throws: GRDB's errors; what of it is stored then is not stored again with the next try.
    @discardableResult
    mutating func append(_ records: [OutputRecord]) throws -> [AttemptName: OutputStanding] {
        var added: [SubmissionNumber: Int64] = [:]
        var standings: [AttemptName: OutputStanding] = [:]
        try queue.writeWithoutTransaction { database in
            try database.inTransaction(.immediate) {
                for record in records {
                    let name = AttemptName(unit: record.unit, attempt: record.attempt)
                    var standing = try standings[name] ?? OutputStanding(next: next(name, database))
                    for record in try taken(record, &standing, database) {
                        try Self.insert(record, database)
                        added[record.unit.submission, default: 0] += Int64(record.bytes.count)
                    }
                    standings[name] = standing
                }
                return .commit
            }
        }
        for (name, standing) in standings { nextIndex[name] = standing.next }
        for (submission, bytes) in added {
            sizes[submission, default: 0] += bytes
            totalBytes += bytes
        }
        if nextIndex.count > Self.attemptsRemembered { nextIndex.removeAll() }
        try remove(totalBytes - totalBytesMax)
        return standings
    }

    /// Stores as many of the records, from the first one on, as there is room for beside the disk's reserve.
    ///
    /// - Returns: how many, and what has become of the output of each attempt.
    /// - Throws: as ``append(_:)``.
    mutating func store(_ records: [OutputRecord]) throws -> (count: Int, standings: [AttemptName: OutputStanding]) {
        let needed = records.reduce(0) { $0 + fileBytes($1) }
        guard reserve.growthBytes < needed else { return (records.count, try append(records)) }
        let count = try makeRoom(for: records, needed)
        var standings: [AttemptName: OutputStanding] = [:]
        var rest = records[..<count]
        while !rest.isEmpty {
            var bytes = 0
            let piece = rest.prefix { record in
                defer { bytes += record.spooledBytes }
                return bytes == 0 || bytes + record.spooledBytes <= CoordinatorLimits.shortPieceBytes
            }
            rest = rest[piece.endIndex...]
            let news = try append(Array(piece))
            standings.merge(news) { OutputStanding(next: $1.next, isRefused: $0.isRefused || $1.isRefused) }
        }
        return (count, standings)
    }

    /// What is to be stored for a record: nothing, the record, or before it one that says what is missing.
    private func taken(_ record: OutputRecord, _ standing: inout OutputStanding, _ database: Database) throws -> [OutputRecord] {
        guard record.index >= standing.next else { return [] }
        if let from = record.keptFrom, record.index > max(from, standing.next) {
            standing.isRefused = true
            return []
        }
        defer { standing.next = record.index + 1 }
        var record = record
        if record.attemptNumber == 0 {
            guard let label = try storedLabel(record, database) else { return [] }
            (record.attemptNumber, record.path) = label
        }
        // One that says that something is missing says it of this as well.
        guard record.index > standing.next, !record.isTruncated else { return [record] }
        return [record.gap(at: record.index - 1, endsLine: try endsLine(before: record, database)), record]
    }

    private static func insert(_ record: OutputRecord, _ database: Database) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO output (submission, unit, attempt, number, stream, chunk, at, truncated, path, bytes)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(arguments: [
            record.unit.submission.rawValue, record.unit.index, Int64(bitPattern: record.attempt.rawValue),
            record.attemptNumber, record.stream.rawValue, Int64(bitPattern: record.index), record.at,
            record.isTruncated, record.path, Data(record.bytes),
        ])
    }

    /// Number and path under which output of the attempt is stored.
    private func storedLabel(_ record: OutputRecord, _ database: Database) throws -> (Int, String)? {
        let row = try Row.fetchOne(
            database, sql: "SELECT number, path FROM output WHERE submission = ? AND unit = ? AND attempt = ? LIMIT 1",
            arguments: [record.unit.submission.rawValue, record.unit.index, Int64(bitPattern: record.attempt.rawValue)])
        guard let row else { return nil }
        return (try row.whole("number"), try row.text("path"))
    }

    /// Whether what is stored of the record's stream ends with a line; also where nothing is.
    private func endsLine(before record: OutputRecord, _ database: Database) throws -> Bool {
        let bytes = try Data.fetchOne(
            database,
            sql: """
                SELECT bytes FROM output WHERE submission = ? AND unit = ? AND attempt = ? AND stream = ?
                ORDER BY position DESC LIMIT 1
                """,
            arguments: [
                record.unit.submission.rawValue, record.unit.index, Int64(bitPattern: record.attempt.rawValue), record.stream.rawValue,
            ])
        return bytes?.last.map { $0 == UInt8(ascii: "\n") } ?? true
    }

    private func next(_ name: AttemptName, _ database: Database) throws -> UInt64 {
        if let known = nextIndex[name] { return known }
        let statement = try database.cachedStatement(
            sql: "SELECT max(chunk) FROM output WHERE submission = ? AND unit = ? AND attempt = ?")
        let newest = try Int64.fetchOne(
            statement,
            arguments: [
                name.unit.submission.rawValue, name.unit.index, Int64(bitPattern: name.attempt.rawValue),
            ])
        return newest.map { UInt64(bitPattern: $0) + 1 } ?? 0
    }

    // MARK: Making room

    /// What a record takes of the file, at most: its row, its places in the indexes, and the rest of the last page of a long one.
    private func fileBytes(_ record: OutputRecord) -> Int64 {
        guard record.index >= nextIndex[AttemptName(unit: record.unit, attempt: record.attempt)] ?? 0 else { return 0 }
        let rest = record.bytes.count > Self.pageBytes / 4 ? Self.pageBytes : 0
        return Int64(record.spooledBytes + record.path.utf8.count + rest)
    }

    /// Removes what is oldest, until as many of the records as possible fit into the pages that are free in the file: it does not grow.
    /// Nothing is removed where that makes no room for the first of them.
    ///
    /// - Returns: how many fit, from the first one on.
    private mutating func makeRoom(for records: [OutputRecord], _ needed: Int64) throws -> Int {
        // First what SQLite's log has taken.
        try queue.writeWithoutTransaction { _ = try Row.fetchAll($0, sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        let growth = min(reserve.growthBytes, needed)
        var room = try growth + freePageBytes()
        let wanted = fitting(records, in: room + totalBytes).bytes
        while room < wanted, totalBytes > 0 {
            try remove(min(max(wanted - room, Self.removalBytesMin), Int64(CoordinatorLimits.shortPieceBytes)))
            room = try growth + freePageBytes()
        }
        return fitting(records, in: room).count
    }

    private func fitting(_ records: [OutputRecord], in room: Int64) -> (count: Int, bytes: Int64) {
        var (count, bytes): (Int, Int64) = (0, 0)
        for record in records {
            let more = fileBytes(record)
            guard bytes + more <= room else { break }
            (count, bytes) = (count + 1, bytes + more)
        }
        return (count, bytes)
    }

    private func freePageBytes() throws -> Int64 {
        try queue.read { database in
            let pages = try Int64.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
            return pages * (try Int64.fetchOne(database, sql: "PRAGMA page_size") ?? 0)
        }
    }

    /// Removes output of so many bytes, that of the oldest submissions first.
    private mutating func remove(_ count: Int64) throws {
        guard count > 0 else { return }
        let left = max(0, totalBytes - count)
        while totalBytes > left, let oldest = sizes.keys.min() {
            let freed: Int64 = try queue.write { database in
                let rows = try Row.fetchAll(
                    database,
                    sql: "SELECT position, length(bytes) AS size FROM output WHERE submission = ? ORDER BY position LIMIT ?",
                    arguments: [oldest.rawValue, Self.removalRows])
                var freed: Int64 = 0
                var last: Int64 = 0
                for row in rows where totalBytes - freed > left {
                    let size: Int64 = try row.whole("size")
                    freed += size
                    last = try row.whole("position")
                }
                try database.execute(
                    sql: "DELETE FROM output WHERE submission = ? AND position <= ?", arguments: [oldest.rawValue, last])
                return rows.isEmpty ? -1 : freed
            }
            if freed < 0 {
                // Only what was never counted could be left.
                totalBytes -= sizes.removeValue(forKey: oldest) ?? 0
                continue
            }
            sizes[oldest, default: 0] -= freed
            totalBytes -= freed
            if sizes[oldest] == 0 { sizes[oldest] = nil }
        }
    }

    /// Submissions that have output here.
    var submissions: [SubmissionNumber] { sizes.keys.sorted() }

    /// Removes the output of submissions that are known no more.
    ///
    /// - Throws: GRDB's errors.
    mutating func forget(_ submissions: [SubmissionNumber]) throws {
        try queue.writeWithoutTransaction { database in
            try database.inTransaction(.immediate) {
                for submission in submissions {
                    try database.execute(sql: "DELETE FROM output WHERE submission = ?", arguments: [submission.rawValue])
                }
                return .commit
            }
        }
        for submission in submissions { totalBytes -= sizes.removeValue(forKey: submission) ?? 0 }
    }

    /// Reads a page: records in the order in which they were stored, at least one where there is one.
    ///
    /// - Throws: GRDB's errors.
    func read(_ query: OutputQuery) throws -> OutputPage {
        let wanted = query.units.map(Set.init)
        return try queue.read { database in
            var page = OutputPage(position: query.after)
            var bytes = 0
            let rows = try Self.rows(query, database)
            while let row = try rows.next() {
                let unit: Int = try row.whole("unit")
                if let wanted, !wanted.contains(unit) { continue }
                let record = try Self.record(row)
                if !page.records.isEmpty
                    && (bytes + record.bytes.count > query.limitBytes
                        || page.records.count >= CoordinatorLimits.outputRecordsPerPage)
                {
                    page.more = true
                    return page
                }
                bytes += record.bytes.count
                page.records.append(record)
                page.position = try row.whole("position")
            }
            return page
        }
    }

    private static func rows(_ query: OutputQuery, _ database: Database) throws -> RowCursor {
        if let units = query.units, units.count == 1 {
            return try Row.fetchCursor(
                database,
                sql: "SELECT * FROM output WHERE submission = ? AND unit = ? AND position > ? ORDER BY position",
                arguments: [query.submission.rawValue, units[0], query.after])
        }
        return try Row.fetchCursor(
            database,
            sql: """
                SELECT * FROM output INDEXED BY output_of_submission
                WHERE submission = ? AND position > ? ORDER BY position
                """,
            arguments: [query.submission.rawValue, query.after])
    }

    private static func record(_ row: Row) throws -> OutputRecord {
        // An index takes 32 bits.
        let (submission, unit): (UInt32, UInt32) = (try row.whole("submission"), try row.whole("unit"))
        let (attempt, index, truncated): (Int64, Int64, Int64) = (
            try row.whole("attempt"), try row.whole("chunk"), try row.whole("truncated")
        )
        let stream: UInt8 = try row.whole("stream")
        return OutputRecord(
            unit: UnitID(SubmissionNumber(submission), Int(unit)), attempt: Attempt(rawValue: UInt64(bitPattern: attempt)),
            attemptNumber: try row.whole("number"), path: try row.text("path"), stream: OutputRecord.Stream(rawValue: stream) ?? .log,
            index: UInt64(bitPattern: index), at: try row.whole("at"), bytes: try row.bytes("bytes"), isTruncated: truncated != 0)
    }

    /// Puts what was stored on the disk.
    ///
    /// - Throws: GRDB's errors.
    func sync() throws {
        try queue.writeWithoutTransaction { _ = try Row.fetchAll($0, sql: "PRAGMA wal_checkpoint(PASSIVE)") }
    }

    func close() throws { try queue.close() }

    /// How long it waits from now on for a program that has the file locked.
    ///
    /// - Throws: GRDB's errors.
    mutating func setPatience(milliseconds: Int64) {
        patienceMilliseconds = milliseconds
        guard !isClosed else { return }
        queue.writeWithoutTransaction { $0.setPatience(milliseconds: milliseconds) }
    }

    // MARK: Damage

    private var file: SideFile { .output(path) }

    /// Opens it; where it is damaged, a new one in its place.
    ///
    /// - Parameter warn: is told what was lost.
    /// - Throws: as `init`.
    static func open(_ directory: DataDirectory, warn: (String) -> Void) throws -> OutputDatabase {
        try SideFile.output(directory.outputPath).open(warn) { try OutputDatabase(directory) }
    }

    /// Does something with it; where it turns out to be damaged, with a new one in its place.
    ///
    /// - Parameters:
    ///   - warn: is told what was lost.
    ///   - body: has changed nothing when it throws.
    /// - Throws: what `body` throws, and as `init`.
    mutating func perform<Result>(_ warn: (String) -> Void, _ body: (inout OutputDatabase) throws -> Result) throws -> Result {
        do {
            if isClosed { try reopen() }
            return try body(&self)
        } catch let error where SideFile.isDamage(error) {
            try queue.close()
            isClosed = true
            warn(try file.setAside(because: error))
            try reopen()
            return try body(&self)
        }
    }

    private mutating func reopen() throws {
        var new = try OutputDatabase(path: path, totalBytesMax: totalBytesMax)
        new.reserve = reserve
        if let patienceMilliseconds { new.setPatience(milliseconds: patienceMilliseconds) }
        self = new
    }
}
