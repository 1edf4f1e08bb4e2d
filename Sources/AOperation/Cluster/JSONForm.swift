import Foundation

/// The JSON form of `Codable` values: compact, keys sorted, so that equal values have equal bytes.
///
/// JSON has no numbers that are infinite or none: they are the texts `Infinity`, `-Infinity` and `NaN`.
enum JSONForm {
    private static let (infinity, negativeInfinity, nan) = ("Infinity", "-Infinity", "NaN")

    /// - Parameter isFinite: whether numbers have to be such as JSON has.
    static func encode<T: Encodable>(_ value: T, isFinite: Bool = false) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if !isFinite {
            encoder.nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: infinity, negativeInfinity: negativeInfinity, nan: nan)
        }
        do {
            return try encoder.encode(value)
        } catch {
            throw ClusterCodingError(.notEncodable, type: T.self, reason: describe(error), underlyingError: error)
        }
    }

    static func decode<T: Decodable>(_ type: T.Type, from value: EncodedValue) throws -> T {
        do {
            return try decoder.decode(type, from: value.bytes)
        } catch {
            throw ClusterCodingError(
                .notDecodable, type: type, value: value, reason: describe(error), underlyingError: error)
        }
    }

    /// Reads what ``encode(_:isFinite:)`` has written.
    static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: infinity, negativeInfinity: negativeInfinity, nan: nan)
        return decoder
    }

    /// The JSON object `given`, with the top-level keys of `defaults` that it has not. What is no object is left as
    /// it is: decoding it will say so.
    static func object<Defaults: Encodable>(_ given: Data, completedBy defaults: Defaults) throws -> Data {
        let known: [String: JSONValue]? = try? JSONDecoder().decode([String: JSONValue].self, from: given)
        guard let known else { return given }
        let all = try JSONDecoder().decode([String: JSONValue].self, from: encode(defaults))
        return try encode(all.merging(known) { _, given in given })
    }

    /// Where and why coding failed, in one line and without the value's content.
    static func describe(_ error: any Error) -> String {
        switch error {
        case DecodingError.typeMismatch(let type, let context):
            "expected \(type)\(place(context.codingPath))"
        case DecodingError.valueNotFound(let type, let context):
            "found null instead of \(type)\(place(context.codingPath))"
        case DecodingError.keyNotFound(let key, let context):
            "the key \"\(key.stringValue)\" is missing\(place(context.codingPath))"
        case DecodingError.dataCorrupted(let context):
            context.codingPath.isEmpty ? "it is not valid JSON" : "the value is not valid\(place(context.codingPath))"
        case EncodingError.invalidValue(_, let context):
            "a value cannot be represented\(place(context.codingPath)): \(context.debugDescription)"
        default:
            error.localizedDescription
        }
    }

    private static func place(_ path: [any CodingKey]) -> String {
        guard !path.isEmpty else { return "" }
        let text = path.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
        return " at \(text.hasPrefix(".") ? String(text.dropFirst()) : text)"
    }
}
