import Foundation

/// Strings in and out of their JSON form.
enum JSONText {
    /// The one JSON value that `text` is, as it was written, without the space around it.
    /// - Throws: ``JSONScanner/Malformed``, also for what is not UTF-8.
    static func value(in text: Data) throws -> Data {
        let place = try JSONScanner.check(text)
        guard String(validating: text, as: UTF8.self) != nil else { throw JSONScanner.Malformed(reason: "it is not UTF-8", offset: 0) }
        return Data(text[(text.startIndex + place.lowerBound)..<(text.startIndex + place.upperBound)])
    }

    /// `text` as a JSON string, quotes included. `text` must be UTF-8.
    static func quoted(_ text: some Sequence<UInt8>) -> [UInt8] {
        var result: [UInt8] = [UInt8(ascii: "\"")]
        result.reserveCapacity(text.underestimatedCount + 2)
        appendEscaped(text, to: &result)
        result.append(UInt8(ascii: "\""))
        return result
    }

    /// Adds `text` as it stands between the quotes of a JSON string. A long text may be added part by part, wherever it is cut.
    static func appendEscaped(_ text: some Sequence<UInt8>, to result: inout [UInt8]) {
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += [UInt8(ascii: "\\"), byte]
            case 0x0A: result += Array("\\n".utf8)
            case 0x0D: result += Array("\\r".utf8)
            case 0x09: result += Array("\\t".utf8)
            case 0..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                result += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: result.append(byte)
            }
        }
    }
}

extension JSONScanner {
    /// The text that the string at `range` (quotes included) stands for.
    func text(of range: Range<Int>) throws -> String {
        let literal = copy((range.lowerBound + 1)..<(range.upperBound - 1))
        guard literal.contains(UInt8(ascii: "\\")) else {
            guard let text = String(validating: literal, as: UTF8.self) else { throw malformed("it is not UTF-8") }
            return text
        }
        return try unescaped(literal)
    }

    private func unescaped(_ literal: [UInt8]) throws -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(literal.count)
        var index = 0
        func unit(at index: Int) -> UInt16? {
            guard index + 6 <= literal.count, literal[index] == UInt8(ascii: "\\"), literal[index + 1] == UInt8(ascii: "u")
            else { return nil }
            return UInt16(String(decoding: literal[(index + 2)..<(index + 6)], as: UTF8.self), radix: 16)
        }
        while index < literal.count {
            guard literal[index] == UInt8(ascii: "\\") else {
                bytes.append(literal[index])
                index += 1
                continue
            }
            guard let first = unit(at: index) else {
                bytes.append(Self.plainEscape(literal[index + 1]))
                index += 2
                continue
            }
            index += 6
            var units = [first]
            if UTF16.isLeadSurrogate(first), let second = unit(at: index), UTF16.isTrailSurrogate(second) {
                units.append(second)
                index += 6
            }
            guard let text = String(validating: units, as: UTF16.self) else {
                throw malformed("a string holds half of a surrogate pair")
            }
            bytes += Array(text.utf8)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw malformed("it is not UTF-8") }
        return text
    }

    private static func plainEscape(_ letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        default: letter
        }
    }
}
