import AOperation
import Foundation
import Wire

/// Selects from received JSON, or from text that is JSON. Registered as `jsonPath`.
///
/// Its value is JSON as it was written: what the path selects or, where the path can select several values (`[*]`, slices, several
/// selectors), the list of them. A path that selects nothing is a failure.
///
/// `@unchecked Sendable`: `receivedValue` is set before the operation is added to a queue and only read afterwards.
final class JSONPathOperation: ResultableOperation<EncodedValue>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var path: String
    }
    static let operationName = "jsonPath"

    let parameters: Parameters
    var receivedValue: Result<EncodedValue, AOperationError>?

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    override func execute() {
        finish(with: Result { try select() }.mapError { AOperationError($0) })
    }

    private func select() throws -> EncodedValue {
        guard let received = try receivedValue?.get() else { throw AOperationError.receivedValueIsNil(in: self) }
        let path: JSONPath
        do {
            path = try JSONPath(parameters.path)
        } catch {
            throw OperationFault(.parameters, "`path` is \"\(parameters.path)\": \(error)")
        }
        guard received.encoding != .void else {
            throw OperationFault(.operation, "`\(path.text)` selects nothing: the operation that delivers has no value")
        }
        do {
            guard String(validating: received.bytes, as: UTF8.self) != nil else {
                throw JSONScanner.Malformed(reason: "it is not UTF-8", offset: 0)
            }
            switch try path.select(from: received.bytes) {
            case .values(let places): return .json(try value(of: places, path, in: received.bytes))
            case .nothing(let missing):
                let place = missing == path.text ? "" : ": nothing is at `\(missing)`"
                throw OperationFault(.operation, "`\(path.text)` selects nothing of the received value\(place); correct `path`")
            case .tooMany(let beginning):
                throw OperationFault(
                    .limit, "`\(beginning)` selects more than \(JSONPath.selectedMax) values; select fewer, or use a command, e.g. jq")
            }
        } catch let malformed as JSONScanner.Malformed {
            throw OperationFault(.operation, "`\(path.text)` selects nothing: what was received is not JSON: \(malformed)")
        }
    }

    private func value(of places: [Range<Int>], _ path: JSONPath, in json: Data) throws -> Data {
        func bytes(_ place: Range<Int>) -> Data { json[json.startIndex + place.lowerBound..<json.startIndex + place.upperBound] }
        if path.isSingular, let place = places.first { return Data(bytes(place)) }
        let limit = Limits.maxOutputBytesDefault
        // What the RFC lets a path select several times may become much more than there was.
        guard places.reduce(0, { $0 + $1.count + 1 }) < limit else {
            throw OperationFault(.limit, "`\(path.text)` selects more than \(ByteSize.describe(limit)); select less")
        }
        var list = Data("[".utf8)
        for (index, place) in places.enumerated() {
            if index > 0 { list.append(UInt8(ascii: ",")) }
            list.append(bytes(place))
        }
        list.append(UInt8(ascii: "]"))
        return list
    }
}
