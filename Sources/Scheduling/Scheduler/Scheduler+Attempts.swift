/// Attempts: what executors report of them, and how they are stopped.
extension Scheduler {
    /// Puts a unit into its queue.
    mutating func queue(_ unit: UnitID) {
        guard !lacksSubmitter(unit) else { return abandoned.append(unit) }
        switch durable.submissions[durable.index(of: unit.submission)].queueing(of: unit.index) {
        case .none: break
        case .alone: ready.pushSuspect(unit)
        case .toBeJudged: groupsToJudge.append(unit)
        case .conditioned: pushConditioned(unit)
        case .concluding: ready.pushConclusion(unit)
        case .plain(let standing):
            let lane = operationClass(of: unit)
            noteDemand(lane)
            ready.push(unit, lane: lane, .plain, standing)
        }
    }

    /// - Returns: whether that is news.
    @discardableResult
    mutating func markRunning(_ unit: UnitID) -> Bool {
        let index = durable.index(of: unit.submission)
        let state = durable.submissions[index].units[unit.index]
        guard !state.isRunning, !state.isEvaluating, !durable.submissions[index].isConcluding(unit.index) else { return false }
        durable.submissions[index].units[unit.index].isRunning = true
        if case .operation = durable.submissions[index].node(unit.index).kind { durable.submissions[index].counts.running += 1 }
        return true
    }

    mutating func noteStarted(_ peer: PeerID, _ unit: UnitID, _ attempt: Attempt, at: Int64, _ outputs: inout Outputs) {
        guard let number = workers.number(of: peer), isCurrent(unit, attempt, number) else { return }
        if markRunning(unit) { tellWait(of: unit, until: wallTime(reported: at), on: number, &outputs) }
        beginStream(of: unit, attempt, &outputs)
        let index = durable.index(of: unit.submission)
        if !durable.submissions[index].units[unit.index].isEvaluating, !durable.submissions[index].isConcluding(unit.index) {
            durable.submissions[index].units[unit.index].startedAt = wallTime(reported: at)
            noteChange(unit, at: now.wall, errors: [])
        }
        workers.sessions[number.index].recalled.removeAll { $0 == unit }
        watchTimeout(ofAttempt: attempt, unit)
    }

    /// A time of an executor's clock, as far as it can be true.
    func wallTime(reported: Int64) -> Int64 { min(max(reported, 0), now.wall) }

    /// Begins the coordinator's own watch over a running attempt's timeout.
    mutating func watchTimeout(ofAttempt attempt: Attempt, _ unit: UnitID) {
        let index = durable.index(of: unit.submission)
        let node = durable.submissions[index].node(unit.index)
        let isEvaluating = durable.submissions[index].units[unit.index].isEvaluating
        let isQuestion = isEvaluating || node.isDecider || durable.submissions[index].isConcluding(unit.index)
        let timeout = isQuestion ? durable.submissions[index].stepMilliseconds(unit.index) : node.timeoutMilliseconds
        guard isQuestion || node.isOperation, timeout > 0 else { return }
        let grace = durable.submissions[index].graceMilliseconds(unit.index) ?? configuration.graceMillisecondsDefault
        timers.insert(
            .attemptTimeout(unit, attempt), due: now.boot + timeout + grace + Self.timeoutSlackMilliseconds
        )
    }

    /// The executor watches a timeout itself, and gives up a body that does not end by force within two seconds after its grace; the
    /// coordinator steps in when it heard nothing for this much longer than the grace.
    private static let timeoutSlackMilliseconds: Int64 = 4_000

    /// Commits the end of an attempt if it is the current one. Either way the executor need not keep it.
    mutating func acceptEnd(
        _ peer: PeerID, _ unit: UnitID, _ attempt: Attempt, _ outcome: AttemptOutcome, startedAt: Int64, at: Int64,
        _ outputs: inout Outputs
    ) {
        guard let number = workers.number(of: peer) else { return }
        pending.acknowledgements[number.index, default: []].append(AttemptName(unit: unit, attempt: attempt))
        refuseLateResult(unit, attempt, &outputs)
        endStray(unit, attempt, on: number, &outputs)
        // Whatever is made of its outcome here: it is from that that the executor knows what to begin.
        let name = AttemptName(unit: unit, attempt: attempt)
        let beginsLinks = outcome.beginsLinks
        if !beginsLinks { breakLinks(after: name, on: number, &outputs) }
        guard isCurrent(unit, attempt, number), let outcome = checked(outcome, unit).map({ admitted($0, unit) }) else {
            // It may be heard of before the one that it follows: it is over, and is not what comes then.
            dropLink(to: name, on: number)
            return stopLinks(after: name, on: number)
        }
        let (duration, overflows) = at.subtractingReportingOverflow(startedAt)
        if startedAt > 0, !overflows, (0...Self.observedDurationMax).contains(duration) {
            workers.sessions[number.index].noteDuration(milliseconds: duration)
        }
        // The coordinator's clock orders facts; an executor's is only shown.
        // One that is ahead is put back by what it is known to be: how long it took stays.
        let ahead = max(0, max(0, at) - now.wall)
        let began = startedAt > 0 ? wallTime(reported: max(1, startedAt - ahead)) : 0
        let ended = began > 0 ? max(began, wallTime(reported: at)) : 0
        passAwaitedDeadlines(around: name, endedAt: ended, on: number, &outputs)
        // It may be told to have begun with this.
        if began > 0, !isRunning(unit) {
            if tellsWaits { tellWait(of: unit, until: began, on: number, &outputs) }
            beginStream(of: unit, attempt, &outputs)
        }
        emit(.attemptEnded(unit, attempt, outcome, startedAt: began, endedAt: ended == now.wall ? 0 : ended, at: now.wall), &outputs)
        followLink(after: name, on: number, &outputs)
    }

    /// Longer ones say nothing about how many to send ahead: a day.
    private static let observedDurationMax: Int64 = 86_400_000

    /// An outcome that cannot be the unit's is the executor's fault, and a failure of the attempt.
    private func checked(_ outcome: AttemptOutcome, _ unit: UnitID) -> AttemptOutcome? {
        let index = durable.index(of: unit.submission)
        let kind = durable.submissions[index].node(unit.index).kind
        if durable.submissions[index].isConcluding(unit.index) { return checkedConclusion(outcome) }
        if durable.submissions[index].units[unit.index].isEvaluating {
            return checkedAnswers(outcome, durable.submissions[index].dueProbes(of: unit.index))
        }
        switch (kind, outcome) {
        case (.group, _):
            return nil
        case (.decider, _):
            return checkedDecision(outcome)
        case (.forEach, .success), (.forEach, .production), (.operation, .elements), (_, .answers), (_, .decided),
            (_, .concluded):
            return .failure([
                Failure(
                    code: .operation, message: "the worker answered with another kind of outcome than was asked for; check its version",
                    typeName: "ProtocolViolation"
                )
            ])
        case (.forEach, .elements(let elements)) where elements.count > configuration.graphLimits.elementsMax:
            return .failure([
                Failure(
                    code: .limit,
                    message:
                        "forEach got \(elements.count) elements, more than the limit of \(configuration.graphLimits.elementsMax); split the list",
                    typeName: "LimitExceeded"
                )
            ])
        case (.forEach, .elements(let elements))
        where !durable.submissions[index].hasRoom(
            for: elements.count, ofForEach: unit.index, limit: configuration.graphLimits.unitsMax):
            return .failure([
                Failure(
                    code: .limit,
                    message: "\(elements.count) elements make more than the limit of \(configuration.graphLimits.unitsMax) units"
                        + " in this submission; split the list",
                    typeName: "LimitExceeded")
            ])
        case (_, .failure(let failures)) where failures.isEmpty:
            return .failure([Failure(code: .operation, message: "failed without saying why", typeName: "UnknownFailure")])
        case (.operation, .success), (.operation, .production), (.operation, .failure), (.operation, .stopped),
            (.forEach, .elements), (.forEach, .failure), (.forEach, .stopped):
            return outcome
        }
    }

    /// - Parameter isAccepting: it has said that it takes other units.
    mutating func acceptRelease(
        _ peer: PeerID, _ unit: UnitID, _ attempt: Attempt, wasStopped: Bool, isAccepting: Bool, _ outputs: inout Outputs
    ) {
        guard let number = workers.number(of: peer) else { return }
        if isOrphan(unit, attempt) { emit(.orphanEnded(unit, attempt, at: now.wall), &outputs) }
        let wasLinked = giveUpLink(AttemptName(unit: unit, attempt: attempt), on: number, &outputs)
        endStray(unit, attempt, isUnbegun: wasLinked && !wasStopped, on: number, &outputs)
        guard isCurrent(unit, attempt, number) else { return }
        if wasStopped { return lose(unit, endsWithLockLease(unit) ? .lockLeaseOver : .orphanLimitOver, &outputs) }
        // Given back without being asked: it is ending and takes nothing more.
        if !isAccepting, !workers.sessions[number.index].recalled.contains(unit) { refuseWork(number) }
        lose(unit, .released, &outputs)
    }

    /// Whether something is still made of what the attempt succeeds with.
    public func isWanted(_ unit: UnitID, _ attempt: Attempt) -> Bool {
        guard durable.holds(unit), case .assigned(attempt, _) = durable.phase(unit) else { return false }
        return durable.submissions[durable.index(of: unit.submission)].units[unit.index].stop == nil
    }

    func isCurrent(_ unit: UnitID, _ attempt: Attempt, _ worker: WorkerNumber) -> Bool {
        durable.holds(unit) && durable.phase(unit) == .assigned(attempt, worker)
    }

    mutating func lose(_ unit: UnitID, _ cause: LossCause, _ outputs: inout Outputs) {
        guard case .assigned(let attempt, let worker) = durable.phase(unit) else { return }
        if mayGoOn(unit, after: cause), !configuration.forgetsStrays {
            emit(.attemptStrayed(unit, attempt, worker, at: now.wall), &outputs)
        }
        // What it said is known; what it evaluates is no attempt that began, nor is what a worker gives back that has begun it and could not.
        let mayHaveRun = isRunning(unit) && cause != .released
        let startedAt = mayHaveRun ? durable.submissions[durable.index(of: unit.submission)].units[unit.index].startedAt : 0
        emit(.attemptLost(unit, attempt, cause, startedAt: startedAt, at: now.wall), &outputs)
    }

    mutating func orderStop(_ unit: UnitID, _ attempt: Attempt, _ worker: WorkerNumber, _ reason: Unit.Stop, now: Bool) {
        let told: StopOrder.Reason = reason == .timedOut ? .timeout : .cancelled
        pending.stops[worker.index, default: []].append(StopOrder(unit: unit, attempt: attempt, reason: told, now: now))
    }

    // MARK: Timers

    mutating func expireTimers(_ outputs: inout Outputs) {
        while let reason = timers.popDue(at: now.boot) ?? wallTimers.popDue(at: now.wall) {
            guard reason.unit.map({ !durable.isForgotten($0.submission) }) ?? true else { continue }
            switch reason {
            case .lease(let worker): leaseDue(worker, &outputs)
            case .orphanLimit(let worker): orphanLimitDue(worker, &outputs)
            case .lockLease(let worker): lockLeaseDue(worker, &outputs)
            case .reattachOver: reattachOver()
            case .retry(let unit, let until): retryDue(unit, until, &outputs)
            case .attemptTimeout(let unit, let attempt): attemptTimeoutDue(unit, attempt, &outputs)
            case .groupTimeout(let unit, let startedAt): groupTimeoutDue(unit, startedAt, &outputs)
            case .delay(let unit, let until): delayDue(unit, until, &outputs)
            case .deadline(let unit, let at): deadlineDue(unit, at, &outputs)
            case .queueTimeout(let unit, let since): queueTimeoutDue(unit, since, &outputs)
            case .postponement(let unit, let until): postponementDue(unit, until)
            case .turn(let line): turnDue(line)
            case .retention(let number): retentionDue(number, &outputs)
            case .room: roomDue(&outputs)
            }
        }
    }

    private mutating func retryDue(_ unit: UnitID, _ until: Int64, _ outputs: inout Outputs) {
        guard durable.phase(unit) == .retryWait(until: until), !isPaused(unit) else { return }
        switch durable.submissions[durable.index(of: unit.submission)].node(unit.index).kind {
        case .operation where durable.submissions[durable.index(of: unit.submission)].beginsAnewWithNet(unit.index):
            emit(.scopeRestarted(unit, at: now.wall), &outputs)
        case .operation where durable.submissions[durable.index(of: unit.submission)].lacksPreparation(unit.index):
            emit(.preparationDue(unit, at: now.wall), &outputs)
        case .operation:
            queue(unit)
            watchQueueTimeout(of: unit)
        case .group, .forEach: emit(.groupRestarted(unit, at: now.wall), &outputs)
        case .decider: preconditionFailure("a decider waits to be tried again")
        }
    }

    private mutating func attemptTimeoutDue(_ unit: UnitID, _ attempt: Attempt, _ outputs: inout Outputs) {
        guard case .assigned(attempt, _) = durable.phase(unit) else { return }
        // It has ended in time; with what, is on its way.
        if waitingValues[unit] != nil {
            return timers.insert(.attemptTimeout(unit, attempt), due: now.boot + Self.valueLookMilliseconds)
        }
        guard !awaitEnds(of: unit, .attempt(attempt)) else { return }
        emit(.timedOut(unit, at: now.wall), &outputs)
    }

    mutating func watchTimeout(ofGroup unit: UnitID, startedAt: Int64) {
        let timeout = durable.submissions[durable.index(of: unit.submission)].node(unit.index).timeoutMilliseconds
        guard timeout > 0 else { return }
        timers.insert(.groupTimeout(unit, startedAt), due: now.boot + max(0, startedAt + timeout - now.wall))
    }

    private mutating func groupTimeoutDue(_ unit: UnitID, _ startedAt: Int64, _ outputs: inout Outputs) {
        let state = durable.submissions[durable.index(of: unit.submission)].units[unit.index]
        guard state.phase == .open, state.startedAt == startedAt, state.stop != .timedOut,
            !awaitEnds(of: unit, .timeout(startedAt: startedAt))
        else { return }
        emit(.timedOut(unit, at: now.wall), &outputs)
    }
}
