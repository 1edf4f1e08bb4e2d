import DequeModule

/// Units that wait for a worker, by class; within a class submissions take turns.
///
/// Entries are not taken out when a unit is stopped: whoever pops one checks that it still waits.
struct ReadyUnits {
    /// The waiting units of one class.
    private struct Lane {
        var bySubmission: [SubmissionNumber: Deque<UnitID>] = [:]
        var turns = Deque<SubmissionNumber>()

        /// Before everything else.
        mutating func pushFirst(_ unit: UnitID) {
            turns.removeAll { $0 == unit.submission }
            turns.prepend(unit.submission)
            bySubmission[unit.submission, default: []].prepend(unit)
        }

        mutating func push(_ unit: UnitID) {
            if bySubmission[unit.submission] == nil {
                turns.append(unit.submission)
                bySubmission[unit.submission] = [unit]
            } else {
                bySubmission[unit.submission]?.append(unit)
            }
        }

        mutating func pop() -> UnitID? {
            guard let submission = turns.popFirst(), let unit = bySubmission[submission]?.popFirst() else { return nil }
            if bySubmission[submission]?.isEmpty ?? true {
                bySubmission[submission] = nil
            } else {
                turns.append(submission)
            }
            return unit
        }
    }

    private var lanes: [Lane] = []
    private(set) var count = 0
    /// Units that must run alone in a process, oldest first.
    private(set) var suspects = Deque<UnitID>()

    mutating func push(_ unit: UnitID, lane: Int) {
        while lanes.count <= lane { lanes.append(Lane()) }
        lanes[lane].push(unit)
        count += 1
    }

    mutating func pushFirst(_ unit: UnitID, lane: Int) {
        while lanes.count <= lane { lanes.append(Lane()) }
        lanes[lane].pushFirst(unit)
        count += 1
    }

    mutating func pop(lane: Int) -> UnitID? {
        guard lane < lanes.count, let unit = lanes[lane].pop() else { return nil }
        count -= 1
        return unit
    }

    func isWaiting(lane: Int) -> Bool { lane < lanes.count && !lanes[lane].turns.isEmpty }

    mutating func pushSuspect(_ unit: UnitID) { suspects.append(unit) }
    mutating func removeSuspects() -> Deque<UnitID> {
        defer { suspects = [] }
        return suspects
    }
}
