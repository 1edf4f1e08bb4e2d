import Foundation
import GRDB

/// A copy of a data directory, from which a coordinator can start as from the directory itself. It is made beside a coordinator
/// that runs, or while none does.
///
/// The files are seen in one state: a read transaction is opened on the journal, then one on the partial results; if the journal
/// has not grown when both are open, no outcome is in it whose elements are not in the other, and none of the elements is of
/// an attempt that it does not know. The large values are copied before the journal and once more after it: what it names is
/// on the disk before it does.
public struct JournalBackup: Sendable {
    /// The directory of the copy.
    public let path: String
    /// What was found in the copy when it was made.
    public let verification: JournalVerification
    /// What is damaged, or no file, and not in the copy, which is whole without: files on which no work depends. A sentence for each.
    public let leftOut: [String]

    /// How often the files are looked at, at most, until they are seen in one state.
    static let attempts = 1000

    /// Makes the copy, reads all of it again, and only then gives it its name: what is called `destination` is whole.
    ///
    /// - Parameters:
    ///   - dataDirectory: of the coordinator.
    ///   - destination: must not exist; the directory that it is in must.
    /// - Throws: `BackupError`, `DataDirectoryError`, `JournalError`. What was made is removed then.
    /// - Complexity: O(size of the directory).
    public init(of dataDirectory: String, to destination: String) throws {
        let source = URL(fileURLWithPath: dataDirectory).standardizedFileURL.path
        let destination = URL(fileURLWithPath: destination).standardizedFileURL.path
        guard !DurableFiles.isThere(JournalRestore.marker(in: source)) else { throw DataDirectoryError.restoring(path: source) }
        guard JournalVerification.isThere(in: source) else { throw BackupError.noJournal(path: source) }
        guard !DurableFiles.isThere(destination) else { throw BackupError.destinationExists(path: destination) }
        guard !"\(destination)/".hasPrefix("\(source)/blobs/") else {
            throw BackupError.overlapping(backup: destination, dataDirectory: source)
        }
        let unfinished = "\(destination).unfinished-\(getpid())"
        guard mkdir(unfinished, 0o700) == 0 else { throw DurableFiles.failure(unfinished, "make the directory") }
        do {
            let acknowledged = try JournalWitness.acknowledged(in: source)
            leftOut = try Self.copy(source, to: unfinished)
            var verification = try JournalVerification(dataDirectory: unfinished, hashingValues: true)
                .moved(from: unfinished, to: destination)
            guard verification.problems.isEmpty else {
                throw BackupError.notWhole(path: source, problems: verification.problems)
            }
            guard verification.notLookedAt.isEmpty else {
                throw BackupError.notLookedAt(path: source, reasons: verification.notLookedAt)
            }
            guard verification.facts >= acknowledged else {
                throw JournalError.lostRecords(path: source + "/journal.sqlite", acknowledged: acknowledged, found: verification.facts)
            }
            // What nothing names in the copy was forgotten, or came to be named behind it.
            try verification.removeUnnamed()
            self.verification = verification
            try DurableFiles.sync(directory: unfinished)
            try DurableFiles.rename(unfinished, to: destination)
            try DurableFiles.sync(directory: URL(fileURLWithPath: destination).deletingLastPathComponent().path)
        } catch {
            try? DurableFiles.remove(unfinished)  // the error that is thrown says more
            throw error
        }
        path = destination
    }

    /// - Returns: what was left out.
    private static func copy(_ source: String, to destination: String) throws -> [String] {
        let unused = try openIfUnused(source)
        defer { withExtendedLifetime(unused) {} }
        // SQLite itself drops what is behind a damaged place of its log, when nobody has it open.
        if unused != nil { _ = try WriteAheadLogCheck.inspect(source + "/journal.sqlite-wal") }
        // None that is named by the journal as it is copied goes before it is copied itself.
        let lock = BlobFolderLock(toCopyFrom: source + "/blobs")
        defer { lock.end() }
        try DurableFiles.copyValues(from: source + "/blobs", to: destination + "/blobs")
        let leftOut = try DataFiles(source, unused).copyTogether(to: DataFiles(destination, nil))
        // What is not in the spool any more is told by the copy, too. Beside a coordinator it would know of more than was copied.
        if unused != nil { try DurableFiles.copy(ElementWitness.path(in: source), to: ElementWitness.path(in: destination)) }
        try unused?.checkIsUnused()
        try DurableFiles.copyValues(from: source + "/blobs", to: destination + "/blobs")
        return leftOut
    }

    /// The directory, so that no coordinator begins on it meanwhile; nil: one runs on it.
    private static func openIfUnused(_ path: String) throws(DataDirectoryError) -> DataDirectory? {
        do { return try DataDirectory(reading: path) } catch {
            guard case .inUse = error else { throw error }
            return nil
        }
    }
}

/// The SQLite files of a data directory.
private struct DataFiles {
    let directory: String
    /// nil: a coordinator runs on it, beside which the files are read as it reads them.
    private let unused: DataDirectory?
    private var journal: String { directory + "/journal.sqlite" }
    private var elements: String { directory + "/elements.sqlite" }
    private var output: String { directory + "/output.sqlite" }
    private var history: String { directory + "/history.sqlite" }

    init(_ directory: String, _ unused: DataDirectory?) { (self.directory, self.unused) = (directory, unused) }

    /// - Returns: what was left out.
    func copyTogether(to copy: DataFiles) throws -> [String] {
        let journal = try reader(journal)
        let growth = try reader(self.journal)
        guard DurableFiles.hasContent(elements) else {
            try journal.read { try copyAll(of: $0, to: copy.journal) }
            return try copyRest(to: copy)
        }
        do {
            try copyBoth(journal, growth, to: copy)
            return try copyRest(to: copy)
        } catch let damage as DamagedSpool {
            for file in [copy.journal, copy.elements] {
                for companion in ["", "-wal", "-shm"] { try DurableFiles.remove(file + companion) }
            }
            try journal.read { try copyAll(of: $0, to: copy.journal) }
            let text = """
                \(elements) is damaged (\(damage.reason)) and not in the backup, which has no partial results and is whole without them; \
                `aop journal verify` says what to do about the file
                """
            return [text] + (try copyRest(to: copy))
        }
    }

    /// Partial results cannot be copied.
    private struct DamagedSpool: Error {
        let reason: String
    }

    private func ofSpool<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error where SideFile.isDamage(error) {
            throw DamagedSpool(reason: SideFile.text(of: error))
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // A table is missing.
            throw DamagedSpool(reason: SideFile.text(of: error))
        }
    }

    /// Journal and partial results as they were at one moment.
    private func copyBoth(_ journal: DatabaseQueue, _ growth: DatabaseQueue, to copy: DataFiles) throws {
        let elements = try ofSpool { try reader(self.elements) }
        for _ in 0..<JournalBackup.attempts {
            let isDone = try journal.read { journal in
                let end = try Self.end(journal)
                return try elements.read { elements in
                    // This opens its transaction, too.
                    _ = try ofSpool { try Int.fetchOne(elements, sql: "SELECT count(*) FROM schema_versions") }
                    guard try growth.read({ try Self.end($0) }) == end else { return false }
                    try copyAll(of: journal, to: copy.journal)
                    try ofSpool { try copyAll(of: elements, to: copy.elements, isChecked: true) }
                    return true
                }
            }
            if isDone { return }
        }
        throw BackupError.tooBusy(path: self.journal)
    }

    /// What commands printed, and what became of submissions, is not bound to the rest: one that is damaged is left out.
    ///
    /// - Returns: which, and what to do.
    private func copyRest(to copy: DataFiles) throws -> [String] {
        var leftOut: [String] = []
        // Every start makes it.
        if !DurableFiles.isThere(output) { leftOut.append("\(output) is not there: the backup has nothing of what commands printed") }
        for (file, place) in [(output, copy.output), (history, copy.history)] where DurableFiles.isThere(file) {
            guard DurableFiles.isFile(file) else {
                leftOut.append(
                    "\(file) is no file and not in the backup, which is whole without it; no coordinator starts before it is gone")
                continue
            }
            do {
                try reader(file).read { try copyAll(of: $0, to: place, isChecked: true) }
            } catch let error where SideFile.isDamage(error) {
                for companion in ["", "-wal", "-shm"] { try DurableFiles.remove(place + companion) }
                leftOut.append(
                    """
                    \(file) is damaged (\(SideFile.text(of: error))) and not in the backup, which is whole without it; a coordinator that \
                    meets the damage begins a new one
                    """)
            }
        }
        return leftOut
    }

    private static func end(_ journal: Database) throws -> Int64? {
        try Int64.fetchOne(journal, sql: "SELECT max(last) FROM journal")
    }

    /// It never writes: it moves nothing from SQLite's log into the file, either, which is left to the coordinator's connection.
    private func reader(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "aop-backup"
        configuration.readonly = true
        configuration.busyMode = .timeout(JournalDatabase.patienceSeconds)
        return try JournalDatabase.reporting(path, "open the file") {
            if let unused { return try unused.reader(of: path, configuration) }
            return try DatabaseQueue(path: path, configuration: configuration)
        }
    }

    /// - Parameter isChecked: the copy is read in whole: SQLite copies the pages of a file as they are.
    /// - Throws: `JournalError`, `BackupError.file`.
    private func copyAll(of database: Database, to path: String, isChecked: Bool = false) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
            throw DurableFiles.failure(path, "make the file")
        }
        try JournalDatabase.reporting(path, "copy the file") {
            let copy = try DatabaseQueue(path: path)
            try copy.writeWithoutTransaction { copied in
                try database.backup(to: copied)
                guard isChecked else { return }
                let problems = try String.fetchAll(copied, sql: "PRAGMA quick_check(1)")
                guard problems == ["ok"] else {
                    throw JournalError.damagedFile(path: path, action: "check the copy", reason: problems.joined(separator: "; "))
                }
            }
            try copy.close()
        }
    }
}
