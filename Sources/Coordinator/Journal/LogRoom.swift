import Foundation
import Logging
import Wire

/// Makes SQLite's log as long as it ever gets, with zeros, in moments in which nobody waits for the journal.
///
/// A commit that makes the file longer has to bring the file's new length to the disk as well, and that takes more than twice as long as to
/// write over what is there. A log keeps the length that it has: after a checkpoint SQLite writes from its front again.
///
/// Zeros are the end of a log: no frame of one has zeros where its salts stand. They are only ever put behind the end of the file, by who
/// has the journal's pen, so that they are written over nothing.
struct LogRoom {
    /// A process that commits little is not to write much: so many commits come first, each time.
    static let commitsPerPiece = 4
    /// More than so many small commits take, less than what holds up a commit that comes meanwhile for longer than one takes.
    static let pieceBytes = 256 << 10
    /// What SQLite's log has when it is copied into the database file.
    static let bytes = JournalDatabase.checkpointPages * (4096 + 24) + 32

    /// What is written at once. Of more at once the kernel makes larger pieces of its memory, and each commit would count for all of one.
    private static let pageBytes = 4096
    private static let zeros = [UInt8](repeating: 0, count: pageBytes)

    private let path: String
    private let logger: Logger
    private var state = State.growing(commits: 0)

    private enum State {
        /// Since the last piece there were so many commits.
        case growing(commits: Int)
        /// The log has its length, or cannot get it.
        case done
    }

    init(of database: JournalDatabase, logger: Logger) {
        path = database.path + "-wal"
        self.logger = logger
    }

    mutating func noteCommit() {
        if case .growing(let commits) = state { state = .growing(commits: commits + 1) }
    }

    /// The log has been cut.
    mutating func beginAnew() { state = .growing(commits: 0) }

    /// Whether it is time for a piece.
    var isDue: Bool { if case .growing(Self.commitsPerPiece...) = state { true } else { false } }

    /// Adds a piece if it is time for one. Not while anything is written to the journal.
    ///
    /// - Throws: `JournalError.replaced`: the log is not there, and with it what was committed since it was last copied into its file.
    mutating func makeRoom() throws(JournalError) {
        guard isDue else { return }
        do throws(SystemCallError) {
            state = try addPiece() ? .done : .growing(commits: 0)
        } catch {
            guard error.errno != ENOENT else { throw .replaced(path: path) }
            // Without it commits are slower, and nothing else. An error of the disk is told to SQLite as well, when it syncs.
            logger.notice("the journal's log does not get its room ahead of time, which makes commits slower: \(error)")
            state = .done
        }
    }

    /// - Returns: whether the log has its length.
    private func addPiece() throws(SystemCallError) -> Bool {
        let log = open(path, O_WRONLY | O_CLOEXEC)
        guard log >= 0 else { throw failure("open") }
        defer { close(log) }
        var status = stat()
        guard fstat(log, &status) == 0 else { throw failure("fstat") }
        var end = Int(status.st_size)
        guard end < Self.bytes else { return true }
        let target = min(end + Self.pieceBytes, Self.bytes)
        while end < target {
            let count = min(Self.pageBytes - end % Self.pageBytes, target - end)
            let written = pwrite(log, Self.zeros, count, off_t(end))
            guard written >= 0 else { throw failure("pwrite") }
            guard written == count else { throw SystemCallError(operation: "pwrite", subject: path, errno: ENOSPC) }
            end += count
        }
        guard fdatasync(log) == 0 else { throw failure("fdatasync") }
        return end == Self.bytes
    }

    private func failure(_ operation: String) -> SystemCallError { SystemCallError(operation: operation, subject: path, errno: errno) }
}
