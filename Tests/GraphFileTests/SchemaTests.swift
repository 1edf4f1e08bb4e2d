import Foundation
import Testing

@testable import GraphFile

/// docs/graph-file.schema.json says what the parser accepts.
@Suite struct SchemaTests {
    private struct Schema: Decodable {
        struct Member: Decodable {
            var description: String?
            var `enum`: [String]?
            var properties: [String: Member]?
        }
        struct Definitions: Decodable {
            var node: Member
        }
        var properties: [String: Member]
        var definitions: Definitions

        enum CodingKeys: String, CodingKey {
            case properties
            case definitions = "$defs"
        }
    }

    private func schema() throws -> Schema {
        try JSONDecoder().decode(Schema.self, from: Data(try Project.text("docs/graph-file.schema.json").utf8))
    }

    @Test func nodeKeys_areThoseOfTheParser() throws {
        let supported = NodeKey.allCases.filter { $0.standing == .node }.map(\.rawValue)
        let properties = try #require(try schema().definitions.node.properties)
        #expect(properties.keys.sorted() == supported.sorted())
        #expect(properties.allSatisfy { $0.value.description?.isEmpty == false })
    }

    @Test func topLevelKeys_areThoseOfTheParser() throws {
        let supported: [NodeKey] = [
            .name, .vars, .group, .ordered, .onFailure, .maxConcurrent, .retry, .timeout, .grace, .delay, .notBefore, .deadline,
            .exclusive, .conditions, .atMostOnce, .recomputable, .crashLimit, .priority, .weight, .requires, .unique, .onDuplicate,
        ]
        #expect(try schema().properties.keys.sorted() == supported.map(\.rawValue).sorted())
        for key in NodeKey.allCases where !supported.contains(key) {
            #expect(!faults("{group: [], \(key.rawValue): {}}").contains { $0.hasPrefix("none") }, "\(key)")
        }
    }

    @Test func choices_areThoseOfTheParser() throws {
        let properties = try #require(try schema().definitions.node.properties)
        for (key, rest) in [
            ("output", "run: x"), ("onFailure", "group: []"), ("whenReceivedFails", "run: x, receives: a"),
            ("onDuplicate", "run: x, unique: u"),
        ] {
            let choices = try #require(properties[key]?.enum)
            for choice in choices {
                #expect(
                    faults("group: [{id: a, run: x}, {\(rest), \(key): \(choice)}]").first?.hasPrefix("none") == true, "\(key): \(choice)")
            }
            let found = faults("group: [{id: a, run: x}, {\(rest), \(key): zzzzzz}]").first ?? ""
            #expect(choices.allSatisfy { found.contains("`\($0)`") }, "\(found)")
        }
    }

    @Test func documentation_namesEveryKey() throws {
        let text = try Project.text("docs/graph-files.md")
        for key in NodeKey.allCases { #expect(text.contains("`\(key.rawValue)"), "\(key)") }
        for operation in BuiltInOperation.allCases { #expect(text.contains("`\(operation.rawValue)"), "\(operation)") }
    }
}
