/// What has ended long ago is forgotten, so that neither memory nor the journal grows for ever.
extension Scheduler {
    /// It is forgotten when its time is over. On the wall clock, which goes on while no coordinator runs.
    mutating func watchRetention(of number: SubmissionNumber) {
        guard let retention = configuration.retentionMilliseconds else { return }
        let root = durable.submissions[durable.index(of: number)].units[0]
        wallTimers.insert(.retention(number), due: root.finishedAt + retention)
    }

    mutating func retentionDue(_ number: SubmissionNumber, _ outputs: inout Outputs) {
        guard !durable.isForgotten(number), let retention = configuration.retentionMilliseconds else { return }
        // On boot time: the wall clock may be set back meanwhile, and what is due by it then is asked anew.
        let doubt = clockDoubt.end(for: retention)
        guard now.boot >= doubt else { return timers.insert(.retention(number), due: doubt) }
        guard durable.submission(number).units[0].finishedAt + retention <= now.wall else { return watchRetention(of: number) }
        // Whatever might still be told or reported of it is waited for.
        guard durable.submission(number).canBeForgotten, !pending.touched.contains(number), !historyIsBehind else {
            return wallTimers.insert(.retention(number), due: now.wall + Self.retentionLookMilliseconds)
        }
        forget(number, &outputs)
    }

    mutating func forget(_ number: SubmissionNumber, _ outputs: inout Outputs) {
        durable.submission(number).forEachStoredValue { value, _ in outputs.forgottenValues.append(value) }
        emit(.forgotten(number, at: now.wall), &outputs)
        let index = durable.index(of: number)
        nodeClasses[index] = []
        misfits[number] = nil
        kept.remove(number)
    }

    private static let retentionLookMilliseconds: Int64 = 600_000
}

extension DurableState {
    mutating func forget(_ number: SubmissionNumber) throws(FactMismatch) {
        let index = index(of: number)
        guard submissions.contains(index) else { throw FactMismatch("submission \(number.rawValue) does not exist") }
        let submission = submissions[index]
        guard submission.canBeForgotten else { throw FactMismatch("submission \(submission.id) has not ended") }
        submissionByKey[SubmissionKey(principal: submission.principal, key: submission.key)] = nil
        submissionByID[submission.id] = nil
        submissions.remove(at: index)
    }
}

extension Submission {
    /// Nothing of it can happen any more, but that an attempt whose lock was released under it reports late: nothing may ever be heard of
    /// that, and then its report is as one of what was never known.
    ///
    /// - Complexity: O(units).
    var canBeForgotten: Bool {
        outcome != nil
            && units.allSatisfy { unit in
                switch unit.phase {
                case .ended, .dropped: true
                default: false
                }
            }
    }
}
