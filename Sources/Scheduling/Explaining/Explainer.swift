/// Finds what is in the way of units of one submission, as the state is between two steps.
///
/// Nothing is kept for it and nothing is changed: each answer costs what the unit's own edges do, and the lines in which it
/// stands.
struct Explainer {
    let scheduler: Scheduler
    let index: Int
    let submission: Submission
    /// Who is told. Others' operations are not named to whom may not read them.
    let reader: Authority
    /// Only what is nearest, without places in lines: for lists of many.
    let isBrief: Bool
    /// Of the unit at hand.
    private(set) var found: [Blocker] = []
    private(set) var unlisted = 0
    /// Of classes, when that is all that is wanted.
    var takersByClass: [Int: Blocker?] = [:]

    static let blockersMax = 100

    init(_ scheduler: Scheduler, _ number: SubmissionNumber, for reader: Authority = .unlimited, isBrief: Bool = false) {
        self.scheduler = scheduler
        self.reader = reader
        self.isBrief = isBrief
        index = scheduler.durable.index(of: number)
        submission = scheduler.durable.submissions[index]
    }

    var now: Int64 { scheduler.now.wall }

    /// The wall time of a boot time.
    func wall(_ boot: Int64) -> Int64 { now + boot - scheduler.now.boot }

    /// Whether no more is wanted.
    var isFull: Bool { isBrief && !found.isEmpty }

    mutating func add(_ blocker: Blocker) {
        if takesMore() { found.append(blocker) }
    }

    /// Whether there is room for one more, which counts as unlisted otherwise: those of many need not be made.
    mutating func takesMore() -> Bool {
        if found.count < (isBrief ? 1 : Self.blockersMax) { return true }
        unlisted += 1
        return false
    }

    func blocking(_ unit: Int) -> BlockingUnit { blocking(submission.id(unit)) }

    func blocking(_ unit: UnitID) -> BlockingUnit { scheduler.blocking(unit) }

    // MARK: Everything

    /// Everything that is in the way of the unit; the nearest first.
    mutating func blockers(of unit: Int) -> [Blocker] {
        (found, unlisted) = ([], 0)
        let state = submission.units[unit]
        guard !state.hasEnded, state.phase != .dropped else { return [] }
        if state.stop != nil {
            addStop(of: unit)
            return found
        }
        let isPausedNow = scheduler.operationState(of: unit, index) == .paused
        if isPausedNow { addPause(of: unit) }
        if let duplicate = submission.duplicate(unit) {
            addJoin(of: unit, duplicate)
        } else {
            addWaits(of: unit, state)
        }
        if !isPausedNow, isHeldBackByPause(state) { addPause(of: unit) }
        if !scheduler.awaitedPauses.isEmpty, mayBePaused(state) { addAwaitedPauses(of: unit) }
        return found
    }

    private mutating func addWaits(of unit: Int, _ state: Unit) {
        guard !isFull else { return }
        switch state.phase {
        case .blocked: addEdges(of: unit)
        case .delayed(let until): add(.delay(until: max(until, submission.node(unit).options.notBefore)))
        case .held: addPlace(of: unit)
        case .wanting:
            addStream(of: unit)
            addUndispatchable(unit)
        case .locking: addLocks(of: unit)
        case .preparing: addPreparations(of: unit)
        case .ready:
            addStream(of: unit)
            addPlacement(of: unit)
            addConditionsToCome(of: unit)
        case .postponed(let postponement): addPostponement(of: unit, postponement)
        case .assigned(let attempt, let worker): addAttempt(of: unit, attempt, worker)
        case .provisional: addProvisional(of: unit)
        case .retryWait(let until): addRetry(of: unit, until)
        case .paused, .open, .ended, .lingering, .dropped: break
        }
    }

    /// Whether a pause is in its way besides, if there is one.
    private func isHeldBackByPause(_ state: Unit) -> Bool {
        switch state.phase {
        case .blocked, .delayed, .held, .locking: true
        case .assigned: !state.isRunning && state.startedAt == 0
        // Shown as paused, if they are.
        case .paused, .wanting, .preparing, .ready, .postponed, .retryWait, .open: false
        case .provisional, .ended, .lingering, .dropped: false
        }
    }

    /// Whether a pause is to be in its way: what runs goes on.
    func mayBePaused(_ state: Unit) -> Bool {
        switch state.phase {
        case .blocked, .delayed, .held, .paused, .wanting, .locking, .preparing, .ready, .postponed, .retryWait, .open: true
        case .assigned: !state.isRunning && state.startedAt == 0
        case .provisional, .ended, .lingering, .dropped: false
        }
    }

    private mutating func addAwaitedPauses(of unit: Int) {
        var named: Set<UnitID> = []
        for pause in scheduler.awaitedPauses(around: submission.id(unit)) where named.insert(pause.unit).inserted {
            add(.pausing(PauseWait(unit: blocking(pause.unit), since: pause.since, workers: scheduler.workersAwaited(by: pause))))
        }
    }

    private mutating func addPause(of unit: Int) {
        guard let paused = submission.pausedUnit(around: unit) else { return }
        add(.paused(blocking(paused), since: submission.pauses[Int32(paused)] ?? 0))
    }
}

extension Scheduler {
    func blocking(_ unit: UnitID) -> BlockingUnit {
        let index = durable.index(of: unit.submission)
        var other = BlockingUnit(
            unit: unit, operation: durable.name(of: unit), state: operationState(of: unit.index, index), worker: "")
        if case .assigned(_, let worker) = durable.phase(unit) { other.worker = durable.workers[worker.index].identity.name }
        return other
    }
}
