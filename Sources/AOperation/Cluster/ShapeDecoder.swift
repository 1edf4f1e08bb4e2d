import Foundation

/// Answers each question with an empty value, and notes it.
struct ShapeDecoder: Decoder {
    let notes: ShapeNotes
    let probe: ShapeProbe
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        notes.beginObject()
        return KeyedDecodingContainer(ShapeMembers(notes: notes, probe: probe))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        notes.open()
        throw Unknown()
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { ShapeValue(notes: notes, probe: probe) }

    struct Unknown: Error {}
}

/// Members of an object.
private struct ShapeMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let notes: ShapeNotes
    let probe: ShapeProbe
    var codingPath: [any CodingKey] { [] }

    /// Who looks which there are takes whatever comes.
    var allKeys: [Key] {
        notes.open()
        return []
    }

    func contains(_ key: Key) -> Bool {
        notes.add(ParameterShape.Field(key.stringValue, .any, isRequired: false))
        return false
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        notes.add(ParameterShape.Field(key.stringValue, .any, isRequired: false))
        return true
    }

    private func simple<T>(_ shape: ParameterShape, _ key: Key, _ value: T) throws -> T {
        try notes.member(key.stringValue, shape)
        return value
    }

    private func simple<T>(ifPresent shape: ParameterShape, _ key: Key) throws -> T? {
        try notes.member(key.stringValue, shape, isRequired: false)
        return nil
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try simple(.bool, key, false) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try simple(.text, key, notes.text) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try simple(.number, key, 0) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try simple(.number, key, 0) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try simple(.integer, key, 0) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try simple(.integer, key, 0) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try simple(.integer, key, 0) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try simple(.integer, key, 0) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try simple(.integer, key, 0) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try simple(.integer, key, 0) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try simple(.integer, key, 0) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try simple(.integer, key, 0) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try simple(.integer, key, 0) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try simple(.integer, key, 0) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try simple(ifPresent: .bool, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try simple(ifPresent: .text, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try simple(ifPresent: .number, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try simple(ifPresent: .number, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try simple(ifPresent: .integer, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try simple(ifPresent: .integer, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try simple(ifPresent: .integer, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try simple(ifPresent: .integer, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try simple(ifPresent: .integer, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try simple(ifPresent: .integer, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try simple(ifPresent: .integer, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try simple(ifPresent: .integer, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try simple(ifPresent: .integer, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try simple(ifPresent: .integer, key) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let (shape, value) = probe.shape(of: type)
        try notes.member(key.stringValue, shape)
        guard let value else { throw ShapeDecoder.Unknown() }
        return value
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try notes.member(key.stringValue, probe.shape(of: type).shape, isRequired: false)
        return nil
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        throw ShapeDecoder.Unknown()
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw ShapeDecoder.Unknown() }
    func superDecoder() throws -> any Decoder { throw ShapeDecoder.Unknown() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw ShapeDecoder.Unknown() }
}

/// A value that is no object: the wrapper of another one.
private struct ShapeValue: SingleValueDecodingContainer {
    let notes: ShapeNotes
    let probe: ShapeProbe
    var codingPath: [any CodingKey] { [] }

    /// Who asks takes null, too.
    func decodeNil() -> Bool {
        notes.open()
        return true
    }

    private func simple<T>(_ shape: ParameterShape, _ value: T) throws -> T {
        try notes.value(shape)
        return value
    }

    func decode(_ type: Bool.Type) throws -> Bool { try simple(.bool, false) }
    func decode(_ type: String.Type) throws -> String { try simple(.text, notes.text) }
    func decode(_ type: Double.Type) throws -> Double { try simple(.number, 0) }
    func decode(_ type: Float.Type) throws -> Float { try simple(.number, 0) }
    func decode(_ type: Int.Type) throws -> Int { try simple(.integer, 0) }
    func decode(_ type: Int8.Type) throws -> Int8 { try simple(.integer, 0) }
    func decode(_ type: Int16.Type) throws -> Int16 { try simple(.integer, 0) }
    func decode(_ type: Int32.Type) throws -> Int32 { try simple(.integer, 0) }
    func decode(_ type: Int64.Type) throws -> Int64 { try simple(.integer, 0) }
    func decode(_ type: UInt.Type) throws -> UInt { try simple(.integer, 0) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try simple(.integer, 0) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try simple(.integer, 0) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try simple(.integer, 0) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try simple(.integer, 0) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let (shape, value) = probe.shape(of: type)
        try notes.value(shape)
        guard let value else { throw ShapeDecoder.Unknown() }
        return value
    }
}
