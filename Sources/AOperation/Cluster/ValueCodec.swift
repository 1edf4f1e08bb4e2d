import Foundation

/// Finds the wire form of a type at run time and applies it.
///
/// It looks at the type, in this order: `Void`; ``ClusterValue``; `Codable` (as JSON); the pairs that a URL session's operations
/// deliver (``ResponseCodec``). Anything else has no wire form.
/// The question is asked at run time because `Void` and tuples cannot conform to a protocol, so that no generic
/// constraint could say "has a wire form".
enum ValueCodec {
    /// What the codec of a type is.
    private enum Form {
        case void
        case custom(any ClusterValue.Type)
        case codable(any Codable.Type)
        case response
        case none
    }

    private static func form(of type: Any.Type) -> Form {
        if type == Void.self { return .void }
        if let custom = type as? any ClusterValue.Type { return .custom(custom) }
        if let codable = type as? any Codable.Type { return .codable(codable) }
        if ResponseCodec.knows(type) { return .response }
        return .none
    }

    /// Whether values of `type` can leave the process.
    static func hasCodec(for type: Any.Type) -> Bool {
        switch form(of: type) {
        case .void, .custom, .codable, .response: true
        case .none: false
        }
    }

    /// Whether values of the one type are received as the other.
    static func isAlike(_ first: Any.Type, _ second: Any.Type) -> Bool {
        first == second || ResponseCodec.isAlike(first, second)
    }

    /// The encoding that all values of `type` are sent in; nil when a codec of its own decides.
    static func fixedEncoding(of type: Any.Type) -> ValueEncoding? {
        switch form(of: type) {
        case .void: .void
        case .codable: .json
        case .custom:
            if type == String.self { .text } else if type == Data.self || type == [UInt8].self { .bytes } else { nil }
        case .response, .none: nil
        }
    }

    /// The wire form of `value`.
    /// - Throws: ``ClusterCodingError``, or what a ``ClusterValue``'s own codec throws.
    static func encode<T>(_ value: T) throws -> EncodedValue {
        switch form(of: T.self) {
        case .void:
            return .void
        case .custom:
            guard let custom = value as? any ClusterValue else { throw noCodec(for: T.self) }
            return try custom.encodedForCluster()
        case .codable:
            guard let codable = value as? any Codable else { throw noCodec(for: T.self) }
            return .json(try JSONForm.encode(codable))
        case .response:
            return try ResponseCodec.encode(value)
        case .none:
            throw noCodec(for: T.self)
        }
    }

    /// The value of type `T` that `value` holds.
    ///
    /// For a `Codable` type JSON is decoded whatever the encoding says: text or bytes that hold JSON fit as well.
    /// - Throws: ``ClusterCodingError``, or what a ``ClusterValue``'s own codec throws.
    static func decode<T>(_ type: T.Type, from value: EncodedValue) throws -> T {
        let decoded: Any
        switch form(of: type) {
        case .void:
            decoded = ()
        case .custom(let custom):
            decoded = try custom.decodedFromCluster(value)
        case .codable(let codable):
            guard value.encoding != .void else {
                throw ClusterCodingError(.notDecodable, type: type, value: value, reason: "there is no value")
            }
            decoded = try JSONForm.decode(codable, from: value)
        case .response:
            decoded = try ResponseCodec.decode(type, from: value)
        case .none:
            throw noCodec(for: type)
        }
        guard let typed = decoded as? T else {
            throw ClusterCodingError(
                .notDecodable, type: type, value: value, reason: "the codec returned \(Swift.type(of: decoded))")
        }
        return typed
    }

    private static func noCodec(for type: Any.Type) -> ClusterCodingError {
        ClusterCodingError(.noCodec, type: type, reason: noCodecReason(for: type))
    }

    static func noCodecReason(for type: Any.Type) -> String {
        let reason = "it is neither Void, nor Codable, nor a ClusterValue"
        return "\(type)".hasPrefix("(") ? reason + "; a receiver of a tuple conforms to ClusterReceiver" : reason
    }
}

/// An array whose elements can be decoded one by one: what a fan-in receives.
protocol ListValue {
    static var elementType: Any.Type { get }
    static func decodeElements(_ values: [EncodedValue]) throws -> Self
}

extension Array: ListValue {
    static var elementType: Any.Type { Element.self }

    static func decodeElements(_ values: [EncodedValue]) throws -> [Element] {
        try values.map { try ValueCodec.decode(Element.self, from: $0) }
    }
}
