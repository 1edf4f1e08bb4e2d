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

    private static let databases = ["elements.sqlite", "output.sqlite", "journal.sqlite"]
    /// What has become of submissions: kept where it is, and taken over where there is none.
    private static let history = "history.sqlite"
    private static let others = ["blobs", "elements.acknowledged", "journal.acknowledged"]
    /// A database whose coordinator was killed is in both of the first.
    private static let companions = ["", "-wal", "-shm"]

    /// Reads all of the backup, copies it, and then exchanges the files. One that was interrupted is repeated by another call; until then
    /// no coordinator starts on the directory.
    ///
    /// - Parameters:
    ///   - backup: stays as it is, and may be on a medium that cannot be written. Any data directory on which no coordinator runs: also a
    ///     copy that was made after one was killed.
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
        guard !DurableFiles.isThere(Self.marker(in: backup)) else { throw DataDirectoryError.restoring(path: backup) }
        let directory = try DataDirectory(path: target)
        verification = try JournalVerification(dataDirectory: backup, hashingValues: true)
        guard verification.problems.isEmpty else { throw BackupError.notWhole(path: backup, problems: verification.problems) }
        guard verification.notLookedAt.isEmpty else {
            throw BackupError.notLookedAt(path: backup, reasons: verification.notLookedAt)
        }
        let facts = verification.facts
        replaced = try withExtendedLifetime(directory) {
            let staging = target + "/restoring.new"
            try DurableFiles.remove(staging)
            try Self.stage(backup, in: staging)
            // What is put in the place is what was read, and not what somebody has made of it meanwhile.
            let staged = try JournalVerification(dataDirectory: staging)
            guard staged.notLookedAt.isEmpty else { throw BackupError.notLookedAt(path: staging, reasons: staged.notLookedAt) }
            guard staged.problems.isEmpty, staged.facts == facts else {
                throw BackupError.notWhole(
                    path: backup, problems: staged.problems.isEmpty ? ["its copy has \(staged.facts) of \(facts) facts"] : staged.problems)
            }
            return try Self.exchange(staging, target, date)
        }
    }

    private static func stage(_ backup: String, in staging: String) throws(BackupError) {
        try DurableFiles.makeDirectory(staging)
        for file in databases + [history] {
            for ending in ["", "-wal"] { try DurableFiles.copy("\(backup)/\(file + ending)", to: "\(staging)/\(file + ending)") }
        }
        for file in others where file != "blobs" { try DurableFiles.copy("\(backup)/\(file)", to: "\(staging)/\(file)") }
        try DurableFiles.copyValues(from: backup + "/blobs", to: staging + "/blobs")
        try DurableFiles.sync(directory: staging)
    }

    private static func exchange(_ staging: String, _ target: String, _ date: Date) throws(BackupError) -> String? {
        // From here on no coordinator starts until all is done.
        let marker = marker(in: target)
        try DurableFiles.makeDirectory(marker)
        try DurableFiles.sync(directory: target)
        let replaced = try setAside(in: target, date)
        let files = DurableFiles.isThere("\(target)/\(history)") ? databases : databases + [history]
        for file in others + withCompanions(files) where DurableFiles.isThere("\(staging)/\(file)") {
            try DurableFiles.rename("\(staging)/\(file)", to: "\(target)/\(file)")
        }
        try DurableFiles.sync(directory: target)
        try DurableFiles.remove(staging)
        try DurableFiles.remove(marker)
        try DurableFiles.sync(directory: target)
        return replaced
    }

    private static func withCompanions(_ files: [String]) -> [String] { files.flatMap { file in companions.map { file + $0 } } }

    private static func setAside(in target: String, _ date: Date) throws(BackupError) -> String? {
        let present = (others + withCompanions(databases)).filter { DurableFiles.isThere("\(target)/\($0)") }
        guard !present.isEmpty else { return nil }
        let base = "\(target)/replaced-\(DurableFiles.name(of: date))"
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
