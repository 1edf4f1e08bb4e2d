/// What operators do to the cluster: submissions once more, and locks taken from those who hold them.
extension Scheduler {
    /// Submits the graph of a submission that has ended again.
    ///
    /// - Parameter failedOnly: what has succeeded there, and came after nothing that has not, does not run again.
    mutating func retry(
        _ text: String, key: String, force: Bool, failedOnly: Bool, by authority: Authority, _ outputs: inout Outputs
    ) -> Reply {
        if let first = durable.submissionByKey[.init(principal: authority.principal, key: key)] {
            let existing = durable.submission(first)
            // What is to be run again may be forgotten by now.
            if case .found(let number) = resolve(text, by: authority, toSteer: "submit again") {
                let graph = durable.submission(number).submittedGraph
                guard existing.isMade(of: graph) else { return .failed(.keyReused(key, by: existing, for: graph)) }
            }
            return .retried(id: existing.id, existing: true, lifted: 0)
        }
        switch resolve(text, by: authority, toSteer: "submit again") {
        case .failed(let failure): return .failed(failure)
        case .found(let number):
            let submission = durable.submission(number)
            guard submission.outcome != nil else {
                return .failed(
                    .refused(message: "submission \(submission.id) has not ended; `aop cancel \(submission.id)` ends it", errors: []))
            }
            guard submission.submitter.rawValue == 0 else {
                return .failed(
                    .refused(
                        message: "submission \(submission.id) has code of the process that submitted it; let that program submit it again",
                        errors: []))
            }
            if failedOnly, case .success? = submission.outcome {
                return .failed(
                    .refused(
                        message: "nothing of submission \(submission.id) has failed; `aop retry \(submission.id)` runs all of it again",
                        errors: []))
            }
            if failedOnly, let (unit, holder) = claimedByOthers(submission) {
                return .failed(
                    .refused(
                        message: "the unique id of \(durable.name(of: submission.id(unit))), which would be kept, is in use by "
                            + "\(durable.name(of: holder)); try again when that has ended",
                        errors: []))
            }
            var lifted = 0
            let reply = submit(
                key: key, name: submission.name, graph: ExaminedGraph(submission.submittedGraph), waitForWorkers: true, cancelled: [],
                submitter: Incarnation(0), trace: submission.trace, by: authority, &outputs
            ) { scheduler, outputs in
                if force { lifted = scheduler.liftQuarantine(of: submission, &outputs) }
            }
            guard case .submitted(let id, let existing) = reply else { return reply }
            if failedOnly, let new = durable.submissionByID[id], new != number {
                // All of this is one step: nothing of it has been handed out.
                emit(.outcomesKept(new, from: number, at: now.wall), &outputs)
            }
            return .retried(id: id, existing: existing, lifted: lifted)
        }
    }

    /// One of those that a retry of the submission would keep, whose unique id somebody has by now: it would end as a duplicate
    /// before it is kept.
    private func claimedByOthers(_ submission: Submission) -> (unit: Int, holder: UnitID)? {
        guard submission.graph.nodes.contains(where: { $0.unique != nil }) else { return nil }
        for node in submission.keptNodes(withElements: true) {
            let unit = Int(submission.layout.offset[node])
            guard let id = submission.uniqueID(of: unit) else { continue }
            if let holder = durable.ids.holder(of: .init(principal: submission.principal, id: id)) { return (unit, holder) }
        }
        return nil
    }

    /// Lets operations go that are like one of the submission.
    private mutating func liftQuarantine(of submission: Submission, _ outputs: inout Outputs) -> Int {
        var lifted = 0
        for unit in submission.units.indices where submission.units[unit].phase != .dropped {
            guard !durable.quarantine.isEmpty else { break }
            guard let key = submission.quarantineKey(of: unit), durable.quarantine.entry(key, at: now.wall) != nil else { continue }
            emit(.quarantineLifted(submission.id(unit), at: now.wall), &outputs)
            lifted += 1
        }
        return lifted
    }

    /// Takes a lock of the cluster from those who hold it. A request may come twice: it names them.
    mutating func releaseLock(
        _ key: String, heldBy named: [String], reason: String, now isNow: Bool, _ outputs: inout Outputs
    ) -> Reply {
        var holders: [UnitID] = []
        if let number = durable.locks.knownNumber(of: key), let lock = durable.locks.locks[LockID(scope: 0, key: number)] {
            holders = lock.holders.filter { named.contains(durable.name(of: $0)) }
        }
        for unit in holders where durable.locks.requests[unit]?.isHeld == true {
            if isNow {
                emit(.lockSeized(unit, key: key, reason: reason, at: now.wall), &outputs)
            } else {
                let text = "its lock `\(key)` is released by force" + (reason.isEmpty ? "" : ": \(reason)")
                emit(.cancelRequested(unit, reason: text, now: false, at: now.wall), &outputs)
            }
        }
        return .lockReleased(holders: holders.map(durable.name(of:)))
    }

    /// Something comes of an attempt whose lock was released under it.
    mutating func refuseLateResult(_ unit: UnitID, _ attempt: Attempt, _ outputs: inout Outputs) {
        guard isFenced(unit, attempt) else {
            if isOrphan(unit, attempt) { emit(.orphanEnded(unit, attempt, at: now.wall), &outputs) }
            return
        }
        emit(.lateResultRefused(unit, attempt, at: now.wall), &outputs)
    }
}
