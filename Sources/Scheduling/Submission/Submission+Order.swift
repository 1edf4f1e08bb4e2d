/// Ordered groups: a member has its turn when all before it have ended.
///
/// A member may end before its turn, by a cancellation or a deadline of its own. The turn of the next one comes with the last
/// end before it all the same. If the group stops at the first failure, an early end without success stops it when the turn of that member
/// comes: those before it have nothing to do with it, and the same group on a queue has them run.
extension Submission {
    /// Whether it is the unit's turn; outside of ordered groups it always is.
    func hasTurn(_ unit: Int) -> Bool {
        let parent = Int(units[unit].parent)
        guard rules >= Rules.stopsInTurn, parent >= 0, isOrdered(parent), !isPreparation(unit) else { return true }
        return units[parent].phase == .open && memberBefore(unit) == nil
    }

    /// It is the turn of a member that has ended before.
    private mutating func noteTurn(ofEnded unit: Int) {
        let parent = Int(units[unit].parent)
        guard rules >= Rules.stopsInTurn, mayStop(parent), hasTurn(unit) else { return }
        switch units[unit].outcome {
        case .failure?, .cancelled?: stopMembers(of: parent)
        case .success?, nil: break
        }
    }

    /// The group has begun: it has been the turn of those members that ended before, up to the first that has not.
    mutating func stopAfterEarlyEnds(in group: Int) {
        guard isOrdered(group), mayStop(group) else { return }
        for member in children(of: group) {
            guard units[member].hasEnded, mayStop(group) else { return }
            noteTurn(ofEnded: member)
        }
    }

    /// The nearest member before it in an ordered group that has not ended.
    func memberBefore(_ unit: Int) -> Int? {
        guard let members = orderedMembers(around: unit) else { return nil }
        var position = Int(units[unit].position)
        while position > 0 {
            position -= 1
            let before = members[position]
            guard units[before].hasEnded else { return before }
            // One that has ended in its turn has nobody open before it.
            guard endedEarly.contains(Int32(before)) else { return nil }
        }
        return nil
    }

    /// The next member of an ordered group.
    func memberAfter(_ unit: Int) -> Int? {
        guard let members = orderedMembers(around: unit) else { return nil }
        let position = Int(units[unit].position) + 1
        return position < members.count ? members[position] : nil
    }

    /// The unit has ended: its successor has its turn, and those behind successors that ended before theirs.
    mutating func passTurn(of unit: Int) {
        // Also of the last one: others may come behind it.
        guard memberBefore(unit) == nil else {
            endedEarly.insert(Int32(unit))
            return
        }
        guard var next = memberAfter(unit) else { return }
        while true {
            work.append(.release(Int32(next)))
            guard endedEarly.remove(Int32(next)) != nil else { return }
            noteTurn(ofEnded: next)
            guard let further = memberAfter(next) else { return }
            next = further
        }
    }

    /// Whether `unit` still waits for `dependency`, which it names or comes behind.
    func isUnmet(_ dependency: Int, of unit: Int) -> Bool {
        if memberAfter(dependency) == unit { return memberBefore(unit) != nil }
        if begunStreams.contains(Int32(dependency)), node(unit).onlyStreams(from: Int(units[dependency].node)) { return false }
        return knownOutcome(dependency) == nil
    }

    private func orderedMembers(around unit: Int) -> ChildUnits? {
        let parent = Int(units[unit].parent)
        guard parent >= 0, !isPreparation(unit), case .group(let group) = node(parent).kind, group.isOrdered else { return nil }
        return children(of: parent)
    }
}
