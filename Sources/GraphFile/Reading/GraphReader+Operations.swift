/// Commands and registered operations.
extension GraphReader {
    mutating func readOperation(
        _ fields: [NodeKey: Field], form: NodeForm, into index: Int, scope: VariableScope, reportingAs node: Int
    ) {
        let read: (type: String, parameters: JSONValue)? =
            switch form {
            case .run, .exec: readCommand(fields, form: form, scope: scope, node: node).map { (Self.commandType, $0) }
            case .op: readRegistered(fields, index: index, scope: scope, node: node)
            case .group, .ordered: nil
            }
        guard let read, let parameters = indexOfParameters(read.parameters, at: drafts[node].position, node: node) else { return }
        drafts[index].kind = .operation(type: read.type, parameters: parameters, isTemplated: scope.isTemplated)
    }

    /// Puts parameters into the graph's table. nil: reported.
    mutating func indexOfParameters(_ value: JSONValue, at position: GraphFilePosition, node: Int) -> Int? {
        let text = value.json
        return mayTravel(text, as: "the parameters have", at: position, node: node) ? parameters.index(of: text) : nil
    }

    /// Whether JSON is small enough for assignments; if not, that is reported.
    mutating func mayTravel(_ text: String, as what: String, at position: GraphFilePosition, node: Int) -> Bool {
        let bytes = text.utf8.count
        guard bytes > FileLimits.parameterBytes else { return true }
        report(
            "\(what) \(bytes) bytes as JSON; the limit is \(FileLimits.parameterBytes) (parameterBytes): hand large data over as a file or as"
                + " another operation's value", at: position, node: node)
        return false
    }

    /// Registered name of what `run` and `exec` are.
    static let commandType = "shell"

    private mutating func readCommand(_ fields: [NodeKey: Field], form: NodeForm, scope: VariableScope, node: Int) -> JSONValue? {
        var members: [String: JSONValue] = [:]
        var isComplete = true
        func take(_ name: String, _ value: JSONValue?) {
            members[name] = value
            if value == nil { isComplete = false }
        }
        if form == .run {
            take("run", readCommandLine(fields, scope: scope, node: node))
            let variables = scope.environment
            if !variables.isEmpty {
                take("variables", scope.isTemplated ? JSONValue.object(variables).mapStrings(Template.escaped) : .object(variables))
            }
        } else {
            take("exec", readArguments(fields, scope: scope, node: node))
        }
        if let field = fields[.env] { take("environment", readEnvironment(field, scope: scope, node: node)) }
        if let field = fields[.cwd] { take("workingDirectory", readPlace(field, scope: scope, node: node)) }
        if let field = fields[.stdin] {
            take("stdin", readTextOrSecret(field.value, as: "`stdin`", scope: scope, node: node))
        }
        if let field = fields[.output] {
            take("output", readChoice(field, of: ["text", "lines", "json", "bytes", "none"], node: node).map { .string($0) })
        }
        if let field = fields[.maxOutput] {
            let bytes = readQuantity(field, example: "a size such as `64MiB`", node: node, SizeText.read)
            take("maxOutput", bytes.map { .number(String($0)) })
        }
        return isComplete ? .object(members) : nil
    }

    private mutating func readCommandLine(_ fields: [NodeKey: Field], scope: VariableScope, node: Int) -> JSONValue? {
        guard let field = fields[.run], let text = readText(field, node: node) else { return nil }
        guard isFreeOfNUL(text, what: "`run`", value: field.value, node: node) else { return nil }
        return .string(scope.isTemplated ? Template.escaped(text) : text)
    }

    private mutating func readArguments(_ fields: [NodeKey: Field], scope: VariableScope, node: Int) -> JSONValue? {
        guard let field = fields[.exec] else { return nil }
        guard case .sequence(let values) = document[field.value].content else {
            let remedy = document.scalar(field.value) == nil ? "" : "; a command line is a `run`"
            report(
                "`exec` must be a list such as `[wc, -l]`, found \(document.description(field.value))\(remedy)", value: field.value,
                node: node)
            return nil
        }
        var arguments: [JSONValue] = []
        for value in values {
            if let text = readText(value, as: "an argument of `exec`", node: node),
                isFreeOfNUL(text, what: "an argument of `exec`", value: value, node: node),
                let argument = readTemplate(text, scope: scope, value: value, node: node)
            {
                arguments.append(.string(argument))
            }
        }
        guard let program = values.first else {
            report("`exec` must begin with a program, found an empty list", value: field.value, node: node)
            return nil
        }
        if document.scalar(program)?.text.isEmpty == true {
            report("`exec` must begin with a program, found empty text", value: program, node: node)
            return nil
        }
        return arguments.count == values.count ? .array(arguments) : nil
    }

    private mutating func readEnvironment(_ field: Field, scope: VariableScope, node: Int) -> JSONValue? {
        guard case .mapping(let entries) = document[field.value].content else {
            report("`env` must be a map of names and values, found \(document.description(field.value))", value: field.value, node: node)
            return nil
        }
        var environment: [String: JSONValue] = [:]
        var isComplete = true
        for (name, key, value) in readEntries(entries, node: node) {
            if name.isEmpty || name.utf8.contains(where: { $0 == UInt8(ascii: "=") || $0 == 0 }) {
                report("`env`: \(quoted(name)) cannot name an environment variable", value: key, node: node)
                isComplete = false
            }
            if isSecret(value) {
                environment[name] = readSecret(value, node: node)
                if environment[name] == nil { isComplete = false }
                continue
            }
            let text = readText(value, as: "`\(name)` in `env`", node: node)
            if let text, isFreeOfNUL(text, what: "`\(name)` in `env`", value: value, node: node),
                let rendered = readTemplate(text, scope: scope, value: value, node: node)
            {
                environment[name] = .string(rendered)
            } else {
                isComplete = false
            }
        }
        return isComplete ? .object(environment) : nil
    }

    private mutating func readPlace(_ field: Field, scope: VariableScope, node: Int) -> JSONValue? {
        guard let text = readText(field, node: node), isFreeOfNUL(text, what: "`cwd`", value: field.value, node: node) else { return nil }
        return readTemplate(text, scope: scope, value: field.value, node: node).map { .string($0) }
    }

    private mutating func isFreeOfNUL(_ text: String, what: String, value: Int, node: Int) -> Bool {
        guard text.utf8.contains(0) else { return true }
        report("\(what) contains a NUL character, which no command can be given", value: value, node: node)
        return false
    }

    private mutating func readRegistered(
        _ fields: [NodeKey: Field], index: Int, scope: VariableScope, node: Int
    ) -> (type: String, parameters: JSONValue)? {
        guard let field = fields[.op], let type = readText(field, node: node) else { return nil }
        if type.utf8.count > FileLimits.identifierBytes {
            report("`op` must have at most \(FileLimits.identifierBytes) bytes", value: field.value, node: node)
            return nil
        }
        if type == Self.commandType {
            report("a command is written as `run:` or `exec:`, not as `op: shell`", value: field.value, node: node)
            return nil
        }
        named.append(NamedOperation(type: type, position: document[field.value].position, node: node))
        drafts[index].registeredType = type
        let with = fields[.with]
        var entries: [SourceEntry] = []
        if let with {
            guard case .mapping(let found) = document[with.value].content else {
                report("`with` must be a map of parameters, found \(document.description(with.value))", value: with.value, node: node)
                return nil
            }
            entries = found
        }
        if let builtIn = BuiltInOperation(rawValue: type) {
            return readBuiltIn(builtIn, entries, at: with?.value ?? field.value, index: index, scope: scope, node: node).map { (type, $0) }
        }
        guard let with else { return (type, .object([:])) }
        return readParameters(entries, of: with.value, scope: scope, node: node).map { (type, $0) }
    }
}
