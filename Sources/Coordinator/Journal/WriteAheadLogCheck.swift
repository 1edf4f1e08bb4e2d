import Foundation

/// Reads SQLite's write-ahead log before SQLite does.
///
/// SQLite silently drops everything behind the first frame whose checksum does not fit. At the end of the log that is
/// what a crash leaves of a transaction nobody was told about. But where more than one commit stands behind the bad
/// frame, committed transactions would be lost without a word; that is damage, and we refuse to start on it.
/// Layout: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
enum WriteAheadLogCheck {
    enum Finding: Equatable {
        case absent
        case intact(commits: Int)
        /// The rest behind the last good commit is one unfinished transaction. Zeros are no rest, `LogRoom` puts them there; nor are frames
        /// from before SQLite began the log anew, over which it writes.
        case tornTail(commits: Int)
    }

    private static let headerBytes = 32
    private static let frameHeaderBytes = 24

    /// - Throws: `JournalError.damagedLog`, `.damagedFile`, or `.database` when the file cannot be read.
    static func inspect(_ path: String) throws(JournalError) -> Finding {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 && errno == ENOENT { return .absent }
        guard descriptor >= 0 else { throw unreadable(path) }
        defer { close(descriptor) }
        var header = [UInt8](repeating: 0, count: headerBytes)
        switch pread(descriptor, &header, headerBytes, 0) {
        case headerBytes: break
        case 0..<headerBytes: return .absent
        default: throw unreadable(path)
        }
        if header.allSatisfy({ $0 == 0 }) { return .absent }
        guard var scan = Scan(header: header) else {
            throw .damagedFile(path: path, action: "read the write-ahead log", reason: "its header is not one")
        }
        var frame = [UInt8](repeating: 0, count: frameHeaderBytes + scan.pageBytes)
        var offset = headerBytes
        while true {
            let count = pread(descriptor, &frame, frame.count, offset)
            if count < 0 { throw unreadable(path) }
            if count < frame.count {
                scan.end(in: frame[..<count])
                break
            }
            scan.read(frame)
            offset += count
        }
        return try scan.finding(path)
    }

    private static func unreadable(_ path: String) -> JournalError {
        .database(path: path, action: "read the write-ahead log", reason: DataDirectory.reason(errno))
    }

    private struct Scan {
        let pageBytes: Int
        private let isBigEndian: Bool
        private let salts: (UInt32, UInt32)
        /// How often SQLite has begun this log anew: its checkpoint sequence number.
        private let restarts: UInt32
        private var sum: (UInt32, UInt32) = (0, 0)
        private let headerFits: Bool
        private var frames = 0
        private var goodCommits = 0
        /// The first frame that SQLite would not take, from 1.
        private var bad: Int?
        private var commitsBehind = 0
        private let zeros: [UInt8]
        /// Behind the last good commit there are good frames.
        private var isInTransaction = false
        /// Whether there is something from the first bad frame on that this round of the log may have written.
        private var hasRest = false

        init?(header: [UInt8]) {
            let magic = Self.word(header, 0, bigEndian: true)
            pageBytes = Int(Self.word(header, 8, bigEndian: true))
            guard magic & ~1 == 0x377f_0682, (512...65536).contains(pageBytes), pageBytes & (pageBytes - 1) == 0 else {
                return nil
            }
            isBigEndian = magic & 1 == 1
            zeros = [UInt8](repeating: 0, count: frameHeaderBytes + pageBytes)
            restarts = Self.word(header, 12, bigEndian: true)
            salts = (Self.word(header, 16, bigEndian: true), Self.word(header, 20, bigEndian: true))
            sum = Self.checksum(header[0..<24], from: (0, 0), bigEndian: isBigEndian)
            headerFits =
                sum
                == (Self.word(header, 24, bigEndian: true), Self.word(header, 28, bigEndian: true))
            if !headerFits { (bad, hasRest) = (1, true) }
        }

        mutating func read(_ frame: [UInt8]) {
            frames += 1
            let fits = (
                Self.word(frame, 8, bigEndian: true) == salts.0, Self.word(frame, 12, bigEndian: true) == salts.1
            )
            // A header with a damaged salt still shares the other one with its frames; a torn header of a log that was
            // begun anew shares neither.
            let ofThisLog = headerFits ? fits.0 && fits.1 : fits.0 || fits.1
            let isCommit = Self.word(frame, 4, bigEndian: true) != 0
            if bad == nil {
                var next = Self.checksum(frame[0..<8], from: sum, bigEndian: isBigEndian)
                next = Self.checksum(frame[frameHeaderBytes...], from: next, bigEndian: isBigEndian)
                if ofThisLog
                    && next == (Self.word(frame, 16, bigEndian: true), Self.word(frame, 20, bigEndian: true))
                {
                    sum = next
                    if isCommit { goodCommits += 1 }
                    isInTransaction = !isCommit
                    return
                }
                bad = frames
            }
            hasRest = hasRest || isRest(frame[...])
            if ofThisLog && isCommit { commitsBehind += 1 }
        }

        /// The file ends within a frame. Of one without salts only its place says whose it may be.
        mutating func end(in part: ArraySlice<UInt8>) {
            hasRest = hasRest || isRest(part) && (bad == nil || part.count >= Self.saltsEnd)
        }

        /// What has other salts may still be of this round: not all of a frame is on the disk, or it was damaged.
        private func isRest(_ frame: ArraySlice<UInt8>) -> Bool { !isLeftOver(frame) && frame != zeros.prefix(frame.count) }

        /// Whether an earlier round of this log wrote the frame: when SQLite begins a log anew it adds one to the first salt and draws the
        /// second one.
        private func isLeftOver(_ frame: ArraySlice<UInt8>) -> Bool {
            guard headerFits, frame.count >= Self.saltsEnd else { return false }
            let header = Array(frame.prefix(Self.saltsEnd))
            let age = salts.0 &- Self.word(header, 8, bigEndian: true)
            return age != 0 && age <= restarts && Self.word(header, 12, bigEndian: true) != salts.1
        }

        func finding(_ path: String) throws(JournalError) -> Finding {
            if let bad, commitsBehind > 1 { throw .damagedLog(path: path, frame: bad, commitsBehind: commitsBehind) }
            return hasRest || isInTransaction ? .tornTail(commits: goodCommits) : .intact(commits: goodCommits)
        }

        /// Of a frame's header, its page's number, the size of a commit and both salts.
        private static let saltsEnd = 16

        private static func word(_ bytes: [UInt8], _ offset: Int, bigEndian: Bool) -> UInt32 {
            let value = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
            return bigEndian ? UInt32(bigEndian: value) : UInt32(littleEndian: value)
        }

        private static func checksum(
            _ bytes: ArraySlice<UInt8>, from sum: (UInt32, UInt32), bigEndian: Bool
        ) -> (UInt32, UInt32) {
            bytes.withUnsafeBytes { bytes in
                var (first, second) = sum
                for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
                    let words = (
                        bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self),
                        bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                    )
                    first &+= (bigEndian ? words.0.bigEndian : words.0.littleEndian) &+ second
                    second &+= (bigEndian ? words.1.bigEndian : words.1.littleEndian) &+ first
                }
                return (first, second)
            }
        }
    }
}
