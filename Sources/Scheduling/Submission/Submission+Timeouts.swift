/// Timeouts of attempts, which executors watch.
extension Submission {
    /// The executor has told the attempt to stop, as its timeout has passed. Whatever stops it from here on, that was first.
    ///
    /// - Parameter since: when it did, by its own clock.
    mutating func noteTimeout(
        of unit: Int, _ attempt: Attempt, since: Int64, at: Int64, _ effects: inout [Effect]
    ) throws(FactMismatch) {
        guard case .assigned(attempt, _) = units[unit].phase, watchesTimeout(unit), units[unit].stop == nil else {
            throw FactMismatch("\(path(of: unit)): attempt \(attempt.rawValue) timed out, and has no timeout, or was told to stop before")
        }
        units[unit].stop = .timedOut
        units[unit].hasTimedOut = true
        noteStopRequest(of: unit, .timedOut, isFirst: true, at: since)
        try noteStop(of: unit, attempt, forced: false, since: since, at: at, &effects)
    }

    /// Whether what runs of it is the body of an operation with a timeout.
    func watchesTimeout(_ unit: Int) -> Bool {
        node(unit).isOperation && node(unit).timeoutMilliseconds > 0 && !units[unit].isEvaluating && !isConcluding(unit)
    }

    /// What the executor says of the attempt's timeout; nil: it has ended otherwise.
    func timeout(toldBy outcome: AttemptOutcome) -> [Failure]? {
        guard case .failure(let failures) = outcome, failures.first?.isOfTheUnitsTimeout == true else { return nil }
        return failures
    }

    /// How the unit ends, whose attempt had timed out before something else stopped it; nil: as what stopped it says. It is over in any case:
    /// where there might have been another attempt, the stop has taken that away, and decides.
    ///
    /// - Parameter failures: as its executor has told it.
    func timeoutOutcome(of unit: Int, told failures: [Failure]? = nil) -> Outcome? {
        guard units[unit].hasTimedOut else { return nil }
        let failures = failures ?? [timeoutFailure(unit)]
        return mayComeAnew(unit, after: failures) ? nil : .failure(failures)
    }

    /// By itself, by what its submitter says, with the net or with a group that it is in.
    private func mayComeAnew(_ unit: Int, after failures: [Failure]) -> Bool {
        if hasRetries(unit) && worthRetry(unit, failures) != nil || holdsFailure(unit, isByBody: false) || openTail(of: unit) != nil {
            return true
        }
        var parent = Int(units[unit].parent)
        while parent >= 0 {
            if hasRetries(parent) || holdsFailure(parent, isByBody: false) { return true }
            parent = Int(units[parent].parent)
        }
        return false
    }

    private func hasRetries(_ unit: Int) -> Bool { Int(units[unit].failedAttempts) < node(unit).retries }
}
