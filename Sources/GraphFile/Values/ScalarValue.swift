/// What a scalar means where it is data: what JSON would read, plus YAML's spellings of null and Booleans.
/// Everything else is text as it is written: `0755`, `1_000`, `yes`, `2024-01-01`.
enum ScalarValue: Hashable {
    case null
    case bool(Bool)
    /// A JSON number as it is written, so that no digit of it is lost.
    case number(String)
    case text(String)
}

extension SourceScalar {
    var value: ScalarValue {
        guard isPlain else { return .text(text) }
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        default: return JSONNumber.isOne(text) ? .number(text) : .text(text)
        }
    }
}

/// The grammar of RFC 8259, section 6.
enum JSONNumber {
    static func isOne(_ text: String) -> Bool {
        var rest = Substring(text).utf8
        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        guard let first = rest.first else { return false }
        let whole = digits(&rest)
        guard whole > 0, whole == 1 || first != UInt8(ascii: "0") else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard digits(&rest) > 0 else { return false }
        }
        if let exponent = rest.first, exponent | 0x20 == UInt8(ascii: "e") {
            rest.removeFirst()
            if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest.removeFirst() }
            guard digits(&rest) > 0 else { return false }
        }
        return rest.isEmpty
    }

    private static func digits(_ rest: inout Substring.UTF8View) -> Int {
        let before = rest.count
        rest = rest.drop { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return before - rest.count
    }
}
