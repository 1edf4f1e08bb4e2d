import Wire

/// The line: queued units that the shell may start by itself.
extension ExecutorState {
    /// Whether it is the turn of one of these before that of one in the line, which is to be taken back then.
    package func goAheadOfLine(_ assignments: [WireAssignment]) -> Bool {
        lineCount > 0 && assignments.contains { queue.precedes(lineCount, $0) }
    }

    /// A unit of the line has the slot of one that has ended, whose `ended` follows.
    package mutating func begun(_ key: UnitKey, now: Int64, at: Int64) -> [ExecutorAction] {
        guard lined.remove(key) != nil, case .queued(let assignment)? = units[key]?.phase else { return [] }
        return [begin(key, assignment, now: now, at: at)]
    }

    /// The line is empty: of those that stood in it the shell starts none any more, those not in `waiting` it has started.
    ///
    /// Comes before whatever asks which units have begun; what follows fills the line again.
    package mutating func tookBackLine(waiting: Set<UnitKey>, now: Int64, at: Int64) -> [ExecutorAction] {
        var actions: [ExecutorAction] = []
        for key in lined where !waiting.contains(key) { actions += begun(key, now: now, at: at) }
        lined.removeAll(keepingCapacity: true)
        lineCount = 0
        return actions
    }

    /// The first that may stand in the line and does not. None stands in it behind one that may not: that one would be overtaken.
    mutating func nextForLine() -> (UnitKey, WireAssignment)? {
        skipBegun()
        while lineCount < queue.count {
            let key = queue[lineCount]
            if case .queued(let assignment)? = units[key]?.phase, !lined.contains(key) {
                guard assignment.mayStandInLine else { return nil }
                lineCount += 1
                return (key, assignment)
            }
            lineCount += 1
        }
        return nil
    }
}

extension WireAssignment {
    /// It may begin before the executor's loop knows.
    fileprivate var mayStandInLine: Bool { kind == .execute && !isFenced && !hasLargeInputs && !hasStream && !hasLink }
}
