import Scheduling
import Wire

/// The state behind a fact, as the journal's file keeps it.
struct Snapshot: Sendable, Equatable {
    /// Where the journal goes on.
    let end: JournalEnd
    let sections: Int
    /// Of all sections.
    let bytes: Int64
    /// SHA-256 over chain, sequence and, for each section, its length (64 bits, little endian) and its bytes.
    let digest: [UInt8]

    /// Sections are kept in parts of this size, so that no transaction of one holds up the commit of facts for long.
    static let partBytes = 1 << 20
}

/// Hashes the sections of a snapshot in their order.
struct SnapshotHasher {
    private var hasher = BlobHasher()
    private(set) var sections = 0
    private(set) var bytes: Int64 = 0
    private let end: JournalEnd

    init(_ end: JournalEnd) {
        self.end = end
        hasher.update(end.chain)
        hasher.update(Self.littleEndian(end.sequence.rawValue))
    }

    mutating func update(_ section: [UInt8]) {
        hasher.update(Self.littleEndian(UInt64(section.count)))
        hasher.update(section)
        sections += 1
        bytes += Int64(section.count)
    }

    consuming func finalize() -> Snapshot {
        Snapshot(end: end, sections: sections, bytes: bytes, digest: hasher.finalize().bytes)
    }

    private static func littleEndian(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }
}
