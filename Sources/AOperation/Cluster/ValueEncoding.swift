import Foundation

/// How the bytes of a value that leaves its process are to be read.
///
/// The raw values are part of the wire protocol and of the journal: they never change their meaning.
public enum ValueEncoding: UInt8, Sendable, Hashable, CaseIterable {
    /// No value: the result of an operation whose `Output` is `Void`. There are no bytes.
    case void = 0
    /// One JSON value, in UTF-8.
    case json = 1
    /// Text as it is, in UTF-8, without quotes or escapes.
    case text = 2
    /// Bytes as they are.
    case bytes = 3
}

/// A value as it travels between processes: its encoding and its bytes.
///
/// An operation may also use it as its `Output` or `Input` (or `[EncodedValue]` as its `Input`): such a value is
/// passed on untouched, which is what an operation wants that only carries bytes, e.g. from and to a command.
public struct EncodedValue: Sendable, Hashable {
    /// How ``bytes`` are to be read.
    public var encoding: ValueEncoding
    /// The value itself; empty when the encoding is ``ValueEncoding/void``.
    public var bytes: Data

    public init(encoding: ValueEncoding, bytes: Data) {
        self.encoding = encoding
        self.bytes = bytes
    }

    /// The value in this form.
    ///
    /// - Throws: ``ClusterCodingError``, or what a ``ClusterValue``'s own codec throws.
    public func decoded<Value>(as type: Value.Type = Value.self) throws -> Value { try ValueCodec.decode(type, from: self) }

    /// The value of an operation that has none.
    public static let void = EncodedValue(encoding: .void, bytes: Data())

    /// What an operation delivered, as a `Value`: of one that another process has made, its value is there as it arrived.
    ///
    /// - Returns: nil: it is of another type.
    static func read<Value>(_ value: Any, as type: Value.Type) -> Value? {
        if let typed = value as? Value { return typed }
        guard let encoded = value as? EncodedValue else { return nil }
        return try? ValueCodec.decode(type, from: encoded)  // who asks says which type was expected
    }

    /// Text, carried as it is.
    public static func text(_ text: String) -> EncodedValue {
        EncodedValue(encoding: .text, bytes: Data(text.utf8))
    }

    /// Bytes, carried as they are.
    public static func bytes(_ bytes: Data) -> EncodedValue {
        EncodedValue(encoding: .bytes, bytes: bytes)
    }

    /// Bytes that hold one JSON value in UTF-8; they are not checked here.
    public static func json(_ bytes: Data) -> EncodedValue {
        EncodedValue(encoding: .json, bytes: bytes)
    }
}
