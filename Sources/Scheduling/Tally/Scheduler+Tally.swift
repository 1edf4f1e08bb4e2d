extension Scheduler {
    /// Counts a change of a unit: its end, a failed attempt that another one follows, or that it has its locks.
    mutating func count(_ unit: UnitID, at: Int64) {
        let index = durable.index(of: unit.submission)
        let state = durable.submissions[index].units[unit.index]
        switch state.phase {
        case .ended(let outcome): countEnd(of: unit, outcome, state, index)
        case .retryWait: countEnd(of: unit, .retrying, index)
        case .ready where state.locks == .held(isUsed: false): countGrant(to: unit, at: at)
        case .blocked, .delayed, .held, .paused, .wanting, .locking, .preparing, .ready, .postponed, .assigned, .provisional, .open,
            .lingering, .dropped:
            break
        }
    }

    private mutating func countEnd(of unit: UnitID, _ outcome: Outcome, _ state: Unit, _ index: Int) {
        let end: Tally.End =
            switch outcome {
            case .success: .succeeded
            case .failure: .failed
            case .cancelled: .cancelled
            }
        guard countEnd(of: unit, end, index) else { return }
        tally.noteTimes(queuedAt: state.queuedAt, startedAt: state.startedAt, finishedAt: state.finishedAt)
    }

    /// - Returns: false: it is a group, or decides for one; these are not counted.
    @discardableResult
    private mutating func countEnd(of unit: UnitID, _ end: Tally.End, _ index: Int) -> Bool {
        let node = Int(durable.submissions[index].units[unit.index].node)
        guard case .operation(let operation) = durable.submissions[index].layout.graph.nodes[node].kind else { return false }
        let isHosted = durable.submissions[index].layout.graph.nodes[node].isHosted
        tally.note(end, ofClass: nodeClasses[index][node]) { isHosted ? Self.hostedType : operation.type }
        tell(unit, end)
        return true
    }

    /// Closures of a submitter have no type that means anything to others.
    static let hostedType = "hosted"

    private mutating func countGrant(to unit: UnitID, at: Int64) {
        guard let request = durable.locks.requests[unit], request.heldSince == at else { return }
        tally.lockWaits.add(at - request.askedAt)
    }

    mutating func countEnd(of submission: SubmissionNumber) {
        switch durable.submissions[durable.index(of: submission)].outcome {
        case .success?: tally.noteSubmission(.succeeded)
        case .failure?: tally.noteSubmission(.failed)
        case .cancelled?: tally.noteSubmission(.cancelled)
        case nil: preconditionFailure("submission \(submission.rawValue) has ended without an outcome")
        }
    }

    /// How many things there are right now.
    ///
    /// - Complexity: O(submissions + workers + locks).
    public func standing() -> Standing {
        var standing = Standing()
        for index in durable.submissions.indices {
            guard durable.submissions[index].outcome == nil else {
                standing.endedSubmissions += 1
                continue
            }
            standing.pendingOperations += Int(durable.submissions[index].counts.pending)
            standing.runningOperations += Int(durable.submissions[index].counts.running)
            if durable.submissions[index].pauses[0] != nil {
                standing.pausedSubmissions += 1
            } else if durable.submissions[index].hasBegun {
                standing.runningSubmissions += 1
            } else {
                standing.pendingSubmissions += 1
            }
        }
        for (index, session) in workers.sessions.enumerated() where !durable.workers[index].identity.isSubmitter {
            switch session.connection {
            case .absent, .revoked: break
            case .awaited, .silent: standing.silentWorkers += 1
            case .attached:
                standing.slots += session.slots
                standing.slotsTaken += min(session.units.count, session.slots)
                if isTaking(index) { standing.attachedWorkers += 1 } else { standing.drainingWorkers += 1 }
            }
        }
        for lock in durable.locks.locks.values {
            if !lock.holders.isEmpty { standing.heldLocks += 1 }
            standing.waitingForLocks += max(0, lock.waitingCount)
        }
        return standing
    }
}
