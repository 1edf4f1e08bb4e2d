import Foundation
import GRDB
import Scheduling
import Wire

/// What became of submissions, in a SQLite file that people put their own questions to. Everything in it comes from the journal, which
/// the coordinator lives by; nothing is read from here. Belongs to one thread.
///
/// The views `submissions` and `operations` are what others may rely on; docs/operating.md says what is in them.
struct HistoryDatabase {
    let path: String
    private let bytesMax: Int64
    private let queue: DatabaseQueue
    private let known: [SubmissionNumber: String]

    /// Submissions removed in one transaction.
    private static let removalSubmissions = 100

    private static let schema = Schema(migrations: [
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
                """)
    ])

    /// - Throws: `JournalError` (a newer schema, a file that cannot be used), `DataDirectoryError`.
    init(_ directory: DataDirectory, bytesMax: Int64 = CoordinatorLimits.historyBytes) throws {
        path = directory.historyPath
        self.bytesMax = bytesMax
        try directory.prepareFile(path)
        var configuration = Configuration()
        configuration.label = "aop-history"
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(JournalDatabase.patienceSeconds)
        do {
            let path = path
            queue = try DatabaseQueue(path: path, configuration: configuration)
            known = try queue.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA journal_size_limit = \(JournalDatabase.logBytesMax)")
                try database.inTransaction(.immediate) {
                    try Self.schema.migrate(database, path: path)
                    return .commit
                }
                let rows = try Row.fetchAll(database, sql: "SELECT number, id FROM submission")
                return Dictionary(uniqueKeysWithValues: rows.map { (SubmissionNumber($0["number"]), $0["id"] as String) })
            }
        } catch let error as JournalError { throw error } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            throw JournalError.locked(path: path, action: "open the file")
        } catch {
            throw JournalError.database(
                path: path, action: "open the history (removing this file loses nothing but what was forgotten already)",
                reason: "\(error)")
        }
    }

    /// Whether all of this submission was in it when it was opened.
    func holds(_ number: SubmissionNumber, id: String) -> Bool { known[number] == id }

    /// Takes in operations of a submission, and after the last of them the submission itself.
    ///
    /// - Throws: GRDB's errors; nothing was stored then.
    func append(_ page: HistoryPage) throws {
        try queue.writeWithoutTransaction { database in
            try database.inTransaction(.immediate) {
                if page.isFirst { try Self.remove([page.number], database) }
                let insert = try database.cachedStatement(
                    sql: """
                        INSERT INTO operation (
                            submission, unit, path, kind, type, state, attempts, worker, queued, started, finished, code, message)
                        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                        """)
                for operation in page.operations {
                    try insert.execute(arguments: [
                        page.number.rawValue, operation.unit, operation.path, operation.kind.word, operation.type,
                        operation.state.word, operation.attempts, operation.worker, Self.time(operation.queuedAt),
                        Self.time(operation.startedAt), Self.time(operation.finishedAt), operation.failure?.word,
                        operation.failure?.message,
                    ])
                }
                if let view = page.submission { try Self.insert(view, database) }
                return .commit
            }
        }
    }

    private static func insert(_ view: SubmissionView, _ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO submission (
                    number, id, key, name, principal, state, submitted, finished, total, succeeded, failed, cancelled, reason)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                view.number.rawValue, view.id, view.key, view.name, view.principal, view.state.word, view.submittedAt, view.finishedAt,
                view.counts.total, view.counts.succeeded, view.counts.failed, view.counts.cancelled, view.cancelReason,
            ])
    }

    private static func time(_ milliseconds: Int64) -> Int64? { milliseconds == 0 ? nil : milliseconds }

    /// Removes operations of submissions whose own row was never written, and is not going to be: before anything is appended.
    ///
    /// - Throws: GRDB's errors.
    /// - Complexity: O(operations): not for those who wait for the coordinator's start.
    func removeUnfinished() throws {
        try queue.write { try $0.execute(sql: "DELETE FROM operation WHERE submission NOT IN (SELECT number FROM submission)") }
    }

    /// Removes what ended before `time`, in milliseconds since 1970, and what ended first where the file has more than it may.
    ///
    /// - Returns: how many submissions were removed.
    /// - Throws: GRDB's errors.
    func makeRoom(endedBefore time: Int64) throws -> Int {
        var count = 0
        while true {
            let removed = try queue.write { database in
                let isTooLarge = try Self.usedBytes(database) > bytesMax
                let numbers = try Int64.fetchAll(
                    database, sql: "SELECT number FROM submission WHERE finished < ? ORDER BY finished LIMIT ?",
                    arguments: [isTooLarge ? Int64.max : time, Self.removalSubmissions])
                try Self.remove(numbers.map { SubmissionNumber(UInt32(clamping: $0)) }, database)
                return numbers.count
            }
            count += removed
            if removed == 0 { return count }
        }
    }

    private static func remove(_ numbers: [SubmissionNumber], _ database: Database) throws {
        for number in numbers {
            try database.execute(sql: "DELETE FROM operation WHERE submission = ?", arguments: [number.rawValue])
            try database.execute(sql: "DELETE FROM submission WHERE number = ?", arguments: [number.rawValue])
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
    let number: SubmissionNumber
    let isFirst: Bool
    let operations: [EndedOperation]
    /// nil: further operations follow.
    let submission: SubmissionView?
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
