/// Ordered groups: a member has its turn when all before it have ended.
///
/// A member may end before its turn, by a cancellation or a deadline of its own. The turn of the next one comes with the last
/// end before it all the same.
extension Submission {
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
            guard endedEarly.remove(Int32(next)) != nil, let further = memberAfter(next) else { return }
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
