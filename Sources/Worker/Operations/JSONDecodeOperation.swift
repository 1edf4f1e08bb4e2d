import AOperation
import Foundation
import Wire

/// Reads received text or bytes as JSON; its value is that JSON as it was written. Registered as `jsonDecode`.
///
/// A JSON string that is received is a text, too.
///
/// `@unchecked Sendable`: `receivedValue` is set before the operation is added to a queue and only read afterwards.
final class JSONDecodeOperation: ResultableOperation<EncodedValue>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {}

    /// Text that is to be JSON.
    struct Text: ClusterValue, Sendable {
        let bytes: Data

        func encodedForCluster() -> EncodedValue { EncodedValue(encoding: .text, bytes: bytes) }

        static func decodedFromCluster(_ value: EncodedValue) throws -> Text {
            switch value.encoding {
            case .text, .bytes: return Text(bytes: value.bytes)
            case .json:
                guard try JSONScanner.kind(value.bytes) == .string else {
                    throw OperationFault(.parameters, "what is received is JSON already; receive it without `jsonDecode`")
                }
                return Text(bytes: Data(try JSONScanner.string(value.bytes).utf8))
            case .void: throw OperationFault(.parameters, "the operation that delivers has no value")
            }
        }
    }

    static let operationName = "jsonDecode"

    let parameters: Parameters
    var receivedValue: Result<Text, AOperationError>?

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    override func execute() {
        finish(with: Result { try decode() }.mapError { AOperationError($0) })
    }

    private func decode() throws -> EncodedValue {
        guard let text = try receivedValue?.get() else { throw AOperationError.receivedValueIsNil(in: self) }
        do {
            return .json(try JSONText.value(in: text.bytes))
        } catch let malformed as JSONScanner.Malformed {
            throw OperationFault(.operation, "what was received is not JSON: \(malformed)")
        }
    }
}
