/// Who has which unique id: worked out from the facts, like who holds which lock.
extension DurableState {
    /// Frees the ids of units that have ended, ends those that had joined them, claims the ids of units that have become
    /// active, and so on, until nothing follows any more.
    ///
    /// - Parameter sources: submissions that have changed; those that this changes are added.
    mutating func passIDsOn(_ sources: inout [Int], at: Int64, _ effects: inout [Effect]) {
        var open = sources.filter { submissions[$0].hasUniqueNews }
        guard !open.isEmpty else { return }
        var known = Set(sources)
        func note(_ index: Int, _ sources: inout [Int], _ open: inout [Int]) {
            if known.insert(index).inserted { sources.append(index) }
            if submissions[index].hasUniqueNews { open.append(index) }
        }
        while let index = open.popLast() {
            let (number, principal) = (submissions[index].number, submissions[index].principal)
            // Who has ended lets go before others claim.
            while true {
                if let release = submissions[index].freeing.popFirst() {
                    switch release {
                    case .leave(let id, let unit): ids.leave(.init(principal: principal, id: id), UnitID(number, Int(unit)))
                    case .free(let id, let unit):
                        let joiners = ids.free(.init(principal: principal, id: id))
                        guard !joiners.isEmpty else { continue }
                        let ending = submissions[index].ending(of: Int(unit))
                        for joiner in joiners {
                            let other = self.index(of: joiner.submission)
                            submissions[other].end(joiner.index, like: ending, from: UnitID(number, Int(unit)), at: at, &effects)
                            if other != index { note(other, &sources, &open) }
                        }
                    }
                } else if let unit = submissions[index].claiming.popFirst() {
                    claimID(UnitID(number, Int(unit)), at: at, &effects)
                } else {
                    break
                }
            }
        }
    }

    private mutating func claimID(_ unit: UnitID, at: Int64, _ effects: inout [Effect]) {
        let index = index(of: unit.submission)
        // What its group's opening brought about may have ended it.
        guard !submissions[index].units[unit.index].hasEnded else { return }
        guard submissions[index].isUnique(unit.index) else { return submissions[index].activateInTurn(unit.index, at: at, &effects) }
        guard let id = submissions[index].uniqueID(of: unit.index) else {
            return submissions[index].failWithoutID(unit.index, at: at, &effects)
        }
        let key = UniqueTable.Key(principal: submissions[index].principal, id: id)
        guard let first = ids.claim(key, for: unit) else {
            return submissions[index].takeID(unit.index, id, at: at, &effects)
        }
        let obstacle = joinObstacle(of: unit, to: first)
        if obstacle == nil { ids.join(key, unit) }
        let ignored = obstacle.map { submissions[index].duplicateFailure(unit.index, id: id, of: name(of: first), $0) }
        submissions[index].become(
            .init(id: id, first: first, joins: obstacle == nil, ending: ignored.map { .init(outcome: .failure([$0])) }), unit.index, at: at,
            &effects)
    }

    /// As users write it: submission and path.
    func name(of unit: UnitID) -> String {
        let index = index(of: unit.submission)
        guard submissions.contains(index) else { return "a submission that is known no more" }
        let path = submissions[index].path(of: unit.index)
        return path.isEmpty ? submissions[index].id : "\(submissions[index].id)/\(path)"
    }

    // MARK: Joining

    /// Why a duplicate does not wait for the first one; nil: it does. It asks for that, delivers the same as far as is known, is not inside
    /// of a scope that holds locks, and the first one does not wait for it.
    private func joinObstacle(of unit: UnitID, to first: UnitID) -> JoinObstacle? {
        let (own, other) = (index(of: unit.submission), index(of: first.submission))
        let node = submissions[own].node(unit.index)
        let firstNode = submissions[other].node(first.index)
        guard let unique = node.unique, unique.joins, let firstUnique = firstNode.unique else { return .notWanted }
        switch (node.kind, firstNode.kind) {
        case (.operation, .operation), (.group, .group): break
        case (.operation, _), (.group, _), (.forEach, _), (.decider, _): return .kind
        }
        guard unique.output.isEmpty || firstUnique.output.isEmpty || unique.output == firstUnique.output else { return .output }
        guard submissions[own].layout.locks?.scope(of: Int(submissions[own].units[unit.index].node)) == nil else { return .locks }
        return JoinSearch.leads(from: first, to: unit, in: self) ? .circle : nil
    }
}

/// Why a duplicate does not wait for the one that is active.
enum JoinObstacle {
    /// It does not ask for that.
    case notWanted
    case kind, output, locks, circle

    /// What the error says of it; empty: nothing.
    var text: String {
        switch self {
        case .notWanted: ""
        case .kind: "; it is not joined, as one of them is a group and the other is not, or is a forEach"
        case .output: "; it is not joined, as it delivers another type"
        case .locks: "; it is not joined, as this one is inside of a group that holds locks"
        case .circle: "; it is not joined, as it waits for this one"
        }
    }
}
