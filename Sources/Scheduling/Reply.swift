/// An answer to a client's request.
public enum Reply: Sendable {
    case failed(RequestFailure)
    case submitted(id: String, existing: Bool)
    case checked([AdmissionError])
    case cancelAccepted(id: String, alreadyEnded: Bool)
    /// Of a pause or its end. `changed`: it was not so before; `pausedBy`: path of what is still paused around it.
    case steered(id: String, changed: Bool, alreadyEnded: Bool, pausedBy: String?)
    case submissions([SubmissionView], more: Bool)
    case submission(SubmissionView)
    case operations([OperationView], next: Int, id: String)
    case following(SubmissionView)
    case workers([WorkerView])
    /// `last`: the number to ask on after, also when there are none.
    case workerEvents([WorkerEvent], last: UInt64)
    case explanation(Explanation)
    /// `next`: where to continue; 0: there are no more.
    case locks([LockView], next: Int)
    /// `units`: indices of the named operation and everything in it; nil: the whole submission.
    case located(SubmissionNumber, id: String, units: [Int]?, ended: Bool)
    /// An operation: its newest attempt (0: none has begun), and whether it has its outcome.
    case locatedOperation(UnitID, id: String, attempts: Int, ended: Bool, failures: [Failure])
    /// `lifted`: so many kinds of operations are kept from workers no more.
    case retried(id: String, existing: Bool, lifted: Int)
    /// From whom the lock was taken: submissions and paths.
    case lockReleased(holders: [String])
    /// Of a worker that was drained, resumed or removed, under this name. `changed`: it was not so before.
    case workerSteered(name: String, changed: Bool, [WorkerView])
    case done
}

public enum RequestFailure: Sendable {
    case notFound(String)
    case ambiguous(String)
    case refused(message: String, errors: [AdmissionError])
    case busy(String)
    /// The graph has hosted code, and the session of its submitter's process is over.
    case sessionOver(String)
    /// The key may not do it.
    case notPermitted(String)
}

/// A fault of a graph, found before anything runs.
public struct AdmissionError: Hashable, Sendable {
    /// Node index in the graph.
    public var node: Int
    public var path: String
    /// What is wrong and what to do.
    public var message: String
    public init(node: Int, path: String, message: String) {
        self.node = node
        self.path = path
        self.message = message
    }
}

extension [AdmissionError] {
    /// As their nodes stand in the graph; of one node in the order in which they were found.
    public var inOrder: Self {
        enumerated().sorted { ($0.element.node, $0.offset) < ($1.element.node, $1.offset) }.map(\.element)
    }
}

public enum SubmissionState: UInt8, Hashable, Sendable {
    case pending = 0, running, paused, succeeded, failed, cancelled
}

public enum OperationState: UInt8, Hashable, Sendable, CaseIterable {
    case blocked = 0, locking, evaluating, queued, running, stopping, retrying, paused, succeeded, failed, cancelled
}

/// Counts operations that execute: no groups, no decide units.
public struct Counts: Hashable, Sendable {
    public var total = 0
    public var succeeded = 0
    public var failed = 0
    public var cancelled = 0
    public var running = 0
    public var pending: Int { total - succeeded - failed - cancelled - running }
    public init() {}
}

public struct SubmissionView: Hashable, Sendable {
    public var number: SubmissionNumber
    public var id: String
    public var key: String
    public var name: String
    public var state: SubmissionState
    public var counts: Counts
    /// Milliseconds since 1970.
    public var submittedAt: Int64
    /// 0: not yet.
    public var finishedAt: Int64
    /// Ended by its own timeout or deadline.
    public var timedOut: Bool
    /// What the last user who cancelled something of it said; empty: nothing.
    public var cancelReason: String
    /// Whose it is; empty: of the coordinator's own user.
    public var principal = ""

    /// The same while there is still something to be told: nobody waits for more behind an end.
    public var beforeItsEnd: SubmissionView {
        var view = self
        (view.state, view.finishedAt) = (.running, 0)
        return view
    }
}

public struct OperationView: Hashable, Sendable {
    public enum Kind: UInt8, Hashable, Sendable { case operation = 0, group, ordered, forEach, decider }
    public var unit: Int
    public var parent: Int
    public var position: Int
    public var path: String
    public var kind: Kind
    public var type: String
    public var state: OperationState
    public var attempts: Int
    public var worker: String
    /// Milliseconds since 1970; 0: not yet.
    public var queuedAt: Int64
    public var startedAt: Int64
    public var finishedAt: Int64
    public var errors: [Failure]
    public var value: Payload?
    /// Its place among the ends of its submission, from 1: several may end in one millisecond; 0: it has not ended.
    public var endNumber = 0
    /// Of one that is locking: the locks that are in its way, with who stands at the front of their lines.
    public var locks: [LockView] = []
    public var isAtMostOnce = false
    /// It executes in the process that submitted it.
    /// It was cancelled because its group has stopped.
    public var isStoppedByGroup = false
    public var isHosted = false
    /// It is the dependent operation of a condition of its parent, and none of that one's children.
    public var isPreparation = false
    public var priority = 0
    /// Processes of workers that died under it, and how many may.
    public var crashes = 0
    public var crashLimit = 0
    /// Of one that is retrying: the wall time from which on the next attempt may start; 0: it is not.
    public var retryAt: Int64 = 0
    /// Why its last attempt failed, until it has ended.
    public var lastFailure: Failure?
    /// What its conditions said last.
    public var conditions: [ConditionView] = []
    /// Of one that could start otherwise: what is missing; nil: nothing but a free slot.
    public var waiting: WaitingView?
    /// Its unique id; empty: none.
    public var uniqueID = ""
    /// Submission and path of the operation that it has joined, and whose end it waits for; empty: none.
    public var joinedTo = ""
    /// How far it has come, as it says itself, while it runs; nil: it has not said.
    public var progress: Progress?
    /// Of what was not in the graph that was submitted.
    public var added: AddedView?
    /// How it was stopped, stage by stage: of the newest attempt that was.
    public var history: [HistoryEntry] = []
    /// Attempts before the newest one, and those that were lost, as far as they had begun; of many the last ones.
    public var earlierAttempts: [EarlierAttemptView] = []
    /// The units that it waits for before it begins, in the order of the graph; empty unless they were asked for.
    public var dependencies: [Int] = []
}

/// An attempt of an operation that is not its newest, or that was lost.
public struct EarlierAttemptView: Hashable, Sendable {
    /// From 1.
    public var number: Int
    /// Who ran it.
    public var worker: String
    /// Milliseconds since 1970.
    public var startedAt: Int64
    public var finishedAt: Int64
    public var ending: EarlierAttempt.Ending
    /// It was the operation's end, until its group was tried again.
    public var wasEnd = false
    /// Why it failed, was ended or was lost; empty: nothing is known of that.
    public var text: String
}

/// What came to a group while it ran.
public struct AddedView: Hashable, Sendable {
    /// The unit of its group, or of the operation in which it stands.
    public var parent: Int
    public var kind: OperationView.Kind
    public var type: String
    /// It executes in the process that submitted the graph.
    public var isHosted: Bool
    /// The dependent operation of a condition of its parent, and none of that one's children.
    public var isPreparation: Bool
    /// The operation that has handed it over; nil: it is there because that needs it.
    public var producer: Int?
    /// Of the producer.
    public var attempt: Attempt
    /// In the graph of the addition, and under which id that was produced.
    public var node: Int
    public var id: String?
}

public struct WorkerView: Hashable, Sendable {
    public enum State: Hashable, Sendable {
        case attached, draining, silent
        /// Its key was revoked; what it was doing may go on in it for a while.
        case revoked
        /// It is not let in, because its key may not do any more what it needs.
        case limited
        /// An operator has drained it, and nothing runs in it. It may not be there.
        case drained
        /// It is not there, and nothing runs in it.
        case absent
    }
    public var number: WorkerNumber
    public var name: String
    public var host: String
    public var pid: UInt32
    public var state: State
    public var slots: Int
    public var running: Int
    public var operations: [String]
    public var labels: [String]
    /// Milliseconds since 1970.
    public var lastHeard: Int64
    /// Of its host, which it shares with the other executors of its supervisor.
    public var resources: [ResourceView] = []
    /// Under which it was started; `name` has a number more if another process has it, or had it.
    public var givenName: String
    /// An operator wants nothing new given to it.
    public var drain: WorkerDrain?
    /// For who asked about this one.
    public var detail: WorkerDetail?
}

public struct EventBatch: Sendable {
    public var submission: String
    public var events: [UnitEvent]
    /// As it stands after these events.
    public var view: SubmissionView
}

public struct UnitEvent: Hashable, Sendable {
    public var unit: Int
    public var path: String
    public var state: OperationState
    public var at: Int64
    public var worker: String
    public var errors: [Failure]
    public var attempt: Int
    /// Milliseconds since 1970; 0: it has not started.
    public var startedAt: Int64 = 0
    /// Of a success, for followers who want details.
    public var value: Payload?
    /// Only for followers who want details.
    public var isGroup = false
    /// Its state has not changed: it has said how far it has come.
    public var progress: Progress?
    /// It is new. Only for followers who want details.
    public var added: AddedView?
    /// It was cancelled because its group has stopped.
    public var isStoppedByGroup = false
    /// Of one that was told to stop while it ran: the stages so far.
    public var history: [HistoryEntry] = []
}
