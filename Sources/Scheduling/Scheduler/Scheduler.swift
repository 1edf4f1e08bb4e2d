import DequeModule

/// The pure scheduler: inputs in, facts and messages out. No I/O, no clock, no randomness but what it is given.
///
/// Facts are decided against the durable state and evolve it; what need not survive (connections, leases, queues, timers,
/// followers) is volatile and rebuilt when workers attach again. The caller must make the facts of a step durable before
/// it sends the messages that name them (`Outputs.Send.after`).
public struct Scheduler {
    public struct Configuration: Sendable {
        /// An executor that was not heard for this long gets nothing new, and its units are queued again.
        public var leaseMilliseconds: Int64 = 3_000
        /// By then a detached executor has stopped what holds a lock.
        public var lockLeaseMilliseconds: Int64 = 20_000
        /// By then a detached executor has stopped everything.
        public var orphanLimitMilliseconds: Int64 = 600_000
        /// The longest that an executor waits between two tries to connect.
        public var reconnectMaximumMilliseconds: Int64 = 500
        public var graceMillisecondsDefault: Int64 = 5_000
        /// Deaths of a process under a unit that ran in it alone, before the unit fails.
        public var crashLimit = 5
        /// What has ended is forgotten after this time on the wall clock; nil: never.
        public var retentionMilliseconds: Int64?
        /// When the submissions that have ended take more than so many bytes (``KeptSubmission/bytes``), the oldest are forgotten; nil: never.
        public var retentionBytes: Int64?
        /// Content of one page of an answer, in bytes.
        public var pageBytes = 1 << 20
        /// Units of unfinished submissions held in memory; above it submissions are answered with "busy".
        public var unitsMax = 5_000_000
        /// Keys of locks and rate limits that were ever named; a submission that names more is refused.
        public var keysMax = 1_000_000
        /// Submissions that one connection follows; more are answered with "busy".
        public var followsPerPeerMax = 10_000
        public var graphLimits = GraphLimits()
        /// Operation names that every worker has.
        public var builtInOperations: [String] = []
        /// Condition types that every worker has.
        public var builtInConditions: [String] = []
        /// What is to be tried again never is: a fault that a simulation plants.
        public var forgetsRetries = false
        /// After a start nobody is waited for: a fault that a simulation plants.
        public var givesNoFreshLease = false
        /// What is given up because its executor is not heard is taken for over: a fault that a simulation plants.
        public var forgetsStrays = false
        /// What is linked is sent and not journaled: a fault that a simulation plants.
        public var forgetsLinks = false
        /// What was begun after one attempt counts after another one, too: a fault that a simulation plants.
        public var takesAnyLink = false
        /// Drained workers are given work: a fault that a simulation plants.
        public var ignoresDrains = false

        public init() {}
    }

    public let configuration: Configuration
    var durable: DurableState
    var workers = WorkerTable()
    var ready = ReadyUnits()
    /// Those in it that have conditions, and in which class: who is asked again is called from another one, and its old place counts no
    /// more. Looked up, never iterated.
    var conditionedUnits: [UnitID: Int] = [:]
    /// Groups that wait for their conditions.
    var groupsToJudge = Deque<UnitID>()
    var rateLines = RateLines()
    var timers = TimerQueue()
    /// Those that a step of the wall clock moves: due at wall times.
    var wallTimers = TimerQueue()
    var followers = FollowerTable()
    var endQueries = EndQueries()
    /// By submission index: the class (operation name, interned) of each operation node.
    var nodeClasses: [[Int32]] = []
    var classes = OperationClasses()
    /// By submission index: the class of what is for its submitter; 0: it has no hosted code.
    var submitterClasses: [Int32] = []
    /// Index: units of submissions that have not ended.
    var unfinishedUnits = 0
    /// Units that were to be handed out and need a submitter that is gone.
    var abandoned = Deque<UnitID>()
    var identifiers = SplitMix64(seed: 0)
    var attemptCounter: UInt32 = 0
    var lockIntake = LockIntake()
    var demands = DemandBoard()
    /// Of submissions that were admitted before their types were known: what does not fit, by node. Looked up, never iterated.
    var misfits: [SubmissionNumber: [Int32: String]] = [:]
    /// Why nothing new is admitted; nil: there is room.
    var fullDisk: String?
    /// What has ended is not written down elsewhere yet.
    var historyIsBehind = false
    /// What running operations said last of how far they have come. Looked up, never iterated.
    var progress: [UnitID: Progress] = [:]
    /// Running operations whose partial results are not taken, and why. Looked up, never iterated.
    var heldBack: [UnitID: String] = [:]
    /// Why their values are not taken.
    var waitingValues: [UnitID: String] = [:]
    /// Sections of a snapshot that were announced and have not come.
    var missingSections = 0

    /// What has ended since the start.
    public internal(set) var tally = Tally()
    /// Somebody wants to know how long operations of submissions with a trace have waited (``Outputs/waits``).
    public var tellsWaits = false
    /// What somebody wants to know of what comes about (``Outputs/happenings``).
    public var telling = Happening.Telling.nothing
    /// Those that have ended, while there is a limit to what they take.
    var kept = KeptSubmissions()

    /// What happened to workers since the start.
    var workerLog = WorkerLog()

    /// To be answered with the end of the step.
    var explanationsAsked: [ExplanationRequest] = []
    /// To take effect when executors begin nothing of them by themselves any more.
    var awaitedPauses: [AwaitedPause] = []
    /// To be judged when executors have told what had ended when the coordinator started.
    var awaitedDeadlines: [AwaitedDeadline] = []
    /// Boot time until which that is waited for.
    var endsAwaitedUntil: Int64 = 0

    // What the current step has gathered.
    var pending = PendingSends()
    var happenings: [Happening] = []
    private var effects: [Effect] = []
    var now = Instant(boot: 0, wall: 0)
    public private(set) var clockDoubt = ClockDoubt()
    private var promisedWake: Int64?

    public init(_ configuration: Configuration) {
        self.configuration = configuration
        durable = DurableState(crashLimit: configuration.crashLimit)
    }

    /// Position of the last fact that was emitted or restored.
    public var sequence: JournalSequence { durable.sequence }
    /// A clock that says more leaves room for the starts after this one; in 2103.
    private static let epochOfClockMax: Int64 = 4_200_000_000

    /// Epoch of the current start.
    public var epoch: UInt32 { durable.epoch }

    /// Folds one fact of the journal.
    /// - Throws: `FactMismatch` when it cannot follow the facts before it: the journal is damaged.
    public mutating func restore(_ fact: Fact) throws(FactMismatch) {
        effects.removeAll(keepingCapacity: true)
        try durable.evolve(fact, &effects)
    }

    /// Milliseconds until the clock is behind the last epoch, if that is about to be: a start in the same second as the one before it is to wait so
    /// long. Else epochs run ahead of the clock while a coordinator is started again and again, and those after the restore of an earlier
    /// backup are lower.
    public func restBeforeStart(at now: Instant) -> Int64? {
        let rest = (Int64(durable.epoch) + 1) * 1_000 - now.wall
        return (1...1_000).contains(rest) ? rest : nil
    }

    /// Begins a new epoch after the journal was folded. Its facts must be durable before anybody can connect.
    public mutating func start(at now: Instant, incarnation: Incarnation, into outputs: inout Outputs) {
        self.now = now
        identifiers = SplitMix64(seed: incarnation.rawValue)
        attemptCounter = 0
        let seconds = UInt32(min(max(now.wall / 1_000, 0), Self.epochOfClockMax))
        emit(
            .epochStarted(epoch: max(durable.epoch + 1, seconds), incarnation: incarnation, at: now.wall, rules: Rules.newest), &outputs)
        clockDoubt.start(at: now, since: durable.lateEpoch)
        workerLog.begin(epoch: durable.epoch)
        rebuildVolatileState()
        finishStep(&outputs)
    }

    /// Takes the inputs in order and says what is to be made durable and sent.
    ///
    /// The same state, inputs and time give the same outputs, bit for bit.
    public mutating func step(_ inputs: some Sequence<Input>, at now: Instant, into outputs: inout Outputs) {
        forgiveOwnPause(now)
        clockDoubt.advance(from: self.now, to: now)
        self.now = now
        for input in inputs { decide(input, &outputs) }
        repeat {
            expireTimers(&outputs)
            judgeAwaitedDeadlines(&outputs)
            pauseAwaited(&outputs)
            askForLocks(&outputs)
            endAbandoned(&outputs)
            judgeGroups(&outputs)
            if !hasMoreToSettle { assignReadyUnits(&outputs) }
        } while hasMoreToSettle
        finishStep(&outputs)
    }

    /// A group that has begun may have members whose deadline is over; a condition that failed lets others begin.
    private var hasMoreToSettle: Bool {
        (timers.nextDue ?? .max) <= now.boot || !lockIntake.wanting.isEmpty || !groupsToJudge.isEmpty || !abandoned.isEmpty
    }

    private mutating func decide(_ input: Input, _ outputs: inout Outputs) {
        switch input {
        case .executorAttached(let peer, let attachment): attach(peer, attachment, &outputs)
        case .heard(let peer): hear(peer)
        case .draining(let peer): drain(peer)
        case .disconnected(let peer): suspect(peer)
        case .revoked(let peer): revoke(peer, &outputs)
        case .barred(let incarnation, let bar): self.bar(incarnation, bar, &outputs)
        case .departed(let peer): depart(peer, &outputs)
        case .executorEnded(let supervisor, let incarnation, let crashed): bury(incarnation, crashed: crashed, supervisor, &outputs)
        case .started(let peer, let unit, let attempt, let at): noteStarted(peer, unit, attempt, at: at, &outputs)
        case .progressed(let peer, let unit, let attempt, let progress): noteProgress(peer, unit, attempt, progress)
        case .heldBack(let peer, let unit, let attempt, let reason): noteHeldBack(peer, unit, attempt, reason)
        case .valueWaits(let peer, let unit, let attempt, let reason): noteValueWaits(peer, unit, attempt, reason)
        case .ended(let peer, let unit, let attempt, let outcome, let startedAt, let at):
            acceptEnd(peer, unit, attempt, outcome, startedAt: startedAt, at: at, &outputs)
        case .released(let peer, let unit, let attempt, let wasStopped, let isAccepting):
            acceptRelease(peer, unit, attempt, wasStopped: wasStopped, isAccepting: isAccepting, &outputs)
        case .produced(let peer, let unit, let attempt, let number, let addition):
            acceptProduct(peer, unit, attempt, number, addition, &outputs)
        case .stopping(let peer, let unit, let attempt, let isForced, let at):
            noteStopping(peer, unit, attempt, forced: isForced, at: at, &outputs)
        case .request(let request, let body, let authority): answer(request, body, by: authority, &outputs)
        case .zones(let tables): register(tables, &outputs)
        case .diskFilled(let reason): fullDisk = reason
        case .historyBehind(let isBehind): historyIsBehind = isBehind
        case .stoodStill: doubtEnds()
        }
    }

    // MARK: Facts and their effects

    mutating func emit(_ fact: Fact, _ outputs: inout Outputs) {
        effects.removeAll(keepingCapacity: true)
        do throws(FactMismatch) {
            try durable.evolve(fact, &effects)
        } catch {
            // Builds with optimisation say only of this one what it was.
            fatalError("the scheduler decided a fact that its own state refuses: \(error); fact \(fact)")
        }
        outputs.facts.append(fact)
        if case .submitted = fact {
            let index = durable.submissions.total - 1
            tally.submitted += 1
            giveClasses(toSubmission: index)
            // What it begins with; the effects say what has come since.
            unfinishedUnits += durable.submissions[index].layout.templates[0].count
        }
        for effect in effects { apply(effect) }
    }

    private mutating func apply(_ effect: Effect) {
        switch effect {
        case .ready(let unit): queue(unit)
        case .added(let unit, let count): take(unit, count: count)
        case .wantsLocks(let unit): lockIntake.wanting.append(unit)
        case .retry where configuration.forgetsRetries: break
        case .retry(let unit, let at): timers.insert(.retry(unit, at), due: now.boot + max(0, at - now.wall))
        case .delayed(let unit, let until): watchDelay(of: unit, until: until)
        case .postponed(let unit, let postponement): watchPostponement(of: unit, postponement)
        case .counted(let limit): noteStart(limit)
        case .waits(let unit): watchQueueTimeout(of: unit)
        case .deadline(let unit, let at): watchDeadline(of: unit, at: at)
        case .stop(let unit, let attempt, let worker, let reason, let now): orderStop(unit, attempt, worker, reason, now: now)
        case .recall(let unit, let attempt, let worker): recall(unit, attempt, worker)
        case .strayed(let unit, let attempt, let worker):
            workers.sessions[worker.index].strays.append(AttemptName(unit: unit, attempt: attempt))
        case .freed(let unit, let worker):
            workers.sessions[worker.index].remove(unit)
            if !progress.isEmpty { progress[unit] = nil }
            if !heldBack.isEmpty { heldBack[unit] = nil }
            if !waitingValues.isEmpty { waitingValues[unit] = nil }
        case .opened(let unit, let at):
            watchTimeout(ofGroup: unit, startedAt: at)
            guard followers.wantsDetails(of: unit.submission), !hasEnded(unit) else { return }
            noteChange(unit, at: at, errors: [])
        case .changed(let unit, let at, let errors):
            leaveLine(unit)
            // One that has ended in the same step is told of with its end, after the ends of what is in it.
            guard !hasEnded(unit) else { return }
            count(unit, at: at)
            noteChange(unit, at: at, errors: errors)
        case .ended(let unit, let at, let errors):
            leaveLine(unit)
            count(unit, at: at)
            noteChange(unit, at: at, errors: errors)
        case .kept(let unit, let at): noteChange(unit, at: at, errors: [])
        case .grown(let count): unfinishedUnits += count
        case .submissionEnded(let number):
            unfinishedUnits -= durable.submissions[durable.index(of: number)].units.count
            countEnd(of: number)
            misfits[number] = nil
            watchRetention(of: number)
            watchRoom(for: number)
            pending.touch(number)
            pending.ended.append(number)
        }
    }

    private func hasEnded(_ unit: UnitID) -> Bool {
        durable.submissions[durable.index(of: unit.submission)].units[unit.index].hasEnded
    }

    private mutating func giveClasses(toSubmission index: Int) {
        // Nothing is asked about those that were forgotten.
        while nodeClasses.count < index {
            nodeClasses.append([])
            submitterClasses.append(0)
        }
        let submitter = durable.submissions[index].submitter
        submitterClasses.append(submitter.rawValue == 0 ? 0 : classes.number(ofSubmitter: submitter))
        nodeClasses.append(
            classesOfNodes(
                durable.submissions[index].graph, durable.submissions[index].layout.requirements, submitter: submitterClasses[index]))
    }

    /// Everything volatile that follows from the durable state.
    private mutating func rebuildVolatileState() {
        for index in durable.submissions.indices { giveClasses(toSubmission: index) }
        for _ in durable.workers { workers.append(hosts: durable.resources.hostCount) }
        for index in durable.submissions.indices {
            let number = durable.submissions[index].number
            guard durable.submissions[index].outcome == nil else {
                watchRetention(of: number)
                watchRoom(for: number)
                continue
            }
            unfinishedUnits += durable.submissions[index].units.count
            for stray in durable.submissions[index].strays {
                workers.sessions[stray.worker.index].strays.append(
                    AttemptName(unit: UnitID(number, Int(stray.unit)), attempt: stray.attempt))
            }
            for unit in durable.submissions[index].units.indices {
                let id = UnitID(number, unit)
                if let at = durable.submissions[index].deadlines[Int32(unit)] { watchDeadline(of: id, at: at) }
                watchQueueTimeoutAgain(of: id)
                switch durable.submissions[index].units[unit].phase {
                case .ready: queue(id)
                case .provisional where durable.submissions[index].isConcluding(unit): queue(id)
                case .wanting: lockIntake.wanting.append(id)
                case .retryWait(let until): timers.insert(.retry(id, until), due: now.boot + max(0, until - now.wall))
                case .assigned(_, let worker): workers.sessions[worker.index].units.append(id)
                case .open: watchTimeout(ofGroup: id, startedAt: durable.submissions[index].units[unit].startedAt)
                case .delayed(let until): watchDelay(of: id, until: until)
                case .postponed(.window(let until)): wallTimers.insert(.postponement(id, until), due: until)
                case .postponed(.later(let until)): timers.insert(.postponement(id, until), due: now.boot + max(0, until - now.wall))
                case .blocked, .held, .paused, .locking, .preparing, .postponed(.turn), .provisional, .ended, .lingering, .dropped: break
                }
            }
        }
        for index in durable.submissions.indices { findMisfits(index) }
        rebuildLines()
        awaitWorkers()
        awaitEnds()
        keepLocksWhileReattaching(until: now.boot + reattachWindow)
    }

    private mutating func finishStep(_ outputs: inout Outputs) {
        answerExplanations()
        flushSends(&outputs)
        if !happenings.isEmpty {
            outputs.happenings += happenings
            happenings.removeAll(keepingCapacity: true)
        }
        outputs.wakeAt = nextWake
        promisedWake = nextWake
    }

    /// When the scheduler itself was not run in time, nobody's lease has been watched: all get a fresh one.
    private mutating func forgiveOwnPause(_ now: Instant) {
        guard let promisedWake, now.boot > promisedWake + Self.ownPauseMilliseconds else { return }
        for index in workers.sessions.indices {
            switch workers.sessions[index].connection {
            case .attached, .awaited: workers.sessions[index].lastHeard = now.boot
            case .absent, .silent, .revoked: break
            }
        }
    }

    /// Being woken later than this counts as a pause of the coordinator's own.
    private static let ownPauseMilliseconds: Int64 = 300
}
