/// A JSON value with one text: keys sorted by their UTF-8, no spaces, numbers as they were written.
/// The same file gives the same bytes each time; a submission key's check compares them.
indirect enum JSONValue: Hashable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(_ scalar: ScalarValue) {
        switch scalar {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .number(let text): self = .number(text)
        case .text(let text): self = .string(text)
        }
    }

    /// The value's JSON text.
    var json: String {
        var text = ""
        write(to: &text)
        return text
    }

    /// As text between other text, as workers write elements: scalars as they are, lists and maps as JSON.
    var plainText: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let text), .string(let text): text
        case .array, .object: json
        }
    }

    /// A member of a member … of a map.
    subscript(keys: some Collection<String>) -> JSONValue? {
        guard let key = keys.first else { return self }
        guard case .object(let members) = self else { return nil }
        return members[key]?[keys.dropFirst()]
    }

    var isScalar: Bool {
        switch self {
        case .null, .bool, .number, .string: true
        case .array, .object: false
        }
    }

    /// With every string replaced, keys left as they are.
    func mapStrings(_ transform: (String) -> String) -> JSONValue {
        switch self {
        case .null, .bool, .number: self
        case .string(let text): .string(transform(text))
        case .array(let elements): .array(elements.map { $0.mapStrings(transform) })
        case .object(let members): .object(members.mapValues { $0.mapStrings(transform) })
        }
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .number(let digits): text += digits
        case .string(let string): Self.write(string, to: &text)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += "," }
                element.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (index, member) in sorted.enumerated() {
                if index > 0 { text += "," }
                Self.write(member.key, to: &text)
                text += ":"
                member.value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        if string.utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
            text += string
        } else {
            for scalar in string.unicodeScalars { write(scalar, to: &text) }
        }
        text += "\""
    }

    private static func write(_ scalar: Unicode.Scalar, to text: inout String) {
        switch scalar {
        case "\"": text += "\\\""
        case "\\": text += "\\\\"
        case "\n": text += "\\n"
        case "\r": text += "\\r"
        case "\t": text += "\\t"
        case let control where control.value < 0x20:
            let digits = String(control.value, radix: 16)
            text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: text.unicodeScalars.append(scalar)
        }
    }
}

/// The parameters of a graph: each distinct JSON text once.
struct ParameterTable {
    private(set) var texts: [String] = []
    private var indices: [String: Int] = [:]

    /// The index of a text, added if it is new.
    mutating func index(of text: String) -> Int {
        if let index = indices[text] { return index }
        return append(text)
    }

    /// The index of what nobody can judge.
    mutating func indexOfUnreadable() -> Int {
        indices[LoadedGraph.unreadableParameters] ?? append(LoadedGraph.unreadableParameters)
    }

    private mutating func append(_ text: String) -> Int {
        indices[text] = texts.count
        texts.append(text)
        return texts.count - 1
    }
}
