extension Scheduler {
    /// Everything that must hold between two steps, computed from scratch; empty: all holds.
    ///
    /// Nothing that can leak is counted: the indices are compared with what the units say.
    public func violations() -> [String] {
        var found: [String] = []
        var unfinished = 0
        for submission in durable.submissions {
            found += submission.violations()
            guard submission.outcome == nil else { continue }
            unfinished += submission.units.count
            let (nodes, classed) = (submission.graph.nodes.count, nodeClasses[durable.index(of: submission.number)].count)
            if nodes != classed { found.append("\(submission.id) has \(nodes) nodes, and classes of \(classed)") }
        }
        if unfinished != unfinishedUnits { found.append("\(unfinished) units are unfinished, but \(unfinishedUnits) are counted") }
        found +=
            workerViolations() + timerViolations() + lockViolations() + resourceViolations() + uniquenessViolations() + hostingViolations()
            + decisionViolations() + strayViolations()
        for number in misfits.keys where durable.submission(number).outcome != nil {
            found.append("\(durable.submission(number).id): what did not fit is kept though it has ended")
        }
        return found
    }

    private func workerViolations() -> [String] {
        var found: [String] = []
        var assigned: [[UnitID]] = Array(repeating: [], count: workers.sessions.count)
        var attempts = Set<Attempt>()
        for submission in durable.submissions {
            for unit in submission.units.indices {
                let isAssigned = if case .assigned = submission.units[unit].phase { true } else { false }
                if submission.units[unit].isEvaluating, !isAssigned { found.append("\(submission.path(of: unit)) is evaluated by nobody") }
                guard case .assigned(let attempt, let worker) = submission.units[unit].phase else { continue }
                assigned[worker.index].append(UnitID(submission.number, unit))
                if !attempts.insert(attempt).inserted { found.append("attempt \(attempt.rawValue) is held by two units") }
                if durable.workers[worker.index].hasEnded { found.append("\(submission.path(of: unit)) is assigned to a dead worker") }
            }
        }
        for (index, session) in workers.sessions.enumerated() {
            if Set(session.units) != Set(assigned[index]) || session.units.count != assigned[index].count {
                found.append("worker \(index) has units \(session.units) in its index but \(assigned[index]) in the journal")
            }
            let identity = durable.workers[index].identity
            if durable.workers[index].isDrained != (!identity.isSubmitter && durable.drains[identity.givenName] != nil) {
                found.append("worker \(index) is drained: \(durable.workers[index].isDrained), and by its name it is not so")
            }
            if session.isAttached, !session.begunUnheard.isEmpty { found.append("worker \(index) is heard, but what it ran is kept") }
            if session.connection == .absent, !session.units.isEmpty { found.append("worker \(index) is gone but has units") }
        }
        return found
    }

    /// What waits for a time has a timer.
    private func timerViolations() -> [String] {
        var delayed = Set<UnitID>()
        var limited = Set<UnitID>()
        for reason in timers.reasons + wallTimers.reasons {
            switch reason {
            case .delay(let unit, _): delayed.insert(unit)
            case .deadline(let unit, _): limited.insert(unit)
            case .postponement(let unit, _): delayed.insert(unit)
            case .retry, .lease, .orphanLimit, .lockLease, .reattachOver, .attemptTimeout, .groupTimeout, .queueTimeout, .turn, .retention,
                .room:
                break
            }
        }
        var found: [String] = []
        for submission in durable.submissions where submission.outcome == nil {
            for unit in submission.units.indices {
                if case .delayed = submission.units[unit].phase, !delayed.contains(UnitID(submission.number, unit)) {
                    found.append("\(submission.id)/\(submission.path(of: unit)): is delayed, but nothing will end that")
                }
                if case .postponed(.window(let until)) = submission.units[unit].phase, until > now.wall,
                    !delayed.contains(UnitID(submission.number, unit))
                {
                    found.append("\(submission.id)/\(submission.path(of: unit)): waits for a time of day that nobody watches")
                }
                let isWatched = submission.deadlines[Int32(unit)] != nil && submission.units[unit].stop == nil
                if isWatched, !limited.contains(UnitID(submission.number, unit)) {
                    found.append("\(submission.id)/\(submission.path(of: unit)): has a deadline that nobody watches")
                }
            }
        }
        return found
    }

    /// What has begun is not asked for; and when nobody is asked for anything, no unit waits at an executor behind others while another one has a
    /// free slot for it.
    private func strandedViolations() -> [String] {
        func hasBegun(_ unit: UnitID) -> Bool {
            let state = durable.submissions[durable.index(of: unit.submission)].units[unit.index]
            return state.isRunning || state.isEvaluating || state.stop != nil || isConcluding(unit)
        }
        let asked = workers.sessions.flatMap(\.recalled)
        var found = asked.filter(isRunning).map { "\(name(of: $0)) is asked for, and has begun" }
        guard asked.allSatisfy(hasBegun) else { return found }
        for (index, session) in workers.sessions.enumerated()
        where session.units.count < session.slots && session.reservedFor == nil && canTake(index) {
            for (other, busy) in workers.sessions.enumerated() where busy.isAttached && busy.units.count > busy.slots {
                let waiting = busy.units.filter { !hasBegun($0) }
                let stranded = waiting.dropFirst(max(0, busy.slots - (busy.units.count - waiting.count)))
                    .first { session.lanes.contains(operationClass(of: $0)) }
                guard let stranded else { continue }
                found.append("\(name(of: stranded)) waits at worker \(other) behind others, and worker \(index) has a free slot")
            }
        }
        return found
    }

    /// No unit waits while an executor that could take it has a free slot, and its host what the unit takes. Holds after
    /// every step.
    public func idleViolations() -> [String] {
        // One of each class.
        var waiting: [Int: UnitID] = [:]
        for submission in durable.submissions where submission.outcome == nil {
            for unit in submission.units.indices
            where submission.units[unit].phase == .ready && !submission.units[unit].isSuspect && !submission.isPaused(unit)
                && !submission.lacksStream(unit)
            {
                let id = UnitID(submission.number, unit)
                waiting[operationClass(of: id)] = id
            }
        }
        return strandedViolations()
            + workers.sessions.indices.compactMap { index in
                let session = workers.sessions[index]
                guard isTaking(index), !session.isSuspected, !session.isExclusive,
                    session.units.count < session.slots, session.reservedFor == nil,
                    let (lane, unit) = waiting.sorted(by: { $0.key < $1.key }).first(where: {
                        couldTake($0.key, worker: index) && fits($0.key, onHost: host(of: index))
                    })
                else { return nil }
                return "worker \(index) has a free slot while \(name(of: unit)) waits (class \(lane))"
            }
    }
}

extension Submission {
    fileprivate func violations() -> [String] {
        var found: [String] = []
        var counts = Counts()
        func fail(_ unit: Int, _ text: String) { found.append("\(id)/\(path(of: unit)): \(text)") }
        for unit in units.indices {
            let state = units[unit]
            if state.phase == .dropped { continue }
            if case .operation = node(unit).kind {
                counts.total += 1
                if state.isRunning { counts.running += 1 }
                switch state.outcome {
                case .success?: counts.succeeded += 1
                case .failure?: counts.failed += 1
                case .cancelled?: counts.cancelled += 1
                case nil: break
                }
            }
            if node(unit).isDecider { continue }
            if state.phase == .blocked, state.unmet != unmetDependencies(unit) {
                fail(unit, "counts \(state.unmet) unmet dependencies, there are \(unmetDependencies(unit))")
            }
            if state.phase == .blocked, state.unmet == 0, state.stop == nil { fail(unit, "waits for nothing but has not begun") }
            let options = node(unit).options
            let canBegin = !state.hasEnded && (state.parent < 0 || hasCalled(Int(state.parent), unit))
            if canBegin != (deadlines[Int32(unit)] != nil), options.deadlineMilliseconds > 0 || options.deadline > 0 {
                fail(unit, "has a deadline that is \(canBegin ? "not " : "")watched")
            }
            if case .delayed = state.phase {
                if !node(unit).hasOptions { fail(unit, "is delayed, but its node asks for no delay") }
                if state.unmet > 0 || state.stop != nil { fail(unit, "is delayed though it waits for more or was stopped") }
            }
            if state.phase == .paused, !isPaused(unit) {
                fail(unit, "waits to be resumed, but nothing is paused")
            }
            if isPaused(unit), mayReturnLocks(unit) { fail(unit, "is paused, has not begun, and has locks or waits for them") }
            if state.phase == .held, isPaused(unit) { fail(unit, "is paused, but waits for a place") }
            if state.phase == .held, isBelowLimit(Int(state.parent)) { fail(unit, "is held back though its group has room") }
            for problem in preparationViolations(unit) { fail(unit, problem) }
            checkGroup(unit, fail)
        }
        found += streamViolations() + scopeViolations()
        if counts != self.counts { found.append("\(id): counts \(self.counts), there are \(counts)") }
        return found
    }

    private func isBelowLimit(_ group: Int) -> Bool {
        let limit = maxConcurrent(group)
        return limit == 0 || Int(units[group].activeChildren) < limit
    }

    private func checkGroup(_ unit: Int, _ fail: (Int, String) -> Void) {
        let state = units[unit]
        let children = children(of: unit)
        if case .operation = node(unit).kind { return }
        let open = children.count { !units[$0].hasEnded } + (decider(of: unit).map { isDue($0) ? 1 : 0 } ?? 0)
        let active = children.count { units[$0].isActive }
        let unsuccessful = children.count {
            switch units[$0].outcome {
            case .failure?, .cancelled?: !isForgiven($0, in: unit)
            case .success?, nil: false
            }
        }
        if Int(state.openChildren) != open { fail(unit, "counts \(state.openChildren) open children, there are \(open)") }
        if Int(state.activeChildren) != active { fail(unit, "counts \(state.activeChildren) active children, there are \(active)") }
        if Int(state.unsuccessfulChildren) != unsuccessful {
            fail(unit, "counts \(state.unsuccessfulChildren) unsuccessful children, there are \(unsuccessful)")
        }
        if state.hasEnded, open > 0 { fail(unit, "has ended though \(open) children have not") }
        if state.phase == .open, open == 0 { fail(unit, "is open though all its children have ended") }
        let limit = maxConcurrent(unit)
        if limit > 0, active > limit { fail(unit, "has \(active) active children, its limit is \(limit)") }
    }
}
