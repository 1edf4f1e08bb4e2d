import Foundation

/// Walks JSON text without building values: finds members and elements as they were written.
///
/// Numbers keep their spelling (`1.10`, `0.1e3`, integers of any size), which a round trip through a number type would
/// lose. It checks the whole grammar of RFC 8259 on the way; text outside strings is not normalised.
struct JSONScanner {
    struct Malformed: Error, Equatable {
        /// What is wrong there.
        let reason: String
        /// Byte offset.
        let offset: Int
    }

    enum Kind { case object, array, string, number, literal }

    /// Arrays and objects within one another; deeper text is refused instead of exhausting the stack.
    static let depthMax = 512

    private let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0

    private init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    static func scan<R>(_ bytes: some Collection<UInt8>, _ body: (inout JSONScanner) throws -> R) throws -> R {
        let copy = bytes.withContiguousStorageIfAvailable { buffer in
            Result {
                var scanner = JSONScanner(UnsafeRawBufferPointer(buffer)); return try body(&scanner)
            }
        }
        if let copy { return try copy.get() }
        return try Array(bytes).withUnsafeBytes { buffer in
            var scanner = JSONScanner(buffer)
            return try body(&scanner)
        }
    }

    // MARK: Whole texts

    /// Checks that `bytes` hold exactly one JSON value and returns its place, without the space around it.
    static func check(_ bytes: some Collection<UInt8>) throws -> Range<Int> {
        try scan(bytes) { scanner in
            let range = try scanner.value()
            try scanner.end()
            return range
        }
    }

    /// The elements of an array as they were written; nil when the value is something else.
    ///
    /// - Parameter max: of more, which are only counted, there is no copy.
    static func elements(_ bytes: some Collection<UInt8>, max: Int = .max) throws -> Elements? {
        try scan(bytes) { scanner in
            guard try scanner.kind() == .array else { return nil }
            var (elements, count) = ([Data](), 0)
            try scanner.array { scanner in
                let range = try scanner.value()
                count += 1
                if count <= max { elements.append(Data(scanner.copy(range))) } else if count == max + 1 { elements = [] }
            }
            try scanner.end()
            return count > max ? .tooMany(count) : .list(elements)
        }
    }

    enum Elements: Equatable {
        case list([Data])
        /// So many.
        case tooMany(Int)
    }

    /// The members of an object in the order written; nil when the value is something else.
    static func members(_ bytes: some Collection<UInt8>) throws -> [(name: String, value: [UInt8])]? {
        try scan(bytes) { scanner in
            guard try scanner.kind() == .object else { return nil }
            var members: [(String, [UInt8])] = []
            try scanner.object { scanner, name in
                members.append((try scanner.text(of: name), scanner.copy(try scanner.value())))
            }
            try scanner.end()
            return members
        }
    }

    static func kind(_ bytes: some Collection<UInt8>) throws -> Kind {
        try scan(bytes) { try $0.kind() }
    }

    /// The text a JSON string stands for.
    static func string(_ bytes: some Collection<UInt8>) throws -> String {
        try scan(bytes) { scanner in
            try scanner.skipSpace()
            let range = try scanner.stringLiteral()
            return try scanner.text(of: range)
        }
    }

    // MARK: Steps

    mutating func kind() throws -> Kind {
        try skipSpace()
        switch try peek() {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): return .literal
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        default: throw malformed("a value was expected")
        }
    }

    /// Skips one value and returns its place.
    @discardableResult
    mutating func value(depth: Int = 0) throws -> Range<Int> {
        guard depth < Self.depthMax else { throw malformed("it is nested deeper than \(Self.depthMax) levels") }
        let kind = try kind()
        let start = offset
        switch kind {
        case .object: try object { scanner, _ in try scanner.value(depth: depth + 1) }
        case .array: try array { scanner in try scanner.value(depth: depth + 1) }
        case .string: _ = try stringLiteral()
        case .number: try number()
        case .literal: try literal()
        }
        return start..<offset
    }

    mutating func end() throws {
        try skipSpace(atEnd: true)
        guard offset == bytes.count else { throw malformed("something follows the value") }
    }

    /// Calls `member` in front of each member's value, which it has to consume; `name` is the place of its quoted name.
    mutating func object(_ member: (inout JSONScanner, _ name: Range<Int>) throws -> Void) throws {
        try expect("{")
        try skipSpace()
        if try peek() == UInt8(ascii: "}") { return advance() }
        while true {
            try skipSpace()
            let name = try stringLiteral()
            try skipSpace()
            try expect(":")
            try skipSpace()
            try member(&self, name)
            try skipSpace()
            if try peek() == UInt8(ascii: "}") { return advance() }
            try expect(",")
        }
    }

    /// Calls `element` in front of each element, which it has to consume.
    mutating func array(_ element: (inout JSONScanner) throws -> Void) throws {
        try expect("[")
        try skipSpace()
        if try peek() == UInt8(ascii: "]") { return advance() }
        while true {
            try skipSpace()
            try element(&self)
            try skipSpace()
            if try peek() == UInt8(ascii: "]") { return advance() }
            try expect(",")
        }
    }

    /// Skips a string and returns its place, quotes included.
    mutating func stringLiteral() throws -> Range<Int> {
        let start = offset
        guard try peek() == UInt8(ascii: "\"") else { throw malformed("a string was expected") }
        advance()
        while true {
            switch try peek() {
            case UInt8(ascii: "\""):
                advance()
                return start..<offset
            case UInt8(ascii: "\\"):
                advance()
                try escape()
            case 0..<0x20: throw malformed("a control character within a string must be escaped")
            default: advance()
            }
        }
    }

    /// Goes on in front of a value whose place is known.
    mutating func seek(_ offset: Int) { self.offset = offset }

    func copy(_ range: Range<Int>) -> [UInt8] { [UInt8](UnsafeRawBufferPointer(rebasing: bytes[range])) }

    private mutating func escape() throws {
        switch try peek() {
        case UInt8(ascii: "u"):
            advance()
            for _ in 0..<4 {
                guard isHexadecimal(try peek()) else { throw malformed("\\u needs four hexadecimal digits") }
                advance()
            }
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            advance()
        default: throw malformed("unknown escape in a string")
        }
    }

    private mutating func number() throws {
        if try peek() == UInt8(ascii: "-") { advance() }
        let isZero = try peek() == UInt8(ascii: "0")
        let count = try digits()
        if isZero && count > 1 { throw malformed("a number must not begin with 0") }
        if current == UInt8(ascii: ".") {
            advance()
            _ = try digits()
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            advance()
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { advance() }
            _ = try digits()
        }
    }

    private mutating func digits() throws -> Int {
        let start = offset
        while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { advance() }
        guard offset > start else { throw malformed("a digit was expected") }
        return offset - start
    }

    private mutating func literal() throws {
        for word in ["true", "false", "null"] where bytes[offset...].starts(with: word.utf8) {
            offset += word.utf8.count
            return
        }
        throw malformed("a value was expected")
    }

    private var current: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private func peek() throws -> UInt8 {
        guard offset < bytes.count else { throw malformed("it ends too early") }
        return bytes[offset]
    }

    private mutating func advance() { offset += 1 }

    private mutating func expect(_ character: Unicode.Scalar) throws {
        guard try peek() == UInt8(ascii: character) else { throw malformed("'\(character)' was expected") }
        advance()
    }

    private mutating func skipSpace(atEnd: Bool = false) throws {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { advance() }
        if !atEnd && offset == bytes.count { throw malformed("it ends too early") }
    }

    private func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    func malformed(_ reason: String) -> Malformed { Malformed(reason: reason, offset: offset) }
}

extension JSONScanner.Malformed: CustomStringConvertible {
    var description: String { "\(reason) (at byte \(offset))" }
}
