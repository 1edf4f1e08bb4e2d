/// What a file with errors is without them.
///
/// What is left out or replaced may not make anything else look wrong: rather is something not found before the file is right.
extension GraphReader {
    /// nil: not all of it was read.
    var remainder: GraphFileRemainder? {
        guard isWhole else { return nil }
        var rest = self
        let ids = rest.replaceWhatIsWrong()
        return GraphFileRemainder(loaded: rest.loadedGraph, ids: ids)
    }

    /// - Returns: the ids of nodes that are given others.
    private mutating func replaceWhatIsWrong() -> [Int: String] {
        let wrong = wrongNodes
        let unique = wrong.filter { drafts[$0].options.unique != nil }
        for index in drafts.indices { if case .invalid = drafts[index].kind { replace(index) } }
        let withoutValue = nodesWithoutValue(wrong, unique)
        for index in drafts.indices {
            // Without some of the edges more members seem to wait for each other than do.
            drafts[index].maxConcurrent = 0
            if !wrong.isEmpty { drafts[index].options.retriesNet = false }
            if wrong.contains(index) {
                // Their faults are told already, in the file's words.
                drafts[index].retries = 0
                drafts[index].options.retryOn = []
                drafts[index].options.backoff = nil
                drafts[index].options.atMostOnce = false
                drafts[index].options.recomputable = false
                drafts[index].options.unique = nil
            }
            for reference in drafts[index].receives where reference.target.map({ withoutValue.contains($0) }) ?? false {
                drafts[index].receives.removeAll { $0.position == reference.position }
                drafts[index].after.append(reference)
            }
            if case .forEach(let name, nil) = drafts[index].kind, drafts[index].receives.compactMap(\.target).count != 1 {
                drafts[index].kind = .forEach(as: name, elements: [])
                drafts[index].receives = []
            }
        }
        return renameDuplicates()
    }

    /// Those with errors other than cycles, and the bodies of forEachs that have some.
    private var wrongNodes: Set<Int> {
        var wrong = Set(findings.prefix(findingsBeforeCycles).map(\.node))
        for node in wrong where drafts[node].isForEach && node + 1 < drafts.count { wrong.insert(node + 1) }
        return wrong
    }

    /// What it delivers is not known of a group whose members were not all read, of what may join another one, and of what passes on
    /// what it receives, where that was not read or is not known itself; nor of the group that this stands in.
    private func nodesWithoutValue(_ wrong: Set<Int>, _ unique: Set<Int>) -> Set<Int> {
        var found = wrong.filter { !isOperation($0) || passesOn($0) }.union(unique)
        // One of those in a circle was taken out of it.
        if findings.count > findingsBeforeCycles { found.formUnion(drafts.indices.filter(passesOn)) }
        var receivers: [Int: [Int]] = [:]
        for index in drafts.indices where passesOn(index) {
            for target in drafts[index].receives.compactMap(\.target) { receivers[target, default: []].append(index) }
        }
        var pending = Array(found)
        while let next = pending.popLast() {
            let around = isOperation(next) ? [drafts[next].parent] : []
            for node in receivers[next, default: []] + around where found.insert(node).inserted { pending.append(node) }
        }
        return found
    }

    /// Whether it delivers what it receives, or nothing.
    private func passesOn(_ node: Int) -> Bool {
        guard case .operation(let type, _, _) = drafts[node].kind else { return false }
        return type == BuiltInOperation.noop.rawValue || type == BuiltInOperation.delay.rawValue
    }

    private func isOperation(_ node: Int) -> Bool { if case .operation = drafts[node].kind { true } else { false } }

    /// Puts something in the place of a node that could not be read: its operation without parameters that anybody could judge, or a
    /// group of nothing.
    private mutating func replace(_ index: Int) {
        let draft = drafts[index]
        var other = NodeDraft(index: index, parent: draft.parent, position: draft.position)
        (other.id, other.after, other.prepares, other.end) = (draft.id, draft.after, draft.prepares, draft.end)
        other.options.conditions = draft.options.conditions
        if let type = draft.registeredType {
            other.kind = .operation(type: type, parameters: parameters.indexOfUnreadable(), isTemplated: false)
            (other.receives, other.receivesArray, other.forwardsFailure) = (draft.receives, draft.receivesArray, draft.forwardsFailure)
            other.options.requires = draft.options.requires
        } else {
            other.kind = .group(isOrdered: false)
        }
        drafts[index] = other
    }

    private mutating func renameDuplicates() -> [Int: String] {
        var ids: [Int: String] = [:]
        var taken: [Int: Set<String>] = [:]
        for index in drafts.indices.dropFirst() where !drafts[drafts[index].parent].isForEach {
            let id = drafts[index].id
            var number = 1
            while !taken[drafts[index].parent, default: []].insert(drafts[index].id).inserted {
                number += 1
                // No file can name anything like that.
                drafts[index].id = "?\(number) \(id)"
                ids[index] = id
            }
        }
        return ids
    }
}
