import Foundation
import GRDB
import Scheduling
import Wire

/// What became of submissions, in a SQLite file that people put their own questions to. Everything in it comes from the journal, which
/// the coordinator lives by; nothing is read from here. Belongs to one thread.
///
/// The views `submissions` and `operations` are what others may rely on; docs/operating.md says what is in them.
struct HistoryDatabase {
    /// Where it is, and how it is kept.
    struct Place: Sendable {
        let path: String
        var bytesMax = CoordinatorLimits.historyBytes
        /// So long it is waited for another program that has the file locked.
        var patienceSeconds = JournalDatabase.patienceSeconds

        var file: SideFile { .history(path) }
    }

    let place: Place
    private let queue: DatabaseQueue
    /// When submissions ended of which it has the row, by id.
    private let known: [String: Int64]
    /// Operations of it were written, and its own row was not.
    private var unfinished: Unfinished?

    private struct Unfinished {
        let id: String
        let place: Int64
    }

    /// Submissions removed in one transaction.
    private static let removalSubmissions = 100

    /// A submission has a place of its own here: its number is given anew when a backup was put in the place of the journal.
    static let schema = Schema(migrations: [
        .init(
            name: "history",
            sql: """
                CREATE TABLE submission (
                    number INTEGER PRIMARY KEY, id TEXT NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL, principal TEXT NOT NULL,
                    state TEXT NOT NULL, submitted INTEGER NOT NULL, finished INTEGER NOT NULL, total INTEGER NOT NULL,
                    succeeded INTEGER NOT NULL, failed INTEGER NOT NULL, cancelled INTEGER NOT NULL, reason TEXT NOT NULL
                ) STRICT;
                CREATE INDEX submission_by_end ON submission (finished);
                CREATE TABLE operation (
                    submission INTEGER NOT NULL, unit INTEGER NOT NULL, path TEXT NOT NULL, kind TEXT NOT NULL, type TEXT NOT NULL,
                    state TEXT NOT NULL, attempts INTEGER NOT NULL, worker TEXT NOT NULL, queued INTEGER, started INTEGER,
                    finished INTEGER, code TEXT, message TEXT,
                    PRIMARY KEY (submission, unit)
                ) STRICT, WITHOUT ROWID;
                CREATE VIEW submissions AS SELECT
                    id, name, key, principal, state,
                    strftime('%Y-%m-%dT%H:%M:%fZ', submitted / 1000.0, 'unixepoch') AS submitted_at,
                    strftime('%Y-%m-%dT%H:%M:%fZ', finished / 1000.0, 'unixepoch') AS finished_at,
                    (finished - submitted) / 1000.0 AS duration, total, succeeded, failed, cancelled, reason AS cancel_reason
                    FROM submission;
                CREATE VIEW operations AS SELECT
                    submission.id AS submission, path, kind, type, operation.state AS state, attempts, worker,
                    strftime('%Y-%m-%dT%H:%M:%fZ', queued / 1000.0, 'unixepoch') AS queued_at,
                    strftime('%Y-%m-%dT%H:%M:%fZ', started / 1000.0, 'unixepoch') AS started_at,
                    strftime('%Y-%m-%dT%H:%M:%fZ', operation.finished / 1000.0, 'unixepoch') AS finished_at,
                    (started - queued) / 1000.0 AS waited, (operation.finished - started) / 1000.0 AS duration,
                    code AS error_code, message AS error
                    FROM operation JOIN submission ON submission.number = operation.submission
                """),
        // What is there keeps its number as its place: no row is written anew, however many there are. Our views go behind the change of names,
        // which asks of views whether what they name is there, also of those that others have made.
        .init(
            name: "places",
            sql: """
                ALTER TABLE submission RENAME COLUMN number TO place;
                ALTER TABLE operation RENAME COLUMN submission TO place;
                DROP VIEW operations;
                DROP VIEW submissions;
                CREATE INDEX submission_by_id ON submission (id);
                CREATE VIEW submissions AS SELECT
                    id, name, key, principal, state,
                    strftime('%Y-%m-%dT%H:%M:%fZ', submitted / 1000.0, 'unixepoch') AS submitted_at,
                    strftime('%Y-%m-%dT%H:%M:%fZ', finished / 1000.0, 'unixepoch') AS finished_at,
                    (finished - submitted) / 1000.0 AS duration, total, succeeded, failed, cancelled, reason AS cancel_reason
                    FROM submission;
                CREATE VIEW operations AS SELECT
                    submission.id AS submission, path, kind, type, operation.state AS state, attempts, worker,
                    strftime('%Y-%m-%dT%H:%M:%fZ', queued / 1000.0, 'unixepoch') AS queued_at,
                    strftime('%Y-%m-%dT%H:%M:%fZ', started / 1000.0, 'unixepoch') AS started_at,
                    strftime('%Y-%m-%dT%H:%M:%fZ', operation.finished / 1000.0, 'unixepoch') AS finished_at,
                    (started - queued) / 1000.0 AS waited, (operation.finished - started) / 1000.0 AS duration,
                    code AS error_code, message AS error
                    FROM operation JOIN submission ON submission.place = operation.place
                """),
    ])

    /// - Throws: `JournalError` (a newer schema, a file that cannot be used), `DataDirectoryError`; GRDB's errors where it is damaged.
    init(_ directory: DataDirectory, bytesMax: Int64 = CoordinatorLimits.historyBytes) throws {
        try self.init(Place(path: directory.historyPath, bytesMax: bytesMax))
    }

    /// In a directory that is locked.
    ///
    /// - Throws: as above.
    init(_ place: Place) throws {
        self.place = place
        let path = place.path
        try place.file.prepare()
        var configuration = Configuration()
        configuration.label = "aop-history"
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(place.patienceSeconds)
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
            known = try queue.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA journal_size_limit = \(JournalDatabase.logBytesMax)")
                try database.inTransaction(.immediate) {
                    try Self.schema.migrate(database, path: path)
                    return .commit
                }
                var known: [String: Int64] = [:]
                let rows = try Row.fetchCursor(database, sql: "SELECT id, finished FROM submission")
                while let row = try rows.next() { known[try row.text("id")] = try row.whole("finished") }
                return known
            }
        } catch let error as JournalError { throw error } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            throw JournalError.locked(path: path, action: "open the file")
        } catch let error as DatabaseError where error.message?.hasPrefix("error in ") == true {
            throw JournalError.database(
                path: path, action: "bring the file to the layout of this release, for which what somebody else has made in it has to go",
                reason: error.message ?? "")
        } catch let error as DatabaseError where SideFile.isDamage(error) || error.resultCode == .SQLITE_ERROR {
            throw error
        } catch {
            throw place.file.failure("open the history (removing this file loses nothing but what was forgotten already)", error)
        }
    }

    /// Opens it; where it is damaged, a new one in its place.
    ///
    /// - Parameter warn: is told what was lost.
    /// - Throws: as `init`.
    static func open(_ directory: DataDirectory, warn: (String) -> Void) throws -> HistoryDatabase {
        try SideFile.history(directory.historyPath).open(warn) { try HistoryDatabase(directory) }
    }

    /// Whether all of this submission was in it when it was opened.
    func holds(_ id: String, endedAt: Int64) -> Bool { known[id] == endedAt }

    /// Takes in operations of a submission, and after the last of them the submission itself. What was written of it before goes
    /// with its first page; what there is of others stays, whatever their numbers.
    ///
    /// - Throws: GRDB's errors; nothing was stored then.
    mutating func append(_ page: HistoryPage) throws {
        let earlier = unfinished
        let taken: Int64 = try queue.writeWithoutTransaction { database in
            var place: Int64 = 0
            try database.inTransaction(.immediate) {
                place = try page.isFirst ? Self.begin(page.id, after: earlier, database) : Self.place(of: page, earlier)
                let insert = try database.cachedStatement(
                    sql: """
                        INSERT INTO operation (
                            place, unit, path, kind, type, state, attempts, worker, queued, started, finished, code, message)
                        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                        """)
                for operation in page.operations {
                    try insert.execute(arguments: [
                        place, operation.unit, operation.path, operation.kind.word, operation.type,
                        operation.state.word, operation.attempts, operation.worker, Self.time(operation.queuedAt),
                        Self.time(operation.startedAt), Self.time(operation.finishedAt), operation.failure?.word,
                        operation.failure?.message,
                    ])
                }
                if let view = page.submission { try Self.insert(view, at: place, database) }
                return .commit
            }
            return place
        }
        unfinished = page.submission == nil ? Unfinished(id: page.id, place: taken) : nil
    }

    /// Removes what there is of a submission, and what was not finished of another one.
    ///
    /// - Returns: its place, behind all others.
    private static func begin(_ id: String, after unfinished: Unfinished?, _ database: Database) throws -> Int64 {
        if let unfinished { try remove([unfinished.place], database) }
        try remove(Int64.fetchAll(database, sql: "SELECT place FROM submission WHERE id = ?", arguments: [id]), database)
        let last = try Int64.fetchOne(
            database,
            sql: """
                SELECT max(coalesce((SELECT max(place) FROM submission), 0), coalesce((SELECT max(place) FROM operation), 0))
                """)
        guard let last, last < .max else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a place is out of range") }
        return last + 1
    }

    private static func place(of page: HistoryPage, _ unfinished: Unfinished?) -> Int64 {
        guard let unfinished, unfinished.id == page.id else {
            preconditionFailure(
                """
                a later page of \(page.id) came after \(unfinished?.id ?? "a whole submission"): one is posted when the one before it was \
                written, and what is for an earlier file is dropped
                """)
        }
        return unfinished.place
    }

    private static func insert(_ view: SubmissionView, at place: Int64, _ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO submission (
                    place, id, key, name, principal, state, submitted, finished, total, succeeded, failed, cancelled, reason)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                place, view.id, view.key, view.name, view.principal, view.state.word, view.submittedAt, view.finishedAt,
                view.counts.total, view.counts.succeeded, view.counts.failed, view.counts.cancelled, view.cancelReason,
            ])
    }

    private static func time(_ milliseconds: Int64) -> Int64? { milliseconds == 0 ? nil : milliseconds }

    /// Removes operations of submissions whose own row was never written, and is not going to be: before anything is appended.
    ///
    /// - Throws: GRDB's errors.
    /// - Complexity: O(operations): not for those who wait for the coordinator's start.
    func removeUnfinished() throws {
        try queue.write { try $0.execute(sql: "DELETE FROM operation WHERE place NOT IN (SELECT place FROM submission)") }
    }

    /// Removes what ended before `time`, in milliseconds since 1970, and what ended first where the file has more than it may.
    ///
    /// - Returns: how many submissions were removed.
    /// - Throws: GRDB's errors.
    func makeRoom(endedBefore time: Int64) throws -> Int {
        var count = 0
        while true {
            let removed = try queue.write { database in
                let isTooLarge = try Self.usedBytes(database) > place.bytesMax
                let places = try Int64.fetchAll(
                    database, sql: "SELECT place FROM submission WHERE finished < ? ORDER BY finished LIMIT ?",
                    arguments: [isTooLarge ? Int64.max : time, Self.removalSubmissions])
                try Self.remove(places, database)
                return places.count
            }
            count += removed
            if removed == 0 { return count }
        }
    }

    private static func remove(_ places: [Int64], _ database: Database) throws {
        for place in places {
            try database.execute(sql: "DELETE FROM operation WHERE place = ?", arguments: [place])
            try database.execute(sql: "DELETE FROM submission WHERE place = ?", arguments: [place])
        }
    }

    private static func usedBytes(_ database: Database) throws -> Int64 {
        func pragma(_ name: String) throws -> Int64 { try Int64.fetchOne(database, sql: "PRAGMA \(name)") ?? 0 }
        return try (pragma("page_count") - pragma("freelist_count")) * pragma("page_size")
    }

    /// Closes the connection; the WAL is copied into the file.
    ///
    /// - Throws: GRDB's errors.
    func close() throws { try queue.close() }
}

/// What is written of a submission in one go.
struct HistoryPage: Sendable {
    /// Of the submission.
    let id: String
    let isFirst: Bool
    let operations: [EndedOperation]
    /// nil: further operations follow.
    let submission: SubmissionView?
    /// How many files had been begun in the place of damaged ones: what is for an earlier one is written anew, from its first page on.
    var file = 0
}

extension OperationView.Kind {
    fileprivate var word: String {
        switch self {
        case .operation: "operation"
        case .group: "group"
        case .ordered: "ordered"
        case .forEach: "forEach"
        case .decider: "decider"
        }
    }
}

extension SubmissionState {
    fileprivate var word: String {
        switch self {
        case .pending: "pending"
        case .running: "running"
        case .paused: "paused"
        case .succeeded: "succeeded"
        case .failed: "failed"
        case .cancelled: "cancelled"
        }
    }
}

extension OperationState {
    fileprivate var word: String {
        switch self {
        case .succeeded: "succeeded"
        case .failed: "failed"
        case .cancelled: "cancelled"
        // A submission has ended when all that is in it has.
        case .blocked, .locking, .evaluating, .queued, .running, .stopping, .retrying, .paused: "unfinished"
        }
    }
}

extension Failure {
    fileprivate var word: String { WireFailureCode(rawValue: Int(code.rawValue))?.word ?? "code\(code.rawValue)" }
}
