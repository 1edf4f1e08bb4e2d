/// One thing that is in the way of a unit that does not run and has not ended.
public enum Blocker: Hashable, Sendable {
    /// The names of JSON.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case dependency, delivery, order, group, maxConcurrent, delay, paused, lock, condition, join, worker, slots, retry, submitter,
            stopping, partialResults, value, pausing
    }

    /// It begins after that one has ended.
    case dependency(BlockingUnit)
    /// It receives from that one.
    case delivery(BlockingUnit, of: Delivery)
    /// That one comes before it in an ordered group.
    case order(BlockingUnit)
    /// That one has not started, and it is in it: a group, or what it is the dependent operation of.
    case group(BlockingUnit)
    /// The places of that group are taken.
    case maxConcurrent(PlaceWait)
    /// It does not begin before this wall time.
    case delay(until: Int64)
    /// A user has paused that one, which it is or is in, at this wall time.
    case paused(BlockingUnit, since: Int64)
    case lock(LockWait)
    case condition(ConditionWait)
    /// That one has its unique id, and it ends as that does.
    case join(BlockingUnit, uniqueID: String)
    /// No worker that is there could take it, or the one that has it is not heard.
    case worker(WorkerWait)
    /// Those who could take it are full.
    case slots(SlotWait)
    case retry(RetryWait)
    /// It is the process's that has submitted it.
    case submitter(SubmitterWait)
    /// It is to end, and something of it still runs.
    case stopping(StopWait)
    /// It runs, and what it sends is not taken, for this reason.
    case partialResults(String)
    /// It has ended, and its value cannot be taken yet, for this reason.
    case value(String)
    /// A user has asked to pause what it is or is in, which has not taken effect.
    case pausing(PauseWait)

    public var kind: Kind {
        switch self {
        case .dependency: .dependency
        case .delivery: .delivery
        case .order: .order
        case .group: .group
        case .maxConcurrent: .maxConcurrent
        case .delay: .delay
        case .paused: .paused
        case .lock: .lock
        case .condition: .condition
        case .join: .join
        case .worker: .worker
        case .slots: .slots
        case .retry: .retry
        case .submitter: .submitter
        case .stopping: .stopping
        case .partialResults: .partialResults
        case .value: .value
        case .pausing: .pausing
        }
    }
}

/// Another unit, as it stands.
public struct BlockingUnit: Hashable, Sendable {
    public var unit: UnitID
    /// Submission and path.
    public var operation: String
    public var state: OperationState
    /// Of its attempt; empty: it has none now, or is a group.
    public var worker: String
}

/// What of a producer is waited for.
public enum Delivery: Hashable, Sendable {
    /// Its value.
    case value
    /// That it begins: it is received from while it runs.
    case begin
    /// Its end: what has been made of its stream counts then.
    case end
}

public struct PlaceWait: Hashable, Sendable {
    public var group: BlockingUnit
    public var limit: Int
    public var taken: Int
    /// Members that have come before it, and wait for a place as well.
    public var ahead: Int
}

public struct LockWait: Hashable, Sendable {
    /// With its holders, and the front of its line; of many only the first.
    public var lock: LockView
    /// How many stand in line before it.
    public var ahead: Int
}

public struct ConditionWait: Hashable, Sendable {
    public enum Stage: Hashable, Sendable {
        /// It is evaluated when nothing else is in the way.
        case notYet
        /// Its dependent operation has to end first.
        case preparing(BlockingUnit)
        /// This worker, or submitter, evaluates it.
        case evaluating(worker: String)
        /// It has said "not now". `ahead`: how many wait for their turn under the rate limit before it.
        case notNow(Verdict, ahead: Int)
    }
    public var key: String
    public var stage: Stage

    public init(key: String, stage: Stage) {
        self.key = key
        self.stage = stage
    }
}

public struct WorkerWait: Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        case noWorker
        case operation(String)
        case version(Int, of: String)
        /// A condition type.
        case condition(String)
        case requirements(Requirements)
        /// Each has something of it.
        case together
        /// It is on this worker, which was last heard at `since` (0: not since the coordinator started); by `until` it comes back, or the unit is taken from it.
        case unheard(worker: String, since: Int64, until: Int64)
        /// It is on this worker, whose key was revoked; by `until` that one has stopped it.
        case revoked(worker: String, until: Int64)
        /// It is on this worker, whose key has not the role or a label any more that it needs; until then it may be back.
        case limited(worker: String, until: Int64)
        /// Only workers that an operator has drained could take it: this one, and so many others.
        case drained(worker: String, WorkerDrain, others: Int)
        /// It is on none, and only workers could take it whose keys keep them out: this one since `since` (wall time), and so many others.
        case barred(worker: String, WorkerBar, since: Int64, others: Int)
    }
    /// One that could take it, and does not.
    public struct Absentee: Hashable, Sendable {
        public var worker: String
        /// Why it does not come back; nil: it is not heard, or takes no new work.
        public var bar: WorkerBar?

        public init(worker: String, bar: WorkerBar? = nil) {
            self.worker = worker
            self.bar = bar
        }
    }
    public var reason: Reason
    /// What in it needs it: submission and path; empty: the unit itself.
    public var operation: String
    /// Workers that could take it, and are not heard, take no new work, or are kept out; without those that the reason is about.
    public var absent: [Absentee]

    public init(reason: Reason, operation: String, absent: [Absentee]) {
        self.reason = reason
        self.operation = operation
        self.absent = absent
    }
}

public struct SlotWait: Hashable, Sendable {
    /// One that could take it.
    public struct Taker: Hashable, Sendable {
        public enum Obstacle: Hashable, Sendable {
            /// All its slots are taken.
            case full
            /// Its connection was lost a moment ago.
            case suspected
            /// What it has runs alone in it, or is to.
            case alone
            /// It is kept free for another unit, which is to run alone.
            case kept
            /// Of what it requires too little is free on the host.
            case resources(String)
            /// It has it, and has not begun it.
            case queued
        }
        public var number: WorkerNumber
        public var worker: String
        public var slots: Int
        /// How many units it has.
        public var taken: Int
        public var obstacle: Obstacle
        /// How many of them have ended, and keep their slots as the coordinator has not taken over their values.
        public var undelivered = 0
        /// Why it has not, of one of those.
        public var undeliveredReason = ""
    }
    /// Of many only the first.
    public var takers: [Taker]
    public var takerCount: Int
    /// How many units the first of `takers` is handed before it, `SlotWait.aheadMax` at most.
    public var ahead: Int
    /// A process has died under it: it needs a worker that has nothing else.
    public var runsAlone: Bool
    /// Of one that runs alone: so many have died under it, and so many may.
    public var crashes = 0
    public var crashLimit = 0

    public static let aheadMax = 10_000
}

public struct RetryWait: Hashable, Sendable {
    /// Which attempt is next, from 2; 0: whether there is one, `decidedBy` has to say.
    public var attempt: Int
    /// How many there are at most.
    public var attemptsMax: Int
    /// Wall time.
    public var until: Int64
    /// Of the last attempt.
    public var failure: Failure?
    /// It has ended, and this end of its delivery net decides whether that counts.
    public var decidedBy: BlockingUnit?
}

public struct SubmitterWait: Hashable, Sendable {
    /// How its process is called.
    public var name: String
    /// nil: it is there, and is asked what becomes of the unit's end; else the wall time by which it has to be back.
    public var until: Int64?

    public init(name: String, until: Int64?) {
        self.name = name
        self.until = until
    }
}

public struct StopWait: Hashable, Sendable {
    /// Why, as the history has it.
    public var reason: String
    /// Wall time; 0: not known.
    public var since: Int64
    /// What runs: the unit itself, or something in it; nil: nothing of it was given out.
    public var running: BlockingUnit?
    /// Of a group: how many in it have not ended.
    public var open: Int
    /// Its worker is not heard: by this wall time it has ended it; 0: it is heard.
    public var until: Int64
    /// Only its attempt ends, and another one follows.
    public var beginsAnew = false
    /// It has not ended in its grace, and only the end of its process ends it, which comes when the neighbours have ended.
    public var isOverdue = false
    /// What else runs in the process that has it, of many only the first; empty: it is not the reader's to know.
    public var neighbours: [String] = []
    public var neighbourCount = 0

    /// So many are named.
    public static let neighboursMax = 3
}

public struct PauseWait: Hashable, Sendable {
    /// What is to be paused.
    public var unit: BlockingUnit
    /// Wall time at which that was asked for.
    public var since: Int64
    /// Who might begin something of it by themselves, and have not answered.
    public var workers: [String]

    public init(unit: BlockingUnit, since: Int64, workers: [String]) {
        self.unit = unit
        self.since = since
        self.workers = workers
    }

    /// When it takes effect.
    var moment: String {
        guard let first = workers.first, workers.count > 1 else {
            return "when \(workers.first ?? "its worker") has answered, or its lease is over"
        }
        let others = workers.count == 2 ? workers[1] : "\(workers.count - 1) more"
        return "when \(first) and \(others) have answered, or their leases are over"
    }
}
