/// The consequences of what happens to units.
extension Submission {
    /// Draws every consequence that is waiting. `at` is the wall time of the fact they follow from.
    mutating func settle(at: Int64, _ effects: inout [Effect]) {
        while let next = work.popFirst() {
            switch next {
            case .release(let unit): release(Int(unit), at, &effects)
            case .enter(let unit): if units[Int(unit)].phase == .paused { enter(Int(unit), at, &effects) }
            case .begin(let unit): begin(Int(unit), at, &effects)
            case .stop(let unit, let reason): stop(Int(unit), reason, at, &effects)
            case .close(let unit): close(Int(unit), at, &effects)
            case .accept(let unit): acceptProvisional(Int(unit), at, &effects)
            case .prepared(let unit): endPreparation(of: Int(unit), at, &effects)
            case .resume(let unit): resumeReceiver(Int(unit), at, &effects)
            }
        }
    }

    mutating func beginRoot(at: Int64, _ effects: inout [Effect]) {
        startDeadline(0, at, &effects)
        if isUnique(0) { claiming.append(0) } else { approach(0, at, &effects) }
        settle(at: at, &effects)
    }

    private mutating func release(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        guard case .blocked = units[unit].phase else { return }
        units[unit].unmet -= 1
        if duplicate(unit) != nil { return endDuplicate(unit, at, &effects) }
        precondition(units[unit].unmet >= 0, "unit \(unit) was released more often than it had dependencies")
        guard units[unit].unmet == 0, units[unit].stop == nil else { return }
        approach(unit, at, &effects)
    }

    /// Nothing but its group's limit is in its way.
    mutating func enter(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        if isDecider(unit) { return makeReady(unit, at, &effects) }
        let parent = Int(units[unit].parent)
        if isPaused(unit) {
            units[unit].phase = .paused
            effects.append(.changed(id(unit), at: at, errors: []))
        } else if waitsForBegin(unit, at, &effects) {
            return
        } else if parent >= 0, !isPreparation(unit), isAtLimit(parent) {
            units[unit].phase = .held
            heldChildren[Int32(parent), default: []].append(Int32(unit))
        } else {
            begin(unit, at, &effects)
        }
    }

    func maxConcurrent(_ unit: Int) -> Int {
        switch node(unit).kind {
        case .group(let group): group.maxConcurrent
        case .forEach(let forEach): forEach.maxConcurrent
        case .operation, .decider: 0
        }
    }

    private func isAtLimit(_ group: Int) -> Bool {
        let limit = maxConcurrent(group)
        return limit > 0 && Int(units[group].activeChildren) >= limit
    }

    private mutating func begin(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        switch units[unit].phase {
        case .blocked where units[unit].stop != nil: return passPlace(in: Int(units[unit].parent))
        case .blocked, .delayed, .paused: break
        case .held:
            let parent = units[unit].parent
            if isAtLimit(Int(parent)) {
                // Somebody else took the place that was meant for it.
                heldChildren[parent, default: []].prepend(Int32(unit))
                return
            }
            if waitsForBegin(unit, at, &effects) { return passPlace(in: Int(parent)) }
        case .ended, .lingering: return passPlace(in: Int(units[unit].parent))  // it ended before it took the place that was meant for it
        case .wanting, .locking, .preparing, .ready, .postponed, .assigned, .provisional, .retryWait, .open, .dropped: return
        }
        if !isPreparation(unit) {
            units[unit].isActive = true
            if units[unit].parent >= 0 { units[Int(units[unit].parent)].activeChildren += 1 }
        }
        switch node(unit).kind {
        case .operation:
            if let failure = forwardedFailure(unit) {
                forward(failure, from: unit, at, &effects)
            } else {
                startWaiting(unit, at, &effects)
                if lacksLocks(unit) { wantLocks(unit, &effects) } else { makeReady(unit, at, &effects) }
            }
        case .group:
            if lacksLocks(unit) { wantLocks(unit, &effects) } else { beginGroup(unit, at, &effects) }
        case .forEach(let forEach):
            if let elements = forEach.elements {
                expand(unit, count: elements.count, at, &effects)
            } else if let failure = firstFailure(ofProducersOf: unit) {
                forward(failure, from: unit, at, &effects)
            } else {
                startWaiting(unit, at, &effects)
                makeReady(unit, at, &effects)
            }
        case .decider:
            preconditionFailure("the decider \(unit) of \(id) began like a child")
        }
    }

    /// A group that holds its locks opens, if its conditions let it.
    mutating func beginGroup(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        if hasConditions(unit) { makeReady(unit, at, &effects) } else { open(unit, at, &effects) }
    }

    mutating func makeReady(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        if lacksPreparation(unit) { return prepare(unit, at, &effects) }
        units[unit].phase = .ready
        effects.append(.ready(id(unit)))
    }

    mutating func open(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        units[unit].probing = .due
        // A forEach whose list a worker made has had its attempt counted when that was given out.
        if case .assigned = units[unit].phase {} else { units[unit].attempts += 1 }
        units[unit].phase = .open
        units[unit].startedAt = at
        if units[unit].queuedAt == 0 { units[unit].queuedAt = at }
        effects.append(.opened(id(unit), at: at))
        let children = children(of: unit)
        stopAfterEarlyEnds(in: unit)
        openDecisions(of: unit, at, &effects)
        if units[unit].openChildren == 0 { work.append(.close(Int32(unit))) }
        for child in children {
            startDeadline(child, at, &effects)
            activate(child)
        }
    }

    /// Makes the children of a forEach and opens it.
    mutating func expand(_ unit: Int, count: Int, _ at: Int64, _ effects: inout [Effect]) {
        appendInstances(ofForEach: unit, count: count, &effects)
        open(unit, at, &effects)
    }

    mutating func appendInstances(ofForEach unit: Int, count: Int, _ effects: inout [Effect]) {
        let body = Int(layout.children[Int(units[unit].node)].first ?? 0)
        let template = Int(layout.template[body])
        units[unit].firstInstance = Int32(units.count)
        units[unit].instances = Int32(count)
        units[unit].openChildren = Int32(count)
        units.reserveCapacity(units.count + count * layout.templates[template].count)
        let before = units.count
        for position in 0..<count { appendInstance(of: template, parent: unit, position: position) }
        effects.append(.grown(units.count - before))
    }

    // MARK: The end

    /// Gives the unit its outcome and tells those who waited for it.
    mutating func finish(_ unit: Int, _ outcome: Outcome, _ at: Int64, _ effects: inout [Effect]) {
        precondition(!units[unit].hasEnded, "unit \(unit) of \(id) ended twice")
        if case .cancelled = outcome, hasToLinger(unit) { return linger(unit, at, &effects) }
        if layout.scopes != nil { decideScope(of: unit, at, &effects) }
        let hasToldReceivers = !scoped.isEmpty && scoped.removeValue(forKey: Int32(unit)) != nil
        units[unit].phase = .ended(outcome)
        units[unit].finishedAt = at
        endCount += 1
        units[unit].endNumber = endCount
        heldChildren[Int32(unit)] = nil
        closeDecisions(of: unit)
        if !lastFailures.isEmpty { lastFailures[Int32(unit)] = nil }
        endDeadline(unit)
        if !pauses.isEmpty { endPause(of: unit) }
        if !standings.isEmpty { letGoOfID(unit) }
        if !provisional.isEmpty { provisional[Int32(unit)] = nil }
        if !heldEnds.isEmpty { heldEnds[Int32(unit)] = nil }
        let hadBegunStream = endStream(of: unit)
        var errors: [Failure] = []
        if case .failure(let failures) = outcome { errors = failures }
        if case .operation = node(unit).kind {
            if units[unit].isRunning { counts.running -= 1 }
            switch outcome {
            case .success: counts.succeeded += 1
            case .failure: counts.failed += 1
            case .cancelled: counts.cancelled += 1
            }
        }
        units[unit].isRunning = false
        if units[unit].locks != .none {
            units[unit].locks = .none
            releasing.append(Int32(unit))
        }
        effects.append(.ended(id(unit), at: at, errors: errors))
        stopPreparations(of: unit, .siblingFailed)

        let parent = Int(units[unit].parent)
        guard parent >= 0 else {
            strays = []
            return effects.append(.submissionEnded(number))
        }
        if isPreparation(unit) { return work.append(.prepared(Int32(parent))) }
        units[parent].openChildren -= 1
        if case .success = outcome {
        } else {
            if !isForgiven(unit, in: parent) { units[parent].unsuccessfulChildren += 1 }
            if mayStop(parent), hasTurn(unit) { stopMembers(of: parent) }
        }
        noteEnd(of: unit, in: parent, at, &effects)
        leaveGroup(unit)
        if !hasToldReceivers { releaseDependents(of: unit, hadBegunStream: hadBegunStream) }
        passTurn(of: unit)
        if units[parent].openChildren == 0 { work.append(.close(Int32(parent))) }
    }

    mutating func leaveGroup(_ unit: Int) {
        guard units[unit].isActive else { return }
        let parent = Int(units[unit].parent)
        units[unit].isActive = false
        units[parent].activeChildren -= 1
        passPlace(in: parent)
    }

    private mutating func passPlace(in parent: Int) {
        guard parent >= 0, maxConcurrent(parent) > 0, !isAtLimit(parent) else { return }
        while let next = heldChildren[Int32(parent)]?.popFirst() {
            guard case .held = units[Int(next)].phase else { continue }
            work.append(.begin(next))
            return
        }
    }

    /// Whether a failure in the group stops it, which nothing else has by now.
    func mayStop(_ group: Int) -> Bool { stopsOnFailure(group) && !units[group].stopsChildren && units[group].stop == nil }

    /// The group stops at a failure that it has had.
    mutating func stopMembers(of group: Int) {
        units[group].stopsChildren = true
        for child in children(of: group) where !units[child].hasEnded { work.append(.stop(Int32(child), .siblingFailed)) }
        if let decider = decider(of: group) { work.append(.stop(Int32(decider), .siblingFailed)) }
    }

    func stopsOnFailure(_ unit: Int) -> Bool {
        switch node(unit).kind {
        case .group(let group): group.stopsOnFailure
        case .forEach(let forEach): forEach.stopsOnFailure
        case .operation, .decider: false
        }
    }

    /// - Parameter hadBegunStream: those that receive its stream have been released.
    mutating func releaseDependents(of unit: Int, hadBegunStream: Bool) {
        let node = Int(units[unit].node)
        let successor = memberAfter(unit).map { units[$0].node }
        for dependent in layout.dependents[node] where dependent != successor {
            if hadBegunStream, layout.graph.nodes[Int(dependent)].onlyStreams(from: node) { continue }
            appendReleases(of: Int(dependent), seenFrom: Int(units[unit].base), template: Int(layout.template[node]))
        }
    }

    /// Every unit that `node` is below the instance at `base`: one, or one per element of the forEach around it.
    private mutating func appendReleases(of node: Int, seenFrom base: Int, template: Int) {
        var forEachs: [Int] = []
        var current = Int(layout.template[node])
        while current != template {
            let forEach = Int(layout.ownerOfTemplate[current])
            forEachs.append(forEach)
            current = Int(layout.template[forEach])
        }
        var bases = [base]
        for forEach in forEachs.reversed() {
            bases = bases.flatMap { base in Array(children(of: base + Int(layout.offset[forEach]))) }
        }
        for base in bases { work.append(.release(Int32(base + Int(layout.offset[node])))) }
    }

    private mutating func close(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        guard !units[unit].hasEnded, units[unit].openChildren == 0 else { return }
        // What is done before its conditions, or an evaluation of these, still runs: the end of that ends it.
        switch units[unit].phase {
        case .preparing, .assigned, .lingering: return
        default: break
        }
        // A group that is stopped before it began has its children's ends to wait for like any other.
        guard units[unit].phase == .open || units[unit].stop != nil else { return }
        switch units[unit].stop {
        case .cancelled, .siblingFailed:
            finish(unit, .cancelled, at, &effects)
        case .timedOut:
            failAttempt(unit, [timeoutFailure(unit)], at, &effects)
        case .queueTimedOut, .deadlinePassed, .submitterGone, .lockCycle, .quarantined, .unfit, .fenced, .streamVoided:
            finish(unit, stoppedOutcome(unit), at, &effects)
        case .conditionFailed:
            failAttempt(unit, conditionFailures(unit), at, &effects)
        case .duplicate:
            finish(unit, duplicateOutcome(unit), at, &effects)
        case nil:
            let own = decisionFailures(unit)
            if units[unit].unsuccessfulChildren > 0 || !own.isEmpty {
                failAttempt(unit, own, isByBody: true, at, &effects)
            } else if holdsInScope(unit) {
                holdInScope(unit, .success(ProvisionalSuccess(payload: .void, addition: nil, attempt: Attempt(rawValue: 0))), at, &effects)
            } else if holdsSuccess(unit) {
                holdSuccess(unit, .void, nil, Attempt(rawValue: 0), at, &effects)
            } else {
                finish(unit, .success(.void), at, &effects)
            }
        }
    }

    /// An attempt of the unit failed: it is tried again, or that is its outcome.
    ///
    /// - Parameter isByBody: nothing else has ended the attempt.
    mutating func failAttempt(
        _ unit: Int, _ failures: [Failure], isByBody: Bool = false, _ at: Int64, _ effects: inout [Effect]
    ) {
        units[unit].failedAttempts += 1
        guard Int(units[unit].failedAttempts) <= node(unit).retries, let leading = worthRetry(unit, failures) else {
            guard !holdsFailure(unit, isByBody: isByBody) else {
                return hold(unit, .failure(failures), isByBody: isByBody, at, &effects)
            }
            return settleFailure(unit, failures, at, &effects)
        }
        let due = at + node(unit).options.backoff.delayMilliseconds(of: id(unit), failedAttempts: Int(units[unit].failedAttempts))
        waitForRetry(unit, failures, leading: leading, due: due, at, &effects)
    }

    /// It is tried again at this wall time.
    mutating func waitForRetry(
        _ unit: Int, _ failures: [Failure], leading: Failure?, due: Int64, _ at: Int64, _ effects: inout [Effect]
    ) {
        noteEarlierFailure(of: unit, failures, leading: leading, at: at)
        units[unit].isPrepared = false
        voidStream(of: unit, at, &effects)
        lastFailures[Int32(unit)] = leading
        units[unit].phase = .retryWait(until: due)
        units[unit].stop = nil
        noteNotRunning(unit)
        effects.append(.changed(id(unit), at: at, errors: failures))
        effects.append(.retry(id(unit), at: due))
    }

    mutating func noteNotRunning(_ unit: Int) {
        guard units[unit].isRunning else { return }
        units[unit].isRunning = false
        if case .operation = node(unit).kind { counts.running -= 1 }
    }

    // MARK: Stopping

    mutating func stop(_ unit: Int, _ reason: Unit.Stop, _ at: Int64, _ effects: inout [Effect]) {
        if isDecider(unit) { return stopDecider(unit, reason, at, &effects) }
        switch units[unit].phase {
        case .ended, .dropped:
            return
        case .assigned(let attempt, let worker):
            let isFirst = units[unit].stop == nil
            guard note(reason, unit) else { return }
            noteStopRequest(of: unit, reason, isFirst: isFirst, at: at)
            effects.append(.stop(id(unit), attempt, worker, reason, now: units[unit].isHurried))
            effects.append(.changed(id(unit), at: at, errors: []))
        case .open:
            guard note(reason, unit) else { return }
            stopChildren(of: unit, reason)
        case .lingering:
            guard note(reason, unit) else { return }
            if reason == .fenced { return finish(unit, stoppedOutcome(unit), at, &effects) }
            stopStrays(of: unit, &effects)
        case .provisional where reason == .submitterGone && isConcluding(unit):
            passOver(unit, at, &effects)
        case .preparing:
            guard note(reason, unit) else { return }
            // Where nothing runs it ends in this step, and that is what is told.
            if hasRunningPreparations(unit) { effects.append(.changed(id(unit), at: at, errors: [])) }
            stopPreparations(of: unit, reason)
        case .blocked, .delayed, .held, .paused, .wanting, .locking, .ready, .postponed, .retryWait, .provisional:
            guard note(reason, unit) else { return }
            if units[unit].openChildren > 0 {
                // Those behind it in a line have to know, however long its end takes.
                if case .postponed = units[unit].phase { effects.append(.changed(id(unit), at: at, errors: [])) }
                awaitChildren(of: unit, stoppedBy: reason)
            } else {
                finish(unit, stoppedOutcome(unit), at, &effects)
            }
        }
    }

    /// A group that does not begin, or not again, is to end as soon as what is in it has, of which attempts may go on that were
    /// given up: meanwhile it stands in no line.
    mutating func awaitChildren(of unit: Int, stoppedBy reason: Unit.Stop) {
        units[unit].phase = .blocked
        if rules >= Rules.leavesLines, units[unit].locks == .asked {
            units[unit].locks = .none
            releasing.append(Int32(unit))
        }
        stopChildren(of: unit, reason)
    }

    /// - Returns: whether that is news: a stronger reason, or the same without grace.
    mutating func note(_ reason: Unit.Stop, _ unit: Int) -> Bool {
        let isStronger = supersedes(reason, units[unit].stop)
        let isFaster = isHurrying && !units[unit].isHurried
        if isStronger { units[unit].stop = reason }
        if isFaster { units[unit].isHurried = true }
        return isStronger || isFaster
    }

    /// A user's cancellation outranks what came before it: nothing of it goes on. What an attempt has ended with before is kept beside it.
    private func supersedes(_ reason: Unit.Stop, _ current: Unit.Stop?) -> Bool {
        switch (current, reason) {
        case (nil, _), (.siblingFailed, .cancelled): true
        case (.fenced, _): false
        case (_, .fenced): true
        // What that attempt comes to does not count.
        case (.streamVoided, .timedOut), (.streamVoided, .streamVoided): false
        case (.streamVoided, _): true
        case (.timedOut, .cancelled), (.timedOut, .siblingFailed), (.timedOut, .deadlinePassed): true
        case (.timedOut, .submitterGone), (.submitterGone, .cancelled), (.submitterGone, .siblingFailed): true
        case (.queueTimedOut, .cancelled), (.queueTimedOut, .siblingFailed), (.queueTimedOut, .deadlinePassed): true
        case (.deadlinePassed, .cancelled), (.deadlinePassed, .siblingFailed): true
        case (.cancelled, _), (.siblingFailed, _), (.timedOut, _), (.queueTimedOut, _), (.deadlinePassed, _), (.conditionFailed, _),
            (.duplicate, _), (.submitterGone, _), (.lockCycle, _), (.quarantined, _), (.unfit, _):
            false
        }
    }

    /// What a timeout stops inside a group ends as cancelled.
    mutating func stopChildren(of unit: Int, _ reason: Unit.Stop) {
        let inner: Unit.Stop = reason == .cancelled ? .cancelled : .siblingFailed
        for child in children(of: unit) where !units[child].hasEnded { work.append(.stop(Int32(child), inner)) }
        if let decider = decider(of: unit) { work.append(.stop(Int32(decider), inner)) }
    }
}
