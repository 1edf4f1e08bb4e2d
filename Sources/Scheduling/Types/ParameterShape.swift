/// What the parameters of an operation must look like to be decoded, as far as its type tells.
public indirect enum ParameterShape: Hashable, Sendable {
    /// Unknown, or whatever it is.
    case any
    case bool
    case integer
    case number
    case text
    /// One of these texts.
    case choice([String])
    case array(ParameterShape)
    case object([Field])

    /// A member of an object. Others that an object has are not looked at, as by the decoding that Swift makes.
    public struct Field: Hashable, Sendable {
        public var name: String
        public var shape: ParameterShape
        /// Whether it must be there, and not null.
        public var isRequired: Bool

        public init(_ name: String, _ shape: ParameterShape, isRequired: Bool = true) {
            self.name = name
            self.shape = shape
            self.isRequired = isRequired
        }
    }

    /// How deep shapes within shapes are looked at.
    public static let depthMax = 16

    /// What of the JSON `parameters` does not fit; nil: nothing is known to.
    ///
    /// - Parameter isTemplated: texts with a `$` in them stand for something that is not known yet.
    /// - Complexity: O(bytes).
    func fault(of parameters: [UInt8], isTemplated: Bool) -> String? {
        if case .any = self { return nil }
        var check = ShapeCheck(text: parameters.isEmpty ? Array("{}".utf8)[...] : parameters[...], isTemplated: isTemplated)
        return check.run(self)
    }

    fileprivate var wanted: String {
        switch self {
        case .any: "a value"
        case .bool: "true or false"
        case .integer: "an integer"
        case .number: "a number"
        case .text: "text"
        case .choice(let texts): "one of " + texts.map { "\"\($0)\"" }.joined(separator: ", ")
        case .array: "a list"
        case .object: "an object"
        }
    }
}

/// Reads JSON once from its beginning, along a shape. Of text that is no JSON it says nothing: its worker does.
private struct ShapeCheck {
    /// What has not been read.
    var text: ArraySlice<UInt8>
    let isTemplated: Bool
    /// Where the reading is, as `.key[index]`.
    private var path: [String] = []
    private var fault: String?

    private struct NoJSON: Error {}

    init(text: ArraySlice<UInt8>, isTemplated: Bool) {
        self.text = text
        self.isTemplated = isTemplated
    }

    mutating func run(_ shape: ParameterShape) -> String? {
        do {
            try read(shape, isNullable: false, depth: 0)
        } catch {
            return nil
        }
        return fault
    }

    private mutating func read(_ shape: ParameterShape, isNullable: Bool, depth: Int) throws(NoJSON) {
        guard depth <= Self.depthMax else { throw NoJSON() }
        skipSpace()
        switch text.first {
        case UInt8(ascii: "{"): try readObject(shape, depth)
        case UInt8(ascii: "["): try readArray(shape, depth)
        case UInt8(ascii: "\""): judge(text: try readText(), shape)
        case UInt8(ascii: "t"): try readWord("true"); judge(shape, "true") { $0 == .bool }
        case UInt8(ascii: "f"): try readWord("false"); judge(shape, "false") { $0 == .bool }
        case UInt8(ascii: "n"):
            try readWord("null")
            if !isNullable { judge(shape, "null") { _ in false } }
        default: judge(number: try readNumber(), shape)
        }
    }

    /// JSON within JSON that is not looked at may be deeper than shapes; its worker has a limit of its own.
    private static let depthMax = 128

    private mutating func note(_ problem: String) {
        guard fault == nil else { return }
        let place = path.joined()
        fault = place.isEmpty ? problem : "`\(place.hasPrefix(".") ? String(place.dropFirst()) : place)` \(problem)"
    }

    private mutating func judge(_ shape: ParameterShape, _ found: String, _ fits: (ParameterShape) -> Bool) {
        if shape != .any, !fits(shape) { note("is \(found), not \(shape.wanted)") }
    }

    private mutating func judge(text found: String, _ shape: ParameterShape) {
        if isTemplated, found.contains("$") { return }
        if case .choice(let texts) = shape {
            if !texts.contains(found) { note("is \"\(found.prefix(Self.shownMax))\", not \(shape.wanted)") }
        } else {
            judge(shape, "text") { $0 == .text }
        }
    }

    /// More of a text is not shown.
    private static let shownMax = 64

    private mutating func judge(number found: ArraySlice<UInt8>, _ shape: ParameterShape) {
        // 1.0 and 1e3 are integers, too: whether such a number is one, its worker says.
        let isWritten = found.allSatisfy { $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) }
        let isFraction = !isWritten && Double(String(decoding: found, as: UTF8.self)).map { $0 != $0.rounded() } == true
        judge(shape, "the number \(String(decoding: found.prefix(Self.shownMax), as: UTF8.self))") { shape in
            shape == .number || (shape == .integer && !isFraction)
        }
    }

    /// What a worker puts a text in for, `{"$aop.secret": NAME}`.
    private mutating func readSecret() -> Bool {
        let start = text
        do {
            try expect(UInt8(ascii: "{"))
            skipSpace()
            if try readText() == "$aop.secret" {
                skipSpace()
                try expect(UInt8(ascii: ":"))
                skipSpace()
                _ = try readText()
                skipSpace()
                try expect(UInt8(ascii: "}"))
                return true
            }
        } catch {}
        text = start
        return false
    }

    private mutating func readObject(_ shape: ParameterShape, _ depth: Int) throws(NoJSON) {
        if readSecret() {
            if case .choice = shape { return }
            return judge(shape, "text") { $0 == .text }
        }
        var fields: [ParameterShape.Field] = []
        if case .object(let known) = shape { fields = known } else { judge(shape, "an object") { _ in false } }
        var missing = Set(fields.filter(\.isRequired).map(\.name))
        text = text.dropFirst()
        skipSpace()
        if text.first == UInt8(ascii: "}") {
            text = text.dropFirst()
        } else {
            while true {
                skipSpace()
                let key = try readText()
                skipSpace()
                try expect(UInt8(ascii: ":"))
                missing.remove(key)
                let field = fields.first { $0.name == key }
                path.append("." + key)
                try read(field?.shape ?? .any, isNullable: field?.isRequired != true, depth: depth + 1)
                path.removeLast()
                guard try hasMore(UInt8(ascii: "}")) else { break }
            }
        }
        if let name = fields.first(where: { missing.contains($0.name) })?.name {
            path.append("." + name)
            note("is missing")
            path.removeLast()
        }
    }

    private mutating func readArray(_ shape: ParameterShape, _ depth: Int) throws(NoJSON) {
        var element = ParameterShape.any
        if case .array(let shape) = shape { element = shape } else { judge(shape, "a list") { _ in false } }
        text = text.dropFirst()
        skipSpace()
        guard text.first != UInt8(ascii: "]") else { return text = text.dropFirst() }
        var index = 0
        repeat {
            path.append("[\(index)]")
            try read(element, isNullable: element == .any, depth: depth + 1)
            path.removeLast()
            index += 1
        } while try hasMore(UInt8(ascii: "]"))
    }

    /// Reads what is behind an element.
    private mutating func hasMore(_ end: UInt8) throws(NoJSON) -> Bool {
        skipSpace()
        guard let byte = text.popFirst(), byte == UInt8(ascii: ",") || byte == end else { throw NoJSON() }
        return byte != end
    }

    private mutating func expect(_ byte: UInt8) throws(NoJSON) {
        guard text.popFirst() == byte else { throw NoJSON() }
    }

    private mutating func skipSpace() { text = text.drop { $0 == 0x20 || (0x09...0x0D).contains($0) } }

    private mutating func readWord(_ word: StaticString) throws(NoJSON) {
        let bytes = word.withUTF8Buffer { Array($0) }
        guard text.starts(with: bytes) else { throw NoJSON() }
        text = text.dropFirst(bytes.count)
    }

    private mutating func readNumber() throws(NoJSON) -> ArraySlice<UInt8> {
        let number = text.prefix { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }
        guard !number.isEmpty else { throw NoJSON() }
        text = text.dropFirst(number.count)
        return number
    }

    private mutating func readText() throws(NoJSON) -> String {
        try expect(UInt8(ascii: "\""))
        var bytes: [UInt8] = []
        while let byte = text.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"): bytes += try readEscape()
            default: bytes.append(byte)
            }
        }
        throw NoJSON()
    }

    private mutating func readEscape() throws(NoJSON) -> [UInt8] {
        guard let byte = text.popFirst() else { throw NoJSON() }
        switch byte {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "u"):
            let first = try readUnit()
            guard UTF16.isLeadSurrogate(first) else { return Array(String(decoding: [first], as: UTF16.self).utf8) }
            try expect(UInt8(ascii: "\\"))
            try expect(UInt8(ascii: "u"))
            return Array(String(decoding: [first, try readUnit()], as: UTF16.self).utf8)
        default: return [byte]
        }
    }

    private mutating func readUnit() throws(NoJSON) -> UInt16 {
        let digits = text.prefix(4)
        guard digits.count == 4, let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16) else { throw NoJSON() }
        text = text.dropFirst(4)
        return unit
    }
}
