/// What is in the way of units that have been given out, are judged, tried again, or stopped.
extension Explainer {
    mutating func addAttempt(of unit: Int, _ attempt: Attempt, _ worker: WorkerNumber) {
        if let reason = scheduler.waitingValues[submission.id(unit)] { return add(.value(reason)) }
        let state = submission.units[unit]
        let session = scheduler.workers.sessions[worker.index]
        let name = scheduler.durable.workers[worker.index].identity.name
        if state.isEvaluating {
            let conditions = submission.conditions(of: unit)
            for probe in submission.dueProbes(of: unit) {
                add(.condition(ConditionWait(key: conditions[probe].key, stage: .evaluating(worker: name))))
            }
        }
        if !session.isAttached || session.isSuspected {
            if scheduler.durable.workers[worker.index].identity.isSubmitter {
                if let wait = submitterWait() { add(.submitter(wait)) }
            } else {
                let until = wall(session.lastHeard + silence(of: unit, session))
                let reason: WorkerWait.Reason =
                    switch session.bar {
                    case .revoked: .revoked(worker: name, until: until)
                    case .limited: .limited(worker: name, until: until)
                    case nil: .unheard(worker: name, since: session.lastHeardWall, until: until)
                    }
                add(.worker(WorkerWait(reason: reason, operation: "", absent: [])))
            }
        } else if submission.isConcluding(unit) {
            add(.submitter(SubmitterWait(name: name, until: nil)))
        } else if !state.isEvaluating, !state.isRunning {
            let taker = SlotWait.Taker(
                number: worker, worker: name, slots: session.slots, taken: session.units.count, obstacle: .queued)
            add(.slots(SlotWait(takers: [taker], takerCount: 1, ahead: 0, runsAlone: false)))
        }
        if let reason = scheduler.heldBack[submission.id(unit)] { add(.partialResults(reason)) }
    }

    /// How long its worker may be silent before others get the unit.
    private func silence(of unit: Int, _ session: WorkerTable.Session) -> Int64 {
        let configuration = scheduler.configuration
        let isStopping = submission.units[unit].stop != nil && submission.units[unit].stop != .streamVoided
        if submission.endsWithLockLease(unit) { return configuration.lockLeaseMilliseconds }
        if isStopping { return configuration.orphanLimitMilliseconds }
        return session.connection == .awaited ? scheduler.reattachWindow : configuration.leaseMilliseconds
    }

    /// Of one that is to end.
    mutating func addStop(of unit: Int) {
        let running = runningInside(unit)
        let stages = submission.histories[Int32(running ?? unit)] ?? []
        var wait = StopWait(
            reason: submission.requestText(of: unit, submission.units[unit].stop ?? .cancelled),
            since: stages.first { $0.event == .requested }?.at ?? 0, running: running.map { blocking($0) },
            open: max(0, Int(submission.units[unit].openChildren)), until: 0, beginsAnew: submission.units[unit].stop == .streamVoided)
        if let running, case .assigned(_, let worker) = submission.units[running].phase {
            let session = scheduler.workers.sessions[worker.index]
            if !session.isAttached || session.isSuspected { wait.until = wall(session.lastHeard + silence(of: running, session)) }
            nameNeighbours(of: submission.id(running), &wait)
        } else if let running, let stray = submission.strays(in: running).first {
            let session = scheduler.workers.sessions[stray.worker.index]
            wait.running = blocking(Int(stray.unit))
            wait.running?.worker = scheduler.durable.workers[stray.worker.index].identity.name
            if !session.isAttached { wait.until = wall(session.lastHeard + scheduler.configuration.orphanLimitMilliseconds) }
        }
        add(.stopping(wait))
    }

    /// What else runs in its process: it is waited for, or ended as well.
    private func nameNeighbours(of unit: UnitID, _ wait: inout StopWait) {
        let overdue = scheduler.overdueAttempt(of: unit)
        let neighbours = overdue?.neighbours ?? scheduler.neighbours(of: unit)
        wait.isOverdue = overdue != nil
        wait.neighbourCount = neighbours.count
        wait.neighbours = neighbours.prefix(StopWait.neighboursMax).map { other in
            scheduler.mayRead(other, reader) ? scheduler.durable.name(of: other) : ""
        }
    }

    /// The unit if it was given out, or attempts of it that were given up may go on, or the first in it of which that is so; nil: of none.
    private func runningInside(_ unit: Int) -> Int? {
        var current = unit
        while true {
            switch submission.units[current].phase {
            case .assigned, .lingering: return current
            default: break
            }
            let inside =
                submission.children(of: current).first { !submission.units[$0].hasEnded }
                ?? submission.preparations(of: current).first { !submission.units[$0].hasEnded }
                ?? submission.decider(of: current).flatMap { submission.isDue($0) ? $0 : nil }
            guard let inside else { return nil }
            current = inside
        }
    }

    // MARK: Conditions

    /// Of one that waits to be given out: it is judged then.
    mutating func addConditionsToCome(of unit: Int) {
        guard submission.hasConditions(unit), !isFull else { return }
        let answered = submission.answered(unit).map(\.condition)
        for (position, condition) in submission.conditions(of: unit).enumerated() where !answered.contains(position) {
            add(.condition(ConditionWait(key: condition.key, stage: .notYet)))
        }
    }

    mutating func addPostponement(of unit: Int, _ postponement: Unit.Postponement) {
        addStream(of: unit)
        let isCalled = scheduler.conditionedUnits[submission.id(unit)] != nil
        let isOpen = if case .window(let until) = postponement { until <= now } else { false }
        if isCalled {
            addPlacement(of: unit)
            addConditionsToCome(of: unit)
        } else if isOpen, submission.lacksLocks(unit) {
            addUndispatchable(unit)
        }
        let conditions = submission.conditions(of: unit)
        for verdict in submission.verdicts[Int32(unit)] ?? [] where !isFull {
            guard let until = verdict.until else { continue }
            // What it was put off for it waits for until it is called: its timer runs on boot time, and its line moves when it does.
            let isInTheWay =
                switch (postponement, conditions[verdict.condition].kind) {
                case (.later, .probe), (.turn, .rateLimit): !isCalled
                default: until > now
                }
            guard isInTheWay else { continue }
            let isTurn = if case .turn = postponement { !isBrief } else { false }
            let ahead = isTurn ? scheduler.turnsBefore(submission.id(unit)) : 0
            add(.condition(ConditionWait(key: conditions[verdict.condition].key, stage: .notNow(verdict, ahead: ahead))))
        }
    }

    // MARK: Ends that do not count yet, and other attempts

    mutating func addProvisional(of unit: Int) {
        if submission.isHeldInScope(unit) {
            guard let tail = submission.openTail(of: unit) else { return }
            add(
                .retry(
                    RetryWait(
                        attempt: 0, attemptsMax: submission.node(tail).retries + 1, until: 0,
                        failure: submission.lastFailures[Int32(unit)], decidedBy: blocking(tail))))
        } else if submission.isConcluding(unit) {
            addPlacement(of: unit)
        } else if let producer = submission.openStreamProducer(of: unit) {
            add(.delivery(blocking(producer), of: .end))
        }
    }

    mutating func addRetry(of unit: Int, _ until: Int64) {
        addStream(of: unit)
        let before = found.count
        if until <= now, submission.node(unit).isOperation {
            addPlacement(of: unit)
            addConditionsToCome(of: unit)
        }
        // Its timer runs on boot time: after a step of the wall clock it may be due and not begun.
        guard until > now || found.count == before else { return }
        let state = submission.units[unit]
        add(
            .retry(
                RetryWait(
                    attempt: Int(state.failedAttempts) + 1, attemptsMax: max(submission.node(unit).retries, Int(state.failedAttempts)) + 1,
                    until: until, failure: submission.lastFailures[Int32(unit)], decidedBy: nil)))
    }
}

extension Scheduler {
    /// How many wait before the unit for a turn under its rate limits.
    fileprivate func turnsBefore(_ unit: UnitID) -> Int {
        var ahead = 0
        for limit in durable.submissions[durable.index(of: unit.submission)].awaitedLimits(of: unit.index) {
            guard let number = rateLines.numbers[limit.key] else { continue }
            let line = rateLines.lines[Int(number)].waiting
            guard let place = line.firstIndex(where: { $0.unit == unit }) else { continue }
            ahead = max(ahead, line[..<place].count { isInTurn($0.unit) })
        }
        return ahead
    }
}
