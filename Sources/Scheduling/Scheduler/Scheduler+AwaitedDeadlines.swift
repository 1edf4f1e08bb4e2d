/// A deadline that is over shortly after a start, of what may have ended in time while nobody was there to hear of it.
///
/// It is judged when it is known of each of the attempts how that ended, or that it has not.
struct AwaitedDeadline {
    struct GivenOut {
        let unit: Int
        let attempt: Attempt
        let worker: WorkerNumber
    }
    let unit: UnitID
    /// Wall time.
    let at: Int64
    /// All that has not ended in the unit.
    let attempts: [GivenOut]
}

/// Deadlines beside a start of the coordinator.
extension Scheduler {
    /// By then executors are back, and have handed in what they had to tell; or their leases are over.
    mutating func awaitEnds() { endsAwaitedUntil = now.boot + 2 * reattachWindow }

    /// - Returns: whether the deadline has to wait for what executors have still to tell.
    mutating func awaitEnds(of unit: UnitID, deadline at: Int64) -> Bool {
        guard now.boot < endsAwaitedUntil, let attempts = givenOut(in: unit), mayHaveEnded(attempts, in: unit.submission) else {
            return false
        }
        awaitedDeadlines.append(AwaitedDeadline(unit: unit, at: at, attempts: attempts))
        // No longer, whatever comes.
        timers.insert(.deadline(unit, at), due: endsAwaitedUntil)
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
                passDeadline(of: deadline.unit, &outputs)
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
            passDeadline(of: deadline.unit, &outputs)
            hasPassed = true
        }
        // It has ended, and needs no order.
        if hasPassed { pending.stops[number.index]?.removeAll { $0.unit == name.unit && $0.attempt == name.attempt } }
    }

    private func isOpen(_ deadline: AwaitedDeadline) -> Bool {
        guard !durable.isForgotten(deadline.unit.submission) else { return false }
        return durable.submissions[durable.index(of: deadline.unit.submission)].deadlines[Int32(deadline.unit.index)] == deadline.at
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
        let session = workers.sessions[worker.index]
        return switch session.connection {
        case .awaited: true
        case .attached: session.endsToTell.contains(unit)
        case .absent, .silent, .revoked: false
        }
    }
}
