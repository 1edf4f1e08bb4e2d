import GRDB
import Wire

/// The layout of a SQLite file of ours, as numbered steps that only go forward.
struct Schema: Sendable {
    struct Migration: Sendable {
        let name: String
        let sql: String
    }
    /// Number 1 is the first. Those that were released are never changed.
    let migrations: [Migration]

    /// A database of this layout in memory, which ends with the value.
    ///
    /// - Throws: GRDB's errors.
    func makeInMemory() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { try migrate($0, path: ":memory:") }
        return queue
    }

    /// Brings the file to the newest layout.
    ///
    /// - Throws: `JournalError.newerSchema` when the file has a layout this release does not know; GRDB's errors.
    func migrate(_ database: Database, path: String) throws {
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS schema_versions (
                    number INTEGER PRIMARY KEY, name TEXT NOT NULL, product TEXT NOT NULL
                ) STRICT
                """)
        let present = try present(in: database, path: path)
        for (index, migration) in migrations.enumerated().dropFirst(present) {
            try database.execute(sql: migration.sql)
            try database.execute(
                sql: "INSERT INTO schema_versions (number, name, product) VALUES (?, ?, ?)",
                arguments: [index + 1, migration.name, ProductVersion.current])
        }
    }

    /// - Throws: `JournalError.newerSchema`, and `.olderSchema` when the file has to be brought to the newest layout first.
    func checkReadable(_ database: Database, path: String) throws {
        let hasVersions = try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'schema_versions')")
        let present = hasVersions == true ? try present(in: database, path: path) : 0
        // Tables and their number are made in one transaction.
        let tables = present > 0 ? 0 : try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        guard tables == 0 else {
            throw JournalError.damagedFile(
                path: path, action: "read the number of its schema", reason: "there is none, and there are tables")
        }
        guard present == migrations.count else { throw JournalError.olderSchema(path: path, number: present) }
    }

    /// The number of the file's layout.
    private func present(in database: Database, path: String) throws -> Int {
        let newest = try Row.fetchOne(
            database, sql: "SELECT number, name, product FROM schema_versions ORDER BY number DESC LIMIT 1")
        guard let newest else { return 0 }
        let columns: [DatabaseValue] = [newest["number"], newest["name"], newest["product"]]
        guard let present = Int.fromDatabaseValue(columns[0]), present >= 0 else {
            throw JournalError.damagedFile(path: path, action: "read the number of its schema", reason: "there is none")
        }
        guard present <= migrations.count else {
            throw JournalError.newerSchema(
                path: path, number: present, name: String.fromDatabaseValue(columns[1]) ?? "",
                product: String.fromDatabaseValue(columns[2]) ?? "")
        }
        return present
    }
}

enum JournalSchema {
    static var current: Int { schema.migrations.count }

    /// `journal`: one row per batch of facts that was committed together: `first` and `last` are the sequences it holds,
    /// `chain` the SHA-256 over the chain before it and its own content.
    ///
    /// `snapshots`: the state behind the fact `sequence`, with the chain there; a row is there when all of its parts are.
    /// `digest` is the SHA-256 over chain, sequence and all sections.
    static let schema = Schema(migrations: [
        .init(
            name: "journal",
            sql: """
                CREATE TABLE journal (
                    first INTEGER PRIMARY KEY, last INTEGER NOT NULL, body BLOB NOT NULL, chain BLOB NOT NULL
                ) STRICT
                """),
        .init(
            name: "snapshots",
            sql: """
                CREATE TABLE snapshots (
                    sequence INTEGER PRIMARY KEY, chain BLOB NOT NULL, sections INTEGER NOT NULL, bytes INTEGER NOT NULL,
                    digest BLOB NOT NULL, product TEXT NOT NULL
                ) STRICT;
                CREATE TABLE snapshot_parts (
                    sequence INTEGER NOT NULL, section INTEGER NOT NULL, part INTEGER NOT NULL, body BLOB NOT NULL,
                    PRIMARY KEY (sequence, section, part)
                ) STRICT;
                """),
    ])
}
