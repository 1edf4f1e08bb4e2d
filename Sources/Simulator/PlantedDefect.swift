/// A fault of the cluster's own code that a simulation puts in, to show that it would be found.
public enum PlantedDefect: String, CaseIterable, Sendable {
    /// What is given to a worker goes out before it is on the disk that it was.
    case dispatchBeforeCommit = "dispatch-before-commit"
    /// A worker is told that its result is kept before it is on the disk.
    case acknowledgementBeforeCommit = "acknowledgement-before-commit"
    /// Submitters and readers are answered before that is on the disk.
    case replyBeforeCommit = "reply-before-commit"
    /// Followers are shown what is not on the disk.
    case eventsBeforeCommit = "events-before-commit"
    /// An executor is told that what an operation has produced is kept before that is on the disk.
    case receiptBeforeCommit = "receipt-before-commit"
    /// A lock is given to the next one when its holder is not heard for the lease, not the lock lease.
    case lockMovedOnSuspicion = "lock-moved-on-suspicion"
    /// An executor starts what it was given before, though its lease is over.
    case startAfterLease = "start-after-lease"
    /// An executor goes on with what runs under a lock, though the lock lease is about to be over.
    case runAfterLockLease = "run-after-lock-lease"
    /// A result that comes under an old attempt's token counts for the present one.
    case staleTokenAccepted = "stale-token-accepted"
    /// An operation of an ordered group that is to be tried again is not.
    case retryForgotten = "retry-forgotten"
    /// A message to a worker is lost without the connection being lost.
    case messageDropped = "message-dropped"
    /// A worker that reconnects does not say what it holds.
    case holdingsUntold = "holdings-untold"
    /// A coordinator that starts takes nothing from the workers that were there before as alive: no fresh lease.
    case noFreshLease = "no-fresh-lease"
    /// The end of an executor's process is believed though it is only suspected.
    case deathWithoutProof = "death-without-proof"
    /// An attempt that is given up because its executor is not heard is taken for one that has ended.
    case straysForgotten = "strays-forgotten"
    /// What a worker may begin by itself is not on the disk when it is told of it.
    case linksUnjournaled = "links-unjournaled"
    /// What has begun on the value of one attempt counts although another attempt's counts.
    case linkOfAnotherAttempt = "link-of-another-attempt"
    /// A result is taken before its value, which is a file, is on the disk.
    case valueBeforeDisk = "value-before-disk"
    /// A worker that an operator has drained is given work.
    case drainIgnored = "drain-ignored"
    /// A worker's host is said to have twice of what it has.
    case hostOversold = "host-oversold"
    /// What is given to an executor is said to have the first numbers of its resources, whoever has them.
    case numbersShared = "numbers-shared"
    /// A decision's children are added twice.
    case decisionTwice = "decision-twice"
    /// What was written last is lost at a crash although it was acknowledged: the disk lies.
    case lyingDisk = "lying-disk"
    /// Who reads partial results from the first one on is given those from the second one on.
    case replayFromSecond = "replay-from-second"
    /// Who has read elements of one attempt is not told that another one has begun, and goes on in that one's.
    case attemptsMixed = "attempts-mixed"
    /// Executors are told that their elements are kept before they are on the disk.
    case elementsBeforeSpool = "elements-before-spool"
    /// The end of an attempt is reported though its elements are not on the coordinator's disk.
    case endBeforeElements = "end-before-elements"
    /// A submitter that reconnects does not say what it executes, so that it is given that once more.
    case hostedUntold = "hosted-untold"
    /// The session of a submitter is taken for over though it may come back.
    case sessionOverEarly = "session-over-early"
}

extension PlantedDefect {
    /// The seeds with which it is looked for, each below ``seedsMax``. Where it is rare, the first is one with which it was found when this was
    /// written; should the simulator have changed since, the others follow.
    public var seeds: some Sequence<UInt64> {
        let first: UInt64 =
            switch self {
            case .startAfterLease: 1_208
            case .runAfterLockLease: 543
            case .straysForgotten: 2_151
            case .linkOfAnotherAttempt: 1_102
            case .valueBeforeDisk: 140
            default: 0
            }
        return (0..<seedsMax).lazy.map { (first + $0) % seedsMax }
    }

    /// Within so many seeds it is found.
    public var seedsMax: UInt64 {
        switch self {
        case .dispatchBeforeCommit, .acknowledgementBeforeCommit, .replyBeforeCommit, .eventsBeforeCommit, .retryForgotten,
            .lyingDisk, .replayFromSecond:
            20
        case .decisionTwice, .linksUnjournaled, .messageDropped, .sessionOverEarly, .holdingsUntold, .noFreshLease, .deathWithoutProof: 60
        case .lockMovedOnSuspicion, .drainIgnored, .hostedUntold, .attemptsMixed, .elementsBeforeSpool, .endBeforeElements: 200
        case .receiptBeforeCommit, .hostOversold, .numbersShared: 200
        case .staleTokenAccepted: 600
        case .valueBeforeDisk: 4_000
        // What is needed for it is rare: an attempt that waits in a process whose lease ends, a cancellation of what was given up,
        // two bodies that differ in age by a lock lease and meet on one key.
        case .startAfterLease, .straysForgotten, .runAfterLockLease, .linkOfAnotherAttempt: 10_000
        }
    }
}
