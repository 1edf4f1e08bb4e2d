import Wire

/// The forEach elements in scope of one unit, innermost last, and the texts they stand for.
struct Bindings: Sendable {
    struct Element: Sendable {
        let name: String
        let index: UInt32
        /// JSON.
        let element: [UInt8]
    }

    var elements: [Element]

    init(_ elements: [Element] = []) { self.elements = elements }

    init(_ bindings: [WireBinding]) {
        elements = bindings.map { Element(name: $0.name, index: $0.index, element: [UInt8]($0.element)) }
    }

    /// What `${reference}` is replaced by; nil when the name is unknown. Scalars as text, structures as JSON.
    func text(for reference: String) throws -> String? { try json(for: reference).map(Self.text) }

    /// The value that `reference` names, as JSON; nil when the name is unknown.
    ///
    /// `index` is the innermost index, `name.index` that of one binding (unless its element has a member of that name).
    /// Inner names hide outer ones.
    func json(for reference: String) throws -> [UInt8]? {
        let parts = reference.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let binding = elements.last(where: { $0.name == parts[0] }) else {
            return reference == "index" ? elements.last.map { Array(String($0.index).utf8) } : nil
        }
        var value = binding.element
        for (depth, key) in parts.dropFirst().enumerated() {
            guard let member = try JSONScanner.members(value)?.last(where: { $0.name == key }) else {
                return depth == 0 && parts.count == 2 && key == "index" ? Array(String(binding.index).utf8) : nil
            }
            value = Array(member.value)
        }
        return value
    }

    /// The environment of a shell command: NAME as text or JSON, scalar members as NAME_key, and `index`.
    func environment() throws -> [(name: String, value: String)] {
        var result: [(String, String)] = []
        for binding in elements {
            result.append((binding.name, try Self.text(of: binding.element)))
            for member in try JSONScanner.members(binding.element) ?? [] {
                switch try JSONScanner.kind(member.value) {
                case .object, .array: continue
                case .string, .number, .literal:
                    result.append(("\(binding.name)_\(member.name)", try Self.text(of: member.value)))
                }
            }
            result.append(("index", String(binding.index)))
        }
        return result
    }

    /// All names that can be referred to, for error texts.
    var names: [String] { elements.isEmpty ? [] : elements.map(\.name) + ["index"] }

    private static func text(of value: [UInt8]) throws -> String {
        switch try JSONScanner.kind(value) {
        case .string: try JSONScanner.string(value)
        case .number, .literal, .object, .array:
            String(decoding: value[try JSONScanner.check(value)], as: UTF8.self)
        }
    }
}
