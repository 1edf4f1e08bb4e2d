/// References: which node a name means, seen from the node that uses it.
extension GraphReader {
    /// Finds the target of every reference; reports those that name nothing, or what cannot be waited for.
    mutating func resolveReferences() {
        for node in drafts.indices {
            resolve(\.receives, of: node)
            resolve(\.after, of: node)
            let awaited = Set(drafts[node].receives.compactMap(\.target))
            drafts[node].after.removeAll { $0.target.map(awaited.contains) ?? false }
        }
    }

    private mutating func resolve(_ list: WritableKeyPath<NodeDraft, [Reference]>, of node: Int) {
        for position in drafts[node][keyPath: list].indices {
            let reference = drafts[node][keyPath: list][position]
            drafts[node][keyPath: list][position].target = target(of: reference, from: node)
        }
    }

    /// nil: reported.
    private mutating func target(of reference: Reference, from node: Int) -> Int? {
        // The body of a forEach is the same node of the file as the forEach.
        let reported = drafts[drafts[node].parent].isForEach ? drafts[node].parent : node
        var parts = reference.name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let first = parts.removeFirst()
        guard var target = visible(first, from: node) else {
            let hint = hint(for: first) { $0.visibleNames(from: node) }
            let rest = hint.isEmpty ? "; it must name a sibling, a node of an enclosing group, or a path such as `outer/inner`" : hint
            report("unknown reference \(quoted(reference.name))\(rest)", at: reference.position, node: reported)
            return nil
        }
        for part in parts {
            guard let inner = step(to: part, from: target, reference, node: node, reportingAs: reported) else { return nil }
            target = inner
        }
        return check(reference, names: target, from: node, reportingAs: reported) ? target : nil
    }

    /// The nearest node of a name: a sibling, else a member of the next group around, and so on outwards.
    private func visible(_ name: String, from node: Int) -> Int? {
        var index = node
        while index != 0 {
            index = drafts[index].parent
            if let found = members[index]?[name] { return found }
        }
        return nil
    }

    /// A member of `outer` for a reference's path.
    private mutating func step(to part: String, from outer: Int, _ reference: Reference, node: Int, reportingAs reported: Int) -> Int? {
        var group = outer
        if drafts[outer].isForEach {
            group = outer + 1
            guard group <= node, node < drafts[group].end else {
                report(
                    "\(quoted(reference.name)) is inside forEach \(quoted(drafts[outer].id)), where each element has its own; refer to \(quoted(drafts[outer].id))",
                    at: reference.position, node: reported)
                return nil
            }
        }
        if let inner = members[group]?[part] { return inner }
        if drafts[group].isGroup {
            let hint = hint(for: part) { $0.names(in: group) }
            report(
                "unknown reference \(quoted(reference.name)): group \(quoted(drafts[outer].id)) has no member \(quoted(part))\(hint)",
                at: reference.position, node: reported)
        } else if case .operation = drafts[group].kind {
            report(
                "unknown reference \(quoted(reference.name)): \(quoted(drafts[outer].id)) is not a group", at: reference.position,
                node: reported)
        }
        return nil
    }

    /// A node cannot wait for itself, for what is around it, or for what is in it.
    private mutating func check(_ reference: Reference, names target: Int, from node: Int, reportingAs reported: Int) -> Bool {
        let key = reference.key.rawValue
        let problem: String? =
            if target == reported {
                "names the node itself"
            } else if target < node, node < drafts[target].end {
                "names a group the node is in; its end waits for the node's"
            } else if reported < target, target < drafts[reported].end {
                "names a node inside this one, which starts only after it"
            } else {
                nil
            }
        guard let problem = problem ?? restartProblem(target, node) else { return true }
        report("`\(key): \(reference.name)` \(problem)", at: reference.position, node: reported)
        return false
    }

    /// A group with `retry` may begin anew after what it holds has been waited for.
    private func restartProblem(_ target: Int, _ node: Int) -> String? {
        if dependentOperation(around: node) != dependentOperation(around: target) {
            return "names a node outside of the `operation` of a condition that the node is in; such an operation waits for nothing else"
        }
        var group = drafts[target].parent
        while !(group <= node && node < drafts[group].end) {
            if drafts[group].retries > 0 {
                return "names a node inside \(quoted(path(of: group))), which may begin anew (`retry`); refer to \(quoted(path(of: group)))"
            }
            group = drafts[group].parent
        }
        return nil
    }

    /// The dependent operation of a condition that the node is in; nil: none.
    private func dependentOperation(around node: Int) -> Int? {
        var index = node
        while index != 0 {
            if drafts[index].prepares != nil { return index }
            index = drafts[index].parent
        }
        return nil
    }

    /// The names a node may refer to, nearest first.
    private func visibleNames(from node: Int) -> [String] {
        var result: [String] = []
        var group = node
        while group != 0 {
            group = drafts[group].parent
            result += names(in: group)
        }
        return result
    }

    /// In the order of the file.
    private func names(in group: Int) -> [String] {
        (members[group] ?? [:]).sorted { $0.value < $1.value }.map(\.key)
    }
}
