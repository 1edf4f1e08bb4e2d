import Foundation

/// Puts a backup in the place of a data directory's content, which is kept beside it.
///
/// Attempts and locks of the coordinator that starts from it have higher tokens than all before: their epoch is taken from
/// the clock. So nothing counts that workers bring of what the backup does not know.
public struct JournalRestore: Sendable {
    /// What was found in the backup.
    public let verification: JournalVerification
    /// Where what was there is now; nil: there was nothing.
    public let replaced: String?

    /// In a data directory: the backup is being put in its place, and the coordinator must not start.
    static func marker(in dataDirectory: String) -> String { dataDirectory + "/restoring" }

    private static let files = ["elements.sqlite", "output.sqlite", "blobs", "journal.acknowledged", "journal.sqlite"]
    private static let companions = ["", "-wal", "-shm"]

    /// Reads all of the backup, copies it, and then exchanges the files. One that was interrupted is repeated by another call; until then
    /// no coordinator starts on the directory.
    ///
    /// - Parameters:
    ///   - backup: stays as it is.
    ///   - dataDirectory: made where it is missing. No coordinator runs on it.
    ///   - date: names the directory with what was there.
    /// - Throws: `BackupError`, `DataDirectoryError`, `JournalError`. Unless it failed while files were exchanged, nothing is changed.
    /// - Complexity: O(size of the backup).
    public init(from backup: String, into dataDirectory: String, date: Date = Date()) throws {
        let backup = URL(fileURLWithPath: backup).standardizedFileURL.path
        guard JournalVerification.isThere(in: backup) else { throw BackupError.noJournal(path: backup) }
        let target = URL(fileURLWithPath: dataDirectory).standardizedFileURL.path
        guard backup != target, !"\(target)/".hasPrefix("\(backup)/"), !"\(backup)/".hasPrefix(Self.marker(in: target) + "/") else {
            throw BackupError.overlapping(backup: backup, dataDirectory: target)
        }
        let directory = try DataDirectory(path: target)
        verification = try JournalVerification(dataDirectory: backup, hashingValues: true)
        guard verification.problems.isEmpty else { throw BackupError.notWhole(path: backup, problems: verification.problems) }
        replaced = try withExtendedLifetime(directory) { try Self.exchange(backup, target, date) }
    }

    private static func exchange(_ backup: String, _ target: String, _ date: Date) throws(BackupError) -> String? {
        let staging = target + "/restoring.new"
        try DurableFiles.remove(staging)
        try DurableFiles.makeDirectory(staging)
        for file in files where file != "blobs" { try DurableFiles.copy("\(backup)/\(file)", to: "\(staging)/\(file)") }
        try DurableFiles.copyValues(from: backup + "/blobs", to: staging + "/blobs")
        try DurableFiles.sync(directory: staging)
        // From here on no coordinator starts until all is done.
        let marker = marker(in: target)
        try DurableFiles.makeDirectory(marker)
        try DurableFiles.sync(directory: target)
        let replaced = try setAside(in: target, date)
        for file in files where DurableFiles.isThere("\(staging)/\(file)") {
            try DurableFiles.rename("\(staging)/\(file)", to: "\(target)/\(file)")
        }
        try DurableFiles.sync(directory: target)
        try DurableFiles.remove(staging)
        try DurableFiles.remove(marker)
        try DurableFiles.sync(directory: target)
        return replaced
    }

    private static func setAside(in target: String, _ date: Date) throws(BackupError) -> String? {
        let present = files.flatMap { file in companions.map { file + $0 } }.filter { DurableFiles.isThere("\(target)/\($0)") }
        guard !present.isEmpty else { return nil }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyyMMdd'T'HHmmss'Z'"
        let base = "\(target)/replaced-\(formatter.string(from: date))"
        var path = base
        var number = 1
        while try !DurableFiles.makeDirectory(path) {
            number += 1
            path = "\(base)-\(number)"
        }
        for file in present { try DurableFiles.rename("\(target)/\(file)", to: "\(path)/\(file)") }
        try DurableFiles.sync(directory: path)
        return path
    }
}
