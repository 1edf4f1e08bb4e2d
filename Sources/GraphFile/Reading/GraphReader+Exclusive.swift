/// `exclusive`: the locks that a node takes.
extension GraphReader {
    /// `exclusive: key`, `exclusive: {key: db, limit: 3}`, or a list of both.
    mutating func readExclusive(_ fields: [NodeKey: Field], into index: Int, scope: VariableScope, reportingAs node: Int) {
        guard let field = fields[.exclusive] else { return }
        var values = [field.value]
        if case .sequence(let list) = document[field.value].content {
            values = list
            if list.isEmpty { report("`exclusive` names no key", value: field.value, node: node) }
            if list.count > FileLimits.exclusiveKeys {
                report(
                    "`exclusive` names \(list.count) keys; at most \(FileLimits.exclusiveKeys) are possible", value: field.value, node: node
                )
                return
            }
        }
        for value in values {
            guard let exclusive = readExclusiveKey(value, scope: scope, node: node) else { continue }
            if drafts[index].options.exclusive.contains(where: { $0.key == exclusive.key }) {
                report("`exclusive` names \(quoted(exclusive.key)) twice", value: value, node: node)
            } else {
                drafts[index].options.exclusive.append(exclusive)
            }
        }
    }

    private mutating func readExclusiveKey(_ value: Int, scope: VariableScope, node: Int) -> ExclusiveKey? {
        switch document[value].content {
        case .scalar(let scalar):
            return readKeyText(scalar, value: value, scope: scope, node: node).map { ExclusiveKey(key: $0, limit: 1) }
        case .mapping(let entries):
            return readKeyMap(entries, value: value, scope: scope, node: node)
        case .sequence:
            report(
                "`exclusive` must be a key, `{key: …, limit: …}` or a list of these, found \(document.description(value))", value: value,
                node: node)
            return nil
        }
    }

    private mutating func readKeyMap(_ entries: [SourceEntry], value: Int, scope: VariableScope, node: Int) -> ExclusiveKey? {
        var key: String?
        var hasKey = false
        var limit = 1
        for (name, nameIndex, value) in readEntries(entries, node: node) {
            switch name {
            case "key":
                hasKey = true
                if let scalar = document.scalar(value) {
                    key = readKeyText(scalar, value: value, scope: scope, node: node)
                } else {
                    report("`key` must be text, found \(document.description(value))", value: value, node: node)
                }
            case "limit":
                guard let scalar = document.scalar(value), case .number(let text) = scalar.value, let count = Int(text), count > 0,
                    count <= Int(Int32.max)
                else {
                    report(
                        "`limit` must be a whole number from 1 to \(Int32.max), found \(document.description(value))", value: value,
                        node: node
                    )
                    continue
                }
                limit = count
            default:
                let hint = hint(for: name) { _ in ["key", "limit"] }
                report("unknown key \(quoted(name)) in `exclusive`\(hint)", value: nameIndex, node: node)
            }
        }
        if !hasKey { report("`exclusive` needs `key`, as in `{key: db, limit: 3}`", value: value, node: node) }
        return key.map { ExclusiveKey(key: $0, limit: limit) }
    }

    /// A key with the variables of the file in it. Elements of a forEach cannot be part of one: what a group takes is known
    /// when it starts.
    private mutating func readKeyText(_ scalar: SourceScalar, value: Int, scope: VariableScope, node: Int) -> String? {
        for case .variable(let name, _) in Template.pieces(of: scalar.text) ?? [] where scope.isBinding(name) {
            report(
                "\(quoted("${\(name)}")) cannot be used in `exclusive`: the keys of a forEach are the same for all its elements",
                value: value, node: node)
            return nil
        }
        if let name = Template.unbracedName(in: scalar.text, where: scope.isBinding) {
            report(
                "\(quoted("$\(name)")) cannot be used in `exclusive`: the keys of a forEach are the same for all its elements; "
                    + "write `$$\(name)` for a literal `$`",
                value: value, node: node)
            return nil
        }
        refuseUnbraced(scalar.text, key: .exclusive, scope: scope, value: value, node: node)
        guard let text = readTemplate(scalar.text, scope: scope, isFixed: true, value: value, node: node) else { return nil }
        let problem: String? =
            if scalar.value == .null || text.isEmpty {
                "is empty"
            } else if text.utf8.count > FileLimits.exclusiveKeyBytes {
                "must have at most \(FileLimits.exclusiveKeyBytes) bytes"
            } else if text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
                "must not contain control characters"
            } else {
                nil
            }
        if let problem { report("`exclusive`: the key \(quoted(text)) \(problem)", value: value, node: node) }
        return problem == nil ? text : nil
    }
}
