import Foundation

/// What a worker must know of an operation type to register it and what admission compares: names and value types.
public struct ClusterInterface: Sendable, Hashable {
    /// A type of values that travel.
    public struct ValueType: Sendable, Hashable {
        /// The fully qualified Swift name, e.g. `Swift.String`, `Swift.Array<MyModule.Part>`.
        public let name: String
        /// The encoding its values are sent in; nil when it depends on the value (a type with its own codec).
        public let encoding: ValueEncoding?
        /// For an array: the fully qualified name of its elements, which is what each producer of a fan-in delivers.
        public let elementName: String?
        /// Whether it takes any value untouched (``EncodedValue``, or an array of it).
        public let takesAnything: Bool
        /// Whether its type puts it together from what arrives (``ClusterReceiver``).
        public let isPutTogether: Bool
    }

    /// ``ClusterOperation/operationName``.
    public let name: String
    /// ``ClusterOperation/operationVersion``.
    public let version: Int
    /// ``ClusterOperation/oldestAcceptedVersion``.
    public let oldestAcceptedVersion: Int
    /// What the operation receives; nil when it is no ``ReceiverOperation``.
    public let input: ValueType?
    /// What the operation produces.
    public let output: ValueType
    /// The elements that it sends while it runs and that another process can read; nil when there are none.
    public let sent: ValueType?
    /// The elements that it receives while their producer runs; nil when it is no ``StreamReceiver``.
    public let streamed: ValueType?
    /// What its parameters must look like.
    public let parameters: ParameterShape

    /// Whether the operation takes a received value.
    public var receives: Bool { input != nil }
}

extension ClusterOperation {
    /// Describes the type to those who register it.
    /// - Throws: ``ClusterCodingError`` with code ``ClusterCodingError/Code/noCodec`` when `Output` or `Input` has no
    ///   wire form: such a type cannot run in another process.
    public static func clusterInterface() throws -> ClusterInterface {
        ClusterInterface(
            name: operationName,
            version: operationVersion,
            oldestAcceptedVersion: min(oldestAcceptedVersion, operationVersion),
            input: try (Self.self as? any ReceiverOperation.Type).map { receiver in
                receiver is any ClusterReceiver.Type ? .init(putTogether: receiver.inputType) : try .init(receiver.inputType)
            },
            output: try .init(outputType),
            sent: try (Self.self as? any PartialResultOperation.Type).flatMap { sender in
                sender.canSendElsewhere ? try .init(sender.partialResultType) : nil
            },
            streamed: try (Self.self as? any StreamReceiver.Type).map { try .init($0.streamedType) },
            parameters: defaultParameters == nil
                ? ParameterShape(of: Parameters.self) : ParameterShape(of: Parameters.self).withoutRequiredFields
        )
    }
}

extension ClusterInterface.ValueType {
    init(_ type: Any.Type) throws {
        let element = (type as? any ListValue.Type)?.elementType
        let raw = type == EncodedValue.self || element == EncodedValue.self
        guard raw || ValueCodec.hasCodec(for: type) else {
            throw ClusterCodingError(.noCodec, type: type, reason: ValueCodec.noCodecReason(for: type))
        }
        self.init(
            name: String(reflecting: type),
            encoding: ValueCodec.fixedEncoding(of: type),
            elementName: element.map { String(reflecting: $0) },
            takesAnything: raw,
            isPutTogether: false
        )
    }

    /// It needs no codec.
    init(putTogether type: Any.Type) {
        self.init(name: String(reflecting: type), encoding: nil, elementName: nil, takesAnything: false, isPutTogether: true)
    }
}

extension ReceiverOperation {
    static var inputType: Any.Type { Input.self }
}
