/// A deadline, or a group's timeout, that is over shortly after a start of the coordinator or after it stood still, of what may have ended in
/// time while nobody was there to hear of it.
///
/// It is judged when it is known of each of the attempts how that ended, or that it has not.
struct AwaitedDeadline {
    struct GivenOut {
        let unit: Int
        let attempt: Attempt
        let worker: WorkerNumber
    }
    enum Limit: Equatable {
        /// At this wall time.
        case deadline(Int64)
        /// Of the group that began at this wall time.
        case timeout(startedAt: Int64)
        /// The coordinator's own watch over an attempt, whose executor has watched it first: what that says counts.
        case attempt(Attempt)
    }
    let unit: UnitID
    let limit: Limit
    /// What ended later has not ended in time: wall time.
    let at: Int64
    /// Boot time until which it waits, whatever comes.
    let until: Int64
    /// All that has not ended in the unit.
    let attempts: [GivenOut]
}

/// Deadlines beside a start of the coordinator, and beside a time in which it stood still.
extension Scheduler {
    /// By then executors are back, and have handed in what they had to tell; or their leases are over.
    mutating func awaitEnds() { endsAwaitedUntil = now.boot + 2 * reattachWindow }

    /// After the coordinator stood still executors may have given up their connections, and tell the rest when they are back.
    mutating func doubtEnds() {
        awaitEnds()
        for index in workers.sessions.indices where workers.sessions[index].isAttached {
            workers.sessions[index].endsDoubtedUntil = now.boot + Self.doubtMilliseconds
        }
    }

    /// What is read so long after the coordinator stood still was sent since, behind all that it did not read.
    private static let doubtMilliseconds: Int64 = 2_000

    /// - Returns: whether the limit has to wait for what executors have still to tell.
    mutating func awaitEnds(of unit: UnitID, _ limit: AwaitedDeadline.Limit) -> Bool {
        if let index = awaitedDeadlines.firstIndex(where: { $0.unit == unit && $0.limit == limit }) {
            guard awaitedDeadlines[index].until <= now.boot else { return true }
            // No longer, though the coordinator stood still again.
            awaitedDeadlines.remove(at: index)
            return false
        }
        guard now.boot < endsAwaitedUntil, let attempts = givenOut(in: unit), mayHaveEnded(attempts, in: unit.submission) else {
            return false
        }
        let over: Int64
        switch limit {
        case .deadline(let at):
            over = at
            timers.insert(.deadline(unit, at), due: endsAwaitedUntil)
        case .timeout(let startedAt):
            over = startedAt + durable.submissions[durable.index(of: unit.submission)].node(unit.index).timeoutMilliseconds
            timers.insert(.groupTimeout(unit, startedAt), due: endsAwaitedUntil)
        case .attempt(let attempt):
            over = .max
            timers.insert(.attemptTimeout(unit, attempt), due: endsAwaitedUntil)
        }
        awaitedDeadlines.append(AwaitedDeadline(unit: unit, limit: limit, at: over, until: endsAwaitedUntil, attempts: attempts))
        return true
    }

    /// Judges those of which it is known what there is to know.
    mutating func judgeAwaitedDeadlines(_ outputs: inout Outputs) {
        guard !awaitedDeadlines.isEmpty else { return }
        let awaited = awaitedDeadlines
        awaitedDeadlines = []
        for deadline in awaited where isOpen(deadline) {
            if mayHaveEnded(deadline.attempts, in: deadline.unit.submission) {
                awaitedDeadlines.append(deadline)
            } else {
                pass(deadline, &outputs)
            }
        }
    }

    /// The attempt's end is told only now, and it ended at this wall time: deadlines that were over by then have passed before it.
    mutating func passAwaitedDeadlines(around name: AttemptName, endedAt: Int64, on number: WorkerNumber, _ outputs: inout Outputs) {
        guard !awaitedDeadlines.isEmpty else { return }
        var hasPassed = false
        for deadline in awaitedDeadlines
        where deadline.at < endedAt && deadline.unit.submission == name.unit.submission && isOpen(deadline) {
            let index = durable.index(of: name.unit.submission)
            guard durable.submissions[index].isInside(name.unit.index, of: deadline.unit.index) else { continue }
            pass(deadline, &outputs)
            hasPassed = true
        }
        // It has ended, and needs no order.
        if hasPassed { pending.stops[number.index]?.removeAll { $0.unit == name.unit && $0.attempt == name.attempt } }
    }

    private func isOpen(_ deadline: AwaitedDeadline) -> Bool {
        guard !durable.isForgotten(deadline.unit.submission) else { return false }
        let submission = durable.submissions[durable.index(of: deadline.unit.submission)]
        let state = submission.units[deadline.unit.index]
        switch deadline.limit {
        case .deadline(let at): return submission.deadlines[Int32(deadline.unit.index)] == at
        case .timeout(let startedAt): return state.phase == .open && state.startedAt == startedAt && state.stop != .timedOut
        case .attempt(let attempt):
            guard case .assigned(attempt, _) = state.phase else { return false }
            return state.stop != .timedOut
        }
    }

    private mutating func pass(_ deadline: AwaitedDeadline, _ outputs: inout Outputs) {
        switch deadline.limit {
        case .deadline: passDeadline(of: deadline.unit, &outputs)
        case .timeout, .attempt: emit(.timedOut(deadline.unit, at: now.wall), &outputs)
        }
    }

    /// What has not ended in the unit, if all of that was given out; nil: something was not, so that the unit had not ended before now.
    private func givenOut(in unit: UnitID) -> [AwaitedDeadline.GivenOut]? {
        let submission = durable.submissions[durable.index(of: unit.submission)]
        var attempts: [AwaitedDeadline.GivenOut] = []
        for inner in submission.inside(unit.index, withPaused: true) {
            let state = submission.units[inner]
            switch state.phase {
            case .ended, .dropped, .open: continue
            case .provisional:
                if submission.isConcluding(inner) { return nil }
            case .assigned(let attempt, let worker):
                let isExecution = submission.node(inner).isOperation && !state.isEvaluating && !submission.isConcluding(inner)
                guard isExecution, state.stop == nil else { return nil }
                attempts.append(AwaitedDeadline.GivenOut(unit: inner, attempt: attempt, worker: worker))
            case .blocked, .delayed, .held, .paused, .wanting, .locking, .preparing, .ready, .postponed, .retryWait, .lingering:
                return nil
            }
        }
        return attempts
    }

    /// Whether all of it may have ended, as far as was told since the start, and something of it has not been told.
    private func mayHaveEnded(_ attempts: [AwaitedDeadline.GivenOut], in number: SubmissionNumber) -> Bool {
        let submission = durable.submissions[durable.index(of: number)]
        var isAwaited = false
        for given in attempts {
            switch submission.units[given.unit].phase {
            case .ended, .provisional, .dropped: continue
            case .assigned(given.attempt, given.worker):
                guard mayTellEnd(of: submission.id(given.unit), given.worker) else { return false }
                isAwaited = true
            case .assigned, .blocked, .delayed, .held, .paused, .wanting, .locking, .preparing, .ready, .postponed, .retryWait, .open,
                .lingering:
                return false
            }
        }
        return isAwaited
    }

    private func mayTellEnd(of unit: UnitID, _ worker: WorkerNumber) -> Bool {
        // It has ended; with what, and when, is told with its value.
        if waitingValues[unit] != nil { return true }
        let session = workers.sessions[worker.index]
        return switch session.connection {
        case .awaited: true
        case .attached: session.endsDoubtedUntil != nil || session.endsToTell.contains(unit)
        case .absent, .silent, .revoked: false
        }
    }
}
