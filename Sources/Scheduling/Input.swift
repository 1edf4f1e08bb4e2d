/// Names a client's request; the transport draws it and routes the reply by it.
public struct RequestID: Hashable, Sendable {
    public let peer: PeerID
    public let number: UInt64
    public init(peer: PeerID, number: UInt64) {
        self.peer = peer
        self.number = number
    }
}

/// What the scheduler is told. Order within a step matters; each is decided against the state its predecessors left.
public enum Input: Sendable {
    case executorAttached(PeerID, ExecutorAttachment)
    /// Any message of an executor: its lease is renewed.
    case heard(PeerID)
    /// The executor takes no new work.
    case draining(PeerID)
    /// The transport saw the connection go. Suspicion only: it gets nothing new until heard again.
    case disconnected(PeerID)
    /// The executor's key is not authorised any more, and its connection was ended: nothing it says is taken. It may still run.
    case revoked(PeerID)
    /// Whoever this executor is, it is not let in any more. It may still run.
    case barred(Incarnation, WorkerBar)
    /// The executor said goodbye: nothing of it runs any more.
    case departed(PeerID)
    /// Proof of death by the executor's supervisor, which is answered once that is durable.
    case executorEnded(supervisor: PeerID, Incarnation, crashed: Bool)
    case started(PeerID, UnitID, Attempt, at: Int64)
    /// The running operation says how far it has come. Volatile: only for those who look.
    case progressed(PeerID, UnitID, Attempt, Progress)
    /// What the running operation sends is not taken, and why; nil: it is. Volatile.
    case heldBack(PeerID, UnitID, Attempt, reason: String?)
    /// The attempt has ended, and its value cannot be taken yet, and why; nil: it can. Volatile.
    case valueWaits(PeerID, UnitID, Attempt, reason: String?)
    case ended(PeerID, UnitID, Attempt, AttemptOutcome, startedAt: Int64, at: Int64)
    /// The running operation has produced something under an id of its own; `number` is its place among what the attempt
    /// produces so. Answered by a receipt once that is durable.
    case produced(PeerID, UnitID, Attempt, number: UInt64, Addition)
    /// The executor gives the unit back before it has begun; `wasStopped`: it had begun, and was stopped because its lock
    /// lease was ending.
    case released(PeerID, UnitID, Attempt, wasStopped: Bool = false, isAccepting: Bool = false)
    case request(RequestID, Request, by: Authority = .unlimited)
    /// The executor has told the attempt to stop, at a time of its clock, or has ended it by force.
    case stopping(PeerID, UnitID, Attempt, forced: Bool, at: Int64)
    /// What the clocks of time zones show, before the request whose graph names them.
    case zones([ZoneTable])
    /// Why nothing new is to be admitted: the disk is full. nil: there is room again.
    case diskFilled(String?)
    /// What has ended is written down elsewhere, and some of it is not yet: nothing is forgotten meanwhile, unless it takes more than twice the
    /// room that it may.
    case historyBehind(Bool)
    /// The coordinator itself stood still, and has read nothing of what executors told: it may still be on its way. Before what was read since.
    case stoodStill
}

public struct ExecutorAttachment: Sendable {
    public enum HeldState: Hashable, Sendable { case queued, running, finished }
    public struct Held: Hashable, Sendable {
        public var unit: UnitID
        public var attempt: Attempt
        public var state: HeldState
        public init(unit: UnitID, attempt: Attempt, state: HeldState) {
            self.unit = unit
            self.attempt = attempt
            self.state = state
        }
    }
    public var identity: WorkerIdentity
    public var slots: Int
    /// How many may begin beyond its slots before it says so.
    public var line: Int
    /// What it has registered, each name once.
    public var operations: [OperationSignature]
    public var labels: [String]
    public var held: [Held]
    /// Registered condition types.
    public var conditions: [String]
    /// What its host has, for all executors of its supervisor together. Each named once.
    public var resources: [ResourceAmount]
    /// Rises with each connection of the process; 0: not told.
    public var connection: UInt64
    /// It begins what is linked to something by itself.
    public var followsLinks: Bool

    public init(
        identity: WorkerIdentity, slots: Int, operations: [OperationSignature], labels: [String], held: [Held], conditions: [String] = [],
        resources: [ResourceAmount] = [], line: Int = 0, connection: UInt64 = 0, followsLinks: Bool = false
    ) {
        self.followsLinks = followsLinks
        self.line = line
        self.connection = connection
        self.resources = resources
        self.identity = identity
        self.slots = slots
        self.operations = operations
        self.labels = labels
        self.held = held
        self.conditions = conditions
    }
}

/// How much a follower is told.
public enum FollowDepth: Int, Comparable, Sendable {
    /// That the submission has ended.
    case end
    /// What becomes of its operations as well.
    case operations
    /// What becomes of its groups as well, and the values.
    case everything

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

public enum Request: Sendable {
    /// `cancelled`: nodes that are cancelled before any of it can start. `submitter`: where its hosted code is.
    indirect case submit(
        key: String, name: String, graph: ExaminedGraph, waitForWorkers: Bool, cancelled: [Int] = [],
        submitter: Incarnation = Incarnation(0), trace: TraceContext = TraceContext())
    /// Admission check only.
    case check(graph: Graph, waitForWorkers: Bool)
    /// `path` empty: the whole submission.
    case cancel(submission: String, path: String, reason: String, now: Bool)
    /// Nothing more of it begins until it is resumed; `path` empty: of the whole submission.
    case pause(submission: String, path: String)
    case resume(submission: String, path: String)
    case list(before: String, limit: Int)
    case show(submission: String)
    case operations(OperationQuery)
    case follow(submission: String, FollowDepth = .operations)
    case unfollow(submission: String)
    case workers
    /// Submits the graph of a submission that has ended again, under this key; `force`: operations of it that are kept from
    /// workers are let go.
    case retry(submission: String, key: String, force: Bool, failedOnly: Bool = false)
    /// Takes a lock from those of these operations (submissions and paths) that hold it: at once, or by cancelling them.
    case releaseLock(key: String, holders: [String], reason: String, now: Bool)
    /// Nothing new for the worker of this name.
    case drainWorker(name: String, reason: String)
    case resumeWorker(name: String)
    /// Forgets a worker that is gone for good.
    case removeWorker(name: String)
    /// All that is known of one worker.
    case worker(name: String)
    /// What happened to workers since the coordinator's start, from the event behind this one on; 0: all that is kept.
    case workerEvents(after: UInt64)
    /// The locks that somebody holds or waits for; `key` empty: all, from the key numbered `from` on.
    case locks(key: String, from: Int)
    /// Resolves a submission and a path (empty: all) for a reader of its output.
    case locate(submission: String, path: String)
    /// Why it waits, or ended as it did; `path` empty: the submission as a whole.
    case explain(submission: String, path: String)
    /// Resolves an operation for a reader of its partial results.
    case locateOperation(submission: String, path: String)
}

public struct OperationQuery: Sendable {
    public var submission: String
    public var path: String
    public var from: Int
    /// 0: as many as fit `Scheduler.Configuration.pageBytes`.
    public var limit: Int
    public var withValues: Bool
    public var failedOnly: Bool
    /// With what each waits for before it begins.
    public var withDependencies: Bool
    /// Answered when the submission has ended. Of a peer that asks much so, at once.
    public var atEnd: Bool

    public init(
        submission: String, path: String, from: Int, limit: Int, withValues: Bool, failedOnly: Bool, withDependencies: Bool = false,
        atEnd: Bool = false
    ) {
        self.submission = submission
        self.path = path
        self.from = from
        self.limit = limit
        self.withValues = withValues
        self.failedOnly = failedOnly
        self.withDependencies = withDependencies
        self.atEnd = atEnd
    }
}
