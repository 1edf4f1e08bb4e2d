/// An attempt that may have been running in a process.
struct BegunAttempt: Hashable {
    let unit: UnitID
    let attempt: Attempt
    /// It was to evaluate the unit's conditions.
    let isEvaluation: Bool
    /// Of a decide unit of a group: which of its decisions that was to be.
    let decision: Int?
}

/// The ends of executors' processes, and under what they died.
extension Scheduler {
    mutating func bury(_ incarnation: Incarnation, crashed: Bool, _ supervisor: PeerID, _ outputs: inout Outputs) {
        if let number = durable.workerByIncarnation[incarnation], !durable.workers[number.index].hasEnded {
            bury(number, crashed: crashed, &outputs)
        }
        pending.send(.acknowledgeEnd(incarnation), to: supervisor)
    }

    /// The process and everything it started are gone: its units move now.
    ///
    /// If it died by itself, that counts against what ran in it, also where that was given to others before this was known: a
    /// process may take longer to die than its lease.
    mutating func bury(_ number: WorkerNumber, crashed: Bool, _ outputs: inout Outputs) {
        let isSubmitter = durable.workers[number.index].identity.isSubmitter
        if isSubmitter {
            // First: what follows in turn is not for it any more.
            emit(.workerEnded(number), &outputs)
            missSubmitter(number, &outputs)
        }
        if crashed { note(.lost, number, "its process has died") } else { note(.left, number, "its process has ended") }
        let session = workers.sessions[number.index]
        // Nothing has begun in it since its lease was over.
        let possible = session.begunUnheard.isEmpty ? attemptsPossiblyBegun(session) : session.begunUnheard
        let held = Set(session.units)
        let blamed = Set(possible.map(\.unit))
        let cause = possible.count == 1 ? LossCause.crashed : .suspected
        for unit in session.units { lose(unit, crashed && blamed.contains(unit) ? cause : .processEnded, &outputs) }
        if crashed {
            for begun in possible where !held.contains(begun.unit) { countDeath(under: begun, number, cause, &outputs) }
        }
        endStrays(on: number, &outputs)
        if !isSubmitter { emit(.workerEnded(number), &outputs) }
        if let peer = session.peer { workers.byPeer[peer] = nil }
        workers.forgetSilence(of: number)
        workers.sessions[number.index].begunUnheard = []
        workers.sessions[number.index].links = [:]
        workers.sessions[number.index].connection = .absent
        lockIntake.haveWorkersChanged = true
    }

    /// What may have been running in the process: what was said to run, and what may have begun since: what it has slots and a line for. One
    /// that has a line has room for all in it. One without begins in the order in which it was given, but for turns between submissions.
    func attemptsPossiblyBegun(_ session: WorkerTable.Session) -> [BegunAttempt] {
        // It has not attached since the coordinator started: nobody knows how much it ran, nor in which order it was given.
        let isUnknown = session.slots == 0
        return session.units.enumerated().compactMap { place, unit in
            guard isUnknown || place < session.slots + session.line || isRunning(unit), case .assigned(let attempt, _) = durable.phase(unit)
            else {
                return nil
            }
            let isEvaluation = durable.submissions[durable.index(of: unit.submission)].units[unit.index].isEvaluating
            return BegunAttempt(unit: unit, attempt: attempt, isEvaluation: isEvaluation, decision: decisionDue(unit))
        }
    }

    /// The number of the decision that the unit is to make; nil: it makes none.
    private func decisionDue(_ unit: UnitID) -> Int? {
        let submission = durable.index(of: unit.submission)
        guard durable.submissions[submission].isDecider(unit.index) else { return nil }
        return durable.submissions[submission].question(for: unit.index)?.number
    }

    private mutating func countDeath(
        under begun: BegunAttempt, _ worker: WorkerNumber, _ cause: LossCause, _ outputs: inout Outputs
    ) {
        guard durable.holds(begun.unit) else { return }
        // Another decision has nothing to do with it.
        guard durable.submissions[durable.index(of: begun.unit.submission)].mayCountDeath(under: begun.unit.index),
            decisionDue(begun.unit) == begun.decision
        else { return }
        emit(
            .deathProven(begun.unit, begun.attempt, worker, cause, isEvaluation: begun.isEvaluation, at: now.wall), &outputs)
    }
}
