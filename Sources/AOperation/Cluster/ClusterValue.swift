import Foundation

/// A type that brings its own codec for the way between processes, faster or tighter than JSON.
///
/// Without it a value travels as JSON by its `Codable` conformance. `String` travels as text, `Data` and `[UInt8]` as
/// raw bytes, ``EncodedValue`` untouched.
///
/// ```swift
/// extension Thumbnail: ClusterValue {
///     func encodedForCluster() -> EncodedValue { .bytes(pngData) }
///     static func decodedFromCluster(_ value: EncodedValue) throws -> Thumbnail { try Thumbnail(png: value.bytes) }
/// }
/// ```
public protocol ClusterValue {
    /// The value in its wire form. What it throws becomes the failure of the operation that produced the value.
    func encodedForCluster() throws -> EncodedValue

    /// The value that `value` holds. What it throws becomes the failure of the operation that should receive it.
    /// - Throws: ``ClusterCodingError``, or any error of the type's own, when the bytes or their encoding do not fit.
    static func decodedFromCluster(_ value: EncodedValue) throws -> Self
}

extension EncodedValue: ClusterValue {
    public func encodedForCluster() -> EncodedValue { self }
    public static func decodedFromCluster(_ value: EncodedValue) -> EncodedValue { value }
}

extension String: ClusterValue {
    public func encodedForCluster() -> EncodedValue { .text(self) }

    /// Text and bytes are read as UTF-8, JSON must be a string.
    public static func decodedFromCluster(_ value: EncodedValue) throws -> String {
        switch value.encoding {
        case .text, .bytes:
            guard let text = String(validating: value.bytes, as: UTF8.self) else {
                throw ClusterCodingError(.notDecodable, type: String.self, value: value, reason: "the bytes are not UTF-8")
            }
            return text
        case .json:
            return try JSONForm.decode(String.self, from: value)
        case .void:
            throw ClusterCodingError(.notDecodable, type: String.self, value: value, reason: "there is no value")
        }
    }
}

extension Data: ClusterValue {
    public func encodedForCluster() -> EncodedValue { .bytes(self) }

    /// Bytes and text are taken as they are, JSON must be a Base64 string.
    public static func decodedFromCluster(_ value: EncodedValue) throws -> Data {
        switch value.encoding {
        case .bytes, .text:
            return value.bytes
        case .json:
            return try JSONForm.decode(Data.self, from: value)
        case .void:
            throw ClusterCodingError(.notDecodable, type: Data.self, value: value, reason: "there is no value")
        }
    }
}

extension Array: ClusterValue where Element == UInt8 {
    public func encodedForCluster() -> EncodedValue { .bytes(Data(self)) }

    /// As `Data`: bytes and text are taken as they are, JSON must be a Base64 string.
    public static func decodedFromCluster(_ value: EncodedValue) throws -> [UInt8] {
        [UInt8](try Data.decodedFromCluster(value))
    }
}
