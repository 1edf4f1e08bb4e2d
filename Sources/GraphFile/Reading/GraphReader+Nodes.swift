/// Nodes: what they are, how they are called, what is in them.
extension GraphReader {
    /// Reads one member of a group, without the members of its own. Returns its index; nil: it is no node at all.
    mutating func readNode(_ value: Int, number: Int, in group: OpenGroup) -> Int? {
        guard case .mapping(let entries) = document[value].content else {
            report("a node must be a map such as `{run: ls}`, found \(document.description(value))", value: value, node: group.group)
            return nil
        }
        let position = document[value].position
        let node = drafts.count
        drafts.append(NodeDraft(index: node, parent: group.group, position: position))
        let fields = readFields(entries, node: node, isTopLevel: false)
        let form = readForm(fields, node: node, at: position, isTopLevel: false)
        if let condition = group.conditions?[number] {
            beDependent(node, fields: fields, of: condition)
        } else {
            identify(node, fields: fields, default: "\(form?.rawValue ?? "node")\(number)", in: group.group)
        }
        let each = fields[.forEach]
        refuseMisplaced(fields, form: form, hasForEach: each != nil, node: node)
        if let field = fields[.after] { drafts[node].after = readReferences(field, node: node).list }

        var body = node
        var scope = group.scope
        if let each {
            readForEach(each, fields: fields, node: node, scope: scope)
            scope.bindings.append(readElementName(fields, node: node))
            body = drafts.count
            drafts.append(NodeDraft(index: body, parent: node, position: position))
            drafts[node].end = body + 1
        }
        guard let form else { return node }
        readLimits(fields, form: form, into: body, reportingAs: node)
        readExclusive(fields, into: body, scope: scope, reportingAs: node)
        readRequires(fields, into: body, scope: scope, reportingAs: node)
        readConditions(fields, into: body, scope: scope, depth: group.depth, reportingAs: node)
        readUnique(fields, form: form, into: body, scope: scope, reportingAs: node)
        if form.isGroup {
            // Beside a forEach these are its own, not those of the group that is its body.
            readGroupKeys(each == nil ? fields : [:], form: form, into: body, reportingAs: node)
            readMembers(fields, form: form, of: body, scope: scope, depth: group.depth + (each == nil ? 0 : 1), reportingAs: node)
        } else {
            readReceives(fields, form: form, into: body, reportingAs: node)
            readOperation(fields, form: form, into: body, scope: scope, reportingAs: node)
        }
        return node
    }

    /// Opens the list of a group's members.
    mutating func readMembers(
        _ fields: [NodeKey: Field], form: NodeForm?, of index: Int, scope: VariableScope, depth: Int, reportingAs node: Int
    ) {
        guard let form, let field = fields[form.key] else { return }
        guard case .sequence(let members) = document[field.value].content else {
            report("`\(form.rawValue)` must be a list of nodes, found \(document.description(field.value))", value: field.value, node: node)
            return
        }
        guard members.isEmpty || depth < FileLimits.nestingDepth else {
            report("nodes are nested more than \(FileLimits.nestingDepth) deep here", at: field.keyPosition, node: node)
            return
        }
        drafts[index].kind = .group(isOrdered: form == .ordered)
        open.append(OpenGroup(group: index, members: members, scope: scope, depth: depth + 1))
    }

    private mutating func identify(_ node: Int, fields: [NodeKey: Field], default standard: String, in group: Int) {
        var position = drafts[node].position
        drafts[node].id = standard
        var isGiven = false
        if let field = fields[.id] {
            position = document[field.value].position
            // What is wrong with an id is said under the default one; references to either find the node.
            if let id = readIdentifier(field, node: node) {
                drafts[node].id = id
                isGiven = true
            }
        }
        let id = drafts[node].id
        if let first = members[group]?[id] {
            let remedy = isGiven ? "" : ", which is this node's default name; give it an `id`"
            report("duplicate id \(quoted(id)) (first at \(drafts[first].position))\(remedy)", at: position, node: node)
        } else {
            members[group, default: [:]][id] = node
        }
    }

    /// The node is the dependent operation of a condition: nobody refers to it, and it has no name of its own.
    private mutating func beDependent(_ node: Int, fields: [NodeKey: Field], of condition: (position: Int, id: String)) {
        drafts[node].id = condition.id
        drafts[node].prepares = condition.position
        for key in [NodeKey.id, .receives, .after] {
            guard let field = fields[key] else { continue }
            report(
                "`\(key.rawValue)` is not for the `operation` of a condition, which runs when the conditions' node could start; leave it out",
                at: field.keyPosition, node: node)
        }
    }

    private mutating func readIdentifier(_ field: Field, node: Int) -> String? {
        guard let id = readText(field, node: node) else { return nil }
        let problem: String? =
            if id.contains("/") {
                "must not contain `/`, which separates the parts of a path"
            } else if id.unicodeScalars.contains(where: { $0.properties.isWhitespace || $0.value < 0x20 || $0.value == 0x7F }) {
                "must not contain white space"
            } else if let first = id.first, "+?*".contains(first) {
                "must not begin with `\(first)`, which marks nodes that are made while the graph runs"
            } else if id == "." || id == ".." {
                "must be a name"
            } else if id.utf8.count > FileLimits.identifierBytes {
                "must have at most \(FileLimits.identifierBytes) bytes"
            } else {
                nil
            }
        if let problem {
            report("id \(quoted(id)) \(problem)", value: field.value, node: node)
            return nil
        }
        return id
    }

    private mutating func readForEach(_ field: Field, fields: [NodeKey: Field], node: Int, scope: VariableScope) {
        readGroupKeys(fields, form: nil, into: node, reportingAs: node)
        var elements: [String]? = []
        switch document[field.value].content {
        case .sequence(let values):
            if values.count > FileLimits.forEachElements {
                report(
                    "`forEach` has \(values.count) elements; at most \(FileLimits.forEachElements) are possible", value: field.value,
                    node: node)
            } else {
                elements = values.compactMap { value -> String? in
                    guard let text = readData(value, scope: scope, isFixed: true, node: node)?.json else { return nil }
                    return mayTravel(text, as: "an element has", at: document[value].position, node: node) ? text : nil
                }
            }
        case .scalar(let scalar):
            if let list = readListVariable(scalar.text, scope: scope, value: field.value, node: node) {
                elements = list
            } else {
                let references = readReferences(field, node: node)
                if !references.list.isEmpty {
                    elements = nil
                    drafts[node].receives = references.list
                    drafts[node].forwardsFailure = true
                }
            }
        case .mapping:
            report("`forEach` must be the id of a node or a list, found a map", value: field.value, node: node)
        }
        drafts[node].kind = .forEach(as: fields[.as].flatMap { document.scalar($0.value)?.text } ?? Self.elementName, elements: elements)
    }

    /// `forEach: ${names}`: a variable that is a list. nil: the text is not `${…}`.
    private mutating func readListVariable(_ text: String, scope: VariableScope, value: Int, node: Int) -> [String]? {
        guard let pieces = Template.pieces(of: text) else { return nil }
        guard case .variable(let name, let keys)? = pieces.first, pieces.count == 1 else { return nil }
        guard let found = readVariable(name, keys: keys, scope: scope, isFixed: true, value: value, node: node) else { return [] }
        guard case .array(let elements) = found.value else {
            report("`forEach` needs a list, and \(quoted(text)) is \(quoted(found.text))", value: value, node: node)
            return []
        }
        let position = document[value].position
        return elements.map(\.json).filter { mayTravel($0, as: "an element has", at: position, node: node) }
    }

    private static let elementName = "item"

    private mutating func readElementName(_ fields: [NodeKey: Field], node: Int) -> String {
        guard let field = fields[.as], let name = readText(field, node: node) else { return Self.elementName }
        if let problem = Self.problem(withName: name) { report("`as`: \(problem)", value: field.value, node: node) }
        return name
    }

    /// Why a text cannot name a variable.
    static func problem(withName name: String) -> String? {
        if name == VariableScope.index { return "`index` is the position of a forEach's element; choose another name" }
        if Template.isIdentifier(name) { return nil }
        return "\(quoted(name)) cannot name a variable; use letters, digits and `_`, no digit first"
    }

    private mutating func readReceives(_ fields: [NodeKey: Field], form: NodeForm, into index: Int, reportingAs node: Int) {
        let failure = fields[.whenReceivedFails].flatMap { readChoice($0, of: ["forward", "run"], node: node) }
        guard let field = fields[.receives] else { return }
        let (references, isList) = readReferences(field, node: node)
        if isList, references.isEmpty, case .sequence(let names) = document[field.value].content, names.isEmpty {
            report("`receives` names no node", value: field.value, node: node)
        }
        drafts[index].receives = references
        drafts[index].receivesArray = isList
        let forwards = failure.map { $0 == "forward" } ?? form.isCommand
        drafts[index].forwardsFailure = forwards
        if form.isCommand, forwards, let stdin = fields[.stdin] {
            report(
                "`stdin` is never used: the value of `receives` is the command's stdin (with `whenReceivedFails: run`, `stdin` stands in for a failed one)",
                at: stdin.keyPosition, node: node)
        }
    }

    /// The names in `receives`, `after` or `forEach`, each once.
    private mutating func readReferences(_ field: Field, node: Int) -> (list: [Reference], isList: Bool) {
        let key = field.key.rawValue
        guard case .sequence(let values) = document[field.value].content else {
            guard let name = document.scalar(field.value)?.text, !name.isEmpty else {
                report(
                    "`\(key)` must be the id of a node or a list of ids, found \(document.description(field.value))", value: field.value,
                    node: node)
                return ([], false)
            }
            return ([Reference(key: field.key, name: name, position: document[field.value].position)], false)
        }
        var seen: Set<String> = []
        var references: [Reference] = []
        for value in values {
            guard let name = document.scalar(value)?.text, !name.isEmpty else {
                report("`\(key)` must be a list of ids, found \(document.description(value)) in it", value: value, node: node)
                continue
            }
            if seen.insert(name).inserted {
                references.append(Reference(key: field.key, name: name, position: document[value].position))
            } else {
                report("`\(key)` names \(quoted(name)) twice", value: value, node: node)
            }
        }
        return (references, true)
    }
}
