/// Why a data directory was not backed up, or a backup not put in its place.
public enum BackupError: Error, Equatable, CustomStringConvertible {
    case noJournal(path: String)
    /// There is something where the copy would be.
    case destinationExists(path: String)
    /// One of the two is inside of the other, or they are the same.
    case overlapping(backup: String, dataDirectory: String)
    /// The coordinator commits so fast that its files were not seen in one state.
    case tooBusy(path: String)
    /// Things that do not hold in the backup, in words.
    case notWhole(path: String, problems: [String])
    /// Things in the backup that could not be looked at, in words: nobody knows whether they hold.
    case notLookedAt(path: String, reasons: [String])
    /// A file system call failed.
    case file(path: String, action: String, reason: String)

    public var description: String {
        switch self {
        case .noJournal(let path): "there is no journal in \(path); name the directory with the coordinator's data"
        case .destinationExists(let path): "\(path) exists already; name a directory that does not, each backup has one of its own"
        case .overlapping(let backup, let dataDirectory):
            "the backup \(backup) and the data directory \(dataDirectory) are the same, or one is inside of the other; name two that are apart, or copy the backup "
                + "elsewhere first"
        case .tooBusy(let path):
            "\(path): the coordinator has committed in each of \(JournalBackup.attempts) moments in which its files were looked at; try again"
        case .notWhole(let path, let problems):
            "\(path): \(problems.count) thing\(problems.count == 1 ? " does" : "s do") not hold, \(problems[0]); use another backup"
        case .notLookedAt(let path, let reasons):
            "\(path): \(reasons.count) thing\(reasons.count == 1 ? "" : "s") could not be looked at: \(reasons[0]); check free space, permissions "
                + "and the health of the disk, and try again"
        case .file(let path, let action, let reason):
            "\(path): cannot \(action): \(reason); check free space, permissions and the health of the disk"
        }
    }
}
