/// A path into a JSON value: a query of RFC 9535 without descendants (`..`) and filters (`?`).
///
/// ```
/// $.store.book[0].title     $['first name']     $.items[*].id     $.log[-1]     $.rows[0:10:2]
/// ```
public struct JSONPath: Sendable, Hashable {
    public enum Selector: Sendable, Hashable {
        /// `.name` or `['name']`: the member of an object.
        case name(String)
        /// `[index]`: the element of an array; below 0 it counts from the end.
        case index(Int)
        /// `[start:end:step]`: elements of an array.
        case slice(start: Int?, end: Int?, step: Int)
        /// `.*` or `[*]`: all members or elements.
        case wildcard
    }

    public struct Segment: Sendable, Hashable {
        /// At least one.
        public let selectors: [Selector]
        /// The path up to here, as it was written.
        public let path: String
    }

    /// Why a text is no such path.
    public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// What is wrong there, and what to write.
        public let reason: String
        /// Of the character in the text, from 1.
        public let position: Int

        public var description: String { "\(reason) (at character \(position))" }
    }

    /// As it was written.
    public let text: String
    public let segments: [Segment]

    /// Whether it selects one value at most: all its segments are a name or an index.
    public var isSingular: Bool {
        segments.allSatisfy { segment in
            guard segment.selectors.count == 1 else { return false }
            switch segment.selectors[0] {
            case .name, .index: return true
            case .slice, .wildcard: return false
            }
        }
    }

    public init(_ text: String) throws(Problem) {
        var parser = Parser(text)
        self.text = text
        segments = try parser.path()
    }
}

/// Reads one path from its beginning.
private struct Parser {
    /// Of numbers in paths, by the RFC.
    private static let integerMax = (1 << 53) - 1

    private let text: [Unicode.Scalar]
    private var offset = 0

    init(_ text: String) { self.text = Array(text.unicodeScalars) }

    mutating func path() throws(JSONPath.Problem) -> [JSONPath.Segment] {
        guard take("$") else { throw problem("a path begins with `$`") }
        var segments: [JSONPath.Segment] = []
        while true {
            let end = offset
            skipSpace()
            guard let next else {
                if offset > end { throw problem("nothing may follow the path; leave the space out") }
                return segments
            }
            let selectors: [JSONPath.Selector]
            switch next {
            case ".": selectors = [try dotted()]
            case "[": selectors = try bracketed()
            default: throw problem("`.name` or `[…]` was expected, found `\(next)`")
            }
            segments.append(JSONPath.Segment(selectors: selectors, path: written(upTo: offset)))
        }
    }

    // MARK: Segments

    private mutating func dotted() throws(JSONPath.Problem) -> JSONPath.Selector {
        offset += 1
        if next == "." { throw problem("`..` is not supported; write the names on the way, or `[*]`") }
        if take("*") { return .wildcard }
        let start = offset
        guard let first = next, Self.beginsName(first) else {
            throw problem("a name or `*` was expected after `.`; write other names as `['…']`")
        }
        while let next, Self.beginsName(next) || Self.isDigit(next) { offset += 1 }
        if next == "-" { throw problem("`-` is in no plain name; write the whole name as `['…']`") }
        return .name(written(from: start))
    }

    private mutating func bracketed() throws(JSONPath.Problem) -> [JSONPath.Selector] {
        offset += 1
        var selectors: [JSONPath.Selector] = []
        while true {
            skipSpace()
            selectors.append(try selector())
            skipSpace()
            if take("]") { return selectors }
            guard take(",") else { throw problem("`]` or `,` was expected\(found)") }
        }
    }

    private mutating func selector() throws(JSONPath.Problem) -> JSONPath.Selector {
        switch next {
        case "*":
            offset += 1
            return .wildcard
        case "'", "\"": return .name(try quoted())
        case "?": throw problem("filters (`?`) are not supported; select with a command, e.g. jq")
        case ":": return try slice(from: nil)
        case let next? where next == "-" || Self.isDigit(next):
            let index = try integer()
            let end = offset
            skipSpace()
            if self.next == ":" { return try slice(from: index) }
            offset = end
            return .index(index)
        default: throw problem("a quoted name, a number, `*` or a slice was expected\(found)")
        }
    }

    private mutating func slice(from start: Int?) throws(JSONPath.Problem) -> JSONPath.Selector {
        offset += 1
        skipSpace()
        let end = try integerIfAny()
        skipSpace()
        guard take(":") else { return .slice(start: start, end: end, step: 1) }
        skipSpace()
        return .slice(start: start, end: end, step: try integerIfAny() ?? 1)
    }

    // MARK: Parts

    private mutating func integerIfAny() throws(JSONPath.Problem) -> Int? {
        guard let next, next == "-" || Self.isDigit(next) else { return nil }
        return try integer()
    }

    private mutating func integer() throws(JSONPath.Problem) -> Int {
        let start = offset
        let isNegative = take("-")
        let digits = offset
        while let next, Self.isDigit(next) { offset += 1 }
        let isPlain = offset == digits + 1 || offset > digits && text[digits] != "0"
        guard isPlain, !isNegative || text[digits] != "0" else {
            offset = start
            throw problem("a whole number without leading zeros was expected")
        }
        guard let value = Int(written(from: start)), abs(value) <= Self.integerMax else {
            offset = start
            throw problem("the number is outside of ±\(Self.integerMax)")
        }
        return value
    }

    private mutating func quoted() throws(JSONPath.Problem) -> String {
        let quote = text[offset]
        let start = offset
        offset += 1
        var name = String.UnicodeScalarView()
        while let next {
            offset += 1
            switch next {
            case quote: return String(name)
            case "\\": name.append(try escaped(in: quote))
            case _ where next.value < 0x20:
                offset -= 1
                throw problem("a control character must be escaped, as `\\n` or `\\u000a`")
            default: name.append(next)
            }
        }
        offset = start
        throw problem("the quoted name has no end")
    }

    private mutating func escaped(in quote: Unicode.Scalar) throws(JSONPath.Problem) -> Unicode.Scalar {
        let start = offset - 1
        let letter = next
        offset += 1
        switch letter {
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "/", "\\", quote: return letter ?? quote
        case "u":
            if let unit = unit() {
                guard UTF16.isLeadSurrogate(unit) else {
                    if let scalar = Unicode.Scalar(unit) { return scalar }
                    break
                }
                if take("\\"), take("u"), let second = self.unit(), UTF16.isTrailSurrogate(second) {
                    return UTF16.decode(UTF16.EncodedScalar([unit, second]))
                }
            }
        default: break
        }
        offset = start
        throw problem("unknown escape; write one of `\\b \\f \\n \\r \\t \\/ \\\\ \\\(quote)`, or `\\u` and four hexadecimal digits")
    }

    private mutating func unit() -> UInt16? {
        guard offset + 4 <= text.count else { return nil }
        let digits = text[offset..<(offset + 4)]
        guard digits.allSatisfy(\.properties.isASCIIHexDigit) else { return nil }
        offset += 4
        return UInt16(String(String.UnicodeScalarView(digits)), radix: 16)
    }

    // MARK: Characters

    private var next: Unicode.Scalar? { offset < text.count ? text[offset] : nil }

    private var found: String { next.map { ", found `\($0)`" } ?? ", and the path ends" }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        offset += 1
        return true
    }

    private mutating func skipSpace() {
        while let next, [" ", "\t", "\n", "\r"].contains(next) { offset += 1 }
    }

    private func written(from start: Int = 0, upTo end: Int? = nil) -> String {
        String(String.UnicodeScalarView(text[start..<(end ?? offset)]))
    }

    private func problem(_ reason: String) -> JSONPath.Problem { JSONPath.Problem(reason: reason, position: offset + 1) }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    private static func beginsName(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || scalar == "_" || scalar.value >= 0x80
    }
}
