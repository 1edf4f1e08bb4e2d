import Foundation
import GRDB

/// Opens a SQLite file to read it, so that nothing is written, also not beside it.
///
/// SQLite makes a log and an index of it for a file in WAL mode, and leaves them there, also when it is only to read; and it cannot open the
/// file where it must not make them. So a file without a log is opened as one that nobody changes, and of one with a log the index is in
/// memory. Nothing is locked for either: that is for directories in which no coordinator works.
/// Source: https://www.sqlite.org/wal.html, "Read-Only Databases" and "Use of WAL Without Shared-Memory".
enum UntouchedFile {
    /// - Throws: GRDB's errors; `JournalError.database`: it cannot be opened without writing.
    static func open(_ path: String, _ configuration: Configuration) throws -> DatabaseQueue {
        var configuration = configuration
        configuration.readonly = true
        guard takesURIs else { return try openAsAnyOther(path, configuration) }
        guard DurableFiles.hasContent(path + "-wal") else {
            return try DatabaseQueue(path: name(path, "immutable=1"), configuration: configuration)
        }
        configuration.prepareDatabase { database in
            // Before anything is read: it decides where the index is.
            try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
        }
        return try DatabaseQueue(path: name(path, "vfs=unix-none"), configuration: configuration)
    }

    /// A path with a parameter, as SQLite reads URIs.
    static func name(_ path: String, _ parameter: String) -> String {
        let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-._~")
        return "file://\(path.addingPercentEncoding(withAllowedCharacters: plain) ?? path)?\(parameter)"
    }

    /// Whether this SQLite library takes URIs for names, which it says of itself: those of Debian and Ubuntu do.
    private static let takesURIs: Bool = {
        // One that does not say so is taken for one that does not.
        (try? DatabaseQueue().read { try Bool.fetchOne($0, sql: "SELECT sqlite_compileoption_used('USE_URI')") }) ?? false
    }()

    private static func openAsAnyOther(_ path: String, _ configuration: Configuration) throws -> DatabaseQueue {
        do { return try DatabaseQueue(path: path, configuration: configuration) } catch let error as DatabaseError {
            guard error.resultCode == .SQLITE_CANTOPEN else { throw error }
            throw JournalError.database(
                path: path,
                action: "open the file without writing, as this SQLite library takes no URIs (name a copy on a disk that can be written)",
                reason: error.message ?? "SQLite result \(error.resultCode)")
        }
    }
}

extension DataDirectory {
    /// Opens one of its SQLite files to read it; without a trace where the directory itself was opened so.
    ///
    /// - Throws: GRDB's errors, `JournalError.database`.
    func reader(of path: String, _ configuration: Configuration) throws -> DatabaseQueue {
        if isOnlyRead { return try UntouchedFile.open(path, configuration) }
        var configuration = configuration
        configuration.readonly = true
        return try DatabaseQueue(path: path, configuration: configuration)
    }
}
