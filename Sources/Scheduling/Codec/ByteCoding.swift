/// Why bytes of the journal cannot be read as a fact.
public struct DecodingFailure: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
    /// What a newer release has written, undamaged: the number of its layout, and the newest one that this release knows.
    public let newerLayout: (found: UInt64, known: UInt64)?
    /// The same of rules that this release does not know.
    public let newerRules: UInt32?

    init(_ description: String) {
        self.description = description
        newerLayout = nil
        newerRules = nil
    }

    init(newerLayout found: UInt64, known: UInt64) {
        description = "it has layout \(found); this version knows \(known)"
        newerLayout = (found, known)
        newerRules = nil
    }

    init(newerRules found: UInt32) {
        description = "it follows rules \(found), and this version knows them up to \(Rules.newest)"
        newerLayout = nil
        newerRules = found
    }

    public static func == (a: Self, b: Self) -> Bool { a.description == b.description }
    public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

/// Appends values to a buffer: integers as LEB128 varints (signed ones zigzag), bytes and text with their length before.
struct ByteWriter {
    var bytes: [UInt8] = []

    mutating func write(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func write(_ value: Int64) { write(UInt64(bitPattern: (value << 1) ^ (value >> 63))) }
    mutating func write(count: Int) { write(UInt64(count)) }
    mutating func write(_ flag: Bool) { bytes.append(flag ? 1 : 0) }
    mutating func write(_ byte: UInt8) { bytes.append(byte) }

    mutating func write(_ content: [UInt8]) {
        write(count: content.count)
        bytes += content
    }

    mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { buffer in
            write(count: buffer.count)
            bytes.append(contentsOf: buffer)
        }
    }

    mutating func write<Element>(list: [Element], _ body: (inout ByteWriter, Element) -> Void) {
        write(count: list.count)
        for element in list { body(&self, element) }
    }

    mutating func write<Wrapped>(optional: Wrapped?, _ body: (inout ByteWriter, Wrapped) -> Void) {
        write(optional != nil)
        if let optional { body(&self, optional) }
    }
}

/// Reads what `ByteWriter` wrote. Any bytes are safe to read: the worst that happens is a `DecodingFailure`.
struct ByteReader {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    var isAtEnd: Bool { position == bytes.endIndex }
    private var remaining: Int { bytes.endIndex - position }

    /// Two million years of milliseconds.
    private static let timeMax: UInt64 = 1 << 56

    mutating func byte() throws(DecodingFailure) -> UInt8 {
        guard position < bytes.endIndex else { throw DecodingFailure("the bytes end in the middle of a value") }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func unsigned() throws(DecodingFailure) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let next = try byte()
            let part = UInt64(next & 0x7F)
            guard shift < 63 || part <= 1 else { throw DecodingFailure("a number does not fit 64 bits") }
            value |= part << shift
            if next < 0x80 { return value }
        }
        throw DecodingFailure("a number is longer than ten bytes")
    }

    mutating func signed() throws(DecodingFailure) -> Int64 {
        let raw = try unsigned()
        return Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
    }

    /// What a clock has shown, in milliseconds: so small that durations can be added.
    mutating func time() throws(DecodingFailure) -> Int64 {
        let time = try signed()
        guard time.magnitude <= Self.timeMax else { throw DecodingFailure("no clock shows \(time)") }
        return time
    }

    mutating func unsigned32() throws(DecodingFailure) -> UInt32 {
        let value = try unsigned()
        guard let narrow = UInt32(exactly: value) else { throw DecodingFailure("the number \(value) does not fit 32 bits") }
        return narrow
    }

    mutating func signed32() throws(DecodingFailure) -> Int32 {
        let value = try signed()
        guard let narrow = Int32(exactly: value) else { throw DecodingFailure("the number \(value) does not fit 32 bits") }
        return narrow
    }

    /// The number of an epoch, which many others can follow.
    mutating func epoch() throws(DecodingFailure) -> UInt32 {
        let epoch = try unsigned32()
        guard epoch <= Self.epochMax else { throw DecodingFailure("no epochs can follow \(epoch)") }
        return epoch
    }

    /// Epochs are seconds since 1970: of the year 2105.
    private static let epochMax: UInt32 = 4_290_000_000

    /// A non-negative number that is used as an index, size or limit.
    mutating func index() throws(DecodingFailure) -> Int { Int(try unsigned32()) }

    mutating func flag() throws(DecodingFailure) -> Bool {
        switch try byte() {
        case 0: return false
        case 1: return true
        case let other: throw DecodingFailure("\(other) is no truth value")
        }
    }

    mutating func content() throws(DecodingFailure) -> [UInt8] {
        let count = try unsigned()
        guard count <= UInt64(remaining) else { throw DecodingFailure("\(count) bytes are announced, \(remaining) are left") }
        defer { position += Int(count) }
        return Array(bytes[position..<(position + Int(count))])
    }

    mutating func text() throws(DecodingFailure) -> String {
        let content = try content()
        guard let text = String(validating: content, as: UTF8.self) else { throw DecodingFailure("a text is not UTF-8") }
        return text
    }

    mutating func list<Element>(
        _ body: (inout ByteReader) throws(DecodingFailure) -> Element
    ) throws(DecodingFailure) -> [Element] {
        let count = try unsigned()
        // Every element takes at least one byte, which bounds what garbage can make us reserve.
        guard count <= UInt64(remaining) else { throw DecodingFailure("\(count) elements are announced, \(remaining) bytes are left") }
        var list: [Element] = []
        list.reserveCapacity(Int(count))
        for _ in 0..<Int(count) { list.append(try body(&self)) }
        return list
    }

    mutating func optional<Wrapped>(
        _ body: (inout ByteReader) throws(DecodingFailure) -> Wrapped
    ) throws(DecodingFailure) -> Wrapped? {
        try flag() ? try body(&self) : nil
    }
}
