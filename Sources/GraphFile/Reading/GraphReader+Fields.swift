import Wire

/// A key of a node and its value.
struct Field {
    let key: NodeKey
    let keyPosition: GraphFilePosition
    /// Index in the document.
    let value: Int
}

/// Keys, and values that mean the same in every kind of node.
extension GraphReader {
    /// A map's entries by text key. Reports keys that are no text, and duplicates, of which the first counts.
    mutating func readEntries(_ entries: [SourceEntry], node: Int) -> [(name: String, key: Int, value: Int)] {
        var known: [String: GraphFilePosition] = [:]
        var result: [(name: String, key: Int, value: Int)] = []
        result.reserveCapacity(entries.count)
        for entry in entries {
            guard let name = document.scalar(entry.key)?.text else {
                report("a key must be text, found \(document.description(entry.key))", value: entry.key, node: node)
                continue
            }
            if let first = known[name] {
                report("duplicate key \(quoted(name)) (first at \(first))", value: entry.key, node: node)
            } else {
                known[name] = document[entry.key].position
                result.append((name, entry.key, entry.value))
            }
        }
        return result
    }

    /// A node's keys. Reports those that are unknown, misplaced, or have no value.
    mutating func readFields(_ entries: [SourceEntry], node: Int, isTopLevel: Bool) -> [NodeKey: Field] {
        var fields: [NodeKey: Field] = [:]
        for (name, keyIndex, value) in readEntries(entries, node: node) {
            let position = document[keyIndex].position
            guard let key = NodeKey(rawValue: name) else {
                report(unknownKey(name, isTopLevel: isTopLevel), at: position, node: node)
                continue
            }
            if key.standing == .topLevel, !isTopLevel {
                report("\(quoted(name)) belongs to the top level of the file", at: position, node: node)
            } else if isTopLevel, let reason = NodeKey.notAtTopLevel[key] {
                report("\(quoted(name)): \(reason)", at: position, node: node)
            } else if document.scalar(value)?.value == .null {
                report("\(quoted(name)) has no value", value: value, node: node)
            } else {
                fields[key] = Field(key: key, keyPosition: position, value: value)
            }
        }
        return fields
    }

    private mutating func unknownKey(_ name: String, isTopLevel: Bool) -> String {
        if name == "<<" { return "merge keys (`<<`) are not supported; an alias can stand for a whole value" }
        let known = NodeKey.allCases.filter { isTopLevel ? NodeKey.notAtTopLevel[$0] == nil : $0.standing != .topLevel }
        return "unknown key \(quoted(name))" + hint(for: name) { _ in known.map(\.rawValue) }
    }

    /// What the node is. Reports none and several; of several the first in the file counts.
    mutating func readForm(_ fields: [NodeKey: Field], node: Int, at position: GraphFilePosition, isTopLevel: Bool) -> NodeForm? {
        let found = NodeForm.allCases.filter { fields[$0.key] != nil }
        if isTopLevel, let other = found.first(where: { !$0.isGroup }), let field = fields[other.key] {
            report(
                "the top level is a `group:` or `ordered:`; put this `\(other.rawValue)` into its list", at: field.keyPosition, node: node)
        }
        let forms = isTopLevel ? found.filter(\.isGroup) : found
        if forms.isEmpty, isTopLevel ? found.isEmpty : true {
            report(
                isTopLevel
                    ? "the top level needs `group:` or `ordered:` with the list of nodes"
                    : "a node needs one of `run`, `exec`, `op`, `group`, `ordered`", at: position, node: node)
        }
        if forms.count > 1, let second = fields[forms[1].key] {
            let names = forms.map { "`\($0.rawValue)`" }.joined(separator: " and ")
            report("has \(names); exactly one says what a node is", at: second.keyPosition, node: node)
        }
        return forms.first
    }

    /// Reports keys that mean nothing for what the node is.
    mutating func refuseMisplaced(_ fields: [NodeKey: Field], form: NodeForm?, hasForEach: Bool, node: Int) {
        if !hasForEach, let field = fields[.as] {
            report("`as` names the element of a `forEach`, and there is none here", at: field.keyPosition, node: node)
        }
        if let field = fields[.whenReceivedFails], fields[.receives] == nil, form?.isGroup != true {
            report("`whenReceivedFails` needs `receives`", at: field.keyPosition, node: node)
        }
        guard let form else { return }
        for field in fields.values {
            if let reason = misplaced(field.key, form: form, hasForEach: hasForEach) {
                report("`\(field.key.rawValue)` \(reason)", at: field.keyPosition, node: node)
            }
        }
    }

    private func misplaced(_ key: NodeKey, form: NodeForm, hasForEach: Bool) -> String? {
        switch key {
        case .env, .cwd, .output, .stdin, .maxOutput:
            form.isCommand ? nil : "is for commands (`run`, `exec`), not for `\(form.rawValue)`"
        case .with:
            form == .op ? nil : "holds the parameters of an `op`, not of `\(form.rawValue)`"
        case .maxConcurrent, .onFailure:
            form.isGroup || hasForEach ? nil : "is for groups and `forEach`, not for `\(form.rawValue)`"
        case .queueTimeout:
            form.isGroup ? "is for commands and operations; a group waits for no worker" : nil
        case .receives, .whenReceivedFails:
            form.isGroup ? "is for commands and operations; give it to the member that needs the value, or use `after`" : nil
        default: nil
        }
    }

    /// `retry`, `timeout`, `grace`.
    mutating func readLimits(_ fields: [NodeKey: Field], form: NodeForm?, into index: Int, reportingAs node: Int) {
        if let field = fields[.retry] { readRetry(field, into: index, reportingAs: node) }
        if let field = fields[.timeout], let milliseconds = readDuration(field, node: node) {
            if milliseconds == 0 { report("`timeout` must be longer than 0", value: field.value, node: node) }
            drafts[index].timeoutMilliseconds = milliseconds
        }
        if let field = fields[.grace] { drafts[index].graceMilliseconds = readDuration(field, node: node) }
        readOptions(fields, form: form, into: index, reportingAs: node)
    }

    /// `onFailure` and `maxConcurrent` of a group or forEach.
    mutating func readGroupKeys(_ fields: [NodeKey: Field], form: NodeForm?, into index: Int, reportingAs node: Int) {
        if let field = fields[.onFailure], let choice = readChoice(field, of: ["continue", "stop"], node: node) {
            drafts[index].stopsOnFailure = choice == "stop"
        } else {
            drafts[index].stopsOnFailure = form == .ordered
        }
        if let field = fields[.maxConcurrent], let count = readCount(field, upTo: Int(UInt32.max), node: node) {
            if count == 0 { report("`maxConcurrent` must be at least 1; leave it out for no limit", value: field.value, node: node) }
            drafts[index].maxConcurrent = count
        }
    }

    mutating func readCount(_ field: Field, upTo limit: Int, node: Int) -> Int? {
        readCount(field.value, as: field.key.rawValue, upTo: limit, node: node)
    }

    mutating func readCount(_ value: Int, as key: String, upTo limit: Int, node: Int) -> Int? {
        guard case .number(let text)? = document.scalar(value)?.value, !text.utf8.contains(where: { ".eE".utf8.contains($0) }) else {
            report("`\(key)` must be a whole number, found \(document.description(value))", value: value, node: node)
            return nil
        }
        guard let count = Int(text), (0...limit).contains(count) else {
            report("`\(key)` must be from 0 to \(limit), found \(quoted(text))", value: value, node: node)
            return nil
        }
        return count
    }

    /// `true` or `false`.
    mutating func readFlag(_ field: Field, node: Int) -> Bool? {
        if case .bool(let flag)? = document.scalar(field.value)?.value { return flag }
        report("`\(field.key.rawValue)` must be true or false, found \(document.description(field.value))", value: field.value, node: node)
        return nil
    }

    /// A choice among words.
    mutating func readChoice(_ field: Field, of choices: [String], node: Int) -> String? {
        let key = field.key.rawValue
        let list = choices.map { "`\($0)`" }
        let words = list.dropLast().joined(separator: ", ") + " or " + (list.last ?? "")
        guard let text = document.scalar(field.value)?.text else {
            report("`\(key)` must be \(words), found \(document.description(field.value))", value: field.value, node: node)
            return nil
        }
        guard choices.contains(text) else {
            let hint = hint(for: text) { _ in choices }
            report("`\(key)` must be \(words), found \(quoted(text))\(hint)", value: field.value, node: node)
            return nil
        }
        return text
    }

    mutating func readDuration(_ field: Field, node: Int) -> Int64? {
        readQuantity(field, example: "a duration such as `90s`", node: node, DurationText.read)
    }

    mutating func readQuantity<Value>(
        _ field: Field, example: String, node: Int, _ read: (String) -> Result<Value, Complaint>
    ) -> Value? {
        readQuantity(field.value, as: field.key.rawValue, example: example, node: node, read)
    }

    mutating func readQuantity<Value>(
        _ value: Int, as key: String, example: String, node: Int, _ read: (String) -> Result<Value, Complaint>
    ) -> Value? {
        guard let text = document.scalar(value)?.text else {
            report("`\(key)` must be \(example), found \(document.description(value))", value: value, node: node)
            return nil
        }
        switch read(text) {
        case .success(let quantity): return quantity
        case .failure(let complaint):
            report("`\(key)`: \(complaint.message)", value: value, node: node)
            return nil
        }
    }

    /// A scalar as it is written, not empty.
    mutating func readText(_ field: Field, node: Int) -> String? {
        readText(field.value, as: "`\(field.key.rawValue)`", node: node).flatMap { text in
            if text.isEmpty { report("`\(field.key.rawValue)` is empty", value: field.value, node: node) }
            return text.isEmpty ? nil : text
        }
    }

    /// A scalar as it is written: `true`, `0755` and `1.10` are text.
    mutating func readText(_ value: Int, as what: String, node: Int) -> String? {
        guard let scalar = document.scalar(value) else {
            if isSecret(value) {
                report(
                    "\(what) cannot be a secret; `{secret: NAME}` is a value in `env` and `with`, and of `stdin`", value: value, node: node)
            } else {
                report("\(what) must be text, found \(document.description(value))", value: value, node: node)
            }
            return nil
        }
        return scalar.text
    }

    /// A text with its variables in it, or a secret, which the worker puts in. nil: reported.
    mutating func readTextOrSecret(_ value: Int, as what: String, scope: VariableScope, node: Int) -> JSONValue? {
        if isSecret(value) { return readSecret(value, node: node) }
        guard let text = readText(value, as: what, node: node) else { return nil }
        return readTemplate(text, scope: scope, value: value, node: node).map { .string($0) }
    }

    /// What stands for `{secret: NAME}` in parameters. nil: reported.
    mutating func readSecret(_ value: Int, node: Int) -> JSONValue? {
        guard case .mapping(let entries) = document[value].content, let entry = entries.first else { return nil }
        guard let name = readText(entry.value, as: "`secret`", node: node) else { return nil }
        if let problem = SecretReference.problem(withName: name) {
            report("\(quoted(name)) cannot name a secret; \(problem)", value: entry.value, node: node)
            return nil
        }
        return .object([SecretReference.member: .string(name)])
    }

    /// `{secret: NAME}`
    func isSecret(_ value: Int) -> Bool {
        guard case .mapping(let entries) = document[value].content, entries.count == 1, let entry = entries.first else { return false }
        return document.scalar(entry.key)?.text == "secret"
    }
}
