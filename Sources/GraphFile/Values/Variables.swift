/// A variable of the file: `vars`, or `--set` in its place.
struct Variable: Hashable {
    var value: JSONValue
    /// As it is pasted into text: a scalar as it is written (`1.10`, `0755`), no value as nothing, lists and maps as JSON.
    var text: String

    init(_ value: JSONValue, text: String? = nil) {
        self.value = value
        self.text = text ?? value.plainText
    }
}

/// The names a node's texts may use.
struct VariableScope {
    /// Of the whole file.
    var variables: [String: Variable] = [:]
    /// Elements of the forEach's around the node, outermost first.
    var bindings: [String] = []

    /// The position of the innermost element.
    static let index = "index"

    /// Inside a forEach: the worker fills in what the elements give.
    var isTemplated: Bool { !bindings.isEmpty }

    func isBinding(_ name: String) -> Bool {
        isTemplated && (name == Self.index || bindings.contains(name))
    }

    /// Every name that may be used, for suggestions.
    var names: [String] {
        bindings + (isTemplated ? [Self.index] : []) + variables.keys.sorted()
    }

    /// What a command line sees as environment: each variable, and the scalar members of those that are maps.
    /// An element of the same name comes from the worker instead.
    var environment: [String: JSONValue] {
        var environment: [String: JSONValue] = [:]
        let visible = variables.filter { !isBinding($0.key) }
        for (name, variable) in visible {
            guard case .object(let members) = variable.value else { continue }
            for (key, member) in members where member.isScalar && Template.isIdentifier("_" + key) {
                environment["\(name)_\(key)"] = .string(member.plainText)
            }
        }
        for (name, variable) in visible { environment[name] = .string(variable.text) }
        return environment
    }
}
