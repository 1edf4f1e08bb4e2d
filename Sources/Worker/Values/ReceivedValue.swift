import AOperation
import Executing
import Foundation
import SwiftProtobuf
import Wire

/// What one producer sent, with everything large at hand.
enum ReceivedValue: Sendable {
    case value(EncodedValue)
    /// A group's children's values, in child order.
    case list([ReceivedValue])
    case failure([WireOperationFailure])

    /// A value that was to be at hand is not.
    struct Missing: Error {
        let reason: String
    }

    /// - Parameter blob: the bytes of a large value.
    /// - Throws: ``Missing``.
    init(_ received: WireReceived, blob: (WireBlobReference) -> Data?) throws {
        switch received.body {
        case .value(let value)?:
            switch value.storage {
            case .inline(let bytes)?: self = .value(EncodedValue(encoding: ValueEncoding(value.encoding), bytes: bytes))
            case .blob(let reference)?:
                let bytes = try Self.bytes(of: reference, blob)
                self = .value(EncodedValue(encoding: ValueEncoding(value.encoding), bytes: bytes))
            case nil: self = .value(EncodedValue(encoding: ValueEncoding(value.encoding), bytes: Data()))
            }
        case .list(let list)?:
            self = .list(try list.elements.map { try ReceivedValue($0, blob: blob) })
        case .failure(let failures)?:
            self = .failure(failures.errors)
        case .stored(let reference)?:
            self = try ReceivedValue(try StoredReceived.decode(try Self.bytes(of: reference, blob)), blob: blob)
        case nil:
            self = .value(.void)
        }
    }

    private static func bytes(of reference: WireBlobReference, _ blob: (WireBlobReference) -> Data?) throws -> Data {
        guard let bytes = blob(reference) else {
            throw Missing(reason: "a received value of \(ByteSize.describe(Int(clamping: reference.size))) is not at hand")
        }
        return bytes
    }

    /// As one value: a list becomes a JSON array in which bytes are Base64 strings, texts strings and no value is null.
    var folded: EncodedValue {
        switch self {
        case .value(let value): return value
        case .list, .failure:
            var json: [UInt8] = []
            appendJSON(to: &json)
            return .json(Data(json))
        }
    }

    private func appendJSON(to json: inout [UInt8]) {
        switch self {
        case .failure:
            json += Array("null".utf8)
        case .list(let elements):
            json.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { json.append(UInt8(ascii: ",")) }
                element.appendJSON(to: &json)
            }
            json.append(UInt8(ascii: "]"))
        case .value(let value):
            switch value.encoding {
            case .void: json += Array("null".utf8)
            case .json: json += value.bytes
            case .text: json += JSONText.quoted(value.bytes)
            case .bytes: json += JSONText.quoted(value.bytes.base64EncodedData())
            }
        }
    }
}

/// A serialized `Received`, which is too large for a message.
enum StoredReceived {
    static func decode(_ bytes: Data) throws -> WireReceived {
        do {
            return try DeepStack.run {
                var options = BinaryDecodingOptions()
                options.messageDepthLimit = Limits.messageDepth
                options.discardUnknownFields = true
                return try WireReceived(serializedBytes: bytes, options: options)
            }
        } catch {
            throw ReceivedValue.Missing(reason: "a received list cannot be read: \(error)")
        }
    }
}

extension ReceivedInput {
    /// What an operation is given, from what its producers sent.
    ///
    /// - Parameters:
    ///   - asArray: a single producer's value counts as a list of one.
    ///   - untouched: the operation takes any value as it is, so several become one JSON array.
    init(_ producers: [ReceivedValue], asArray: Bool, untouched: Bool) {
        for case .failure(let errors) in producers {
            self = .failure(AOperationError(errors.first ?? .unknown))
            return
        }
        let isSingle = producers.count == 1 && !asArray
        switch (isSingle ? producers.first : nil, untouched) {
        case (.value(let value)?, _): self = .single(value)
        case (.list(let elements)?, false): self = .list(elements.map(\.folded))
        case (let list?, _): self = .single(list.folded)
        case (nil, true): self = .single(ReceivedValue.list(producers).folded)
        case (nil, false): self = .list(producers.map(\.folded))
        }
    }
}
