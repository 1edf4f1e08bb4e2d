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

    /// In a data directory: the copy of a backup, until its files are in their place.
    private static func staging(in dataDirectory: String) -> String { marker(in: dataDirectory) + ".new" }

    /// Removes what a restore leaves that was ended before it changed anything, or when all was done. None runs, nor is to be repeated.
    ///
    /// - Throws: `BackupError`.
    static func removeRemains(in dataDirectory: String) throws(BackupError) {
        for path in [staging(in: dataDirectory), begun(in: dataDirectory), finished(in: dataDirectory)] { try DurableFiles.remove(path) }
    }

    private static let databases = ["elements.sqlite", "output.sqlite", "journal.sqlite"]
    /// What has become of submissions: kept where it is, and taken over where there is none.
    private static let history = "history.sqlite"
    private static let others = ["blobs", "elements.acknowledged", "journal.acknowledged"]
    /// A database whose coordinator was killed is in both of the first.
    private static let companions = ["", "-wal", "-shm"]

    /// Reads all of the backup, copies it, and then exchanges the files. One that was interrupted is repeated by another call, also with another
    /// backup: what was there before the first is whole in the one directory that is returned. Until then no coordinator starts.
    ///
    /// - Parameters:
    ///   - backup: stays as it is, and may be on a medium that cannot be written. Any data directory on which no coordinator runs: also a
    ///     copy that was made after one was killed.
    ///   - dataDirectory: made where it is missing. No coordinator runs on it.
    ///   - date: names the directory with what was there.
    /// - Throws: `BackupError`, `DataDirectoryError`, `JournalError`. Unless it failed while files were exchanged, nothing is changed.
    /// - Complexity: O(size of the backup).
    public init(from backup: String, into dataDirectory: String, date: Date = Date()) throws {
        try self.init(from: backup, into: dataDirectory, date: date, step: { _ in })
    }

    /// - Parameter step: called before each change, with what it is about; what it throws interrupts the restore there.
    init(from backup: String, into dataDirectory: String, date: Date = Date(), step: (String) throws -> Void) throws {
        let backup = URL(fileURLWithPath: backup).standardizedFileURL.path
        guard JournalVerification.isThere(in: backup) else { throw BackupError.noJournal(path: backup) }
        let target = URL(fileURLWithPath: dataDirectory).standardizedFileURL.path
        guard !Self.overlap(backup, target) else { throw BackupError.overlapping(backup: backup, dataDirectory: target) }
        guard !DurableFiles.isThere(Self.marker(in: backup)) else { throw DataDirectoryError.restoring(path: backup) }
        let directory = try DataDirectory(path: target)
        verification = try JournalVerification(dataDirectory: backup, hashingValues: true)
        guard verification.problems.isEmpty else { throw BackupError.notWhole(path: backup, problems: verification.problems) }
        guard verification.notLookedAt.isEmpty else {
            throw BackupError.notLookedAt(path: backup, reasons: verification.notLookedAt)
        }
        let facts = verification.facts
        replaced = try withExtendedLifetime(directory) {
            let staging = Self.staging(in: target)
            do {
                try DurableFiles.remove(staging)
                try Self.stage(backup, in: staging)
                // What is put in the place is what was read, and not what somebody has made of it meanwhile.
                try step("verify the copy")
                let staged = try JournalVerification(dataDirectory: staging)
                guard staged.notLookedAt.isEmpty else { throw BackupError.notLookedAt(path: staging, reasons: staged.notLookedAt) }
                guard staged.problems.isEmpty, staged.facts == facts else {
                    throw BackupError.notWhole(
                        path: backup,
                        problems: staged.problems.isEmpty ? ["its copy has \(staged.facts) of \(facts) facts"] : staged.problems)
                }
                return try Self.exchange(staging, target, date, step)
            } catch {
                // The error that is thrown says more, and a start removes them.
                if !DurableFiles.isThere(Self.marker(in: target)) { try? Self.removeRemains(in: target) }
                throw error
            }
        }
    }

    /// Whether restoring the one would remove, or write to, the other, whatever links lead to them.
    private static func overlap(_ backup: String, _ target: String) -> Bool {
        let backup = URL(fileURLWithPath: backup).resolvingSymlinksInPath().path
        let target = URL(fileURLWithPath: target).resolvingSymlinksInPath().path
        return DurableFiles.isSame(backup, target) || "\(target)/".hasPrefix("\(backup)/")
            || [staging(in: target), marker(in: target), begun(in: target), finished(in: target)].contains {
                "\(backup)/".hasPrefix($0 + "/")
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

    /// What was decided before the first file was moved: it is in the marker, and who repeats an interrupted restore goes on with it.
    private struct Plan: Codable {
        /// The directory, within the data directory, of what was there; nil: there was nothing.
        var replaced: String?
        /// What was there, and goes in it. Whatever else has one of the names was put there by a restore.
        var files: [String]
        /// There was a history, which stays.
        var keepsHistory: Bool
    }

    private static func planPath(in marker: String) -> String { marker + "/plan.json" }

    /// - Parameter step: called before each change, with what it is about.
    private static func exchange(_ staging: String, _ target: String, _ date: Date, _ step: (String) throws -> Void) throws -> String? {
        // From here on no coordinator starts until all is done.
        let plan = try makePlan(in: target, date, step)
        let replaced = plan.replaced.map { "\(target)/\($0)" }
        if let replaced { try setAside(plan.files, of: target, in: replaced, step) }
        let inPlace = others + withCompanions(databases) + (plan.keepsHistory ? [] : withCompanions([history]))
        for file in inPlace where DurableFiles.isThere("\(target)/\(file)") {
            // All that was there is aside: it is of the restore that was interrupted, and may be of another backup.
            try step("remove \(file)")
            try DurableFiles.remove("\(target)/\(file)")
        }
        try DurableFiles.sync(directory: target)
        for file in inPlace where DurableFiles.isThere("\(staging)/\(file)") {
            try step("place \(file)")
            try DurableFiles.rename("\(staging)/\(file)", to: "\(target)/\(file)")
        }
        try DurableFiles.sync(directory: target)
        try step("remove what was staged")
        try DurableFiles.remove(staging)
        try step("remove the marker")
        // At once, with what is in it.
        try DurableFiles.rename(marker(in: target), to: finished(in: target))
        try DurableFiles.sync(directory: target)
        try step("remove what was the marker")
        try DurableFiles.remove(finished(in: target))
        try DurableFiles.sync(directory: target)
        return replaced
    }

    /// The marker's names before it is one, and when it is none any more.
    private static func begun(in target: String) -> String { marker(in: target) + ".begun" }
    private static func finished(in target: String) -> String { marker(in: target) + ".finished" }

    private static func withCompanions(_ files: [String]) -> [String] { files.flatMap { file in companions.map { file + $0 } } }

    /// - Returns: the plan of the restore that was interrupted, or a new one, which is on the disk.
    private static func makePlan(in target: String, _ date: Date, _ step: (String) throws -> Void) throws -> Plan {
        let marker = marker(in: target)
        for path in [begun(in: target), finished(in: target)] { try DurableFiles.remove(path) }
        if DurableFiles.isThere(planPath(in: marker)) { return try readPlan(planPath(in: marker)) }
        let plan = newPlan(in: target, date)
        // A marker without a plan is of an earlier release: what that one had set aside is in a directory of its own.
        let hasMarker = DurableFiles.isThere(marker)
        let folder = hasMarker ? marker : begun(in: target)
        try step("write the plan")
        try DurableFiles.makeDirectory(folder)
        try DurableFiles.write([UInt8](try JSONEncoder().encode(plan)), to: planPath(in: folder))
        try DurableFiles.sync(directory: folder)
        try step("make the marker")
        if !hasMarker { try DurableFiles.rename(folder, to: marker) }
        try DurableFiles.sync(directory: target)
        return plan
    }

    private static func readPlan(_ path: String) throws(BackupError) -> Plan {
        do { return try JSONDecoder().decode(Plan.self, from: try Data(contentsOf: URL(fileURLWithPath: path))) } catch {
            throw .file(path: path, action: "read what was begun", reason: "\(error)")
        }
    }

    private static func newPlan(in target: String, _ date: Date) -> Plan {
        let present = (others + withCompanions(databases)).filter { DurableFiles.isThere("\(target)/\($0)") }
        let keepsHistory = DurableFiles.isThere("\(target)/\(history)")
        guard !present.isEmpty else { return Plan(replaced: nil, files: [], keepsHistory: keepsHistory) }
        let base = "replaced-\(DurableFiles.name(of: date))"
        var (name, number) = (base, 1)
        while DurableFiles.isThere("\(target)/\(name)") {
            number += 1
            name = "\(base)-\(number)"
        }
        return Plan(replaced: name, files: present, keepsHistory: keepsHistory)
    }

    /// What is in the directory has been moved already: a file of the same name is not the old one.
    private static func setAside(
        _ files: [String], of target: String, in replaced: String, _ step: (String) throws -> Void
    ) throws {
        try step("make the directory of what was there")
        if try DurableFiles.makeDirectory(replaced) { try DurableFiles.sync(directory: target) }
        for file in files where DurableFiles.isThere("\(target)/\(file)") && !DurableFiles.isThere("\(replaced)/\(file)") {
            try step("set \(file) aside")
            try DurableFiles.rename("\(target)/\(file)", to: "\(replaced)/\(file)")
        }
        try DurableFiles.sync(directory: replaced)
        try DurableFiles.sync(directory: target)
    }
}
