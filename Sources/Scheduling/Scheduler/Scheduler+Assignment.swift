/// Who gets what.
extension Scheduler {
    /// Gives waiting units to executors: first to free slots, then ahead of need to those whose operations are short.
    /// One unit at a time in turn, so that work spreads before it piles up.
    mutating func assignReadyUnits(_ outputs: inout Outputs) {
        reviewDemands()
        // Who had a host kept for it may have been judged, and wait for something else now; what a failed condition lets
        // begin may be for an executor that had nothing to do before, and so may be what needs a host that was kept for something that
        // has begun elsewhere.
        var hasEndedSome: Bool
        repeat {
            hasEndedSome = assignSuspects(&outputs)
            assignConclusions(&outputs)
            if ready.isAnyWaiting, assign(&outputs, ahead: false) { hasEndedSome = true }
            if demands.takeFreedHost() { hasEndedSome = true }
        } while reviewDemands() || hasEndedSome
        if ready.count(.plain) > 0, assign(&outputs, ahead: true) { _ = assignSuspects(&outputs) }
        assignConclusions(&outputs)
        recallSurplus()
        recallForIdle()
    }

    /// What a submitter says to ends takes none of its slots: operations may have them all that wait for these very ends, as those do
    /// that receive a stream. There are as many more.
    private mutating func assignConclusions(_ outputs: inout Outputs) {
        guard !ready.conclusions.isEmpty else { return }
        for unit in ready.removeConclusions() where durable.phase(unit) == .provisional && isWaiting(unit) {
            let submitter = durable.submissions[durable.index(of: unit.submission)].submitter
            guard let worker = durable.workerByIncarnation[submitter]?.index, canTake(worker),
                workers.sessions[worker].units.count(where: isConcluding) < workers.sessions[worker].slots
            else {
                ready.pushConclusion(unit)
                continue
            }
            _ = assign(unit, to: worker, withLinks: false, &outputs)
        }
    }

    func isConcluding(_ unit: UnitID) -> Bool {
        durable.submissions[durable.index(of: unit.submission)].isConcluding(unit.index)
    }

    /// - Returns: whether a unit was taken out that was not handed out.
    private mutating func assign(_ outputs: inout Outputs, ahead: Bool) -> Bool {
        let share = ahead ? prefetchShare : 0
        var hasEndedSome = false
        var candidates = workers.sessions.indices.filter { index in
            workers.sessions[index].reservedFor == nil && canTake(index) && !(ahead && isWanted(index))
                && hasRoom(index, share)
        }
        // Those with the least to do come first.
        candidates.sort { (workers.sessions[$0].units.count, $0) < (workers.sessions[$1].units.count, $1) }
        while !candidates.isEmpty, ahead ? ready.count(.plain) > 0 : ready.isAnyWaiting {
            candidates.removeAll { index in
                guard hasRoom(index, share), let unit = popReady(for: index, ahead: ahead) else {
                    return true
                }
                if standsAlone(unit) {
                    // A death under it was proven when it stood in line with others.
                    if !ready.suspects.contains(unit) { ready.pushSuspect(unit) }
                    hasEndedSome = true
                    return false
                }
                if !assign(unit, to: index, withLinks: !ahead, &outputs) { hasEndedSome = true }
                return false
            }
        }
        return hasEndedSome
    }

    private func hasRoom(_ worker: Int, _ share: Int) -> Bool {
        let session = workers.sessions[worker]
        return session.units.count < session.slots + session.prefetch(atMost: share)
    }

    private func standsAlone(_ unit: UnitID) -> Bool {
        let submission = durable.index(of: unit.submission)
        return durable.submissions[submission].units[unit.index].isSuspect && !durable.submissions[submission].isConcluding(unit.index)
    }

    func canTake(_ worker: Int) -> Bool {
        isTaking(worker) && !workers.sessions[worker].isSuspected && !workers.sessions[worker].isExclusive
    }

    /// The next unit that still waits and that this executor can run.
    private mutating func popReady(for worker: Int, ahead: Bool) -> UnitID? {
        var lanes = workers.sessions[worker].lanes
        if !ahead, !demands.isEmpty { lanes += fittingLanes(of: worker) }
        // Units with conditions are judged when they are taken out, so that they are taken only for a free slot.
        while let (unit, place) = ready.pop(among: lanes, ahead: ahead) {
            if place.kind == .conditioned {
                guard conditionedUnits[unit] == place.lane else { continue }
                conditionedUnits[unit] = nil
            }
            guard isWaiting(unit) else { continue }
            // It may still stand in the line in which it waited for its attempt.
            if case .provisional = durable.phase(unit), !lanes.contains(operationClass(of: unit)) { continue }
            if !place.isAnswered { ready.noteServed(place, among: lanes) }
            return unit
        }
        return nil
    }

    /// Each at most once: whoever takes it out starts it. Where it waits that it be executed, and its conditions are to be evaluated
    /// again, it is called from the line of those who do that.
    mutating func pushConditioned(_ unit: UnitID) {
        let lane = operationClass(of: unit)
        guard conditionedUnits.updateValue(lane, forKey: unit) != lane else { return }
        noteDemand(lane)
        let index = durable.index(of: unit.submission)
        let standing = durable.submissions[index].standing(unit.index)
        // What a worker has said grows old.
        if durable.submissions[index].units[unit.index].probing != .due {
            ready.pushAnswered(unit, lane: lane, standing)
            // Nor does anybody else get what it needs of a host before it.
            demands.passOver(lane, byLower: Self.answeredSteps)
        } else {
            ready.push(unit, lane: lane, .conditioned, standing)
        }
    }

    /// Sending ahead would keep slots from those that are not sent ahead: units with conditions, and those that take
    /// resources, which they would have while they wait.
    private func isWanted(_ worker: Int) -> Bool {
        (ready.count(.conditioned) > 0 && workers.sessions[worker].lanes.contains { ready.isWaiting(lane: $0, .conditioned) })
            || (!demands.isEmpty && !fittingLanes(of: worker).isEmpty)
    }

    func isWaiting(_ unit: UnitID) -> Bool {
        switch durable.phase(unit) {
        // A unit in retryWait or postponed is queued only when its time has come.
        case .ready, .retryWait, .postponed: !isPaused(unit) && !lacksStream(unit)
        case .provisional: durable.submissions[durable.index(of: unit.submission)].isConcluding(unit.index)
        case .blocked, .delayed, .held, .paused, .wanting, .locking, .preparing, .assigned, .open, .ended, .lingering, .dropped: false
        }
    }

    /// Units under which a process died run alone: an executor is kept free for each until it is empty.
    ///
    /// - Returns: whether a unit was taken out that was not handed out.
    private mutating func assignSuspects(_ outputs: inout Outputs) -> Bool {
        guard !ready.suspects.isEmpty else { return false }
        var hasEndedSome = false
        for worker in workers.sessions.indices {
            if let unit = workers.sessions[worker].reservedFor, !isWaiting(unit) || !canTake(worker) {
                workers.sessions[worker].reservedFor = nil
            }
        }
        for unit in ready.removeSuspects() where isWaiting(unit) {
            guard let worker = executor(for: unit) else {
                ready.pushSuspect(unit)
                continue
            }
            guard workers.sessions[worker].units.isEmpty else {
                workers.sessions[worker].reservedFor = unit
                ready.pushSuspect(unit)
                continue
            }
            let lane = operationClass(of: unit)
            guard fitsAlone(lane, onHost: host(of: worker)) else {
                workers.sessions[worker].reservedFor = unit
                keepHost(host(of: worker), forSuspectOf: lane)
                ready.pushSuspect(unit)
                continue
            }
            workers.sessions[worker].reservedFor = nil
            if assign(unit, to: worker, withLinks: false, &outputs) {
                workers.sessions[worker].isExclusive = true
            } else {
                hasEndedSome = true
            }
        }
        return hasEndedSome
    }

    /// The executor that is or may be kept for a suspect, of those not kept for another one: one that has nothing to do, whichever was kept
    /// before; else one on the host that is kept for its class; else the one with the least to do.
    private mutating func executor(for unit: UnitID) -> Int? {
        let lane = operationClass(of: unit)
        let kept = demands.host(of: lane)
        let others = workers.sessions.indices.filter {
            canTake($0) && workers.sessions[$0].reservedFor == nil && couldTake(lane, worker: $0)
        }
        let reserved = workers.sessions.firstIndex { $0.reservedFor == unit }
        if let reserved, isIdle(reserved, lane) { return reserved }
        let idle = others.first { isIdle($0, lane) }
        if let reserved {
            if idle == nil, kept == nil || kept == host(of: reserved) { return reserved }
            workers.sessions[reserved].reservedFor = nil
        }
        if let idle { return idle }
        func order(_ worker: Int) -> (Int, Int, Int) { (host(of: worker) == kept ? 0 : 1, workers.sessions[worker].units.count, worker) }
        return others.min { order($0) < order($1) }
    }

    /// Whether what runs alone could begin there now.
    private func isIdle(_ worker: Int, _ lane: Int) -> Bool {
        workers.sessions[worker].units.isEmpty && fitsAlone(lane, onHost: host(of: worker))
    }

    /// - Parameter withLinks: it begins at once, and what follows it may, too.
    /// - Returns: whether it was handed out; else its conditions did not hold.
    private mutating func assign(_ unit: UnitID, to worker: Int, withLinks: Bool, _ outputs: inout Outputs) -> Bool {
        let index = durable.index(of: unit.submission)
        let isConcluding = durable.submissions[index].isConcluding(unit.index)
        if !isConcluding, endQuarantined(unit, &outputs) || endMisfit(unit, &outputs) { return false }
        if !isConcluding, durable.submissions[index].hasConditions(unit.index) {
            switch judge(unit, &outputs) {
            case .start, .evaluate: break
            case .leave: return false
            }
        }
        attemptCounter += 1
        let attempt = Attempt(epoch: durable.epoch, counter: attemptCounter)
        emit(.assigned(unit, attempt, WorkerNumber(UInt32(worker)), at: now.wall), &outputs)
        workers.sessions[worker].units.append(unit)
        noteServed(unit, by: worker)
        let resources = durable.resources.holdingCount > 0 ? durable.resources.holding(of: unit) : []
        let assignment = durable.submissions[index].assignment(of: unit.index, attempt, resources: resources)
        pending.dispatches[worker, default: []].append(assignment)
        if withLinks, assignment.kind == .execute { sendLinks(after: unit, attempt, to: worker, &outputs) }
        return true
    }

    /// How many units at most wait at an executor beyond its slots.
    ///
    /// Executors share `prefetchMax`, of which the slots are taken off where operations are shortest: that much comes to the coordinator before the
    /// end of one of them, and what follows that end waits for it.
    var prefetchShare: Int {
        var (executors, slots) = (0, 0)
        for worker in workers.byPeer.values where !durable.workers[worker.index].identity.isSubmitter {
            executors += 1
            if workers.sessions[worker.index].hasShortest { slots += workers.sessions[worker.index].slots }
        }
        return max(1, (Self.prefetchMax - slots) / max(1, executors))
    }

    private static let prefetchMax = 128
    /// More than there are between any two priorities.
    private static let answeredSteps = 1_000
}
