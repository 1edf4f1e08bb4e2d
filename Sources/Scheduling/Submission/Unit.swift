/// One operation, group or forEach of a submission, as it stands.
struct Unit {
    enum Phase: Hashable {
        /// Waits for its dependencies or for its group to begin.
        case blocked
        /// Everything else it waited for is over; it may begin at this wall time, and not before its node's `notBefore`.
        case delayed(until: Int64)
        /// Could begin, but its group's `maxConcurrent` is used up.
        case held
        /// Could begin, but it or something around it is paused. What was further when it was paused stays what it was.
        case paused
        /// Could begin but for the locks it needs, which it has not asked for: nobody is there who could run it.
        case wanting
        /// Waits for its locks.
        case locking
        /// Its conditions' dependent operations run.
        case preparing
        /// Waits for a worker; a group with conditions: to be judged.
        case ready
        /// A condition said "not now".
        case postponed(Postponement)
        /// Given to a worker; journaled before it was sent.
        case assigned(Attempt, WorkerNumber)
        /// Its attempt has ended, which counts when somebody else has decided: the attempt of the producer whose stream it has
        /// received, or its submitter.
        case provisional
        /// The last attempt failed; the next may begin at this wall time.
        case retryWait(until: Int64)
        /// A group whose children have not all ended.
        case open
        case ended(Outcome)
        /// It is to end as cancelled, and attempts of it, or of what is in it, that were given up may still run: it ends with the last
        /// of them.
        case lingering
        /// Made by an earlier attempt of a group that began anew; nobody sees it any more.
        case dropped
    }

    /// Why it is to end before its time.
    enum Stop: UInt8, Hashable {
        /// A user cancelled it or something around it.
        case cancelled
        /// Its group stops at the first failure.
        case siblingFailed
        /// Its timeout passed.
        case timedOut
        /// It has not started in time.
        case queueTimedOut
        /// It has not ended in time.
        case deadlinePassed
        /// It needs the process that submitted it, which is gone.
        case submitterGone
        /// A condition of the group failed: nothing in it begins.
        case conditionFailed
        /// Another one has its unique id: nothing in it begins.
        case duplicate
        /// What it would have waited for, to get its locks, waits for it.
        case lockCycle
        /// Its like has ended too many processes.
        case quarantined
        /// It was admitted before anybody had registered its type, and does not fit what was registered.
        case unfit
        /// A lock that it held was released under it.
        case fenced
        /// The attempt whose stream it receives is over, and another one follows: its own is given up.
        case streamVoided
    }

    /// What a unit waits for whose conditions said "not now".
    enum Postponement: Hashable {
        /// A time of day: this wall time.
        case window(until: Int64)
        /// What a worker is asked again at this wall time.
        case later(until: Int64)
        /// Its turn under a rate limit, since this wall time.
        case turn(since: Int64)
    }

    /// Who has said what they know of a unit's conditions: workers are asked first, then the process that submitted it.
    enum Probing: Hashable {
        case due
        /// Workers have; the submitter has still to be asked.
        case byWorkers
        case done
    }

    /// Where it stands with the locks that it needs.
    enum Locks: Hashable {
        /// It needs none, or has not asked.
        case none
        /// It stands in line for them.
        case asked
        /// It has them until it has ended; `isUsed`: an attempt was handed out under them.
        case held(isUsed: Bool)
    }

    let node: Int32
    /// -1: the root.
    let parent: Int32
    /// First unit of its instance.
    let base: Int32
    /// Among its siblings; in a forEach the element's index.
    let position: Int32
    var phase = Phase.blocked
    var stop: Stop?
    var locks = Locks.none
    /// It is to end without grace.
    var isHurried = false
    /// Its group has begun to stop its children after a failure.
    var stopsChildren = false
    /// Index: dependencies not ended, plus one until its group is open.
    var unmet: Int32 = 0
    /// Indices of a group or forEach: children not ended, begun and not ended, ended without success.
    var openChildren: Int32 = 0
    var activeChildren: Int32 = 0
    var unsuccessfulChildren: Int32 = 0
    /// Of a forEach: where its elements' instances begin, and how many there are.
    var firstInstance: Int32 = -1
    var instances: Int32 = 0
    /// Attempts handed out, those of them that failed, and those whose process died under them.
    var attempts: Int32 = 0
    var failedAttempts: Int32 = 0
    var crashes: Int32 = 0
    /// Who got its latest attempt.
    var lastWorker: WorkerNumber?
    /// A process died while it ran in it: it runs alone.
    var isSuspect = false
    /// Its conditions were judged, and the attempt is about to be handed out.
    var isCleared = false
    /// The attempt that it was given out for evaluates its conditions.
    var isEvaluating = false
    /// How far those have been asked, for this attempt, who evaluate its conditions.
    var probing = Probing.due
    /// Its conditions' dependent operations have ended for this attempt.
    var isPrepared = false
    /// They were called for an attempt before: for the next one they are put back to what they were.
    var hasCalledPreparations = false
    /// The timeout of its attempt has passed before something else stopped it.
    var hasTimedOut = false
    /// It counts among its group's active children.
    var isActive = false
    /// Volatile: the worker said that the current attempt has begun.
    var isRunning = false
    /// Wall-clock milliseconds; 0: not yet.
    var queuedAt: Int64 = 0
    var startedAt: Int64 = 0
    var finishedAt: Int64 = 0
    /// Its place among the ends of its submission, from 1; 0: it has not ended.
    var endNumber: Int32 = 0

    init(node: Int32, parent: Int32, base: Int32, position: Int32) {
        self.node = node
        self.parent = parent
        self.base = base
        self.position = position
    }

    var outcome: Outcome? {
        if case .ended(let outcome) = phase { outcome } else { nil }
    }
    var hasEnded: Bool { outcome != nil }
    /// Whether it was cancelled because its group has stopped, and not by anybody.
    var wasStoppedByGroup: Bool { outcome == .cancelled && stop == .siblingFailed }
}

/// What an evolved fact means for what is not durable: queues, timers, connections, followers.
enum Effect {
    /// It could begin but for locks that it has not asked for.
    case wantsLocks(UnitID)
    /// It waits for a worker.
    case ready(UnitID)
    /// It may be tried again at this wall time.
    case retry(UnitID, at: Int64)
    /// It waits for this wall time, and for its `notBefore`.
    case delayed(UnitID, until: Int64)
    /// It waits to be judged again.
    case postponed(UnitID, Unit.Postponement)
    /// An attempt starts under a rate limit.
    case counted(RateLimit)
    /// It waits to be started, and may not for ever.
    case waits(UnitID)
    /// It must have ended by this wall time.
    case deadline(UnitID, at: Int64)
    /// The worker is to stop this attempt.
    case stop(UnitID, Attempt, WorkerNumber, Unit.Stop, now: Bool)
    /// The worker is to give the attempt back, if it has not begun.
    case recall(UnitID, Attempt, WorkerNumber)
    /// The attempt is the worker's no longer.
    case freed(UnitID, WorkerNumber)
    /// The attempt is given up, and may go on at the worker.
    case strayed(UnitID, Attempt, WorkerNumber)
    /// So many units are new, from this one on, and so are all nodes from `firstNode` on.
    case added(UnitID, count: Int)
    /// The submission has so many more units.
    case grown(Int)
    /// A group has begun, at this wall time.
    case opened(UnitID, at: Int64)
    /// The unit's state changed in a way that followers are told.
    case changed(UnitID, at: Int64, errors: [Failure])
    /// The unit has its outcome.
    case ended(UnitID, at: Int64, errors: [Failure])
    /// Followers are told of what has ended, and that is not counted: it has its end from another submission, or more has become
    /// known of it.
    case kept(UnitID, at: Int64)
    case submissionEnded(SubmissionNumber)
}
