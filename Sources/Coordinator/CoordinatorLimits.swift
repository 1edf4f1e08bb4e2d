import Wire

/// Bounds of what the coordinator holds, beside those of the protocol (`Limits`). Each has its unit and its reason.
enum CoordinatorLimits {
    /// Failed attempts of one submission that have a line in the log below level debug: a flood of failures is not one of lines, too.
    static let failureLinesPerSubmission = 100
    /// Characters of a name or a message in a line of the log; the rest is cut off.
    static let logTextCharacters = 300
    /// Members, and texts to choose from, in the shape of an operation's parameters; of a larger one nothing is known.
    static let shapeFields = 2000
    /// Connections that are let in, or not, in one round of the loop.
    static let handshakesPerRound = 1000
    /// Executors of which it is remembered with which keys they have come; of more the end of a key is told as silence while they are not there.
    static let executorKeys = 100_000
    /// Milliseconds for which a file of authorised keys that is written in its place has to stay as it is before it counts.
    static let keysSettleMilliseconds: Int64 = 500
    /// Milliseconds that an enrolment waits while a command changes the authorised keys; the joiner tries again.
    static let keysLockMilliseconds: Int64 = 2000
    /// Connections that have said hello; more are refused, and try again. Each has tables and an outbox of its own.
    static let connections = 20_000
    /// Messages taken from the socket before a step: bounds the latency of what waits for that step.
    static let messagesPerStep = 2000
    /// Bytes taken from the socket before a step: bounds memory while peers send large values.
    static let bytesPerStep = 32 << 20
    /// Inputs of a step up to which its facts are committed by the thread that has decided them: so few come where peers wait for an answer
    /// each, and where there is more the next step is taken while the disk works.
    static let inputsCommittedAtOnce = 4
    /// Bytes of the messages in which these have come, up to which that is so: what is large takes longer than to wake a thread.
    static let bytesCommittedAtOnce = 64 << 10
    /// Facts of such a step.
    static let factsCommittedAtOnce = 256
    /// Facts decided but not yet on the disk; from here on nothing is read from peers until the disk has caught up.
    static let factsInFlight = 400_000
    /// Bytes of output that wait to be stored; from here on nothing is read from peers until the spool has caught up.
    static let outputInFlightBytes = 64 << 20
    /// Bytes of a flight recording that wait to be written; where there are more, the recording ends.
    static let recordingInFlightBytes = 64 << 20
    /// Milliseconds after which a peer that could take no more is tried again.
    static let retrySendMilliseconds: Int64 = 5
    /// Requests of one client that wait for their answer; more are answered `busy`.
    static let requestsPerPeer = 1000
    /// Large values one peer may be asked for at a time; others wait for their turn. Each has a file open.
    static let pullsPerPeer = 16
    /// Bytes of large values one peer is asked for at a time; when there are as many, others wait for their turn.
    static let pullBytesPerPeer: UInt64 = 4 << 20
    /// Bytes of one message built of many parts (dispatches, events, acknowledgements); the rest goes into the next.
    static let packedMessageBytes = 1 << 20
    /// Bytes of a client's outbox from which on its events are left out and it gets a fresh view once it has read.
    static let followerBytes = 8 << 20
    /// Bytes of a client's outbox from which on it is told of no progress any more.
    static let progressBytes = 1 << 20
    /// Bytes of large values' parts that are read for one peer or wait in its outbox; further parts are read once it has
    /// taken these: bounds memory, and what other messages wait for.
    static let partBytesInFlight = 8 << 20
    /// Between two looks whether the data directory and its files are there, and whether this process can open another file.
    static let lookAroundMilliseconds: Int64 = 1_000
    /// So much more memory than before, and what the allocator keeps of it for later goes back to the system.
    static let residentGrowthBytes = 64 << 20
    /// Milliseconds between two tries to cut a log of the journal that is too long: what is copied then holds up commits.
    static let logCutMilliseconds: Int64 = 3_000
    /// Large values that go to the disk together, at most: the first one waits for the last.
    static let valuesPerSync = 64
    /// Parts of large values one peer may have asked for and not got; an executor asks for a few values at a time.
    static let partsPerPeer = 100_000
    /// Bytes of output that could not be stored and are tried again; more is asked for again, and where nobody has it a line says that it is
    /// missing.
    static let outputRetriedBytes = 16 << 20
    /// Milliseconds between two tries.
    static let outputRetryMilliseconds: Int64 = 1000
    /// Milliseconds for which a spool that is to be written waits for a program that has it locked: what is behind it waits as well.
    static let spoolLockMilliseconds: Int64 = 100
    /// Bytes that a spool stores at a time, or removes, while the disk has nothing but its reserve: SQLite's log takes as much of that.
    static let shortPieceBytes = 1 << 20
    /// Attempts whose output is given up for want of room and has no line yet that says so; of more the line may be missing.
    static let outputGapsMax = 10_000
    /// Attempts that have ended and whose output is still known where it belongs, at least.
    static let endedLabels = 10_000
    /// First index that no piece of output has: an attempt's pieces are counted from 0, one by one.
    static let outputIndices: UInt64 = 1 << 62
    /// Milliseconds of the loop's own pause from which on it waits for what the socket's threads still have to bring.
    static let ownPauseMilliseconds: Int64 = 500
    /// Milliseconds it waits then, at most.
    static let settleMilliseconds = 50
    /// Messages taken from the socket before the step after such a pause.
    static let messagesAfterPause = 20_000
    /// Bytes of a graph handed over as a blob: bounds what a submission may cost in memory and in one journal row.
    static let graphBytes: UInt64 = 256 << 20
    /// Bytes of a serialized list of forEach elements handed over as a blob.
    static let elementsBytes: UInt64 = 256 << 20
    /// Bytes of one large value: a named bound for the disk.
    static let blobBytes = UInt64(Limits.valueBytes)
    /// Milliseconds for which a large value stays when the last submission that named it is forgotten: who was just told of it may read it.
    static let forgottenValueMilliseconds: Int64 = 120_000
    /// Milliseconds between two looks for those that are to go, at least: they go through the whole state.
    static let valueLookMilliseconds: Int64 = 1_000
    /// Milliseconds after a start until all large values are looked through, and those after which it is done again.
    static let sweepAfterStartMilliseconds: Int64 = 60_000
    static let sweepPauseMilliseconds: Int64 = 3_600_000
    /// Seconds in which a large value stays that nothing has named: who brings it anew finds it there.
    static let unusedValueSeconds = 3_600
    /// Seconds in which an input stays that was too large for its message: who was told of it may have it in its line.
    static let handedOverValueSeconds = 86_400
    /// Bytes from which on a value may take so long to come that its attempt is known to have ended before.
    static let slowValueBytes: UInt64 = 1 << 20
    /// Milliseconds between two snapshots that are made only because submissions were forgotten.
    static let snapshotPauseMilliseconds: Int64 = 3_600_000
    /// Milliseconds from a start to the first such one.
    static let snapshotPauseAfterStartMilliseconds: Int64 = 600_000
    /// Milliseconds after which a snapshot for which there was no room is tried again, where there is no more: what it holds may have become less.
    static let snapshotRoomPauseMilliseconds: Int64 = 600_000
    /// Bytes of the output kept of all submissions together; the oldest submissions' goes first.
    static let outputTotalBytes: Int64 = 1 << 30
    /// Bytes of the history's file; what ended first goes first.
    static let historyBytes: Int64 = 4 << 30
    /// Units that are put into the history in one round of the loop: what other messages wait for meanwhile.
    static let historyUnitsPerPage = 500
    /// Milliseconds after which what could not be written into the history is tried again.
    static let historyRetryMilliseconds: Int64 = 5_000
    /// Milliseconds after which a submission that has ended and is not in the history holds back what is to be forgotten.
    static let historyLagMilliseconds: Int64 = 5_000
    /// Milliseconds for which that goes on, at most: the memory of a history that is never written again.
    static let historyHoldMilliseconds: Int64 = 3_600_000
    /// Milliseconds between two looks for what is too old for the history, or too much.
    static let historyLookMilliseconds: Int64 = 600_000
    /// Records of one page of output: a page of empty records is bounded too.
    static let outputRecordsPerPage = 10_000
    /// Milliseconds after which a reader that waits is answered in any case: one that is gone is found out.
    static let waitMilliseconds: Int64 = 20_000
    /// Readers of one client that wait; more are answered `busy`.
    static let waitingReadsPerPeer = 10_000
    static let tooManyReadersText =
        "this connection has \(waitingReadsPerPeer) readers waiting (waitingReadsPerPeer); read fewer at once"
    /// Milliseconds after which output is on the disk at the latest.
    static let outputSyncMilliseconds: Int64 = 1000
    /// Milliseconds without a sign of life after which a connection is forgotten; the peer says hello again.
    static let silenceMilliseconds: Int64 = 30_000
    /// Reasons for which one node is tried again.
    static let retryReasons = 64
    /// Labels and resources that one node requires.
    static let requirements = 64
    /// Conditions of one node.
    static let answersPerUnit = 64
    /// Operation types or labels of one executor.
    static let namesPerExecutor = 10_000
    /// Units one executor may list as held.
    static let heldUnits = 100_000
    /// How deep conditions, and errors of such, may be made of others.
    static let conditionDepth = 32
    /// Slots of one executor.
    static let slots = 100_000
    /// Milliseconds an orderly end waits for the disk and for peers to take their last messages.
    static let shutdownMilliseconds: Int64 = 5000
    /// A start that is under way when the coordinator is told to end is waited for for so long. Nobody was promised anything by then.
    static let startGraceMilliseconds: Int64 = 500
    /// How long the socket stays open behind the farewell for peers that have not gone yet.
    static let farewellMilliseconds: Int64 = 200
    /// Files that a coordinator may have open at least: its own, and a few peers'.
    static let openFilesMin = 128
}
