/// Submitters whose graphs have code that exists only in their processes: each attaches like an executor, takes nothing
/// but that, and is the only one who does.
///
/// Nothing of it can go elsewhere, so that it is not queued again when the submitter is not heard. It has until the lock
/// lease is over to attach again; by then it has stopped what runs under a key. After that, or when it says goodbye, its
/// session is over for good: what waits for it fails, and so does everything hosted that is still to come, each when its
/// turn comes.
extension Scheduler {
    func isForSubmitter(_ unit: UnitID) -> Bool {
        let index = durable.index(of: unit.submission)
        return submitterClasses[index] != 0 && durable.submissions[index].isForSubmitter(unit.index)
    }

    /// Whether the submission's hosted code is gone.
    func isSubmitterGone(_ submission: Int) -> Bool {
        guard submitterClasses[submission] != 0,
            let number = durable.workerByIncarnation[durable.submissions[submission].submitter]
        else { return false }
        return durable.workers[number.index].hasEnded
    }

    func isForGoneSubmitter(_ node: Node, _ submission: Int) -> Bool { node.isHosted && isSubmitterGone(submission) }

    /// Whether the unit waits for somebody who does not come back.
    func lacksSubmitter(_ unit: UnitID) -> Bool {
        let index = durable.index(of: unit.submission)
        guard submitterClasses[index] != 0, isSubmitterGone(index) else { return false }
        return durable.submissions[index].isForSubmitter(unit.index)
    }

    /// Whether this is the process of a submitter whose session is open.
    func isOpenSubmitter(_ incarnation: Incarnation) -> Bool {
        durable.workerByIncarnation[incarnation].map { isOpenSubmitter($0.index) } ?? false
    }

    func isOpenSubmitter(_ worker: Int) -> Bool { durable.workers[worker].identity.isSubmitter && !durable.workers[worker].hasEnded }

    /// It was not heard for its lease.
    mutating func awaitSubmitter(_ number: WorkerNumber) {
        workers.sessions[number.index].connection = .silent
        timers.insert(.lockLease(number), due: workers.sessions[number.index].lastHeard + configuration.lockLeaseMilliseconds)
    }

    /// The session of a submitter is over: whatever has its turn and needs it fails.
    mutating func missSubmitter(_ number: WorkerNumber, _ outputs: inout Outputs) {
        let identity = durable.workers[number.index].identity
        for index in durable.submissions.indices
        where durable.submissions[index].submitter == identity.incarnation && durable.submissions[index].outcome == nil {
            for unit in durable.submissions[index].units.indices
            where durable.submissions[index].isInTurn(unit) && durable.submissions[index].isForSubmitter(unit) {
                emit(.submitterMissed(durable.submissions[index].id(unit), at: now.wall), &outputs)
            }
        }
    }

    /// Ends what came to its turn after its submitter was gone.
    mutating func endAbandoned(_ outputs: inout Outputs) {
        while let unit = abandoned.popFirst() {
            let isWaiting = durable.submissions[durable.index(of: unit.submission)].isInTurn(unit.index)
            if isWaiting, lacksSubmitter(unit) { emit(.submitterMissed(unit, at: now.wall), &outputs) }
        }
    }

    // MARK: For those who look

    /// Why a unit waits, or is not heard of, whose submitter is not connected.
    func submitterInTheWay(of unit: UnitID) -> WaitingView? {
        let index = durable.index(of: unit.submission)
        guard isForSubmitter(unit), durable.submissions[index].isInTurn(unit.index),
            let number = durable.workerByIncarnation[durable.submissions[index].submitter]
        else { return nil }
        let session = workers.sessions[number.index]
        guard !session.isAttached || session.isSuspected else { return nil }
        let left = max(0, session.lastHeard + configuration.lockLeaseMilliseconds - now.boot)
        return WaitingView(
            kind: .submitter,
            text: "waits for its submitter (\(durable.workers[number.index].identity.name)), which is not connected"
                + " and has \(Duration.text(milliseconds: left)) to come back")
    }

    // MARK: Invariants

    /// What is hosted is with its submitter or nowhere, and nothing waits for a submitter that is gone.
    func hostingViolations() -> [String] {
        var found: [String] = []
        for submission in durable.submissions where submission.outcome == nil {
            for unit in submission.units.indices {
                if case .assigned(_, let worker) = submission.units[unit].phase {
                    let identity = durable.workers[worker.index].identity
                    let isWithSubmitter = identity.isSubmitter && identity.incarnation == submission.submitter
                    if submission.isForSubmitter(unit) != isWithSubmitter {
                        found.append("\(submission.id)/\(submission.path(of: unit)): is with \(identity.name), which is not its place")
                    }
                } else if [.ready, .wanting].contains(submission.units[unit].phase), !submission.isPaused(unit),
                    lacksSubmitter(submission.id(unit))
                {
                    // What waits for a time fails when that has come.
                    found.append("\(submission.id)/\(submission.path(of: unit)): waits for a submitter that is gone")
                }
            }
        }
        return found
    }
}
