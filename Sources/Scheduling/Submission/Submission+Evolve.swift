/// Why a fact does not fit the state it meets. In life that is a fault of the scheduler, in recovery of the journal.
public struct FactMismatch: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
    /// Rules that this release does not know, which a start by a newer one has written.
    public let newerRules: UInt32?

    init(_ description: String) {
        self.description = description
        newerRules = nil
    }

    init(newerRules found: UInt32) {
        description = "the facts of this start follow rules \(found), and this version knows them up to \(Rules.newest)"
        newerRules = found
    }
}

/// Facts about units.
extension Submission {
    mutating func assign(_ unit: Int, _ attempt: Attempt, _ worker: WorkerNumber, at: Int64) throws(FactMismatch) {
        if isConcluding(unit) { return try beginConclusion(unit, attempt, worker) }
        switch units[unit].phase {
        case .ready, .postponed: break
        // It has waited for a worker since then.
        case .retryWait(let until): units[unit].queuedAt = until
        case .blocked, .delayed, .held, .paused, .wanting, .locking, .preparing, .assigned, .provisional, .open, .ended, .lingering,
            .dropped:
            throw FactMismatch("\(path(of: unit)) was assigned while it did not wait for a worker")
        }
        if isPaused(unit) { throw FactMismatch("\(path(of: unit)) was assigned while it was paused") }
        if lacksStream(unit) { throw FactMismatch("\(path(of: unit)) was assigned before its producer had begun") }
        let isEvaluation = needsProbing(unit)
        if case .group = node(unit).kind, !isEvaluation { throw FactMismatch("the group \(path(of: unit)) was assigned to a worker") }
        if isDecider(unit), question(for: unit) == nil { throw FactMismatch("\(path(of: unit)) was assigned while nothing was due") }
        if lacksLocks(unit) { throw FactMismatch("\(path(of: unit)) was assigned without its locks") }
        if lacksPreparation(unit) { throw FactMismatch("\(path(of: unit)) was assigned before its conditions were prepared") }
        if isEvaluation { return beginEvaluation(unit, attempt, worker) }
        if hasConditions(unit), !units[unit].isCleared { throw FactMismatch("\(path(of: unit)) was assigned before its conditions held") }
        units[unit].isCleared = false
        units[unit].probing = .due
        units[unit].isPrepared = false
        if units[unit].locks != .none { units[unit].locks = .held(isUsed: true) }
        hasBegun = true
        if !takeLink(unit, attempt) { units[unit].attempts += 1 }
        units[unit].phase = .assigned(attempt, worker)
        units[unit].lastWorker = worker
        units[unit].stop = nil
        units[unit].isHurried = false
        units[unit].hasTimedOut = false
        units[unit].startedAt = 0
    }

    mutating func endAttempt(
        _ unit: Int, _ attempt: Attempt, _ outcome: AttemptOutcome, startedAt: Int64, endedAt: Int64, at: Int64, evaluator: String = "",
        _ effects: inout [Effect]
    ) throws(FactMismatch) {
        try takeBack(unit, attempt, &effects)
        if isConcluding(unit) {
            endConclusion(unit, outcome, at, &effects)
            return settle(at: at, &effects)
        }
        if units[unit].isEvaluating {
            endEvaluation(unit, outcome, evaluator, at, &effects)
            return settle(at: at, &effects)
        }
        if isDecider(unit) {
            try endDecision(unit, attempt, outcome, at: at, &effects)
            return settle(at: at, &effects)
        }
        units[unit].startedAt = startedAt
        noteStopped(unit, outcome: outcome, at: at)
        if isProvisional(outcome, of: unit) { return try keep(outcome, of: unit, attempt, at: at, &effects) }
        let timeout = timeout(toldBy: outcome).map { named($0, unit) }
        switch (units[unit].stop, outcome) {
        case (.streamVoided?, _):
            giveUp(unit, at, &effects)
        case (.cancelled?, _), (.siblingFailed?, _):
            finish(unit, timeoutOutcome(of: unit, told: timeout) ?? .cancelled, at, &effects)
        case (.deadlinePassed?, _):
            finish(unit, timeoutOutcome(of: unit, told: timeout) ?? stoppedOutcome(unit), at, &effects)
        case (.timedOut?, _):
            failAttempt(unit, (units[unit].hasTimedOut ? timeout : nil) ?? [timeoutFailure(unit)], at, &effects)
        case (.queueTimedOut?, _), (.conditionFailed?, _), (.duplicate?, _), (.submitterGone?, _), (.lockCycle?, _), (.quarantined?, _),
            (.unfit?, _), (.fenced?, _):
            finish(unit, stoppedOutcome(unit), at, &effects)
        case (nil, .success(let payload)) where holdsInScope(unit):
            holdInScope(unit, .success(ProvisionalSuccess(payload: payload, addition: nil, attempt: attempt)), at, &effects)
        case (nil, .production(let payload, let addition)) where holdsInScope(unit):
            holdInScope(unit, .success(ProvisionalSuccess(payload: payload, addition: addition, attempt: attempt)), at, &effects)
        case (nil, .success(let payload)) where holdsSuccess(unit):
            holdSuccess(unit, payload, nil, attempt, at, &effects)
        case (nil, .production(let payload, let addition)) where holdsSuccess(unit):
            holdSuccess(unit, payload, addition, attempt, at, &effects)
        case (nil, .success(let payload)):
            finish(unit, .success(payload), at, &effects)
        case (nil, .production(let payload, let addition)):
            try add(addition, by: unit, attempt, at: at, &effects)
            finish(unit, .success(payload), at, &effects)
        case (nil, .failure(let failures)):
            failAttempt(unit, named(failures, unit), isByBody: failures.first?.isOfTheUnitsTimeout != true, at, &effects)
        case (nil, .stopped):
            // The operation cancelled itself.
            finish(unit, .cancelled, at, &effects)
        case (nil, .concluded):
            throw FactMismatch("\(path(of: unit)) was not asked about its end but an answer came")
        case (nil, .decided):
            throw FactMismatch("\(path(of: unit)) decides for no group but a decision came")
        case (nil, .answers):
            throw FactMismatch("\(path(of: unit)) was not asked for its conditions but answers came")
        case (nil, .elements(let elements)):
            guard case .forEach = node(unit).kind else { throw FactMismatch("\(path(of: unit)) is no forEach but got elements") }
            self.elements[Int32(unit)] = ElementList(elements)
            units[unit].startedAt = 0
            expand(unit, count: elements.count, at, &effects)
        }
        // Those that waited for it go on from when it was heard of; what is shown is when it was over.
        if units[unit].hasEnded {
            units[unit].finishedAt = endedAt
        } else {
            noteEarlierAttempt(of: unit, outcome, startedAt: startedAt, endedAt: endedAt)
        }
        settle(at: at, &effects)
    }

    /// - Parameter crashLimit: the coordinator's, for what has none of its own.
    /// - Returns: whether its process has died under it so often that nobody is to try the same.
    mutating func loseAttempt(
        _ unit: Int, _ attempt: Attempt, _ cause: LossCause, worker: String, crashLimit: Int, startedAt: Int64, at: Int64,
        _ effects: inout [Effect]
    ) throws(FactMismatch) -> Bool {
        try takeBack(unit, attempt, &effects)
        if isConcluding(unit) {
            loseConclusion(unit, at, &effects)
            settle(at: at, &effects)
            return false
        }
        // Nothing of it counts.
        units[unit].startedAt = 0
        blame(unit, cause, worker: worker)
        let standard = crashLimit
        let crashLimit = self.crashLimit(unit, standard: standard)
        if isDecider(unit) {
            giveBackNumber(of: unit, after: cause)
            loseDecision(unit, crashLimit: crashLimit, at: at, &effects)
            settle(at: at, &effects)
            return false
        }
        noteLoss(of: unit, cause, worker: worker, at: at)
        noteEarlierAttempt(lost: unit, cause, startedAt: startedAt, at: at)
        giveBackNumber(of: unit, after: cause)
        let wasEvaluating = units[unit].isEvaluating
        units[unit].isEvaluating = false
        if wasEvaluating {
            if endStopped(unit, at, &effects) {
                settle(at: at, &effects)
                return false
            }
            units[unit].stop = nil
        }
        noteStopped(unit, outcome: nil, at: at)
        var isExhausted = false
        switch units[unit].stop {
        case .cancelled?, .siblingFailed?: finish(unit, timeoutOutcome(of: unit) ?? .cancelled, at, &effects)
        case .timedOut?: failAttempt(unit, [timeoutFailure(unit)], at, &effects)
        case .queueTimedOut?, .deadlinePassed?, .conditionFailed?, .duplicate?, .submitterGone?, .lockCycle?, .quarantined?,
            .unfit?, .fenced?:
            finish(unit, stoppedOutcome(unit), at, &effects)
        case nil, .streamVoided?:
            if !wasEvaluating, isFinal(cause, unit) {
                endLost(unit, [lostOnceFailure(unit, cause)], at, &effects)
            } else if Int(units[unit].crashes) >= crashLimit {
                // Who allows for fewer than the coordinator says nothing for others.
                isExhausted = !wasEvaluating && Int(units[unit].crashes) >= standard
                endLost(unit, [workerLostFailure(unit)], at, &effects)
            } else {
                if isPaused(unit) { unuseLocks(unit, after: cause) }
                requeue(unit, at, &effects)
            }
        }
        settle(at: at, &effects)
        return isExhausted
    }

    mutating func requestStop(_ unit: Int, _ reason: Unit.Stop, hurried: Bool, at: Int64, _ effects: inout [Effect]) {
        isHurrying = hurried
        stop(unit, reason, at, &effects)
        settle(at: at, &effects)
        isHurrying = false
    }

    /// The current attempt of the unit has produced something that is there whatever becomes of the attempt.
    mutating func produce(
        _ unit: Int, _ attempt: Attempt, _ addition: Addition, at: Int64, _ effects: inout [Effect]
    ) throws(FactMismatch) {
        guard case .assigned(attempt, _) = units[unit].phase, !units[unit].isEvaluating, !isConcluding(unit) else {
            throw FactMismatch("\(path(of: unit)): attempt \(attempt.rawValue) produced something and is not the current one")
        }
        try add(addition, by: unit, attempt, at: at, &effects)
        settle(at: at, &effects)
    }

    /// Asking for its locks would have closed a circle of waits.
    mutating func refuseLocks(_ unit: Int, _ circle: LockCircle, at: Int64, _ effects: inout [Effect]) throws(FactMismatch) {
        guard mayAskForLocks(unit) else { throw FactMismatch("\(path(of: unit)) was refused locks that it did not want") }
        lockCycles[Int32(unit)] = circle
        requestStop(unit, .lockCycle, hurried: false, at: at, &effects)
    }

    /// All descendants of a group begin anew; what its forEachs had made is dropped, and what was added.
    mutating func restart(_ unit: Int, at: Int64, _ effects: inout [Effect]) throws(FactMismatch) {
        guard case .retryWait = units[unit].phase else {
            throw FactMismatch("\(path(of: unit)) began anew while it did not wait to be tried again")
        }
        if case .operation = node(unit).kind { throw FactMismatch("\(path(of: unit)) is an operation; only groups begin anew") }
        empty(unit)
        units[unit].phase = .blocked
        resetCounters(unit)
        // It gives its place in its own group back and takes it again at once, whatever the limit: it never left.
        if units[unit].isActive, units[unit].parent >= 0 {
            units[unit].isActive = false
            units[Int(units[unit].parent)].activeChildren -= 1
        }
        endCancelled(in: unit)
        work.append(.begin(Int32(unit)))
        effects.append(.changed(id(unit), at: at, errors: []))
        settle(at: at, &effects)
    }

    /// What is in a group is as it was before that had begun, and what came to it is no more.
    mutating func empty(_ unit: Int) {
        dropInstances(of: unit)
        dropGrowth(of: unit)
        decisions[Int32(unit)] = nil
        wrapped[Int32(unit)] = nil
        renew((unit + 1)..<(unit + Int(layout.subtreeUnits[Int(units[unit].node)])))
        units[unit].unsuccessfulChildren = 0
        units[unit].stopsChildren = false
        units[unit].hasCalledPreparations = false
    }

    /// These units, which no other instance shares, are as they were before anything had begun.
    mutating func renew(_ range: Range<Int>) {
        for inner in range {
            dropInstances(of: inner)
            dropGrowth(of: inner)
        }
        for inner in range { forget(inner) }
        for inner in range { resetCounters(inner) }
    }

    // MARK: Parts

    private mutating func takeBack(_ unit: Int, _ attempt: Attempt, _ effects: inout [Effect]) throws(FactMismatch) {
        guard case .assigned(attempt, let worker) = units[unit].phase else {
            throw FactMismatch("\(path(of: unit)): attempt \(attempt.rawValue) is not the current one")
        }
        effects.append(.freed(id(unit), worker))
    }

    mutating func requeue(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        noteNotRunning(unit)
        voidStream(of: unit, at, &effects)
        units[unit].probing = .due
        startWaiting(unit, at, &effects)
        units[unit].stop = nil
        makeReady(unit, at, &effects)
        if isPaused(unit) || lacksStream(unit) { giveBackWhilePaused(unit) }
        effects.append(.changed(id(unit), at: at, errors: []))
    }

    private func named(_ failures: [Failure], _ unit: Int) -> [Failure] {
        let path = path(of: unit)
        return failures.map { failure in
            var failure = failure
            guard failure.origin.isEmpty else { return failure }
            if failure.isOfTheUnitsTimeout {
                failure.typeName = "TimeoutObserver.Error"
                failure.detail = .limit(milliseconds: node(unit).timeoutMilliseconds)
            }
            failure.origin = path
            // What a worker ends an attempt with by itself (a timeout) is nobody's but the operation's.
            if failure.publisher.isEmpty, failure.code != .operation { failure.publisher = path }
            return failure
        }
    }

    private mutating func dropInstances(of unit: Int) {
        guard units[unit].instances > 0 else { return }
        let first = Int(units[unit].firstInstance)
        let size = bodyUnits(ofForEach: Int(units[unit].node)) * Int(units[unit].instances)
        units[unit].instances = 0
        units[unit].firstInstance = -1
        elements[Int32(unit)] = nil
        for inner in first..<(first + size) { drop(inner) }
    }

    /// Nobody sees the unit any more, nor what it made.
    mutating func drop(_ inner: Int) {
        dropInstances(of: inner)
        dropGrowth(of: inner)
        if !decisions.isEmpty { decisions[Int32(inner)] = nil }
        if !wrapped.isEmpty { wrapped[Int32(inner)] = nil }
        uncount(inner)
        if case .operation = node(inner).kind { counts.total -= 1 }
        endDeadline(inner)
        if !verdicts.isEmpty { verdicts[Int32(inner)] = nil }
        if !pauses.isEmpty { pauses[Int32(inner)] = nil }
        if !joinedValues.isEmpty { joinedValues[Int32(inner)] = nil }
        if !joinedUnits.isEmpty { joinedUnits[Int32(inner)] = nil }
        if !producers.isEmpty { producers[Int32(inner)] = nil }
        endedEarly.remove(Int32(inner))
        forgetStream(of: inner)
        if !heldEnds.isEmpty { heldEnds[Int32(inner)] = nil }
        forgetScope(of: inner)
        if !histories.isEmpty { histories[Int32(inner)] = nil }
        if !earlierAttempts.isEmpty { earlierAttempts[Int32(inner)] = nil }
        if !earlierFailures.isEmpty { earlierFailures[Int32(inner)] = nil }
        if !deathPlaces.isEmpty { deathPlaces[Int32(inner)] = nil }
        units[inner].phase = .dropped
    }

    /// Back to what it was before its group began, but for how often it was tried.
    private mutating func forget(_ unit: Int) {
        noteEarlierAttempt(forgotten: unit)
        noteEarlierFailure(forgotten: unit)
        if !keepsCancellation(unit) { forgetCancellation(of: unit) }
        uncount(unit)
        endDeadline(unit)
        if !decisions.isEmpty { decisions[Int32(unit)] = nil }
        if !wrapped.isEmpty { wrapped[Int32(unit)] = nil }
        if !verdicts.isEmpty { verdicts[Int32(unit)] = nil }
        if !joinedValues.isEmpty { joinedValues[Int32(unit)] = nil }
        if !joinedUnits.isEmpty { joinedUnits[Int32(unit)] = nil }
        endedEarly.remove(Int32(unit))
        forgetStream(of: unit)
        forgetScope(of: unit)
        let attempts = units[unit].attempts
        // With the limit reached in an earlier attempt, any loss in this one would be the last.
        let crashes = rules >= Rules.forgivesDeaths ? 0 : units[unit].crashes
        if crashes == 0, !deathPlaces.isEmpty { deathPlaces[Int32(unit)] = nil }
        let old = units[unit]
        units[unit] = Unit(node: old.node, parent: old.parent, base: old.base, position: old.position)
        units[unit].attempts = attempts
        units[unit].crashes = crashes
    }

    private mutating func uncount(_ unit: Int) {
        guard case .operation = node(unit).kind else { return }
        switch units[unit].outcome {
        case .success?: counts.succeeded -= 1
        case .failure?: counts.failed -= 1
        case .cancelled?: counts.cancelled -= 1
        case nil: break
        }
    }
}

extension Failure {
    /// Whether the unit's own time limit has ended the attempt; a body may fail with what another one was ended by.
    var isOfTheUnitsTimeout: Bool { code == .timeout && origin.isEmpty && publisher.isEmpty }
}
