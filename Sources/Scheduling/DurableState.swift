/// Everything that survives a crash. It changes only by `evolve`, in life as in recovery.
struct DurableState {
    struct WorkerRecord {
        var identity: WorkerIdentity
        /// In the resource table.
        let host: Int
        /// Its process and all its commands are gone.
        var hasEnded = false
        /// An operator has said that it is gone for good.
        var isRemoved = false
        /// Index: it is named in `drains`.
        var isDrained = false
    }

    /// A key belongs to its principal: two may use the same one.
    struct SubmissionKey: Hashable {
        let principal: String
        let key: String
    }

    var epoch: UInt32 = 0
    /// Of the last start that came long after the one before; see `ClockDoubt`.
    var lateEpoch: UInt32 = 0
    /// Those of the last start; see `Rules`.
    var rules = Rules.first
    var sequence = JournalSequence.none
    var submissions = SubmissionTable()
    var workers: [WorkerRecord] = []
    /// Looked up, never iterated.
    var workerByIncarnation: [Incarnation: WorkerNumber] = [:]
    /// By given name: workers that get nothing new.
    var drains: [String: WorkerDrain] = [:]
    var submissionByKey: [SubmissionKey: SubmissionNumber] = [:]
    var submissionByID: [String: SubmissionNumber] = [:]
    /// Operation names that a worker has ever registered.
    var knownTypes: Set<String> = []
    /// What workers have ever registered of operations.
    var signatures = SignatureTable()
    /// What workers that were ever met had to offer; what another one covers is left out.
    var offers: [Offer] = []
    var resources = ResourceTable()
    var locks = LockTable()
    var rates = RateTable()
    var ids = UniqueTable()
    var quarantine = QuarantineTable()
    /// By name. Looked up, never iterated.
    var zones: [String: ZoneTable] = [:]
    let crashLimit: Int

    init(crashLimit: Int) { self.crashLimit = crashLimit }

    func index(of number: SubmissionNumber) -> Int { Int(number.rawValue) - 1 }

    func submission(_ number: SubmissionNumber) -> Submission { submissions[index(of: number)] }

    /// Whether the unit exists.
    func holds(_ unit: UnitID) -> Bool {
        let index = index(of: unit.submission)
        return submissions.contains(index) && submissions[index].units.indices.contains(unit.index)
    }

    /// Whether it was forgotten, long after its end.
    func isForgotten(_ number: SubmissionNumber) -> Bool { !submissions.contains(index(of: number)) }

    /// What was forgotten is waited for by nobody, but may still be in a line.
    func phase(_ unit: UnitID) -> Unit.Phase {
        let index = index(of: unit.submission)
        return submissions.contains(index) ? submissions[index].units[unit.index].phase : .dropped
    }

    /// - Throws: `FactMismatch` when the fact cannot follow the facts before it; the state is then of no use any more.
    mutating func evolve(_ fact: Fact, _ effects: inout [Effect]) throws(FactMismatch) {
        sequence = sequence.next
        switch fact {
        case .epochStarted(let epoch, _, _, let rules):
            guard epoch > self.epoch else { throw FactMismatch("epoch \(epoch) does not rise above \(self.epoch)") }
            try follow(rules)
            if ClockDoubt.isLate(epoch, after: self.epoch) { lateEpoch = epoch }
            self.epoch = epoch
        case .typesRegistered(let names):
            knownTypes.formUnion(names)
        case .signaturesRegistered(let new):
            for signature in new {
                signatures.register(signature)
                quarantine.registered(type: signature.name, version: signature.version)
            }
        case .workerMet(let number, let identity):
            guard number.index == workers.count else { throw FactMismatch("worker \(number.rawValue) is not the next number") }
            workers.append(WorkerRecord(identity: identity, host: resources.host(of: identity)))
            workers[number.index].isDrained = !identity.isSubmitter && drains[identity.givenName] != nil
            workerByIncarnation[identity.incarnation] = number
        case .offersRegistered(let new):
            for offer in new {
                offers.removeAll { offer.covers($0) }
                offers.append(offer)
            }
        case .workerEnded(let number):
            guard workers.indices.contains(number.index) else { throw FactMismatch("worker \(number.rawValue) is unknown") }
            workers[number.index].hasEnded = true
            resources.releaseOrphans { $0.worker == number }
        case .workerDrained(let name, let by, let reason, let at): try drain(name, WorkerDrain(by: by, reason: reason, since: at))
        case .workerResumed(let name, _, _): try resume(worker: name)
        case .workerRemoved(let name, _, _): remove(worker: name)
        case .submitted(let admission):
            try admit(admission, &effects)
        case .assigned(let unit, let attempt, let worker, let at):
            let index = try self.index(of: unit)
            guard workers.indices.contains(worker.index) else { throw FactMismatch("worker \(worker.rawValue) is unknown") }
            try submissions[index].assign(unit.index, attempt, worker, at: at)
            // What it is asked without need copies the submission.
            let need = submissions[index].layout.requirements == nil ? [] : submissions[index].need(of: unit.index)
            if !need.isEmpty { resources.take(need, for: unit, on: workers[worker.index].host) }
        case .attemptEnded(let unit, let attempt, let outcome, let startedAt, let endedAt, let at):
            let index = try self.index(of: unit)
            var evaluator = ""
            if resources.holdingCount > 0 { resources.release(unit) }
            if submissions[index].units[unit.index].isEvaluating, case .assigned(_, let worker) = submissions[index].units[unit.index].phase
            {
                evaluator = workers[worker.index].identity.name
            }
            try submissions[index].endAttempt(
                unit.index, attempt, outcome, startedAt: startedAt, endedAt: endedAt == 0 ? at : endedAt, at: at, evaluator: evaluator,
                &effects)
            passLocksOn(from: index, at: at, &effects)
        case .attemptLost(let unit, let attempt, let cause, let startedAt, let at):
            let index = try self.index(of: unit)
            if resources.holdingCount > 0 { resources.release(unit) }
            var worker = ""
            if case .assigned(_, let number) = submissions[index].units[unit.index].phase { worker = workers[number.index].identity.name }
            let isExhausted = try submissions[index].loseAttempt(
                unit.index, attempt, cause, worker: worker, crashLimit: crashLimit, startedAt: startedAt, at: at, &effects)
            if isExhausted { quarantine(unit, at: at) }
            passLocksOn(from: index, at: at, &effects)
        case .deathProven(let unit, _, let number, let cause, let isEvaluation, let at):
            let index = try self.index(of: unit)
            guard workers.indices.contains(number.index) else { throw FactMismatch("worker \(number.rawValue) is unknown") }
            let isExhausted = try submissions[index].countDeath(
                under: unit.index, cause, isEvaluation: isEvaluation, worker: workers[number.index].identity.name,
                crashLimit: crashLimit, at: at, &effects)
            if isExhausted { quarantine(unit, at: at) }
            passLocksOn(from: index, at: at, &effects)
        case .cancelRequested(let unit, let reason, let now, let at):
            let index = try self.index(of: unit)
            submissions[index].noteCancellation(of: unit.index, reason)
            submissions[index].requestStop(unit.index, .cancelled, hurried: now, at: at, &effects)
            passLocksOn(from: index, at: at, &effects)
        case .timedOut(let unit, let at):
            let index = try self.index(of: unit)
            // An operation's executor has had its grace already.
            let isOperation = if case .assigned = submissions[index].units[unit.index].phase { true } else { false }
            submissions[index].requestStop(unit.index, .timedOut, hurried: isOperation, at: at, &effects)
            passLocksOn(from: index, at: at, &effects)
        case .groupRestarted(let unit, let at):
            let index = try self.index(of: unit)
            try submissions[index].restart(unit.index, at: at, &effects)
            passLocksOn(from: index, at: at, &effects)
        case .scopeRestarted(let unit, let at):
            let index = try self.index(of: unit)
            try submissions[index].restartScope(of: unit.index, at: at, &effects)
            passLocksOn(from: index, at: at, &effects)
        case .quarantineLifted(let unit, _):
            let index = try self.index(of: unit)
            if let key = submissions[index].quarantineKey(of: unit.index) { quarantine.lift(key) }
        case .lockSeized(let unit, let key, let reason, let at):
            let index = try self.index(of: unit)
            for orphan in try submissions[index].fence(unit.index, key: key, reason: reason, at: at, &effects)
            where resources.holdingCount > 0 { resources.orphan(orphan) }
            passLocksOn(from: index, at: at, &effects)
        case .lateResultRefused(let unit, let attempt, let at):
            let index = try self.index(of: unit)
            try submissions[index].refuseLateResult(unit.index, attempt, at: at, &effects)
            resources.releaseOrphans { $0.attempt == attempt }
        case .outcomesKept(let number, let first, let withElements, let at):
            guard submissions.contains(index(of: number)), submissions.contains(index(of: first)) else {
                throw FactMismatch("submission \(number.rawValue) or \(first.rawValue) does not exist")
            }
            let index = index(of: number)
            try submissions[index].keepOutcomes(
                of: submissions[self.index(of: first)], withElements: withElements, at: at, &effects)
            passLocksOn(from: index, at: at, &effects)
        case .forgotten(let number, _):
            try forget(number)
        case .orphanEnded(let unit, let attempt, _):
            // Its submission may be forgotten.
            if holds(unit) { submissions[index(of: unit.submission)].fencedAttempts.remove(attempt) }
            resources.releaseOrphans { $0.attempt == attempt }
        case .linked(let unit, let attempt, let worker, _):
            let index = try self.index(of: unit)
            guard workers.indices.contains(worker.index) else { throw FactMismatch("worker \(worker.rawValue) is unknown") }
            try submissions[index].noteLink(unit.index, attempt, worker, &effects)
        case .attemptStrayed(let unit, let attempt, let worker, _):
            let index = try self.index(of: unit)
            guard workers.indices.contains(worker.index) else { throw FactMismatch("worker \(worker.rawValue) is unknown") }
            try submissions[index].noteStray(unit.index, attempt, worker, &effects)
        case .strayEnded(let unit, let attempt, let isUnbegun, let at):
            let index = try self.index(of: unit)
            try submissions[index].endStray(unit.index, attempt, isUnbegun: isUnbegun, at: at, &effects)
            passLocksOn(from: index, at: at, &effects)
        case .attemptTimedOut(let unit, let attempt, let since, let at):
            let index = try self.index(of: unit)
            try submissions[index].noteTimeout(of: unit.index, attempt, since: since, at: at, &effects)
        case .stopBegun(let unit, let attempt, let isForced, let since, let at):
            let index = try self.index(of: unit)
            try submissions[index].noteStop(of: unit.index, attempt, forced: isForced, since: since, at: at, &effects)
        case .preparationDue(let unit, let at):
            let index = try self.index(of: unit)
            try submissions[index].prepareAgain(unit.index, at: at, &effects)
            passLocksOn(from: index, at: at, &effects)
        case .delayEnded(let unit, let at):
            let index = try self.index(of: unit)
            try submissions[index].endDelay(unit.index, at: at, &effects)
            passLocksOn(from: index, at: at, &effects)
        case .locksAsked(let unit, let at):
            try askForLocks(unit, at: at, &effects)
        case .locksReturned(let unit, let at):
            try returnLocks(unit, at: at, &effects)
        case .produced(let unit, let attempt, let addition, let at):
            let index = try self.index(of: unit)
            try submissions[index].produce(unit.index, attempt, addition, at: at, &effects)
            passLocksOn(from: index, at: at, &effects)
        case .streamBegun(let unit, let attempt, let at):
            let index = try self.index(of: unit)
            try submissions[index].beginStream(of: unit.index, attempt, at: at, &effects)
            passLocksOn(from: index, at: at, &effects)
        case .lockCycleFound(let unit, let circle, let at):
            let index = try self.index(of: unit)
            try submissions[index].refuseLocks(unit.index, circle, at: at, &effects)
            passLocksOn(from: index, at: at, &effects)
        case .quarantineMet(let unit, let cause, let at):
            let index = try self.index(of: unit)
            try submissions[index].quarantine(unit.index, cause, at: at, &effects)
            passLocksOn(from: index, at: at, &effects)
        case .misfitFound(let unit, let fault, let at):
            let index = try self.index(of: unit)
            try submissions[index].refuse(unit.index, fault, at: at, &effects)
            passLocksOn(from: index, at: at, &effects)
        case .judged(let unit, let verdicts, let at):
            try judge(unit, verdicts, at: at, &effects)
        case .zonesRegistered(let tables):
            for table in tables { zones[table.name] = table }
        case .paused(let unit, let at):
            let index = try self.index(of: unit)
            try submissions[index].pause(unit.index, at: at, &effects)
            passLocksOn(from: index, at: at, &effects)
        case .resumed(let unit, let at):
            let index = try self.index(of: unit)
            try submissions[index].resume(unit.index, at: at, &effects)
            passLocksOn(from: index, at: at, &effects)
        case .deadlinePassed(let unit, let at):
            let index = try self.index(of: unit)
            submissions[index].requestStop(unit.index, .deadlinePassed, hurried: false, at: at, &effects)
            passLocksOn(from: index, at: at, &effects)
        case .submitterMissed(let unit, let at):
            let index = try self.index(of: unit)
            submissions[index].requestStop(unit.index, .submitterGone, hurried: true, at: at, &effects)
            passLocksOn(from: index, at: at, &effects)
        case .queueTimedOut(let unit, let at):
            let index = try self.index(of: unit)
            submissions[index].requestStop(unit.index, .queueTimedOut, hurried: false, at: at, &effects)
            passLocksOn(from: index, at: at, &effects)
        }
    }

    private mutating func follow(_ rules: UInt32) throws(FactMismatch) {
        guard rules <= Rules.newest else {
            throw FactMismatch(newerRules: rules)
        }
        guard rules != self.rules else { return }
        let isNoted = self.rules >= Rules.remembersNamedCounts
        self.rules = rules
        for index in Array(submissions.indices) {
            submissions[index].rules = rules
            // What has ended names nothing any more, whether it is kept or forgotten.
            if !isNoted, submissions[index].outcome == nil { noteLimits(of: submissions[index].graph.nodes[...]) }
        }
    }

    /// The limits of rates that a graph, or what is added to it, names.
    private mutating func noteLimits(of nodes: ArraySlice<Node>) {
        guard rules >= Rules.remembersNamedCounts else { return }
        for node in nodes {
            for condition in node.conditions { if let limit = condition.rate { rates.name(limit) } }
        }
    }

    private mutating func admit(_ admission: Admission, _ effects: inout [Effect]) throws(FactMismatch) {
        guard Int(admission.number.rawValue) == submissions.total + 1 else {
            throw FactMismatch("submission \(admission.number.rawValue) is not the next number")
        }
        submissionByKey[SubmissionKey(principal: admission.principal, key: admission.key)] = admission.number
        submissionByID[admission.id] = admission.number
        var submission = Submission(admission)
        submission.rules = rules
        submission.keyNumbers = submission.layout.locks.map { plan in plan.keys.map { locks.number(of: $0) } } ?? []
        noteLimits(of: admission.graph.nodes[...])
        submissions.append(submission)
        submissions[submissions.total - 1].beginRoot(at: admission.at, &effects)
        passLocksOn(from: submissions.total - 1, at: admission.at, &effects)
    }

    /// Keys and limits that something added names.
    mutating func numberNewKeys(_ index: Int) {
        if let first = submissions[index].newNodes {
            submissions[index].newNodes = nil
            noteLimits(of: submissions[index].graph.nodes[first...])
        }
        guard let plan = submissions[index].layout.locks, submissions[index].keyNumbers.count < plan.keys.count else { return }
        for key in plan.keys[submissions[index].keyNumbers.count...] { submissions[index].keyNumbers.append(locks.number(of: key)) }
    }

    func index(of unit: UnitID) throws(FactMismatch) -> Int {
        guard holds(unit) else { throw FactMismatch("unit \(unit.rawValue) does not exist") }
        return index(of: unit.submission)
    }
}
