import Foundation
import Scheduling
import Wire

/// The file of a flight recorder: what one coordinator's scheduler was told from its start on, and what it decided.
///
/// A row is its length (32 bits, little endian), its bytes, and the first eight bytes of their SHA-256. The first rows are the configuration and the sections of
/// the state behind the journal at the start; then comes the start, then one row for each step. The last one may be cut off.
enum Recording {
    enum Row {
        case configuration([UInt8], of: Release = Release())
        case section([UInt8])
        /// The start, of this incarnation.
        case start(Instant, incarnation: UInt64, Decisions)
        case step(Instant, inputs: [UInt8], Decisions)
        /// Nothing more was recorded.
        case full(Ending)
    }

    /// By what was decided. Another release comes to other facts and messages, and a difference says nothing then.
    struct Release: Equatable {
        var rules = Rules.newest
        var decisions = Scheduler.decisionsVersion
    }

    /// Why a recording ends before its coordinator does.
    enum Ending: Equatable {
        case limit
        case slowDisk
        /// The state that it would begin with has so many bytes, and it begins with nothing.
        case largeState(bytes: UInt64)

        var text: String {
            switch self {
            case .limit: "it has reached half of --flight-recorder"
            case .slowDisk: "the disk was slower than what is recorded"
            case .largeState(let bytes):
                "the state at the start has \(bytes) bytes, more than half of --flight-recorder; more than \(bytes * 2) are needed"
            }
        }
    }

    /// What came out of a step.
    struct Decisions: Equatable {
        /// Behind its facts.
        let sequence: UInt64
        /// SHA-256 of the facts, as the journal has them.
        let facts: [UInt8]
        /// SHA-256 of what was sent, to whom and after which fact.
        let sends: [UInt8]

        init(sequence: UInt64, facts: [UInt8], sends: [UInt8]) { (self.sequence, self.facts, self.sends) = (sequence, facts, sends) }

        init(_ outputs: Outputs, sequence: JournalSequence) {
            var (facts, sends) = (BlobHasher(), BlobHasher())
            for fact in outputs.facts { facts.update(Self.framed(FactCodec.encode(fact))) }
            for send in outputs.sends {
                sends.update(Self.framed(Array("\(send.to.rawValue) \(send.after.rawValue) \(send.message)".utf8)))
            }
            self.init(sequence: sequence.rawValue, facts: facts.finalize().bytes, sends: sends.finalize().bytes)
        }

        private static func framed(_ bytes: [UInt8]) -> [UInt8] { Recording.littleEndian(UInt64(bytes.count)) + bytes }
    }

    /// A file that is no recording, or of another release.
    struct Malformed: Error, CustomStringConvertible { let description: String }

    static func folder(in dataDirectory: String) -> String { dataDirectory + "/flight" }

    /// Of the row of a section of so many bytes.
    static func rowBytes(ofSection count: Int) -> Int { lengthBytes + 1 + count + hashBytes }

    // MARK: Bytes

    private static let lengthBytes = 4
    private static let hashBytes = 8
    private static let kinds: (configuration: UInt8, section: UInt8, start: UInt8, step: UInt8, full: UInt8) = (1, 2, 3, 4, 5)
    private static let endings: (limit: UInt8, slowDisk: UInt8, largeState: UInt8) = (1, 2, 3)

    static func encode(_ row: Row) -> [UInt8] {
        var body: [UInt8]
        switch row {
        case .configuration(let bytes, let release):
            body = [kinds.configuration, InputCodec.version] + littleEndian(UInt64(release.rules))
            body += littleEndian(UInt64(release.decisions)) + bytes
        case .section(let bytes): body = [kinds.section] + bytes
        case .start(let at, let incarnation, let decisions):
            body = [kinds.start] + encode(at) + littleEndian(incarnation) + encode(decisions)
        case .step(let at, let inputs, let decisions): body = [kinds.step] + encode(at) + encode(decisions) + inputs
        case .full(.limit): body = [kinds.full, endings.limit]
        case .full(.slowDisk): body = [kinds.full, endings.slowDisk]
        case .full(.largeState(let bytes)): body = [kinds.full, endings.largeState] + littleEndian(bytes)
        }
        var hasher = BlobHasher()
        hasher.update(body)
        let hash = hasher.finalize().bytes.prefix(hashBytes)
        let length = (0..<lengthBytes).map { UInt8(truncatingIfNeeded: body.count >> (8 * $0)) }
        return length + body + hash
    }

    private static func encode(_ at: Instant) -> [UInt8] {
        littleEndian(UInt64(bitPattern: at.boot)) + littleEndian(UInt64(bitPattern: at.wall))
    }

    private static func encode(_ decisions: Decisions) -> [UInt8] { littleEndian(decisions.sequence) + decisions.facts + decisions.sends }

    fileprivate static func littleEndian(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }

    /// Reads the rows of a file in their order, up to one that is cut off: by the end of the process that wrote it, or because its length is
    /// damaged, which cannot be told apart.
    ///
    /// - Returns: how many bytes there are from that one on; 0: there is none.
    /// - Throws: `Malformed`, and what `each` throws.
    @discardableResult
    static func read(_ bytes: [UInt8], _ each: (Row) throws -> Void) throws -> Int {
        var rest = bytes[...]
        var isFirst = true
        while rest.count >= 4 {
            let count = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            guard rest.count >= 4 + count + hashBytes else { break }
            let body = rest.dropFirst(4).prefix(count)
            rest = rest.dropFirst(4 + count)
            var hasher = BlobHasher()
            hasher.update(Array(body))
            guard hasher.finalize().bytes.prefix(hashBytes) == rest.prefix(hashBytes)[...] else {
                throw Malformed(description: "a row of the recording is damaged, at byte \(bytes.count - rest.count - count)")
            }
            rest = rest.dropFirst(hashBytes)
            let row = try decode(body)
            if isFirst {
                guard case .configuration = row else { throw Malformed(description: "it is no recording") }
                isFirst = false
            }
            try each(row)
        }
        guard !isFirst else { throw Malformed(description: "it is no recording: there is no whole row in it") }
        return rest.count
    }

    private static func decode(_ body: ArraySlice<UInt8>) throws -> Row {
        var rest = body
        func take(_ count: Int) throws -> [UInt8] {
            guard rest.count >= count else { throw Malformed(description: "a row of the recording is too short") }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        func number() throws -> UInt64 { try take(8).reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        func instant() throws -> Instant { Instant(boot: Int64(bitPattern: try number()), wall: Int64(bitPattern: try number())) }
        func decisions() throws -> Decisions { Decisions(sequence: try number(), facts: try take(32), sends: try take(32)) }
        switch try take(1)[0] {
        case kinds.configuration:
            let version = try take(1)[0]
            guard version == InputCodec.version else {
                throw Malformed(description: "it is of another release (version \(version), this one reads \(InputCodec.version))")
            }
            let (release, own) = (Release(rules: UInt32(clamping: try number()), decisions: UInt32(clamping: try number())), Release())
            guard release == own else {
                throw Malformed(
                    description:
                        "it is of another release (rules \(release.rules) and decisions \(release.decisions); those of this one are"
                        + " \(own.rules) and \(own.decisions))")
            }
            return .configuration(Array(rest), of: release)
        case kinds.section: return .section(Array(rest))
        case kinds.start:
            let (at, incarnation) = (try instant(), try number())
            return .start(at, incarnation: incarnation, try decisions())
        case kinds.step:
            let (at, decided) = (try instant(), try decisions())
            return .step(at, inputs: Array(rest), decided)
        case kinds.full:
            switch try take(1)[0] {
            case endings.limit: return .full(.limit)
            case endings.slowDisk: return .full(.slowDisk)
            case endings.largeState: return .full(.largeState(bytes: try number()))
            case let other: throw Malformed(description: "\(other) is no reason for which a recording ends")
            }
        case let other: throw Malformed(description: "\(other) is no kind of row; is the recording of a newer release?")
        }
    }
}
