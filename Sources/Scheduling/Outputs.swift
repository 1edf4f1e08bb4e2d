/// What a step wants done. The caller commits `facts` in order, and sends each of `sends`, in order, once everything up
/// to its `after` is durable.
public struct Outputs: Sendable {
    public struct Send: Sendable {
        public var to: PeerID
        public var message: Message
        /// Nobody may act on this message before the journal is durable up to here.
        public var after: JournalSequence
    }
    public var facts: [Fact] = []
    public var sends: [Send] = []
    /// Submissions that have ended in this step.
    public var ended: [SubmissionNumber] = []
    /// Large values that submissions named which were forgotten in this step; others may name them, too.
    public var forgottenValues: [StoredValue] = []
    /// How long operations had waited whose attempts have begun; empty unless ``Scheduler/tellsWaits``.
    public var waits: [OperationWait] = []
    /// What has come about; empty unless ``Scheduler/telling`` says otherwise.
    public var happenings: [Happening] = []
    /// Boot time at which the next step is wanted even without an input; nil: none.
    public var wakeAt: Int64?

    public init() {}

    /// Empties it, keeping its storage.
    public mutating func removeAll() {
        facts.removeAll(keepingCapacity: true)
        sends.removeAll(keepingCapacity: true)
        ended.removeAll(keepingCapacity: true)
        forgottenValues.removeAll(keepingCapacity: true)
        waits.removeAll(keepingCapacity: true)
        happenings.removeAll(keepingCapacity: true)
        wakeAt = nil
    }
}

/// What the scheduler tells a peer.
public enum Message: Sendable {
    /// To an executor. Of what it holds, `drop` is to be stopped and forgotten; everything else is adopted.
    case welcome(name: String, drop: [ExecutorAttachment.Held])
    /// A newer connection of the same process took over, or its end was proven already.
    case superseded
    /// It is heard again after its lease was over: what it held may be given away, and only a welcome sets that right.
    case helloWanted
    /// To a submitter's process: its session is over, and what it hosted has failed.
    case sessionOver
    case dispatch([Assignment])
    case stop([StopOrder])
    /// The end of these attempts is durable (or no longer wanted): the executor forgets them.
    case acknowledge([AttemptName])
    /// To a supervisor: the end of this executor is durable.
    case acknowledgeEnd(Incarnation)
    case reply(RequestID, Reply)
    /// What these attempts have produced is durable, or not wanted.
    case productReceipts([ProductReceipt])
    /// To a follower.
    case events(EventBatch)
}

public struct AttemptName: Hashable, Sendable {
    public var unit: UnitID
    public var attempt: Attempt
    public init(unit: UnitID, attempt: Attempt) {
        self.unit = unit
        self.attempt = attempt
    }
}

public struct ProductReceipt: Hashable, Sendable {
    public var unit: UnitID
    public var attempt: Attempt
    public var number: UInt64
    /// Why it cannot be taken, which makes the attempt fail; nil: it can.
    public var problem: String?
    /// Whether it became part of the group: its id was new there.
    public var isNew: Bool
}

public enum UnitKind: Hashable, Sendable { case execute, decide, evaluate, conclude }

public struct Assignment: Sendable {
    public var unit: UnitID
    public var attempt: Attempt
    public var kind: UnitKind
    public var submission: String
    public var path: String
    /// From 1.
    public var attemptNumber: Int
    public var operation: String
    public var version: Int
    public var parameters: [UInt8]
    public var isTemplated: Bool
    /// forEach elements in scope, innermost last.
    public var bindings: [Binding]
    public var inputs: [Received]
    public var receivesArray: Bool
    public var timeoutMilliseconds: Int64
    public var graceMilliseconds: Int64?
    /// Tokens for the keys that it runs under, sorted by key.
    public var fences: [Fence]
    /// It has to end before the lock lease is over, and to be reported as lost then.
    public var isAtMostOnce = false
    /// What the operation says of itself in its initializer counts in the graph already.
    public var isDescribed = false
    /// Of those that wait for a slot of the executor the highest begins first.
    public var priority = 0
    /// It is given to the process that submitted it, which has what it receives.
    public var isHosted = false
    /// What it has of its host's resources, sorted by name.
    public var resources: [AssignedResource] = []
    /// Whose elements it receives while that runs; nil: nobody's.
    public var stream: StreamSource?
    /// Of an evaluate unit: what it is to evaluate.
    public var questions: [ConditionQuestion] = []
    /// Of a decide unit of a group: what it is asked; nil: it is to split a list for a forEach.
    public var decision: DecisionQuestion?
    /// To its submitter: what that is asked about its end.
    public var conclusion: ConclusionQuestion?
    /// The attempt after whose success its worker begins it by itself; nil: it begins when it has come.
    public var link: AttemptLink?
    /// The trace of its submission.
    public var trace = TraceContext()
}

/// The attempt that another one follows on the same worker.
public struct AttemptLink: Hashable, Sendable {
    public var unit: UnitID
    public var attempt: Attempt
    /// Whether its value is what the other one receives.
    public var delivers: Bool

    public init(unit: UnitID, attempt: Attempt, delivers: Bool) {
        self.unit = unit
        self.attempt = attempt
        self.delivers = delivers
    }
}

/// The attempt of an operation whose elements another one receives.
public struct StreamSource: Hashable, Sendable {
    public var path: String
    /// From 1; 0: it has ended without any.
    public var attemptNumber: Int

    public init(path: String, attemptNumber: Int) {
        self.path = path
        self.attemptNumber = attemptNumber
    }
}

/// A condition that an evaluate unit is to evaluate.
public struct ConditionQuestion: Hashable, Sendable {
    /// Position among the node's conditions.
    public var condition: Int
    public var type: String
    public var parameters: [UInt8]
    public var isTemplated: Bool
    public var isNegated: Bool
    public var waits: Bool
    /// Of one that is made of others.
    public var failedParts: [FailedPart]

    public init(
        condition: Int, type: String, parameters: [UInt8], isTemplated: Bool = false, isNegated: Bool = false, waits: Bool = false,
        failedParts: [FailedPart] = []
    ) {
        self.condition = condition
        self.type = type
        self.parameters = parameters
        self.isTemplated = isTemplated
        self.isNegated = isNegated
        self.waits = waits
        self.failedParts = failedParts
    }
}

/// A part of a condition, which is made of others, whose dependent operation failed.
public struct FailedPart: Hashable, Sendable {
    /// Its place among the conditions that that one is made of.
    public var part: Int
    public var failure: Failure

    public init(part: Int, failure: Failure) {
        self.part = part
        self.failure = failure
    }
}

public struct Binding: Hashable, Sendable {
    public var name: String
    public var index: Int
    /// JSON
    public var element: [UInt8]

    public init(name: String, index: Int, element: [UInt8]) {
        self.name = name
        self.index = index
        self.element = element
    }
}

/// What a receiver gets from one producer.
public indirect enum Received: Hashable, Sendable {
    case value(Payload)
    case failure([Failure])
    /// A group's or forEach's children's values, in child order.
    case list([Received])
}

public struct StopOrder: Hashable, Sendable {
    public enum Reason: Hashable, Sendable { case cancelled, timeout, superseded, recalled }
    public var unit: UnitID
    public var attempt: Attempt
    public var reason: Reason
    /// Without grace.
    public var now: Bool
}
