import Foundation
import GRDB
import Wire

/// A SQLite file beside the journal on which no work depends: what became of submissions, and what commands print. One that is damaged is
/// put aside and a new one is begun, so that nothing else is refused because of it. A file of a newer schema is not damaged.
struct SideFile: Sendable {
    let path: String
    /// What is lost with its content, as a sentence without its full stop.
    let loss: String

    /// Between the name of the file and the time at which it was put aside.
    static let mark = ".damaged-"
    /// SQLite's log goes first: beside a new file of the old name it would be taken for that one's.
    private static let companions = ["-wal", "-shm", ""]

    static func history(_ path: String) -> SideFile {
        SideFile(path: path, loss: "what it had of submissions that are forgotten is lost, and the others are written anew")
    }

    static func output(_ path: String) -> SideFile { SideFile(path: path, loss: "what commands had printed is lost") }

    /// Whether SQLite says that what is in the file is not what was written. That a disk cannot be read, maybe for a moment, says nothing of
    /// the file.
    static func isDamage(_ error: any Error) -> Bool {
        if case JournalError.damagedFile = error { return true }
        guard let error = error as? DatabaseError else { return false }
        switch error.extendedResultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_IOERR_CORRUPTFS: return true
        default: return false
        }
    }

    /// What is there is not what a file of ours has: a table is missing, as a rule.
    private static func isStrange(_ error: any Error) -> Bool { (error as? DatabaseError)?.resultCode == .SQLITE_ERROR }

    /// Whether nothing is in it, as where it is not there.
    var isEmpty: Bool {
        var status = stat()
        return stat(path, &status) != 0 || status.st_size == 0
    }

    /// What to say where it should not be empty.
    var emptinessText: String { "\(path) is not there, or empty: a new one is begun; \(loss). No work depends on it" }

    /// Makes the file where it is missing.
    ///
    /// - Throws: `JournalError.unusableSideFile`: something else is in its place; `DataDirectoryError`: it cannot be made.
    func prepare() throws {
        do throws(DataDirectoryError) { try DataDirectory.prepareFile(path) } catch {
            guard case .notWritable(path, let reason) = error, DurableFiles.isThere(path) else { throw error }
            throw unusable(reason)
        }
    }

    /// What is there is no file of ours, and not damaged either: nobody but its owner knows what it is, so that it stays where it is.
    private func unusable(_ reason: String) -> JournalError { .unusableSideFile(path: path, reason: reason, loss: loss) }

    /// What to say when it cannot be opened, and is not damaged.
    ///
    /// - Parameter action: names what was being done, and what removing the file loses.
    func failure(_ action: String, _ error: any Error) -> JournalError {
        DurableFiles.isFile(path) ? .database(path: path, action: action, reason: "\(error)") : unusable("it is no file, and \(error)")
    }

    /// Opens it; where it is damaged, a new one in its place.
    ///
    /// - Parameters:
    ///   - warn: is told what was lost, and where it is.
    ///   - open: opens the file, and makes it where it is missing. It throws GRDB's errors as they are where they tell of damage.
    /// - Throws: what `open` throws, `JournalError.database` where the damaged one cannot be put aside.
    func open<Opened>(_ warn: (String) -> Void, _ open: () throws -> Opened) throws -> Opened {
        do { return try open() } catch let error where Self.isDamage(error) || Self.isStrange(error) {
            warn(try setAside(because: error))
            return try open()
        }
    }

    /// Puts it aside, and removes what was put aside before. Nobody in this process has it open: SQLite removes its log by its name
    /// when it closes a file.
    ///
    /// - Returns: what to tell: what is lost, and where it is.
    /// - Throws: `JournalError.database`.
    func setAside(because reason: any Error, at date: Date = Date()) throws(JournalError) -> String {
        let url = URL(fileURLWithPath: path)
        let (folder, name) = (url.deletingLastPathComponent().path, url.lastPathComponent)
        let aside = path + Self.mark + DurableFiles.name(of: date)
        do {
            for earlier in try FileManager.default.contentsOfDirectory(atPath: folder) where earlier.hasPrefix(name + Self.mark) {
                try FileManager.default.removeItem(atPath: "\(folder)/\(earlier)")
            }
            for companion in Self.companions where DurableFiles.isThere(path + companion) {
                try DurableFiles.rename(path + companion, to: aside + companion)
            }
            try DurableFiles.sync(directory: folder)
        } catch {
            throw JournalError.database(path: path, action: "put the damaged file aside", reason: "\(error)")
        }
        return """
            \(path) is damaged (\(Self.text(of: reason))): it is \(aside) now, and a new one is begun; \(loss). No work depends on it, and \
            the damaged one may be removed; `sqlite3 \(aside.shellWord) .recover` prints what can still be read
            """
    }

    /// In words that need no knowledge of the statement that met it.
    static func text(of reason: any Error) -> String {
        if case JournalError.damagedFile(_, _, let reason) = reason { return reason }
        guard let reason = reason as? DatabaseError else { return "\(reason)" }
        return reason.message ?? "SQLite result \(reason.extendedResultCode.rawValue)"
    }
}

extension Row {
    /// The whole number in a column.
    ///
    /// - Throws: what SQLite throws of damaged files: there is something else, which was never written.
    func whole<Number: FixedWidthInteger>(_ column: String) throws -> Number {
        let value: DatabaseValue = self[column]
        guard let number = Int64.fromDatabaseValue(value).flatMap({ Number(exactly: $0) }) else { throw Self.damage(column) }
        return number
    }

    /// The text in a column.
    ///
    /// - Throws: as `whole`.
    func text(_ column: String) throws -> String {
        let value: DatabaseValue = self[column]
        guard let text = String.fromDatabaseValue(value) else { throw Self.damage(column) }
        return text
    }

    /// The bytes in a column.
    ///
    /// - Throws: as `whole`.
    func bytes(_ column: String) throws -> [UInt8] {
        let value: DatabaseValue = self[column]
        guard let data = Data.fromDatabaseValue(value) else { throw Self.damage(column) }
        return [UInt8](data)
    }

    private static func damage(_ column: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the column \(column) holds what was never written there")
    }
}
