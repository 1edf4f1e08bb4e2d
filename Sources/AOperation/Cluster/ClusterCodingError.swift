import Foundation

/// A value could not be brought into, or out of, its wire form.
///
/// The description names types, encodings and sizes, never the value itself.
public struct ClusterCodingError: LocalizedError, Sendable {
    public enum Code: String, Sendable {
        /// The type has no wire form: it is neither `Void`, nor `Codable`, nor a ``ClusterValue``.
        case noCodec
        /// A value of the type could not be encoded.
        case notEncodable
        /// The bytes do not hold a value of the type.
        case notDecodable
        /// Another number of values arrived than the receiver takes.
        case wrongCount
        /// A value was to be given to an operation that receives none.
        case notAReceiver
    }

    public let code: Code
    /// The Swift type that was to be encoded or decoded.
    public let typeName: String
    /// What was wrong, in words.
    public let reason: String
    /// The codec's own error, where there is one.
    public let underlyingError: (any Error)?

    init(_ code: Code, type: Any.Type, reason: String, underlyingError: (any Error)? = nil) {
        self.code = code
        self.typeName = String(describing: type)
        self.reason = reason
        self.underlyingError = underlyingError
    }

    init(_ code: Code, type: Any.Type, value: EncodedValue, reason: String, underlyingError: (any Error)? = nil) {
        self.init(
            code,
            type: type,
            reason: "\(reason) (\(value.bytes.count) bytes, encoding \(value.encoding))",
            underlyingError: underlyingError
        )
    }

    public var errorDescription: String? {
        switch code {
        case .noCodec:
            "The type \(typeName) has no wire form: \(reason). Make it Codable, or conform it to ClusterValue."
        case .notEncodable:
            "A value of type \(typeName) could not be encoded: \(reason)."
        case .notDecodable:
            "No value of type \(typeName) could be decoded: \(reason)."
        case .wrongCount:
            "The received values do not fit \(typeName): \(reason)."
        case .notAReceiver:
            "The operation \(typeName) receives no value: \(reason). Conform it to ReceiverOperation."
        }
    }
}
