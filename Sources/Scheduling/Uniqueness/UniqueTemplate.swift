/// Puts elements of forEachs into a unique id, as workers put them into parameters: scalars as text, structures as JSON.
enum UniqueTemplate {
    /// - Returns: nil when the text names something that no element has.
    static func render(_ text: String, _ bindings: [Binding]) -> String? {
        let dollar = UInt8(ascii: "$")
        var result: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let index = rest.firstIndex(of: dollar) {
            result += rest[..<index]
            rest = rest[index...].dropFirst()
            if rest.first == dollar {
                result.append(dollar)
                rest = rest.dropFirst()
            } else if rest.first == UInt8(ascii: "{"), let end = rest.firstIndex(of: UInt8(ascii: "}")) {
                let reference = String(decoding: rest[..<end].dropFirst(), as: UTF8.self)
                guard let found = value(of: reference, bindings) else { return nil }
                result += found
                rest = rest[end...].dropFirst()
            } else {
                result.append(dollar)
            }
        }
        return String(decoding: result + rest, as: UTF8.self)
    }

    /// Inner names hide outer ones; `index` is the innermost position, `name.index` that of one forEach.
    private static func value(of reference: String, _ bindings: [Binding]) -> [UInt8]? {
        let parts = reference.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let binding = bindings.last(where: { $0.name == parts[0] }) else {
            return reference == "index" ? bindings.last.map { Array(String($0.index).utf8) } : nil
        }
        var value = binding.element[...]
        for (depth, key) in parts.dropFirst().enumerated() {
            guard let member = JSONText.member(key, of: value) else {
                return depth == 0 && parts.count == 2 && key == "index" ? Array(String(binding.index).utf8) : nil
            }
            value = member
        }
        return JSONText.string(value) ?? Array(JSONText.trimmed(value))
    }
}

/// As much of JSON as it takes to find a member and to read a string. Of text that is no JSON it makes something, or nothing.
private enum JSONText {
    static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return text
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// The value of a member as it is written; of several with one name the last.
    static func member(_ name: String, of text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var rest = trimmed(text)
        guard rest.first == UInt8(ascii: "{") else { return nil }
        rest = rest.dropFirst()
        var found: ArraySlice<UInt8>?
        while true {
            rest = rest.drop { isSpace($0) || $0 == UInt8(ascii: ",") }
            guard rest.first == UInt8(ascii: "\"") else { return found }
            let key = rest[..<end(ofValue: rest)]
            rest = rest[key.endIndex...].drop { isSpace($0) || $0 == UInt8(ascii: ":") }
            let value = rest[..<end(ofValue: rest)]
            rest = rest[value.endIndex...]
            if string(key) == Array(name.utf8) { found = value }
        }
    }

    /// Where the value ends that the text begins with.
    private static func end(ofValue text: ArraySlice<UInt8>) -> Int {
        var depth = 0
        var isInString = false
        var isEscaped = false
        for (index, byte) in zip(text.indices, text) {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                    if depth == 0 { return index + 1 }
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return index }
                depth -= 1
                if depth == 0 { return index + 1 }
            case UInt8(ascii: ","): if depth == 0 { return index }
            default: break
            }
        }
        return text.endIndex
    }

    /// The text that a string stands for; nil: the value is something else.
    static func string(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let literal = trimmed(text)
        guard literal.count >= 2, literal.first == UInt8(ascii: "\""), literal.last == UInt8(ascii: "\"") else { return nil }
        var result: [UInt8] = []
        var rest = literal.dropFirst().dropLast()
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                result.append(byte)
                continue
            }
            switch escape {
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "b"): result.append(0x08)
            case UInt8(ascii: "f"): result.append(0x0C)
            case UInt8(ascii: "u"): result += Array(String(scalar(&rest)).utf8)
            default: result.append(escape)
            }
        }
        return result
    }

    /// The character behind `\u`, which may take two of these.
    private static func scalar(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar {
        func unit() -> UInt32 {
            let digits = String(decoding: rest.prefix(4), as: UTF8.self)
            rest = rest.dropFirst(4)
            return UInt32(digits, radix: 16) ?? 0xFFFD
        }
        let high = unit()
        if (0xD800..<0xDC00).contains(high), rest.starts(with: Array("\\u".utf8)) {
            rest = rest.dropFirst(2)
            let low = unit()
            if (0xDC00..<0xE000).contains(low) { return Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)) ?? "\u{FFFD}" }
        }
        return Unicode.Scalar(high) ?? "\u{FFFD}"
    }
}
