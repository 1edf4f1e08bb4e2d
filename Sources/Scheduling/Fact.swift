/// Something that was decided and must survive a crash. Durable state changes only by evolving facts.
///
/// Times are wall-clock milliseconds since 1970.
public enum Fact: Hashable, Sendable {
    /// A coordinator process began; every attempt token made from here on carries `epoch`. `rules`: what follows from the facts behind it,
    /// where releases differ (``Rules``); journals from before there were any have those of then.
    case epochStarted(epoch: UInt32, incarnation: Incarnation, at: Int64, rules: UInt32 = Rules.first)
    /// A worker registered these operation names for the first time.
    case typesRegistered([String])
    /// A worker registered operations that no worker had registered like this.
    case signaturesRegistered([OperationSignature])
    /// Workers that offer more than any before, or something else.
    case offersRegistered([Offer])
    /// An executor process was met for the first time.
    case workerMet(WorkerNumber, WorkerIdentity)
    /// Proof that the executor process and all its commands are gone.
    case workerEnded(WorkerNumber)
    indirect case submitted(Admission)
    /// The unit was given to the worker under a new attempt. Journaled before it is sent.
    case assigned(UnitID, Attempt, WorkerNumber, at: Int64)
    /// The worker may begin this attempt by itself, when the operation before it has succeeded there. The unit is given to it, or to
    /// somebody else, when that has ended. Journaled before it is sent.
    case linked(UnitID, Attempt, WorkerNumber, at: Int64)
    /// The attempt ended by itself, or its stop was confirmed. `endedAt`: when its body did, by its executor's clock, where that was before
    /// `at`, at which it was heard of; 0: it was not.
    case attemptEnded(UnitID, Attempt, AttemptOutcome, startedAt: Int64, endedAt: Int64 = 0, at: Int64)
    /// The attempt is no longer the unit's: it goes back to the queue, or ends if it was being stopped. `startedAt`: when it began, as its
    /// executor said; 0: it had not said.
    case attemptLost(UnitID, Attempt, LossCause, startedAt: Int64 = 0, at: Int64)
    /// A user asked to cancel the unit and everything in it; `now`: without grace.
    case cancelRequested(UnitID, reason: String, now: Bool, at: Int64)
    /// The unit's own timeout passed. Of a group, or of an operation whose worker did not enforce it.
    case timedOut(UnitID, at: Int64)
    /// A group that is to be tried again begins anew: all its children are new attempts, decided ones are dropped.
    case groupRestarted(UnitID, at: Int64)
    /// The end of a delivery net is to be tried again: what has failed above it begins anew with it, and what followed on that.
    case scopeRestarted(UnitID, at: Int64)
    /// The unit's `delay` and `notBefore` are over.
    case delayEnded(UnitID, at: Int64)
    /// The unit could be dispatched but for its locks, and asks for them. Who gets them when is worked out from the facts.
    case locksAsked(UnitID, at: Int64)
    /// Nobody is left who could run the unit: it gives up its locks, or its place in the line, before it has begun.
    case locksReturned(UnitID, at: Int64)
    /// The unit's deadline passed before it had ended.
    case deadlinePassed(UnitID, at: Int64)
    /// The unit has waited for its start as long as it may.
    case queueTimedOut(UnitID, at: Int64)
    /// Conditions of the unit were evaluated, when it could start but for them.
    case judged(UnitID, [Verdict], at: Int64)
    /// A user paused the unit: nothing in it that has not begun does so before it is resumed.
    case paused(UnitID, at: Int64)
    case resumed(UnitID, at: Int64)
    /// The unit needs the process that submitted it, whose session is over.
    case submitterMissed(UnitID, at: Int64)
    /// The attempt, which goes on, has produced something for its group under an id of its own.
    case produced(UnitID, Attempt, Addition, at: Int64)
    /// The unit fails because asking for its locks would have closed a circle of waits; with what that would have been.
    case lockCycleFound(UnitID, LockCircle, at: Int64)
    /// The unit fails without being tried, because its like has ended too many processes; with what is known of that.
    case quarantineMet(UnitID, String, at: Int64)
    /// The unit fails without being tried: it was admitted before anybody knew its type, and does not fit what was registered.
    case misfitFound(UnitID, String, at: Int64)
    /// The attempt, whose elements others receive while it runs, has begun.
    case streamBegun(UnitID, Attempt, at: Int64)
    /// The unit is to be tried again, and what its conditions' dependent operations do is done before.
    case preparationDue(UnitID, at: Int64)
    /// A user let operations go that are like this unit and are kept from workers.
    case quarantineLifted(UnitID, at: Int64)
    /// A user released this lock, which the unit holds, at once; with the reason. What the unit and all in it still report is
    /// refused.
    case lockSeized(UnitID, key: String, reason: String, at: Int64)
    /// Something came from an attempt whose lock had been released under it.
    case lateResultRefused(UnitID, Attempt, at: Int64)
    /// The first of these runs the graph of the second one again, and what has succeeded there does not. `withElements`: nor does a
    /// forEach that has; journals from before that was kept have it run again.
    case outcomesKept(SubmissionNumber, from: SubmissionNumber, withElements: Bool = true, at: Int64)
    /// Nothing runs any more of an attempt under which a lock was released, and nothing came of it.
    case orphanEnded(UnitID, Attempt, at: Int64)
    /// The attempt, which is the current one and is given up next, may go on at the worker, which is not heard.
    case attemptStrayed(UnitID, Attempt, WorkerNumber, at: Int64)
    /// Nothing runs any more of an attempt that was given up and might go on. `isUnbegun`: nothing ever has, and it was a link.
    case strayEnded(UnitID, Attempt, isUnbegun: Bool = false, at: Int64)
    /// The attempt's timeout has passed, and its executor has told it to stop, at `since`.
    case attemptTimedOut(UnitID, Attempt, since: Int64, at: Int64)
    /// The attempt's executor has told it to stop, at `since`, or has ended it by force.
    case stopBegun(UnitID, Attempt, forced: Bool, since: Int64, at: Int64)
    /// The process of the worker is proven to have died by itself while this attempt ran in it, which was lost before that was
    /// known: `crashed` or `suspected`.
    case deathProven(UnitID, Attempt, WorkerNumber, LossCause, isEvaluation: Bool, at: Int64)
    /// The submission ended long ago: it is known no more, and its number, id and key name nothing.
    case forgotten(SubmissionNumber, at: Int64)
    /// An operator wants nothing new given to the worker of this name (``WorkerIdentity/givenName``).
    case workerDrained(name: String, by: String, reason: String, at: Int64)
    case workerResumed(name: String, by: String, at: Int64)
    /// The worker of this name is gone for good: it is drained no more, and not known until it comes back.
    case workerRemoved(name: String, by: String, at: Int64)
    /// What the clocks of these time zones show, for those who name them from here on.
    case zonesRegistered([ZoneTable])
}

public struct WorkerIdentity: Hashable, Sendable {
    public var incarnation: Incarnation
    /// host/index, and a number if another process had that name.
    public var name: String
    /// Without the number: the process that is started next in its place has it, too.
    public var givenName: String
    public var host: String
    public var pid: UInt32
    /// Whose resources it shares with others; 0: it has none.
    public var supervisor: Incarnation
    /// It is no worker but the process of a submitter, and takes what is hosted there.
    public var isSubmitter: Bool

    public init(
        incarnation: Incarnation, name: String, host: String, pid: UInt32, supervisor: Incarnation = Incarnation(0),
        isSubmitter: Bool = false, givenName: String? = nil
    ) {
        self.givenName = givenName ?? name
        self.supervisor = supervisor
        self.isSubmitter = isSubmitter
        self.incarnation = incarnation
        self.name = name
        self.host = host
        self.pid = pid
    }
}

public struct Admission: Hashable, Sendable {
    public var number: SubmissionNumber
    /// As users see it.
    public var id: String
    public var key: String
    public var name: String
    var examined: ExaminedGraph
    public var at: Int64
    /// The process in which its hosted code is; 0: it has none.
    public var submitter: Incarnation
    /// It was admitted whether its operations were known or not.
    public var waitsForWorkers: Bool
    /// Whose it is; empty: of the coordinator's own user, who has no key.
    public var principal: String
    /// Names of operations, groups and conditions that may be in it, also later; empty: any.
    public var operations: [String]
    public var trace: TraceContext

    public init(
        number: SubmissionNumber, id: String, key: String, name: String, graph: Graph, at: Int64,
        submitter: Incarnation = Incarnation(0), waitsForWorkers: Bool = false, principal: String = "", operations: [String] = [],
        trace: TraceContext = TraceContext()
    ) {
        self.trace = trace
        self.principal = principal
        self.operations = operations
        self.submitter = submitter
        self.waitsForWorkers = waitsForWorkers
        self.number = number
        self.id = id
        self.key = key
        self.name = name
        examined = ExaminedGraph(graph)
        self.at = at
    }

    public var graph: Graph { examined.graph }
}

public enum AttemptOutcome: Hashable, Sendable {
    case success(Payload)
    /// A success, and what the attempt has produced for its group.
    case production(Payload, Addition)
    case failure([Failure])
    /// Ended because it was told to stop.
    case stopped
    /// Of a decide unit: the elements, JSON each.
    case elements([[UInt8]])
    /// Of an evaluate unit: one for each condition that was asked for.
    case answers([ConditionAnswer])
    /// Of a decide unit of a group.
    case decided(GroupDecision)
    /// Of a submitter that was asked about an end: in how many milliseconds it is tried again; nil: it counts.
    case concluded(Int64?)
}

public enum LossCause: UInt8, Hashable, Sendable {
    /// The worker was not heard for its lease.
    case leaseOver = 0
    /// The worker's process died by itself while the unit ran in it alone: counts against the crash limit.
    case crashed = 1
    /// The worker's process ended otherwise, or the unit had not started.
    case processEnded = 2
    /// The worker attached again without it.
    case neverArrived = 3
    /// The worker gave it back before starting it.
    case released = 4
    /// The worker was gone for the orphan limit; by then it has stopped everything.
    case orphanLimitOver = 5
    /// The worker's process died by itself while the unit ran in it together with others: it runs alone from now on.
    case suspected = 6
    /// The unit runs under a key, and the worker was gone for the lock lease; by then it has stopped such units.
    case lockLeaseOver = 7
    /// The worker's key is not authorised any more. What runs under a key or at most once is lost when it has stopped that.
    case revoked = 8
    /// The worker was not heard for its lease, or the lock lease, since its key may not do any more what it needs.
    case limited = 9
}

/// Why a worker that is known is not let in.
public enum WorkerBar: Hashable, Sendable {
    /// Its key is not authorised any more.
    case revoked
    /// Its key is, but not for what the worker is: a role, a label.
    case limited

    /// Of what is lost by it.
    var loss: LossCause {
        switch self {
        case .revoked: .revoked
        case .limited: .limited
        }
    }
}
