import Scheduling
import Wire

/// Where the journal ends: what the next batch continues.
struct JournalEnd: Hashable, Sendable {
    var sequence: JournalSequence
    /// Chain hash of the last batch.
    var chain: [UInt8]

    static let empty = JournalEnd(sequence: .none, chain: [UInt8](repeating: 0, count: 32))
}

/// Facts that are committed together, as one row of the journal.
///
/// Body: for each fact its length (32 bits, little endian) and its bytes.
struct JournalBatch: Sendable {
    let first: JournalSequence
    private(set) var last: JournalSequence
    private(set) var body: [UInt8] = []

    init(after sequence: JournalSequence) {
        first = sequence.next
        last = sequence
    }

    var isEmpty: Bool { last < first }

    mutating func append(_ fact: Fact) {
        let start = body.count
        body += [0, 0, 0, 0]
        FactCodec.append(fact, to: &body)
        let count = UInt32(body.count - start - 4)
        for byte in 0..<4 { body[start + byte] = UInt8(truncatingIfNeeded: count >> UInt32(8 * byte)) }
        last = last.next
    }

    func chain(after previous: [UInt8]) -> [UInt8] {
        Self.chain(after: previous, first: first.rawValue, last: last.rawValue, body: body)
    }

    /// SHA-256 over the chain before, the two sequences (64 bits, little endian) and the body.
    static func chain(after previous: [UInt8], first: UInt64, last: UInt64, body: [UInt8]) -> [UInt8] {
        var hasher = BlobHasher()
        hasher.update(previous)
        hasher.update(littleEndian(first) + littleEndian(last))
        hasher.update(body)
        return hasher.finalize().bytes
    }

    /// Reads a body back, fact by fact.
    ///
    /// - Throws: `DecodingFailure` of the codec, `Truncated`, and what `each` throws.
    static func forEachFact(in body: [UInt8], _ each: (Fact) throws -> Void) throws {
        var position = 0
        while position < body.count {
            guard body.count - position >= 4 else { throw Truncated() }
            var count = 0
            for offset in 0..<4 { count |= Int(body[position + offset]) << (8 * offset) }
            position += 4
            guard body.count - position >= count else { throw Truncated() }
            try each(FactCodec.decode(body[position..<position + count]))
            position += count
        }
    }

    struct Truncated: Error, CustomStringConvertible {
        var description: String { "a fact is longer than what is left of its batch" }
    }

    private static func littleEndian(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }
}
