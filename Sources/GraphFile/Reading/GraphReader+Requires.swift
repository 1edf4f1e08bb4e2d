import Wire

/// What a node requires of its worker.
struct RequirementsDraft: Hashable {
    var labels: [String] = []
    /// In bytes of `memory`.
    var resources: [String: Int64] = [:]

    var isEmpty: Bool { labels.isEmpty && resources.isEmpty }

    var wire: WireRequirements {
        .with {
            $0.labels = labels
            $0.resources = resources.sorted { $0.key < $1.key }.map { name, amount in
                .with {
                    $0.name = name
                    $0.amount = UInt64(amount)
                }
            }
        }
    }
}

/// `requires`: where a node may run, and what it takes there.
extension GraphReader {
    /// `requires: {cpus: 2, gpus: 1, memory: 2GiB, licence: 1, label: fast}`
    mutating func readRequires(_ fields: [NodeKey: Field], into index: Int, scope: VariableScope, reportingAs node: Int) {
        guard let field = fields[.requires] else { return }
        guard case .mapping(let entries) = document[field.value].content else {
            report(
                "`requires` must be a map such as `{cpus: 2, memory: 2GiB, label: fast}`, found \(document.description(field.value))",
                value: field.value, node: node)
            return
        }
        if entries.isEmpty { report("`requires` is empty", value: field.value, node: node) }
        var draft = RequirementsDraft()
        for (name, nameIndex, value) in readEntries(entries, node: node) {
            if name == Self.label {
                draft.labels = readLabels(value, scope: scope, node: node)
            } else if let problem = Self.problem(withResource: name) {
                report(problem, value: nameIndex, node: node)
            } else if let amount = readAmount(value, of: name, node: node) {
                draft.resources[name] = amount
            }
        }
        if draft.labels.count + draft.resources.count > FileLimits.requirements {
            report("`requires` has more than \(FileLimits.requirements) labels and resources", value: field.value, node: node)
        }
        drafts[index].options.requires = draft
    }

    private static let label = "label"

    private static func problem(withResource name: String) -> String? {
        if name == "labels" { return "unknown key `labels` in `requires`; did you mean `label`?" }
        if ResourceName.isSound(name) { return nil }
        return "\(quoted(name)) cannot name a resource; use lower-case letters, digits and `_`, a letter first"
    }

    private mutating func readLabels(_ value: Int, scope: VariableScope, node: Int) -> [String] {
        guard case .sequence(let values) = document[value].content else {
            return readLabel(value, scope: scope, node: node).map { [$0] } ?? []
        }
        if values.isEmpty { report("`label` names no label", value: value, node: node) }
        var labels: [String] = []
        for value in values.prefix(FileLimits.requirements + 1) {
            guard let label = readLabel(value, scope: scope, node: node) else { continue }
            if labels.contains(label) {
                report("`label` names \(quoted(label)) twice", value: value, node: node)
            } else {
                labels.append(label)
            }
        }
        return labels
    }

    /// A label with the variables of the file in it; the elements of a forEach all have the same.
    private mutating func readLabel(_ value: Int, scope: VariableScope, node: Int) -> String? {
        guard let scalar = document.scalar(value) else {
            report("`label` must be a label or a list of labels, found \(document.description(value))", value: value, node: node)
            return nil
        }
        for case .variable(let name, _) in Template.pieces(of: scalar.text) ?? [] where scope.isBinding(name) {
            report(
                "\(quoted("${\(name)}")) cannot be used in `requires`: all elements of a forEach require the same", value: value, node: node
            )
            return nil
        }
        guard let text = readTemplate(scalar.text, scope: scope, isFixed: true, value: value, node: node) else { return nil }
        let problem: String? =
            if scalar.value == .null || text.isEmpty {
                "is empty"
            } else if text.utf8.count > FileLimits.labelBytes {
                "must have at most \(FileLimits.labelBytes) bytes"
            } else if text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
                "must not contain control characters"
            } else {
                nil
            }
        if let problem { report("`requires`: the label \(quoted(text)) \(problem)", value: value, node: node) }
        return problem == nil ? text : nil
    }

    /// A whole number; `memory`, and resources of the operator's own that are sizes, with a unit.
    private mutating func readAmount(_ value: Int, of name: String, node: Int) -> Int64? {
        let isMemory = name == "memory"
        let example = isMemory ? "a size such as `2GiB`" : "a whole number"
        guard let scalar = document.scalar(value), scalar.value != .null else {
            report("`\(name)` must be \(example), found \(document.description(value))", value: value, node: node)
            return nil
        }
        let amount: Int64
        switch AmountText.read(scalar.text, needsUnit: isMemory, allowsUnit: name != "cpus" && name != "gpus") {
        case .success(let read): amount = read
        case .failure(let complaint):
            report("`\(name)` must be \(example): \(complaint.message)", value: value, node: node)
            return nil
        }
        guard amount <= FileLimits.resourceAmount else {
            report("`\(name)` must be at most \(FileLimits.resourceAmount), found \(quoted(scalar.text))", value: value, node: node)
            return nil
        }
        return amount
    }
}
