import Foundation
import Testing

@testable import AOperation

/// What types tell of the JSON that they are decoded from.
struct ParameterShapeTests {
    private typealias Field = ParameterShape.Field

    private enum Mode: String, Codable, CaseIterable { case fast, slow }

    private struct Part: Codable {
        var name: String
        var size: Double?
        var inner: [Part]?
    }

    private struct Plain: Codable {
        var count: Int
        var ratio: Double
        var text: String
        var isOn: Bool
        var mode: Mode
        var parts: [Part]
        var tags: [String: Int]
        var url: URL
        var limit: UInt8?
    }

    @Test func membersOfAStruct_withTheirTypes_andWhichMustBeThere() {
        let part = ParameterShape.object([
            Field("name", .text), Field("size", .number, isRequired: false), Field("inner", .any, isRequired: false),
        ])
        #expect(
            ParameterShape(of: Plain.self)
                == .object([
                    Field("count", .integer), Field("ratio", .number), Field("text", .text), Field("isOn", .bool),
                    Field("mode", .choice(["fast", "slow"])), Field("parts", .array(part)), Field("tags", .any), Field("url", .text),
                    Field("limit", .integer, isRequired: false),
                ]))
    }

    /// Reads what it can, and has something for the rest.
    private struct Lenient: Codable {
        var count: Int
        var name: String
        var seconds: Double

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            count = (try? members.decode(Int.self, forKey: .count)) ?? 1
            name = try members.decode(String.self, forKey: .name)
            do {
                seconds = try members.decode(Double.self, forKey: .seconds)
            } catch {
                seconds = Double(try members.decode(String.self, forKey: .seconds)) ?? 0
            }
        }
    }

    @Test func whatATypeCanDoWithout_isNotAskedFor() {
        #expect(
            ParameterShape(of: Lenient.self)
                == .object([Field("count", .any, isRequired: false), Field("name", .text), Field("seconds", .any, isRequired: false)]))
    }

    private struct Positive: Codable {
        var count: Int

        init(from decoder: any Decoder) throws {
            count = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .count)
            guard count > 0 else { throw CocoaError(.coderInvalidValue) }
        }
    }

    private struct AnyMember: Codable {
        var values: [String: String] = [:]

        struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init?(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Key.self)
            for key in members.allKeys { values[key.stringValue] = try members.decode(String.self, forKey: key) }
        }
    }

    private enum Payload: Codable {
        case number(Int)
        case text(String)
    }

    private enum Spelled: String, Codable, CaseIterable {
        case one, two

        init(from decoder: any Decoder) throws {
            let text = try decoder.singleValueContainer().decode(String.self)
            guard let found = Self(rawValue: text.lowercased()) else { throw CocoaError(.coderInvalidValue) }
            self = found
        }
    }

    private struct Empty: Codable {}

    @Test func whatCannotBeFoundOut_isAnything() {
        #expect(ParameterShape(of: Positive.self) == .any)
        #expect(ParameterShape(of: AnyMember.self) == .any)
        #expect(ParameterShape(of: Payload.self) == .any)
        #expect(ParameterShape(of: Empty.self) == .any)
        #expect(ParameterShape(of: Spelled.self) == .text)
        #expect(ParameterShape(of: [Payload].self) == .array(.any))
        #expect(ParameterShape(of: Int?.self) == .any)
    }

    private final class Defaulted: VoidOperation, ClusterOperation, @unchecked Sendable {
        struct Parameters: Codable, Sendable { var minimum = 1 }
        static let defaultParameters: Parameters? = Parameters()
        let parameters: Parameters
        init(_ parameters: Parameters) {
            self.parameters = parameters
            super.init()
        }
    }

    @Test func defaults_standInForMembers() throws {
        #expect(try Defaulted.clusterInterface().parameters == .object([Field("minimum", .integer, isRequired: false)]))
    }
}
