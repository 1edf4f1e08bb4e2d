import Foundation
import Scheduling

/// The facts of a journal, one after another, as JSON: for programs that look for what happened when.
///
/// Facts that a snapshot stands for are there no more. What a fact is called and what it has are the names of the source (`Fact`), and may
/// change with a release; the ones of what is written with `aop show -o json` do not.
public struct JournalExport: Sendable {
    /// How many facts were handed over.
    public let facts: UInt64
    /// The first of these; nil: there was none.
    public let first: UInt64?

    /// Reads the journal of a directory on which no coordinator runs. Hashes are checked on the way.
    ///
    /// - Parameter each: gets each fact as one line of JSON, without its end. Throws to end the export.
    /// - Throws: `DataDirectoryError` (a coordinator runs on it), `JournalError`, and what `each` throws.
    public init(dataDirectory: String, _ each: (String) throws -> Void) throws {
        let directory = try DataDirectory(reading: dataDirectory)
        let database = try JournalDatabase(readingOnly: directory)
        let start = try database.newestSnapshot()?.end ?? .empty
        var sequence = start.sequence
        var failure: (any Error)?
        let end = try database.fold(after: start) { fact in
            sequence = sequence.next
            guard failure == nil else { return }
            do { try each(FactJSON.line(fact, sequence: sequence.rawValue)) } catch { failure = error }
        }
        if let failure { throw failure }
        try JournalWitness.check(in: directory, database, reaches: end)
        try directory.checkIsUnused()
        facts = sequence.rawValue - start.sequence.rawValue
        first = facts > 0 ? start.sequence.next.rawValue : nil
    }
}

/// Facts as JSON, by what they are made of.
enum FactJSON {
    static func line(_ fact: Fact, sequence: UInt64) -> String {
        var text = "{\"sequence\":\(sequence),\"fact\":"
        write(fact, into: &text)
        return text + "}"
    }

    private static func write(_ value: Any, into text: inout String) {
        switch value {
        case let value as String: write(string: value, into: &text)
        case let value as Bool: text += value ? "true" : "false"
        case let value as any BinaryInteger: text += "\(value)"
        case let value as Double: text += value.isFinite ? "\(value)" : "null"
        case let value as [UInt8]: write(bytes: value, into: &text)
        default: write(reflected: value, into: &text)
        }
    }

    /// As text where it is text, else in hexadecimal.
    private static func write(bytes: [UInt8], into text: inout String) {
        if let string = String(validating: bytes, as: UTF8.self) { return write(string: string, into: &text) }
        text += "{\"hexadecimal\":\"" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\"}"
    }

    private static func write(string: String, into text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += #"\""#
            case "\\": text += #"\\"#
            case "\n": text += #"\n"#
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                text += #"\u"# + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    private static func write(reflected value: Any, into text: inout String) {
        let mirror = Mirror(reflecting: value)
        let children = Array(mirror.children)
        switch mirror.displayStyle {
        case .optional: if let child = children.first { write(child.value, into: &text) } else { text += "null" }
        case .collection, .set: write(list: children.map(\.value), into: &text)
        case .enum:
            guard let child = children.first, let label = child.label else { return write(string: "\(value)", into: &text) }
            text += "{"
            write(string: label, into: &text)
            text += ":"
            write(child.value, into: &text)
            text += "}"
        // A number with a type of its own.
        case .struct where children.count == 1 && children[0].label == "rawValue": write(children[0].value, into: &text)
        case .tuple where children.allSatisfy { $0.label?.hasPrefix(".") ?? true }: write(list: children.map(\.value), into: &text)
        default:
            text += "{"
            for (index, child) in children.enumerated() {
                if index > 0 { text += "," }
                write(string: child.label.map { $0.hasPrefix(".") ? "value\($0.dropFirst())" : $0 } ?? "\(index)", into: &text)
                text += ":"
                write(child.value, into: &text)
            }
            text += "}"
        }
    }

    private static func write(list: [Any], into text: inout String) {
        text += "["
        for (index, element) in list.enumerated() {
            if index > 0 { text += "," }
            write(element, into: &text)
        }
        text += "]"
    }
}
