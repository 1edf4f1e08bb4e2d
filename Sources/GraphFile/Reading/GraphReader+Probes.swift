import Wire

/// Conditions that a worker evaluates.
extension GraphReader {
    /// nil: reported.
    mutating func readProbe(
        _ form: ConditionKey, _ value: Int, _ fields: ConditionFields, scope: VariableScope, node: Int
    ) -> WireProbe? {
        let what = "`\(form.rawValue)`"
        guard let text = readText(value, as: what, node: node) else { return nil }
        if text.isEmpty {
            report("\(what) is empty", value: value, node: node)
            return nil
        }
        var probe = WireProbe()
        probe.type = form.rawValue
        probe.templated = scope.isTemplated
        if let wait = fields[.wait] { probe.wait = readFlag("wait", wait.value, node: node) ?? false }
        let parameters: JSONValue?
        switch form {
        case .reachable: parameters = readTarget(text, value, scope: scope, node: node).map { .object(["url": .string($0)]) }
        case .fileExists: parameters = readPath(text, value, scope: scope, node: node).map { .object(["path": .string($0)]) }
        case .command: parameters = readConditionCommand(text, scope: scope)
        default:
            probe.type = text
            parameters = readConditionParameters(text, value, fields[.with]?.value, scope: scope, node: node)
        }
        guard let parameters, let index = indexOfParameters(parameters, at: document[value].position, node: node) else { return nil }
        probe.parameters = UInt32(index)
        return probe
    }

    private mutating func readTarget(_ text: String, _ value: Int, scope: VariableScope, node: Int) -> String? {
        guard let rendered = readTemplate(text, scope: scope, value: value, node: node) else { return nil }
        // What an element of a forEach gives is not known here: the worker sees it.
        if rendered.utf8.contains(UInt8(ascii: "$")) { return rendered }
        guard let separator = rendered.range(of: "://"), !rendered[..<separator.lowerBound].isEmpty,
            !rendered[separator.upperBound...].isEmpty
        else {
            report(
                "`reachable` must be a URL such as `tcp://host:port` or `https://host`, found \(quoted(rendered))", value: value, node: node
            )
            return nil
        }
        return rendered
    }

    private mutating func readPath(_ text: String, _ value: Int, scope: VariableScope, node: Int) -> String? {
        guard let rendered = readTemplate(text, scope: scope, value: value, node: node) else { return nil }
        if rendered.hasPrefix("/") || rendered.hasPrefix("$") { return rendered }
        report(
            "`fileExists` must be a path from the root such as `/data/ready`, found \(quoted(rendered)); a worker has no directory of the node's",
            value: value, node: node)
        return nil
    }

    /// As a `run`: variables are its environment.
    private func readConditionCommand(_ text: String, scope: VariableScope) -> JSONValue {
        var members: [String: JSONValue] = ["run": .string(scope.isTemplated ? Template.escaped(text) : text)]
        let variables = scope.environment
        if !variables.isEmpty {
            members["variables"] = scope.isTemplated ? JSONValue.object(variables).mapStrings(Template.escaped) : .object(variables)
        }
        return .object(members)
    }

    private mutating func readConditionParameters(
        _ type: String, _ value: Int, _ with: Int?, scope: VariableScope, node: Int
    ) -> JSONValue? {
        if let builtIn = ConditionKey.forms.first(where: { $0.rawValue == type }) {
            report("the condition `\(type)` is written as `{\(builtIn.rawValue): …}`, not as a `type`", value: value, node: node)
            return nil
        }
        if type.utf8.count > FileLimits.identifierBytes {
            report("`type` must have at most \(FileLimits.identifierBytes) bytes", value: value, node: node)
            return nil
        }
        guard let with else { return .object([:]) }
        guard case .mapping(let entries) = document[with].content else {
            report("`with` must be a map of parameters, found \(document.description(with))", value: with, node: node)
            return nil
        }
        return readParameters(entries, of: with, scope: scope, node: node)
    }
}
