import AOperation
import Executing
import Foundation
import Wire

/// Splits what a forEach received into its elements.
enum Decision {
    /// JSON of each element, as it was written. `producer` names who sent it, where that is known.
    /// - Throws: ``OperationFault``: with code `PARAMETERS` when it is no list, `LIMIT` when it is too long.
    static func elements(of received: [ReceivedValue], producer: String?) throws -> [Data] {
        guard received.count == 1, let value = received.first else {
            throw OperationFault(.parameters, "forEach needs one producer and got \(received.count)")
        }
        let elements: JSONScanner.Elements
        switch value {
        case .failure(let errors):
            throw AOperationError(errors.first ?? .unknown)
        case .list(let list) where list.count > Limits.forEachElements:
            elements = .tooMany(list.count)
        case .list(let list):
            elements = .list(list.map { ReceivedValue.list([$0]).folded.bytes.dropFirst().dropLast() }.map { Data($0) })
        case .value(let value):
            elements = try split(value, producer: producer)
        }
        switch elements {
        case .list(let elements): return elements
        case .tooMany(let count):
            throw OperationFault(
                .limit, "forEach takes at most \(Limits.forEachElements) elements, \(name(of: producer)) gave \(count)")
        }
    }

    private static func split(_ value: EncodedValue, producer: String?) throws -> JSONScanner.Elements {
        func refuse(_ found: String) -> OperationFault {
            OperationFault(.parameters, "forEach needs a list, \(name(of: producer)) gave \(found)")
        }
        switch value.encoding {
        case .void: throw refuse("nothing")
        case .text: throw refuse("text; use `output: lines` or `output: json`")
        case .bytes: throw refuse("bytes")
        case .json:
            do {
                if let elements = try JSONScanner.elements(value.bytes, max: Limits.forEachElements) { return elements }
                throw refuse(try name(of: JSONScanner.kind(value.bytes)))
            } catch let malformed as JSONScanner.Malformed {
                throw refuse("text that is not JSON: \(malformed)")
            }
        }
    }

    private static func name(of producer: String?) -> String { producer.map { "`\($0)`" } ?? "its producer" }

    private static func name(of kind: JSONScanner.Kind) -> String {
        switch kind {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .literal: "true, false or null"
        }
    }
}
