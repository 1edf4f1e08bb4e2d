/// An attempt that was told to end, has not within its grace, and was not ended by force either: only the end of its process ends it. That
/// process takes nothing new, and ends when what else runs in it has.
///
/// Nothing is kept for it: it follows from the stages of the stop, the grace, and what the worker has.
struct OverdueAttempt {
    /// Wall time by which its executor has given it up.
    let since: Int64
    /// What else runs in that process, and may still end by itself.
    let neighbours: [UnitID]

    /// Beside the stages that are kept.
    var stage: HistoryEntry {
        let end =
            switch neighbours.count {
            case 0: "its process is ended for it"
            case 1: "its process ends when the other one in it has ended"
            case let count: "its process ends when the \(count) others in it have ended"
            }
        return HistoryEntry(at: since, event: .overdue, text: "does not stop; \(end)")
    }
}

extension Scheduler {
    /// nil: it is not.
    func overdueAttempt(of unit: UnitID) -> OverdueAttempt? {
        guard let since = overdueSince(unit) else { return nil }
        return OverdueAttempt(since: since, neighbours: neighbours(of: unit))
    }

    /// What runs in the process that has the unit, may end by itself, and ends with that process; the unit itself is none of them.
    func neighbours(of unit: UnitID) -> [UnitID] {
        guard case .assigned(_, let worker) = durable.phase(unit), !durable.workers[worker.index].identity.isSubmitter else { return [] }
        return workers.sessions[worker.index].units.filter { other in
            guard other != unit else { return false }
            let state = durable.submissions[durable.index(of: other.submission)].units[other.index]
            return (state.isRunning || state.isEvaluating) && overdueSince(other) == nil
        }
    }

    /// As far as it is known: of a worker that is not heard nothing is. A program that submits is not ended for what it does not end.
    private func overdueSince(_ unit: UnitID) -> Int64? {
        let index = durable.index(of: unit.submission)
        let state = durable.submissions[index].units[unit.index]
        guard state.stop != nil, state.isRunning, case .assigned(_, let worker) = state.phase else { return nil }
        let session = workers.sessions[worker.index]
        guard session.isAttached, !session.isSuspected, !durable.workers[worker.index].identity.isSubmitter else { return nil }
        let stages = durable.submissions[index].histories[Int32(unit.index)] ?? []
        // The executor's clock may be behind: it was not told before that was wanted.
        guard let told = stages.last(where: { $0.event == .stopping || $0.event == .killed }),
            let wanted = stages.last(where: { $0.event == .requested })
        else { return nil }
        let grace = durable.submissions[index].graceMilliseconds(unit.index) ?? configuration.graceMillisecondsDefault
        let since = max(told.at, wanted.at) + (told.event == .killed ? 0 : grace) + Self.givenUpMilliseconds
        return since <= now.wall ? since : nil
    }

    /// So long after its grace an executor gives up a body that was not ended by force (`ExecutorState.killMilliseconds`).
    private static let givenUpMilliseconds: Int64 = 2_000
}
