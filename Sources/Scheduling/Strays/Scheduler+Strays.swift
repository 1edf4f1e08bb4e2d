/// Attempts that were given up and may go on: which executors they are on, and when that is over.
extension Scheduler {
    /// Whether the attempt was given up, and may go on.
    func isStray(_ unit: UnitID, _ attempt: Attempt) -> Bool {
        durable.holds(unit) && durable.submissions[durable.index(of: unit.submission)].isStray(unit.index, attempt)
    }

    /// Whether an attempt that is lost now may go on: nobody has said that it does not, and its executor does not have to end it by now.
    func mayGoOn(_ unit: UnitID, after cause: LossCause) -> Bool {
        switch cause {
        case .leaseOver: true
        // What runs under a key or at most once is not lost before its executor has stopped it.
        case .revoked, .limited: !durable.submissions[durable.index(of: unit.submission)].endsWithLockLease(unit.index)
        case .crashed, .processEnded, .neverArrived, .released, .orphanLimitOver, .suspected, .lockLeaseOver: false
        }
    }

    func hasStrays(_ worker: Int) -> Bool { workers.sessions[worker].strays.contains { isStray($0.unit, $0.attempt) } }

    /// Nothing of the attempt runs any more.
    ///
    /// - Parameter isUnbegun: nothing ever has.
    mutating func endStray(
        _ unit: UnitID, _ attempt: Attempt, isUnbegun: Bool = false, on number: WorkerNumber, _ outputs: inout Outputs
    ) {
        let name = AttemptName(unit: unit, attempt: attempt)
        guard let place = workers.sessions[number.index].strays.firstIndex(of: name) else { return }
        workers.sessions[number.index].strays.remove(at: place)
        if isStray(unit, attempt) { emit(.strayEnded(unit, attempt, isUnbegun: isUnbegun, at: now.wall), &outputs) }
    }

    /// Nothing but these runs on the executor.
    mutating func endStrays(on number: WorkerNumber, besides held: [ExecutorAttachment.Held] = [], _ outputs: inout Outputs) {
        guard !workers.sessions[number.index].strays.isEmpty else { return }
        let running = Set(held.filter { $0.state == .running }.map { AttemptName(unit: $0.unit, attempt: $0.attempt) })
        for stray in workers.sessions[number.index].strays where !running.contains(stray) {
            endStray(stray.unit, stray.attempt, on: number, &outputs)
        }
        // Those that it is told to drop: who waits for their end may want it at once.
        for stray in workers.sessions[number.index].strays where isHurried(stray.unit) {
            orderStop(stray.unit, stray.attempt, number, .cancelled, now: true)
        }
    }

    /// Whether the unit, or what it is in, waits for its attempts to end without grace.
    private func isHurried(_ unit: UnitID) -> Bool {
        guard durable.holds(unit) else { return false }
        let submission = durable.index(of: unit.submission)
        var current = unit.index
        while current >= 0 {
            let state = durable.submissions[submission].units[current]
            if state.phase == .lingering, state.isHurried { return true }
            current = Int(state.parent)
        }
        return false
    }

    /// What the index over the executors has to know.
    func strayViolations() -> [String] {
        var found: [String] = []
        for submission in durable.submissions {
            found += submission.strayViolations()
            for stray in submission.strays {
                let session = workers.sessions[stray.worker.index]
                let name = "\(submission.id)/\(submission.path(of: Int(stray.unit))): its attempt \(stray.attempt.rawValue)"
                if !session.strays.contains(AttemptName(unit: submission.id(Int(stray.unit)), attempt: stray.attempt)) {
                    found.append("\(name) may go on, and its executor does not know")
                }
                if durable.workers[stray.worker.index].hasEnded { found.append("\(name) may go on in a process that has ended") }
                if session.connection == .absent { found.append("\(name) may go on where nobody looks") }
            }
        }
        return found
    }
}
