import Scheduling

/// The journal cannot be opened, read or written. None of these is retried: what is not on disk is not acknowledged.
public enum JournalError: Error, Equatable, CustomStringConvertible {
    /// Written by a newer release. `name` is the migration this one does not know.
    case newerSchema(path: String, number: Int, name: String, product: String)
    /// Written by an earlier release, and only looked at: nothing is changed.
    case olderSchema(path: String, number: Int)
    /// SQLite runs without the promise that a committed transaction is on the disk.
    case notFullySynchronous(path: String, setting: Int)
    /// A committed batch of facts is not what was written. `first` is its key in the table `journal`.
    case damagedBatch(path: String, first: UInt64, reason: String)
    /// The state that stands for the facts up to `sequence` is not what was written.
    case damagedSnapshot(path: String, sequence: UInt64, reason: String)
    /// A newer release has written it.
    case newerSnapshot(path: String, layout: UInt64, known: UInt64)
    /// A start by a newer release has written into it.
    case newerRules(path: String, rules: UInt32)
    /// SQLite's write-ahead log has committed transactions behind a damaged place; SQLite would drop them silently.
    case damagedLog(path: String, frame: Int, commitsBehind: Int)
    /// SQLite cannot make sense of its own file.
    case damagedFile(path: String, action: String, reason: String)
    /// The file with partial results is not what was written.
    case damagedSpool(path: String, reason: String)
    /// What is in the place of a file on which no work depends cannot be used as one, and is not damaged: it is a directory, for instance.
    /// `loss` says what goes with it.
    case unusableSideFile(path: String, reason: String, loss: String)
    /// Others were told of facts up to `acknowledged`, and the journal ends at `found`.
    case lostRecords(path: String, acknowledged: UInt64, found: UInt64)
    /// Others were told of another fact under this sequence.
    case otherJournal(path: String, sequence: UInt64)
    /// There is none, and in the directory is what only a coordinator with a journal leaves.
    case journalIsGone(path: String, remains: String)
    /// Another program has kept the file locked for longer than this one waits.
    case locked(path: String, action: String)
    /// Large values that acknowledged outcomes name are not there; `place` is one of those that had them.
    case missingValues(path: String, count: Int, place: String)
    /// The file, or the folder, was removed under the coordinator that runs on it, or another one is in its place.
    case replaced(path: String)
    /// A fact that reads well but does not fit the state its predecessors left.
    case misfit(path: String, sequence: UInt64, reason: String)
    case database(path: String, action: String, reason: String)

    public var description: String {
        switch self {
        case .newerSchema(let path, let number, let name, let product):
            "\(path) has schema \(number) (“\(name)”), written by aop \(product); this release knows schemas up to "
                + "\(JournalSchema.current): start the newer release, or name another directory with --data"
        case .olderSchema(let path, let number):
            "\(path) has schema \(number); this release brings it to \(JournalSchema.current) when it starts a coordinator on it: "
                + "start one, stop it, and look again"
        case .notFullySynchronous(let path, let setting):
            "\(path): SQLite answers synchronous=\(setting) where 2 (FULL) was set; refusing to run without durable "
                + "commits: use an unmodified SQLite library"
        case .damagedBatch(let path, let first, let reason):
            "\(path): the batch of facts that begins at \(first) is damaged (\(reason)). \(Self.remedy)"
        case .newerRules(let path, let rules):
            "\(path) follows rules \(rules), which a newer release of aop has written; this release knows rules up to \(Rules.newest): start the "
                + "newer release, or name another directory with --data"
        case .newerSnapshot(let path, let layout, let known):
            "\(path) has a snapshot of layout \(layout), which a newer release of aop has written; this release knows layouts up to \(known): start the "
                + "newer release, or name another directory with --data"
        case .damagedSnapshot(let path, let sequence, let reason):
            "\(path): the snapshot of the first \(sequence) facts is damaged (\(reason)). \(Self.remedy)"
        case .damagedLog(let path, let frame, let commits):
            "\(path): frame \(frame) of the write-ahead log is damaged and \(commits) committed transactions stand "
                + "behind it, which SQLite would drop. \(Self.remedy)"
        case .damagedFile(let path, let action, let reason):
            "\(path): cannot \(action): \(reason): the file is damaged. \(Self.remedy)"
        case .damagedSpool(let path, let reason):
            "\(path): \(reason): the file is damaged. Nothing was changed. It has partial results of operations, and nothing else: put a copy of it "
                + "back, or begin without it: rm -f \(path.shellWord)*; a coordinator starts then, operations that run go on, and readers are told "
                + "how many they miss"
        case .unusableSideFile(let path, let reason, let loss):
            "\(path) cannot be used: \(reason). No work depends on it: move it away or remove it, and start again; \(loss)"
        case .lostRecords(let path, let acknowledged, let found):
            "\(path): it ends at fact \(found), and \(acknowledged) were acknowledged: its end is lost. \(Self.remedy)"
        case .otherJournal(let path, let sequence):
            "\(path): its fact \(sequence) is another one than was acknowledged. \(Self.remedy)"
        case .journalIsGone(let path, let remains):
            "\(path) is missing, or holds nothing, and \(remains) belongs to one that does. Nothing was changed. Put the journal back, with journal.sqlite-wal and "
                + "journal.acknowledged, or a backup: aop journal restore. To begin anew, give the coordinator an empty directory, or remove \(remains)"
        case .missingValues(let path, let count, let place):
            "\(path): \(count) large value\(count == 1 ? "" : "s") that the journal names \(count == 1 ? "is" : "are") missing or cut off, "
                + "that of \(place) among them. Nothing was changed. Put the files back from a backup of the data directory, or give them up: "
                + "aop journal give-up --dry-run lists them all, and without --dry-run a coordinator starts then, and what needs them fails"
        case .replaced(let path):
            "\(path) was removed, or replaced, under the coordinator that runs on it: what it would acknowledge from now on could not be found by "
                + "the next one, so it ends. If what was there has been moved, put it back. Then start again, which says whether anything is "
                + "missing; if so, put a backup in place: aop journal restore"
        case .misfit(let path, let sequence, let reason):
            "\(path): fact \(sequence) does not fit what came before it (\(reason)). \(Self.remedy)"
        case .locked(let path, let action):
            "\(path): cannot \(action): another program has had the file locked for \(Int(JournalDatabase.patienceSeconds)) s; close it "
                + "(`fuser \(path.shellWord)` names it), and look at copies: aop journal backup makes one"
        case .database(let path, let action, let reason):
            "\(path): cannot \(action): \(reason); check free space, permissions and the health of the disk"
        }
    }

    private static let remedy =
        "Nothing was changed. Keep a copy of the data directory, then put a backup of it in its place, "
        + "or start afresh with another --data"
}
