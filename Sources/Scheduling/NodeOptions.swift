/// What few nodes of a graph ask for.
public struct NodeOptions: Hashable, Sendable {
    /// Starts so long after everything else it waits for is over; 0: at once.
    public var delayMilliseconds: Int64 = 0
    /// Does not start before this wall time, in milliseconds since 1970; 0: whenever it can.
    public var notBefore: Int64 = 0
    /// How long it may take, all its attempts and its waiting included, from when the group around it starts (the root:
    /// from its submission); 0: as long as it takes.
    public var deadlineMilliseconds: Int64 = 0
    /// The wall time by which it must have ended; 0: whenever.
    public var deadline: Int64 = 0
    /// How long an operation may wait for a worker and its locks; 0: as long as it takes.
    public var queueTimeoutMilliseconds: Int64 = 0
    /// How long to wait between a failed attempt and the next.
    public var backoff = Backoff.standard
    /// Its retry is that of the delivery net of which it is the end: what has failed above it is tried again with it.
    public var retriesNet = false
    /// Of the root: what operations say of themselves in their initializers is in the graph.
    public var isDescribed = false
    /// Somebody who is not in the graph waits for its end: it is not tried again with a delivery net.
    public var isAwaitedElsewhere = false
    /// Dependencies that are not in the graph, and did not succeed.
    public var endedBefore = EndsBefore()
    /// Of what is added to a group that runs: it was cancelled before it was.
    public var beginsCancelled = false
    /// What is worth another attempt; empty: every failure.
    public var retryOn: [RetryReason] = []
    /// It is never started again once it may have begun: not tried again, and failed when its worker is lost. On a group or
    /// forEach: for all inside.
    public var atMostOnce = false
    /// It may run again without harm, also after it has succeeded: what comes after it may begin before its value is on the disk. On a
    /// group or forEach: for all inside.
    public var recomputable = false
    /// Which of those that wait for a worker goes first; nil: as the group around it, the root's is 0.
    public var priority: Int?
    /// So many processes of workers may die under one operation before it fails; nil: as the group around it says, the root: as
    /// the coordinator does. On a group or forEach: for all inside.
    public var crashLimit: Int?
    /// Of the root only: how many units of the submission are handed out before the next submission's turn; 0: one.
    public var weight = 0
    /// What its worker must have; on a group or forEach: for all inside.
    public var requires = Requirements()
    /// It exists in the process that submitted the graph, and executes there. Of operations only.
    public var isHosted = false
    /// In what ends of it the process has a say that submitted the graph. Not of a forEach.
    public var say = SubmitterSay()
    /// How long a step in that process may take, other than to execute; 0: 60 s.
    public var hostedTimeoutMilliseconds: Int64 = 0
    /// Locks that it holds from before its first attempt to its end. Not of a forEach: its body names them.
    public var exclusive: [Exclusion] = []
    /// What must hold before each attempt. Not of a forEach: its body names them.
    public var conditions: [Condition] = []
    /// What is made of `conditions`, each of which is in it once, in order; empty: each is required by itself.
    public var conditionTrees: [ConditionTree] = []
    /// Of those with one id only one is active at a time. Not of a forEach: its body has it.
    public var unique: Uniqueness?
    /// The operation whose elements it receives while that runs: a node. Of operations only.
    public var stream: Int?
    /// It is the dependent operation of this condition of the node that it stands in, and none of that node's children: it
    /// runs before the conditions are evaluated, anew for each attempt.
    public var prepares: Int?
    /// Of a dependent operation: for which part of that condition, which is made of others, it is done; nil: for all of it. Whether
    /// the condition fails when it does is then said by the one who evaluates that, the process that submitted the graph.
    public var preparesPart: Int?

    public init() {}

    /// What a node has that asks for none of this.
    public static let standard = NodeOptions()
}

/// The options of one node. They are kept elsewhere, so that the many nodes without any are small.
indirect enum BoxedOptions: Hashable, Sendable {
    case standard
    case own(NodeOptions)

    init(_ options: NodeOptions) { self = options == .standard ? .standard : .own(options) }

    var options: NodeOptions {
        switch self {
        case .standard: .standard
        case .own(let options): options
        }
    }
}

/// Names of what a node waited for before it came to the graph: conditions on dependencies look at that, too.
public struct EndsBefore: Hashable, Sendable {
    public var failed: [String] = []
    public var cancelled: [String] = []

    public init(failed: [String] = [], cancelled: [String] = []) {
        self.failed = failed
        self.cancelled = cancelled
    }
}
