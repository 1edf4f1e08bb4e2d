import Wire

/// Units that begin when others have succeeded here, before anybody else knows of that.
///
/// The coordinator knows by the same rules which of them begin. Where it is not told by the end of the one before, it is by a report.
extension ExecutorState {
    /// Whether something is to follow here.
    package var hasLinks: Bool { !links.isEmpty }

    /// Takes in a unit that follows another one.
    mutating func link(_ key: UnitKey, _ assignment: WireAssignment, into actions: inout [ExecutorAction]) {
        let before = UnitKey(unit: assignment.link.unit, attempt: assignment.link.attempt)
        switch units[before]?.phase {
        case .fetching?, .linked?, .queued?, .running?:
            units[key] = HeldUnit(phase: .linked(assignment))
            links[before] = key
        case .finished?, nil:
            // Their messages came apart, and it is too late: whether it would have begun is not known any more.
            actions.append(.report(.lost(key)))
        }
    }

    /// Behind whose end it has begun, of which the coordinator is not known to know.
    package func predecessor(of assignment: WireAssignment) -> UnitKey? {
        let before = UnitKey(unit: assignment.link.unit, attempt: assignment.link.attempt)
        guard assignment.hasLink, case .finished? = units[before]?.phase else { return nil }
        return before
    }

    /// The unit ends by itself: what begins in its place, with what that receives. Nil: nothing does.
    mutating func takeLink(after key: UnitKey, _ ending: UnitEnding) -> (UnitKey, WireAssignment)? {
        guard !links.isEmpty, mayStart, isAccepting, case .success(let value) = ending, value.isInline, let next = links[key],
            case .linked(var assignment)? = units[next]?.phase
        else { return nil }
        links[key] = nil
        if assignment.link.delivers { assignment.inputs = [.with { $0.value = value }] }
        guard runningCount < slots, !outrun.contains(next.unit) else {
            enqueue(next, assignment)
            return nil
        }
        return (next, assignment)
    }

    /// What is linked to the unit does not begin.
    mutating func forgetLinks(after key: UnitKey) {
        guard !links.isEmpty else { return }
        var last = key
        while let next = links.removeValue(forKey: last) {
            units[next] = nil
            last = next
        }
    }
}

extension WireValue {
    /// Whether it is here, and not where its digest says.
    fileprivate var isInline: Bool { if case .blob? = storage { false } else { true } }
}
