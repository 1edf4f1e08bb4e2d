import Foundation
import Scheduling
import Wire

/// Says, in a file beside the journal, how far the journal went when somebody was told of it.
///
/// SQLite drops the last transaction of its log when that is damaged: it looks like one that was never finished. And a damaged page may
/// have fewer rows than it had. Neither is found by a chain of hashes, which only holds together what is still there.
///
/// It is written behind each commit, before anybody is told, and not synced: it survives the end of the process, and never says more than
/// what is on the disk. After a loss of power it may say less, which is no harm.
final class JournalWitness: Sendable {
    let path: String
    private let descriptor: Int32

    private static let mark = Array("aopjend1".utf8)
    /// Mark, sequence (64 bits, little endian), chain hash, and the SHA-256 of these.
    private static let bytes = 80

    private static let name = "journal.acknowledged"

    static func path(in directory: DataDirectory) -> String { directory.path + "/" + name }

    /// Opens the file of a locked directory, making it where it is missing.
    ///
    /// - Throws: `JournalError.database`, `DataDirectoryError`.
    init(_ directory: DataDirectory) throws {
        path = Self.path(in: directory)
        try directory.prepareFile(path)
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(path, "open the file") }
    }

    deinit { close(descriptor) }

    /// The journal is on the disk up to here, and somebody is about to be told.
    ///
    /// - Throws: `JournalError.database`.
    func note(_ end: JournalEnd) throws(JournalError) {
        let bytes = Self.encode(end)
        guard pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else { throw Self.failure(path, "note the end of the journal") }
    }

    /// - Throws: `JournalError.database`.
    func sync() throws(JournalError) {
        guard fdatasync(descriptor) == 0 else { throw Self.failure(path, "sync") }
    }

    /// How far the journal in this directory went when somebody was told of it; 0: that is not known.
    ///
    /// - Throws: `JournalError.database`.
    static func acknowledged(in directory: String) throws(JournalError) -> UInt64 {
        try read(directory + "/" + name)?.sequence.rawValue ?? 0
    }

    /// - Parameter database: the journal in this directory, which ends at `end`; nil: there is none.
    /// - Throws: `JournalError.lostRecords`, `.otherJournal`: it is not the one that others were told of, or is another one of which
    ///   more was written; `.journalIsGone`: it holds nothing, and what is beside it was there because of one that did; `.database`: the
    ///   file cannot be read.
    static func check(in directory: DataDirectory, _ database: JournalDatabase?, reaches end: JournalEnd) throws(JournalError) {
        guard let told = try read(path(in: directory)) else { return try checkIsNew(directory, end) }
        guard told.sequence <= end.sequence else {
            throw .lostRecords(path: directory.journalPath, acknowledged: told.sequence.rawValue, found: end.sequence.rawValue)
        }
        var isKnown = told.sequence < end.sequence || told.chain == end.chain
        if isKnown, told.sequence.rawValue > 0, let went = try database?.went(to: told) { isKnown = went }
        guard isKnown else {
            throw .otherJournal(path: directory.journalPath, sequence: told.sequence.rawValue)
        }
        try checkIsNew(directory, end)
    }

    /// A journal without facts is one on which no coordinator has begun yet.
    private static func checkIsNew(_ directory: DataDirectory, _ end: JournalEnd) throws(JournalError) {
        guard end.sequence == .none, let remains = directory.remainsOfAJournal else { return }
        throw .journalIsGone(path: directory.journalPath, remains: remains)
    }

    /// Nil: there is none, or it was damaged: it says nothing.
    private static func read(_ path: String) throws(JournalError) -> JournalEnd? {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw failure(path, "open the file") }
        defer { close(descriptor) }
        var content = [UInt8](repeating: 0, count: bytes)
        let count = pread(descriptor, &content, bytes, 0)
        guard count >= 0 else { throw failure(path, "read") }
        let sequence = content[8..<16].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let end = JournalEnd(sequence: JournalSequence(sequence), chain: Array(content[16..<48]))
        return count == bytes && content == encode(end) ? end : nil
    }

    private static func encode(_ end: JournalEnd) -> [UInt8] {
        let sequence = (0..<8).map { UInt8(truncatingIfNeeded: end.sequence.rawValue >> (8 * UInt64($0))) }
        let content = mark + sequence + end.chain
        var hasher = BlobHasher()
        hasher.update(content)
        return content + hasher.finalize().bytes
    }

    private static func failure(_ path: String, _ action: String) -> JournalError {
        .database(path: path, action: action, reason: DataDirectory.reason(errno))
    }
}
