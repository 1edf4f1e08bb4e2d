import Foundation
import Scheduling
import Wire

/// Says, in a file beside the spool of partial results, how far those of each attempt went when their sender was told so: what was told to be
/// on the disk is not sent again, so that nobody else knows what is lost with the spool, or with its end.
///
/// Records are added behind each commit, before anybody is told, and not synced: they survive the end of the process, and never say more than
/// what is on the disk. After a loss of power they may say less, which is no harm. What is superseded goes when the file is written anew.
struct ElementWitness: Sendable {
    /// How far the elements of an attempt go.
    struct End: Hashable, Sendable {
        /// Of the attempt, from 1.
        let number: Int
        /// The first index that is not among them.
        let next: UInt64
    }

    typealias Ends = [SubmissionNumber: [UnitID: End]]

    let path: String
    private var file: File
    private var bytes: Int
    /// The file is written anew when it has more.
    private var bytesMax: Int

    /// Unit, number of the attempt, first index that is missing (64 bits each, little endian), and the first bytes of their SHA-256.
    private static let recordBytes = 32
    private static let checkedBytes = 24
    /// The file may grow by so much, and to twice of what is needed.
    private static let slackBytes = 4 << 20
    private static let pieceBytes = recordBytes << 12
    private static let name = "elements.acknowledged"

    /// An open file, closed with the last value that has it.
    private final class File: Sendable {
        let descriptor: Int32
        init(_ descriptor: Int32) { self.descriptor = descriptor }
        deinit { close(descriptor) }
    }

    static func path(in directory: String) -> String { directory + "/" + name }

    /// Writes the file of a locked directory anew.
    ///
    /// - Throws: `JournalError.database`.
    init(_ directory: DataDirectory, _ ends: Ends) throws(JournalError) {
        path = Self.path(in: directory.path)
        (file, bytes) = try Self.write(ends, to: path)
        bytesMax = 2 * bytes + Self.slackBytes
    }

    /// All these are on the disk, and their senders are about to be told.
    ///
    /// - Throws: `JournalError.database`: nobody is to be told.
    mutating func note(_ ends: [(unit: UnitID, end: End)]) throws(JournalError) {
        try append(ends.flatMap { Self.encode($0.unit, $0.end) })
    }

    /// These are known no more.
    ///
    /// - Throws: `JournalError.database`.
    mutating func forget(_ submissions: [SubmissionNumber]) throws(JournalError) {
        try append(submissions.flatMap { Self.encode(UnitID($0, 0), Self.gone) })
    }

    /// What a record says of a submission that is known no more; no attempt has this number.
    private static let gone = End(number: 0, next: 0)

    private mutating func append(_ records: [UInt8]) throws(JournalError) {
        if bytes + records.count > bytesMax {
            (file, bytes) = try Self.write(try Self.read(path), to: path)
            bytesMax = 2 * bytes + Self.slackBytes
        }
        // What was begun and not ended is written over by the next one.
        guard pwrite(file.descriptor, records, records.count, off_t(bytes)) == records.count else {
            throw Self.failure(path, "note how far partial results go")
        }
        bytes += records.count
    }

    /// How far they went, in this directory; none: that is not known.
    ///
    /// - Throws: `JournalError.database`.
    static func read(in directory: String) throws(JournalError) -> Ends { try read(path(in: directory)) }

    private static func read(_ path: String) throws(JournalError) -> Ends {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return [:] }
        guard descriptor >= 0 else { throw failure(path, "open the file") }
        defer { close(descriptor) }
        var ends: Ends = [:]
        var piece = [UInt8](repeating: 0, count: pieceBytes)
        var offset = 0
        while true {
            let count = pread(descriptor, &piece, pieceBytes, off_t(offset))
            guard count >= 0 else { throw failure(path, "read") }
            for start in stride(from: 0, through: count - recordBytes, by: recordBytes) {
                add(Array(piece[start..<start + recordBytes]), to: &ends)
            }
            guard count == pieceBytes else { return ends }
            offset += count
        }
    }

    /// A record that is damaged says nothing.
    private static func add(_ record: [UInt8], to ends: inout Ends) {
        func word(_ start: Int) -> UInt64 { record[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        let unit = UnitID(rawValue: word(0))
        guard let number = Int(exactly: word(8)) else { return }
        let end = End(number: number, next: word(16))
        guard record == encode(unit, end) else { return }
        guard end != gone else { return ends[unit.submission] = nil }
        if let known = ends[unit.submission]?[unit], (known.number, known.next) > (end.number, end.next) { return }
        ends[unit.submission, default: [:]][unit] = end
    }

    private static func encode(_ unit: UnitID, _ end: End) -> [UInt8] {
        var record: [UInt8] = []
        for value in [unit.rawValue, UInt64(end.number), end.next] {
            for shift in stride(from: UInt64(0), to: 64, by: 8) { record.append(UInt8(truncatingIfNeeded: value >> shift)) }
        }
        var hasher = BlobHasher()
        hasher.update(record)
        return record + hasher.finalize().bytes.prefix(recordBytes - checkedBytes)
    }

    private static func write(_ ends: Ends, to path: String) throws(JournalError) -> (File, Int) {
        let new = path + ".new"
        let descriptor = open(new, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(new, "make the file") }
        let file = File(descriptor)
        var bytes = 0
        var piece: [UInt8] = []
        func flush() throws(JournalError) {
            guard pwrite(descriptor, piece, piece.count, off_t(bytes)) == piece.count else { throw failure(new, "write") }
            bytes += piece.count
            piece = []
        }
        for (unit, end) in ends.values.joined() {
            piece += encode(unit, end)
            if piece.count >= pieceBytes { try flush() }
        }
        try flush()
        // A file that is empty after a loss of power would know less than the one that it replaces.
        guard fdatasync(descriptor) == 0 else { throw failure(new, "sync") }
        guard rename(new, path) == 0 else { throw failure(path, "put the file in its place") }
        return (file, bytes)
    }

    private static func failure(_ path: String, _ action: String) -> JournalError {
        .database(path: path, action: action, reason: DataDirectory.reason(errno))
    }
}
