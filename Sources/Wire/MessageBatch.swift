import SwiftProtobuf

/// Encodes messages that carry many of a kind, each of these once.
///
/// Protocol buffers write the length of a nested message before it. SwiftProtobuf, which keeps no lengths, computes them anew for each
/// level that a message is nested in; here what is nested comes first, and its length is that of its bytes.
/// The bytes mean the same: fields may come in any order (Protocol Buffers, "Encoding", "Field order").
enum MessageBatch {
    /// An envelope with the field `field`, which is `body`, to which `elements` are added as its fields `elementField`.
    ///
    /// - Throws: what SwiftProtobuf does.
    static func encode(
        _ elements: [some Message], as elementField: UInt32, of body: some Message, as field: UInt32
    ) throws -> [UInt8] {
        var nested: [UInt8] = try body.serializedBytes()
        for element in elements {
            let bytes: [UInt8] = try element.serializedBytes()
            nested.appendTag(elementField, length: bytes.count)
            nested += bytes
        }
        var envelope: [UInt8] = []
        envelope.reserveCapacity(nested.count + 2 * varintBytesMax)
        envelope.appendTag(field, length: nested.count)
        envelope += nested
        return envelope
    }

    private static let varintBytesMax = 10
}

extension [UInt8] {
    /// The tag and the length of a field whose bytes follow.
    fileprivate mutating func appendTag(_ field: UInt32, length: Int) {
        let lengthDelimited: UInt32 = 2
        appendVarint(UInt64(field << 3 | lengthDelimited))
        appendVarint(UInt64(length))
    }

    private mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}
