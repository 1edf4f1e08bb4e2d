/// Variables, and values that may use them.
extension GraphReader {
    /// `vars` with what `--set` puts in their place.
    mutating func readVariables(_ fields: [NodeKey: Field], node: Int) -> [String: Variable] {
        var variables: [String: Variable] = [:]
        if let field = fields[.vars] {
            if case .mapping(let entries) = document[field.value].content {
                for (name, key, value) in readEntries(entries, node: node) {
                    if let problem = Self.problem(withName: name) { report("`vars`: \(problem)", value: key, node: node) }
                    variables[name] = readVariableValue(value, node: node) ?? Variable(.null)
                }
            } else {
                report(
                    "`vars` must be a map of names and values, found \(document.description(field.value))", value: field.value, node: node)
            }
        }
        let position = fields[.vars]?.keyPosition ?? drafts[node].position
        for (name, text) in options.set.sorted(by: { $0.key < $1.key }) {
            guard let declared = variables[name] else {
                let hint = hint(for: name) { _ in variables.keys.sorted() }
                let remedy = hint.isEmpty ? "; `vars` declares the variables of a graph" : hint
                report("`--set \(name)`: unknown variable \(quoted(name))\(remedy)", at: position, node: node)
                continue
            }
            switch Self.replaced(declared, with: text) {
            case .success(let variable): variables[name] = variable
            case .failure(let complaint): report("`--set \(name)`: \(complaint.message)", at: position, node: node)
            }
        }
        return variables
    }

    private mutating func readVariableValue(_ value: Int, node: Int) -> Variable? {
        guard let json = readData(value, scope: nil, isFixed: true, node: node) else { return nil }
        return Variable(json, text: document.scalar(value)?.text)
    }

    /// A `--set` text as the type of what it replaces: text stays text, a list or map is given as JSON or YAML.
    private static func replaced(_ declared: Variable, with text: String) -> Result<Variable, Complaint> {
        switch declared.value {
        case .string: return .success(Variable(.string(text)))
        case .null, .bool, .number:
            let value = JSONValue(SourceScalar(text: text, isPlain: true).value)
            return .success(Variable(value, text: text))
        case .array, .object: break
        }
        var isList = false
        if case .array = declared.value { isList = true }
        let wanted = isList ? "a list such as `[\"a\", \"b\"]`" : "a map such as `{\"key\": \"value\"}`"
        let bad = Complaint("the variable is \(wanted), found \(quoted(text))")
        guard let document = try? SourceDocument(SourceText(Array(text.utf8))) else { return .failure(bad) }
        var reader = GraphReader(document, file: "", options: GraphFileOptions())
        guard let value = reader.readData(document.root, scope: nil, isFixed: true, node: 0), reader.findings.isEmpty else {
            return .failure(bad)
        }
        switch value {
        case .array where isList, .object where !isList: return .success(Variable(value))
        default: return .failure(bad)
        }
    }

    /// Data: a scalar with its type, a list, a map. With a scope `${…}` in texts is replaced; a plain `${name}` alone is
    /// the variable's value with its type. `isFixed`: elements of a forEach around it cannot be used. nil: reported.
    mutating func readData(_ value: Int, scope: VariableScope?, isFixed: Bool, node: Int) -> JSONValue? {
        guard document[value].height <= FileLimits.valueDepth else {
            report(
                "lists and maps of a value may be nested \(FileLimits.valueDepth) deep, these are \(document[value].height) deep",
                value: value, node: node)
            return nil
        }
        return data(value, scope: scope, isFixed: isFixed, node: node)
    }

    /// The map behind `with`: what is in it are parameters, also when the only one is called `secret`. nil: reported.
    mutating func readParameters(_ entries: [SourceEntry], of value: Int, scope: VariableScope, node: Int) -> JSONValue? {
        guard isSecret(value) else { return readData(value, scope: scope, isFixed: false, node: node) }
        var members: [String: JSONValue] = [:]
        for (name, _, value) in readEntries(entries, node: node) {
            members[name] = readData(value, scope: scope, isFixed: false, node: node)
        }
        return members.isEmpty ? nil : .object(members)
    }

    private mutating func data(_ value: Int, scope: VariableScope?, isFixed: Bool, node: Int) -> JSONValue? {
        switch document[value].content {
        case .scalar(let scalar):
            return scalarData(scalar, value: value, scope: scope, isFixed: isFixed, node: node)
        case .sequence(let elements):
            var result: [JSONValue] = []
            result.reserveCapacity(elements.count)
            for element in elements {
                if let element = data(element, scope: scope, isFixed: isFixed, node: node) { result.append(element) }
            }
            return .array(result)
        case .mapping(let entries):
            if isSecret(value) {
                if scope != nil, !isFixed { return readSecret(value, node: node) }
                report(
                    "a variable or an element cannot be a secret; name it where it is used, in `env`, `with` or `stdin`", value: value,
                    node: node)
                return nil
            }
            var members: [String: JSONValue] = [:]
            for (name, _, value) in readEntries(entries, node: node) {
                members[name] = data(value, scope: scope, isFixed: isFixed, node: node)
            }
            return .object(members)
        }
    }

    private mutating func scalarData(
        _ scalar: SourceScalar, value: Int, scope: VariableScope?, isFixed: Bool, node: Int
    ) -> JSONValue? {
        guard let scope, let pieces = Template.pieces(of: scalar.text) else { return JSONValue(scalar.value) }
        if scalar.isPlain, pieces.count == 1, case .variable(let name, let keys) = pieces[0], !scope.isBinding(name) {
            guard let found = readVariable(name, keys: keys, scope: scope, isFixed: isFixed, value: value, node: node) else { return nil }
            return scope.isTemplated && !isFixed ? found.value.mapStrings(Template.escaped) : found.value
        }
        if scalar.isPlain, !isFixed, let typed = Self.typedReference(pieces, scope: scope) { return .string(typed) }
        return readTemplate(scalar.text, scope: scope, isFixed: isFixed, value: value, node: node).map { .string($0) }
    }

    /// `${=name}`, for which the worker puts the element's value with its type, if the text is one element of a forEach
    /// and nothing else.
    static func typedReference(_ pieces: [Template.Piece], scope: VariableScope) -> String? {
        guard scope.isTemplated, pieces.count == 1, case .variable(let name, let keys) = pieces[0], scope.isBinding(name) else {
            return nil
        }
        return "${=\(([name] + keys).joined(separator: "."))}"
    }

    /// A text with its variables in it. What the worker is to fill in stays, everything else is written so that the
    /// worker's rendering gives it back. nil: reported.
    mutating func readTemplate(_ text: String, scope: VariableScope, isFixed: Bool = false, value: Int, node: Int) -> String? {
        guard let pieces = Template.pieces(of: text) else { return text }
        let isRendered = scope.isTemplated && !isFixed
        var result = ""
        var isComplete = true
        for piece in pieces {
            switch piece {
            case .text(let text):
                result += isRendered ? Template.escaped(text) : text
            case .variable(let name, let keys) where isRendered && scope.isBinding(name):
                result += Self.reference(name, keys)
            case .variable(let name, let keys):
                if let found = readVariable(name, keys: keys, scope: scope, isFixed: isFixed, value: value, node: node) {
                    result += isRendered ? Template.escaped(found.text) : found.text
                } else {
                    isComplete = false
                }
            case .malformed(let inner):
                report(
                    "\(quoted("${\(inner)}")) is not a variable; write `${name}` or `${name.key}`, and `$$` for a literal `$`",
                    value: value, node: node)
                isComplete = false
            case .unterminated:
                report("`${` without `}`; write `$$` for a literal `$`", value: value, node: node)
                isComplete = false
            }
        }
        return isComplete ? result : nil
    }

    /// Refuses `$name` of a variable in what tells one thing from another: taken as it is written it would be the same for all.
    mutating func refuseUnbraced(_ text: String, key: NodeKey, scope: VariableScope, value: Int, node: Int) {
        guard let name = Template.unbracedName(in: text, where: { scope.isBinding($0) || scope.variables[$0] != nil }) else { return }
        report(
            "`\(key.rawValue)`: \(quoted("$\(name)")) is taken as it is written; write `${\(name)}` for the variable, or `$$\(name)` for a literal `$`",
            value: value, node: node)
    }

    /// A variable or a member of one. nil: reported.
    mutating func readVariable(
        _ name: String, keys: [String], scope: VariableScope, isFixed: Bool, value: Int, node: Int
    ) -> Variable? {
        if isFixed, scope.isBinding(name) {
            report(
                "\(quoted("${\(name)}")) cannot be used in a `forEach` list, which is the same for all elements; let a node make the list",
                value: value, node: node)
            return nil
        }
        guard let variable = scope.variables[name] else {
            if name == VariableScope.index {
                report("`${index}` exists only inside a `forEach`", value: value, node: node)
            } else {
                let hint = hint(for: name) { _ in scope.names }
                let remedy = hint.isEmpty ? "; `$$` is a literal `$`" : hint
                report("unknown variable \(quoted(name))\(remedy)", value: value, node: node)
            }
            return nil
        }
        guard let member = variable.value[keys] else {
            reportMissing(keys, in: variable, name: name, value: value, node: node)
            return nil
        }
        return keys.isEmpty ? variable : Variable(member)
    }

    private mutating func reportMissing(_ keys: [String], in variable: Variable, name: String, value: Int, node: Int) {
        var outer = [name]
        var found = variable.value
        for key in keys {
            let place = outer.count == 1 ? "variable \(quoted(name))" : quoted(outer.joined(separator: "."))
            guard case .object(let members) = found else {
                report("\(quoted(Self.reference(name, keys))): \(place) is not a map", value: value, node: node)
                return
            }
            guard let member = members[key] else {
                let hint = hint(for: key) { _ in members.keys.sorted() }
                report("\(quoted(Self.reference(name, keys))): \(place) has no key \(quoted(key))\(hint)", value: value, node: node)
                return
            }
            outer.append(key)
            found = member
        }
    }

    private static func reference(_ name: String, _ keys: [String]) -> String {
        "${\(([name] + keys).joined(separator: "."))}"
    }
}
