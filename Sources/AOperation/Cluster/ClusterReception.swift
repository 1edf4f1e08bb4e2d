import Foundation

/// What the producers of a receiver sent, as it arrives from the wire.
public enum ReceivedInput: Sendable {
    /// One producer's value: `a.deliver(to: b)`.
    case single(EncodedValue)
    /// The values of several producers in declared order: `[a, b].deliver(to: c)`. A list of one is still a list.
    case list([EncodedValue])
    /// A producer failed: the first error of the first failed one.
    case failure(AOperationError)
}

/// A receiver that puts its received value together by itself, e.g. because its `Input` is a tuple; for tuples of two to six values
/// that have a wire form ``decodeReceived(_:)`` is there.
///
/// Without it the values are decoded by their types: `.single` as `Input`; `.list` as an array's elements, or, when it
/// holds one value, as `.single`.
public protocol ClusterReceiver: ReceiverOperation {
    /// The received value that the producers' values make, in declared order.
    static func decodeReceived(_ values: [EncodedValue]) throws -> Input
}

extension ClusterOperation {
    /// Sets `receivedValue` from what the producers sent. Call it before the operation is added to a queue.
    /// - Throws: ``ClusterCodingError`` when the operation receives nothing, or when the values do not fit its
    ///   `Input`; `receivedValue` is then as it was. The caller decides whether that fails the operation.
    public func receive(_ input: ReceivedInput) throws {
        guard let receiver = self as? any ReceiverOperation else {
            throw ClusterCodingError(.notAReceiver, type: Self.self, reason: "its type is not a receiver")
        }
        try receiver.accept(input)
    }
}

extension ReceiverOperation {
    func accept(_ input: ReceivedInput) throws {
        receivedValue =
            switch input {
            case .failure(let error): .failure(error)
            case .single(let value): .success(try Self.decodeInput(value))
            case .list(let values): .success(try Self.decodeInput(values))
            }
    }

    private static func decodeInput(_ value: EncodedValue) throws -> Input {
        if let custom = Self.self as? any ClusterReceiver.Type {
            return try decodeInput([value], by: custom)
        }
        // A lone value of another encoding than JSON can only be one element of a list.
        if let list = Input.self as? any ListValue.Type, !(Input.self is any ClusterValue.Type), value.encoding != .json {
            if list.elementType is any ClusterValue.Type { return try decodeElements([value], as: list) }
        }
        return try ValueCodec.decode(Input.self, from: value)
    }

    private static func decodeInput(_ values: [EncodedValue]) throws -> Input {
        if let custom = Self.self as? any ClusterReceiver.Type {
            return try decodeInput(values, by: custom)
        }
        if let list = Input.self as? any ListValue.Type, !(Input.self is any ClusterValue.Type) {
            return try decodeElements(values, as: list)
        }
        if Input.self == Void.self { return try ValueCodec.decode(Input.self, from: .void) }
        guard let only = values.first, values.count == 1 else {
            throw ClusterCodingError(
                .wrongCount, type: Input.self, reason: "\(values.count) values arrived, and it is not an array")
        }
        return try ValueCodec.decode(Input.self, from: only)
    }

    private static func decodeElements(_ values: [EncodedValue], as list: any ListValue.Type) throws -> Input {
        try cast(try list.decodeElements(values))
    }

    private static func decodeInput(_ values: [EncodedValue], by receiver: any ClusterReceiver.Type) throws -> Input {
        try cast(try receiver.decodeReceived(values))
    }

    private static func cast(_ decoded: Any) throws -> Input {
        guard let input = decoded as? Input else {
            throw ClusterCodingError(.notDecodable, type: Input.self, reason: "the codec returned \(type(of: decoded))")
        }
        return input
    }
}
