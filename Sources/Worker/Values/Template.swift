import Foundation
import Wire

/// Replaces `${name}` and `${name.key}` in every string of JSON parameters, and `$$` by `$`.
///
/// A string that is `${=name}` and nothing else becomes the element's value with its type.
enum Template {
    struct UnknownName: LocalizedError, Equatable {
        let reference: String
        let known: [String]

        var errorDescription: String? {
            let names = known.isEmpty ? "there are no variables here" : "known: \(known.joined(separator: ", "))"
            return "unknown name ${\(reference)} (\(names)); write $$ for a literal $"
        }
    }

    /// Renders `parameters`. Names of members stay as they are, numbers keep their spelling.
    /// - Throws: ``UnknownName``, or ``JSONScanner/Malformed`` when the parameters are not JSON.
    static func render(_ parameters: Data, bindings: Bindings) throws -> Data {
        guard parameters.contains(UInt8(ascii: "$")) else { return parameters }
        var strings: [Range<Int>] = []
        var result = Data()
        try JSONScanner.scan(parameters) { scanner in
            try collectStrings(&scanner, into: &strings, depth: 0)
            try scanner.end()
            var end = 0
            for range in strings {
                let literal = scanner.copy(range)
                guard literal.contains(UInt8(ascii: "$")) else { continue }
                result.append(contentsOf: scanner.copy(end..<range.lowerBound))
                let text = try scanner.text(of: range)
                if let typed = try typedValue(text, bindings: bindings) {
                    result.append(contentsOf: typed)
                } else {
                    result.append(contentsOf: JSONText.quoted(try replace(in: text, bindings: bindings).utf8))
                }
                end = range.upperBound
            }
            result.append(contentsOf: scanner.copy(end..<scanner.offset))
        }
        return result
    }

    /// The JSON that `${=reference}` stands for; nil when the text is something else.
    private static func typedValue(_ text: String, bindings: Bindings) throws -> [UInt8]? {
        guard text.hasPrefix("${="), text.hasSuffix("}") else { return nil }
        let reference = String(text.dropFirst(3).dropLast())
        guard let value = try bindings.json(for: reference) else {
            throw UnknownName(reference: reference, known: bindings.names)
        }
        return value
    }

    /// A text as it has to be written to stay what it is.
    static func literal(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            result.append(scalar)
            if scalar == "$" { result.append(scalar) }
        }
        return String(result)
    }

    /// Renders one text.
    static func replace(in text: String, bindings: Bindings) throws -> String {
        var result = String.UnicodeScalarView()
        var rest = Substring(text).unicodeScalars
        while let dollar = rest.firstIndex(of: "$") {
            result.append(contentsOf: rest[..<dollar])
            rest = rest[rest.index(after: dollar)...]
            if rest.first == "$" {
                result.append("$")
                rest = rest.dropFirst()
            } else if rest.first == "{", let end = rest.firstIndex(of: "}") {
                let reference = String(rest[rest.index(after: rest.startIndex)..<end])
                guard let value = try bindings.text(for: reference) else {
                    throw UnknownName(reference: reference, known: bindings.names)
                }
                result.append(contentsOf: value.unicodeScalars)
                rest = rest[rest.index(after: end)...]
            } else {
                result.append("$")
            }
        }
        result.append(contentsOf: rest)
        return String(result)
    }

    private static func collectStrings(_ scanner: inout JSONScanner, into strings: inout [Range<Int>], depth: Int) throws {
        guard depth < JSONScanner.depthMax else {
            throw scanner.malformed("it is nested deeper than \(JSONScanner.depthMax) levels")
        }
        switch try scanner.kind() {
        case .object: try scanner.object { scanner, _ in try collectStrings(&scanner, into: &strings, depth: depth + 1) }
        case .array: try scanner.array { scanner in try collectStrings(&scanner, into: &strings, depth: depth + 1) }
        case .string: strings.append(try scanner.stringLiteral())
        case .number, .literal: try scanner.value()
        }
    }
}
