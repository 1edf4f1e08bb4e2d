/// Operations every worker has, and what they take.
enum BuiltInOperation: String, CaseIterable {
    case noop, delay, http, readFile, writeFile

    /// Known to the format, not to this release.
    static let notYet: Set<String> = ["download", "upload", "jsonDecode", "jsonPath"]

    struct Parameter {
        enum Form {
            /// A scalar as it is written.
            case text
            /// Zero or more.
            case number
            /// A map of texts.
            case texts
        }
        let name: String
        let form: Form
        let isRequired: Bool
    }

    var parameters: [Parameter] {
        switch self {
        case .noop: []
        case .delay: [Parameter(name: "seconds", form: .number, isRequired: true)]
        case .http:
            [
                Parameter(name: "url", form: .text, isRequired: true),
                Parameter(name: "method", form: .text, isRequired: false),
                Parameter(name: "headers", form: .texts, isRequired: false),
                Parameter(name: "body", form: .text, isRequired: false),
            ]
        case .readFile, .writeFile: [Parameter(name: "path", form: .text, isRequired: true)]
        }
    }
}

extension GraphReader {
    /// The parameters of a built-in operation. nil: reported.
    mutating func readBuiltIn(
        _ operation: BuiltInOperation, _ entries: [SourceEntry], at place: Int, index: Int, scope: VariableScope, node: Int
    ) -> JSONValue? {
        var members: [String: JSONValue] = [:]
        var given: Set<String> = []
        let known = operation.parameters
        for (name, key, value) in readEntries(entries, node: node) {
            given.insert(name)
            guard let parameter = known.first(where: { $0.name == name }) else {
                report(unknownParameter(name, of: operation), value: key, node: node)
                continue
            }
            members[name] = readParameter(parameter, of: operation, value, scope: scope, node: node)
        }
        for parameter in known where parameter.isRequired && !given.contains(parameter.name) {
            report("`\(operation.rawValue)` needs the parameter `\(parameter.name)` in `with`", value: place, node: node)
        }
        if operation == .writeFile, drafts[index].receives.isEmpty {
            report("`writeFile` writes the value it receives, and there is no `receives`", at: drafts[node].position, node: node)
        }
        return members.count == entries.count ? .object(members) : nil
    }

    private mutating func unknownParameter(_ name: String, of operation: BuiltInOperation) -> String {
        let names = operation.parameters.map(\.name)
        let hint = hint(for: name) { _ in names }
        let takes = names.isEmpty ? "none" : names.map { "`\($0)`" }.joined(separator: ", ")
        return "unknown parameter \(quoted(name)) of `\(operation.rawValue)`" + (hint.isEmpty ? "; it takes \(takes)" : hint)
    }

    private mutating func readParameter(
        _ parameter: BuiltInOperation.Parameter, of operation: BuiltInOperation, _ value: Int, scope: VariableScope, node: Int
    ) -> JSONValue? {
        let what = "`\(parameter.name)` of `\(operation.rawValue)`"
        switch parameter.form {
        case .text:
            if isSecret(value) { return readSecret(value, node: node) }
            guard let text = readText(value, as: what, node: node) else { return nil }
            guard let rendered = readTemplate(text, scope: scope, value: value, node: node) else { return nil }
            if parameter.isRequired, rendered.isEmpty {
                report("\(what) is empty", value: value, node: node)
                return nil
            }
            return .string(rendered)
        case .number:
            return readNumber(what, value, scope: scope, node: node)
        case .texts:
            guard case .mapping(let entries) = document[value].content else {
                report("\(what) must be a map of texts, found \(document.description(value))", value: value, node: node)
                return nil
            }
            var members: [String: JSONValue] = [:]
            for (name, _, value) in readEntries(entries, node: node) {
                members[name] = readTextOrSecret(value, as: "\(quoted(name)) in \(what)", scope: scope, node: node)
            }
            return .object(members)
        }
    }

    /// A number, or `${…}` that gives one.
    private mutating func readNumber(_ what: String, _ value: Int, scope: VariableScope, node: Int) -> JSONValue? {
        if let scalar = document.scalar(value) {
            if case .number(let text) = scalar.value, !text.hasPrefix("-") { return .number(text) }
            if let pieces = Template.pieces(of: scalar.text) {
                if let typed = Self.typedReference(pieces, scope: scope) { return .string(typed) }
                guard let text = readTemplate(scalar.text, scope: scope, value: value, node: node) else { return nil }
                // An element's text is not known here: the worker sees it.
                if scope.isTemplated, text.utf8.contains(UInt8(ascii: "$")) { return .string(text) }
                if JSONNumber.isOne(text), !text.hasPrefix("-") { return .number(text) }
                report("\(what) must be a number from 0 on, found \(quoted(text))", value: value, node: node)
                return nil
            }
        }
        report("\(what) must be a number from 0 on, found \(document.description(value))", value: value, node: node)
        return nil
    }
}
