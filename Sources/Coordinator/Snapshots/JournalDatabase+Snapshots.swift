import Foundation
import GRDB
import Scheduling
import Wire

/// Snapshots in the journal's file. Each of these is one short transaction.
extension JournalDatabase {
    /// The newest one that is there in whole; nil: there is none.
    func newestSnapshot() throws(JournalError) -> Snapshot? {
        try reporting("look for snapshots") {
            try queue.read { database in
                try Row.fetchOne(
                    database, sql: "SELECT \(Self.snapshotColumns) FROM snapshots ORDER BY sequence DESC LIMIT 1"
                ).map { row in
                    // A damaged page can give rows with anything in them.
                    guard let sequence = Int64.fromDatabaseValue(row["sequence"]), let chain = Data.fromDatabaseValue(row["chain"]),
                        let sections = Int.fromDatabaseValue(row["sections"]), let bytes = Int64.fromDatabaseValue(row["bytes"]),
                        let digest = Data.fromDatabaseValue(row["digest"]), sections >= 0
                    else { throw damagedSnapshot(.none, "its row cannot be read") }
                    return Snapshot(
                        end: JournalEnd(sequence: JournalSequence(UInt64(bitPattern: sequence)), chain: [UInt8](chain)), sections: sections,
                        bytes: bytes, digest: [UInt8](digest))
                }
            }
        }
    }

    private static let snapshotColumns =
        "sequence, "
        + [SoundColumn.blob("chain"), SoundColumn.integer("sections"), SoundColumn.integer("bytes"), SoundColumn.blob("digest")]
        .joined(separator: ", ")

    /// - Throws: `JournalError.damagedSnapshot` when there is nothing of it, or it cannot be read.
    func section(_ section: Int, of snapshot: JournalSequence) throws(JournalError) -> [UInt8] {
        let parts = try reporting("read a snapshot") {
            try queue.read { database in
                try DatabaseValue.fetchAll(
                    database,
                    sql: "SELECT \(SoundColumn.blob("body")) FROM snapshot_parts WHERE sequence = ? AND section = ? ORDER BY part",
                    arguments: [Int64(bitPattern: snapshot.rawValue), section])
            }
        }
        guard !parts.isEmpty else { throw damagedSnapshot(snapshot, "section \(section) is missing") }
        var bytes: [UInt8] = []
        for part in parts {
            guard let part = Data.fromDatabaseValue(part) else { throw damagedSnapshot(snapshot, "section \(section) cannot be read") }
            bytes += part
        }
        return bytes
    }

    func damagedSnapshot(_ sequence: JournalSequence, _ reason: String) -> JournalError {
        .damagedSnapshot(path: path, sequence: sequence.rawValue, reason: reason)
    }

    /// Reads a snapshot, section by section, after it has been checked that it is what was written: only of that a state can be
    /// made without asking of everything whether it is possible. So all is read twice, and never all at once in memory.
    ///
    /// - Throws: `JournalError.damagedSnapshot`, also when `each` throws.
    func read(_ snapshot: Snapshot, _ each: ([UInt8]) throws -> Void) throws(JournalError) {
        var hasher = SnapshotHasher(snapshot.end)
        for number in 0..<snapshot.sections { hasher.update(try section(number, of: snapshot.end.sequence)) }
        guard hasher.finalize() == snapshot else { throw damagedSnapshot(snapshot.end.sequence, "its digest does not fit") }
        for number in 0..<snapshot.sections {
            let section = try section(number, of: snapshot.end.sequence)
            do { try each(section) } catch {
                if let newer = (error as? DecodingFailure)?.newerLayout {
                    throw JournalError.newerSnapshot(path: path, layout: newer.found, known: newer.known)
                }
                if let rules = (error as? DecodingFailure)?.newerRules { throw JournalError.newerRules(path: path, rules: rules) }
                throw damagedSnapshot(snapshot.end.sequence, "section \(number): \(error)")
            }
        }
    }

    func write(part: Int, _ body: ArraySlice<UInt8>, section: Int, of snapshot: JournalSequence) throws(JournalError) {
        try change("write a snapshot") { database in
            try database.cachedStatement(sql: "INSERT INTO snapshot_parts (sequence, section, part, body) VALUES (?, ?, ?, ?)")
                .execute(arguments: [Int64(bitPattern: snapshot.rawValue), section, part, Data(body)])
        }
    }

    /// From here on it is there.
    func complete(_ snapshot: Snapshot) throws(JournalError) {
        try change("write a snapshot") { database in
            try database.execute(
                sql: "INSERT INTO snapshots (sequence, chain, sections, bytes, digest, product) VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [
                    Int64(bitPattern: snapshot.end.sequence.rawValue), Data(snapshot.end.chain), snapshot.sections, snapshot.bytes,
                    Data(snapshot.digest), ProductVersion.current,
                ])
        }
    }

    /// Removes some of what stands behind a snapshot: facts that it contains, and parts of others.
    ///
    /// - Parameter snapshot: nil: parts that belong to no snapshot are removed, and nothing else.
    /// - Returns: whether there may be more.
    func prune(behind snapshot: JournalSequence?) throws(JournalError) -> Bool {
        let sequence = Int64(bitPattern: snapshot?.rawValue ?? 0)
        return try change("prune the journal") { database in
            try database.execute(sql: "DELETE FROM snapshots WHERE sequence < ?", arguments: [sequence])
            try database.execute(
                sql: """
                    DELETE FROM snapshot_parts WHERE rowid IN (
                        SELECT rowid FROM snapshot_parts WHERE sequence NOT IN (SELECT sequence FROM snapshots) LIMIT ?)
                    """, arguments: [Self.partsPruned])
            if database.changesCount > 0 { return true }
            guard let last = try Self.lastPruned(database, upTo: sequence) else { return false }
            try database.execute(sql: "DELETE FROM journal WHERE first <= ?", arguments: [last])
            return true
        }
    }

    /// - Returns: the first fact of the last batch that one transaction removes; nil: there is none.
    private static func lastPruned(_ database: Database, upTo sequence: Int64) throws -> Int64? {
        let rows = try Row.fetchCursor(
            database, sql: "SELECT first, length(body) AS bytes FROM journal WHERE last <= ? ORDER BY first LIMIT ?",
            arguments: [sequence, batchesPruned])
        var (last, bytes): (Int64?, Int) = (nil, 0)
        while bytes < prunedBytes, let row = try rows.next() {
            last = row["first"]
            bytes += row["bytes"] ?? 0
        }
        return last
    }

    /// Bytes that one transaction removes, and those of one row more: SQLite overwrites them, in its log first.
    static let prunedBytes = partsPruned * Snapshot.partBytes
    /// Rows that one transaction removes.
    private static let partsPruned = 8
    private static let batchesPruned = 200

    private func change<Result>(_ action: String, _ body: (Database) throws -> Result) throws(JournalError) -> Result {
        try reporting(action) {
            try queue.writeWithoutTransaction { database in
                var result: Result?
                try database.inTransaction(.immediate) {
                    result = try body(database)
                    return .commit
                }
                guard let result else { preconditionFailure("a transaction was committed without its body") }
                return result
            }
        }
    }
}
