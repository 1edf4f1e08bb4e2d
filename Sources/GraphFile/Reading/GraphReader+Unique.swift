import Wire

/// `unique` and `onDuplicate`: of the nodes with one id one is active at a time.
extension GraphReader {
    mutating func readUnique(
        _ fields: [NodeKey: Field], form: NodeForm?, into index: Int, scope: VariableScope, reportingAs node: Int
    ) {
        let choice = fields[.onDuplicate].flatMap { readChoice($0, of: ["ignore", "join"], node: node) }
        guard let field = fields[.unique] else {
            if let field = fields[.onDuplicate] { report("`onDuplicate` needs `unique`", at: field.keyPosition, node: node) }
            return
        }
        guard let text = readText(field, node: node) else { return }
        refuseUnbraced(text, key: .unique, scope: scope, value: field.value, node: node)
        // Only what elements are part of is left for later.
        let isTemplated = (Template.pieces(of: text) ?? []).contains { piece in
            if case .variable(let name, _) = piece { scope.isBinding(name) } else { false }
        }
        guard let id = readTemplate(text, scope: scope, isFixed: !isTemplated, value: field.value, node: node) else { return }
        let problem: String? =
            if id.isEmpty {
                "is empty"
            } else if id.utf8.count > FileLimits.uniqueBytes {
                "must have at most \(FileLimits.uniqueBytes) bytes"
            } else if id.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
                "must not contain control characters"
            } else {
                nil
            }
        if let problem { return report("`unique`: the id \(quoted(id)) \(problem)", value: field.value, node: node) }
        drafts[index].options.unique = .with {
            $0.id = id
            $0.templated = isTemplated
            $0.join = choice == "join"
            $0.output = output(fields, form: form)
        }
    }

    /// What a success of the node delivers, as Swift spells it; empty: that is not known.
    private func output(_ fields: [NodeKey: Field], form: NodeForm?) -> String {
        guard form?.isCommand == true else { return "" }
        return switch fields[.output].flatMap({ document.scalar($0.value)?.text }) ?? "text" {
        case "text": "String"
        case "lines": "Array<String>"
        case "bytes": "Data"
        case "none": "()"
        default: ""
        }
    }
}
