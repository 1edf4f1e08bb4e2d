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

    /// Unit, number of the attempt, first index that is missing, and a sum of these (64 bits each, little endian).
    private static let recordBytes = 32
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

    /// Opens the file of a locked directory; it is written anew where much in it is superseded, or it is not there.
    ///
    /// - Parameter ends: what ``read(in:)`` has found, without what is known no more.
    /// - Throws: `JournalError.database`.
    init(_ directory: DataDirectory, _ ends: Ends) throws(JournalError) {
        path = Self.path(in: directory.path)
        let needed = ends.values.reduce(0) { $0 + $1.count } * Self.recordBytes
        bytesMax = 2 * needed + Self.slackBytes
        if let present = try Self.open(path), present.bytes <= bytesMax {
            (file, bytes) = present
        } else {
            (file, bytes) = try Self.write(ends, to: path)
        }
    }

    /// - Returns: nil: there is none.
    private static func open(_ path: String) throws(JournalError) -> (file: File, bytes: Int)? {
        let descriptor = Foundation.open(path, O_RDWR | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw failure(path, "open the file") }
        let file = File(descriptor)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(path, "look at the file") }
        // The last record may have been begun and not ended.
        return (file, Int(status.st_size) / recordBytes * recordBytes)
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
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return [:] }
        guard descriptor >= 0 else { throw failure(path, "open the file") }
        defer { close(descriptor) }
        var ends: Ends = [:]
        var piece = [UInt8](repeating: 0, count: pieceBytes)
        var offset = 0
        while true {
            let count = pread(descriptor, &piece, pieceBytes, off_t(offset))
            guard count >= 0 else { throw failure(path, "read") }
            piece.withUnsafeBytes { bytes in
                for start in stride(from: 0, through: count - recordBytes, by: recordBytes) {
                    add(UnsafeRawBufferPointer(rebasing: bytes[start..<start + recordBytes]), to: &ends)
                }
            }
            guard count == pieceBytes else { return ends }
            offset += count
        }
    }

    /// A record that is damaged says nothing.
    private static func add(_ record: UnsafeRawBufferPointer, to ends: inout Ends) {
        func word(_ index: Int) -> UInt64 { UInt64(littleEndian: record.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)) }
        guard word(3) == sum(word(0), word(1), word(2)), let number = Int(exactly: word(1)) else { return }
        let (unit, end) = (UnitID(rawValue: word(0)), End(number: number, next: word(2)))
        guard end != gone else { return ends[unit.submission] = nil }
        if let known = ends[unit.submission]?[unit], (known.number, known.next) > (end.number, end.next) { return }
        ends[unit.submission, default: [:]][unit] = end
    }

    private static func encode(_ unit: UnitID, _ end: End) -> [UInt8] {
        let words = [unit.rawValue, UInt64(end.number), end.next]
        return (words + [sum(words[0], words[1], words[2])]).flatMap { withUnsafeBytes(of: $0.littleEndian) { [UInt8]($0) } }
    }

    /// Of what was damaged by accident one record in 2^64 has its sum (the finaliser of SplitMix64, word by word).
    private static func sum(_ words: UInt64...) -> UInt64 {
        words.reduce(0x9E37_79B9_7F4A_7C15) { sum, word in
            var mixed = (sum ^ word) &+ 0x9E37_79B9_7F4A_7C15
            mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
            return mixed ^ mixed >> 31
        }
    }

    private static func write(_ ends: Ends, to path: String) throws(JournalError) -> (File, Int) {
        let new = path + ".new"
        let descriptor = Foundation.open(new, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
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
        // One that is empty after a loss of power would know less than the one that it replaces.
        guard fdatasync(descriptor) == 0 else { throw failure(new, "sync") }
        guard rename(new, path) == 0 else { throw failure(path, "put the file in its place") }
        return (file, bytes)
    }

    private static func failure(_ path: String, _ action: String) -> JournalError {
        .database(path: path, action: action, reason: DataDirectory.reason(errno))
    }
}
