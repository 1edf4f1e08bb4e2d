/// Units that an executor has and has not begun come back when they are better off elsewhere.
///
/// Which of its units an executor begins first is its own affair: what has not begun is what it has not said to have begun, and not what it was
/// given last. One that begins at the same moment is told as begun, and stays.
extension Scheduler {
    /// Asks executors for units that they have not begun, when they have far more than they would be given now, as their operations take
    /// longer than those before: whatever is ready would wait until all of it is done.
    mutating func recallSurplus() {
        guard ready.count(.plain) > 0 else { return }
        let share = prefetchShare
        for worker in workers.sessions.indices {
            let session = workers.sessions[worker]
            let prefetch = session.prefetch(atMost: share)
            // What goes up and down by a few is left as it is.
            guard session.units.count > 2 * (session.slots + prefetch), mayBeAsked(worker),
                !durable.workers[worker].identity.isSubmitter
            else { continue }
            for unit in spare(worker).dropFirst(prefetch) { recall(unit, from: worker) }
        }
    }

    /// Asks busy executors for units that they have not begun, when others have free slots and there is nothing else for them: for half of what
    /// waits there, as far as there is room for it.
    mutating func recallForIdle() {
        let idle = workers.sessions.indices.filter { index in
            workers.sessions[index].units.count < workers.sessions[index].slots && workers.sessions[index].reservedFor == nil
                && canTake(index)
        }
        guard !idle.isEmpty else { return }
        var busy = workers.sessions.indices.filter { index in
            workers.sessions[index].units.count > workers.sessions[index].slots && mayBeAsked(index)
        }
        guard !busy.isEmpty else { return }
        busy.sort { (workers.sessions[$0].units.count, $1) > (workers.sessions[$1].units.count, $0) }
        let share = prefetchShare
        // Many are alike.
        var without: Set<[Int]> = []
        for index in idle {
            let session = workers.sessions[index]
            guard !busy.isEmpty, !without.contains(session.lanes) else { continue }
            var room = session.slots + session.prefetch(atMost: share) - session.units.count
            while room > 0, let found = firstSpare(among: busy, in: session.lanes) {
                let wanted = found.units.suffix(min(room, (found.units.count + 1) / 2))
                for unit in wanted { recall(unit, from: found.worker) }
                room -= wanted.count
                busy.removeAll { $0 == found.worker }
            }
            // Nor is there anything for those that are like it.
            if room > 0 { without.insert(session.lanes) }
        }
    }

    /// What the first of these that has anything of these classes to spare has of them.
    private func firstSpare(among busy: [Int], in lanes: [Int]) -> (worker: Int, units: [UnitID])? {
        for worker in busy {
            let units = spare(worker).filter { lanes.contains(operationClass(of: $0)) }
            if !units.isEmpty { return (worker, units) }
        }
        return nil
    }

    /// Whether it is there, and has answered what it was asked before.
    private func mayBeAsked(_ worker: Int) -> Bool {
        workers.sessions[worker].isAttached && !workers.sessions[worker].recalled.contains(where: mayComeBack)
    }

    /// What it has not begun, but for what it is about to begin in its free slots.
    private func spare(_ worker: Int) -> ArraySlice<UnitID> {
        let session = workers.sessions[worker]
        let waiting: [UnitID] = session.units.filter(mayComeBack)
        let begun = session.units.count - waiting.count
        return waiting.dropFirst(max(0, session.slots - begun))
    }

    /// Whether it has not begun, as far as is known, and nobody stops it. Conditions and questions about ends begin at once.
    private func mayComeBack(_ unit: UnitID) -> Bool {
        // Field by field: a unit is large to copy.
        let index = durable.index(of: unit.submission)
        return !durable.submissions[index].units[unit.index].isRunning && !durable.submissions[index].units[unit.index].isEvaluating
            && durable.submissions[index].units[unit.index].stop == nil && !isConcluding(unit)
    }

    private mutating func recall(_ unit: UnitID, from worker: Int) {
        guard case .assigned(let attempt, let number) = durable.phase(unit) else { return }
        recall(unit, attempt, number)
    }
}
