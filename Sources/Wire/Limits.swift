/// Every bound of the system that is not a setting: its value, its unit (the name's last word) and its reason.
///
/// What exceeds one of them is answered by an error that names the limit, the value found and what to change.
public enum Limits {
    /// UTF-8 bytes of a text a peer brings for a label of its own: a host name, the name of an operation, the key of a submission.
    public static let nameBytes = 255
    /// UTF-8 bytes of a key of a lock or a rate limit, and of a label.
    public static let keyBytes = 256

    /// A value of this size or more travels and is stored as a blob, not within messages and journal rows.
    public static let inlineValueBytes = 64 * 1024

    /// For which `delay` waits: some thirty years. What is more is a slip.
    public static let delaySeconds = 1e9

    /// One part of a blob on the wire: small enough that a heartbeat behind it waits for less than a millisecond.
    public static let blobChunkBytes = 256 * 1024

    /// Parts of one blob that its asker keeps in flight; bounds what the answering side has to queue for it.
    public static let blobWindow = 4

    /// One frame on the wire. libzmq disconnects a peer that sends more, so the sender checks it as well.
    public static let messageBytes = 16 * 1024 * 1024

    /// The first message of a connection, before its cookie has been checked: a stranger gets no more memory than this.
    public static let helloBytes = 1024 * 1024

    /// Frames of one message after the routing id; more are read and thrown away.
    public static let messageFrames = 2

    /// Messages nested within messages. A group's value nests two per level, and each costs stack to decode;
    /// threads that decode have at least `decodingStackBytes`.
    public static let messageDepth = 2 * nestingDepth + 16

    /// Stack of a thread that decodes messages; enough for `messageDepth` also in builds without optimization.
    public static let decodingStackBytes = 16 * 1024 * 1024

    /// A graph that travels within its submission; a larger one is asked for as a blob.
    public static let inlineGraphBytes = 1024 * 1024

    /// What a receiver gets, within its assignment; a larger one is asked for as a blob.
    public static let inlineReceivedBytes = 1024 * 1024

    /// One operation's parameters, and one forEach element: they travel within assignments.
    public static let parameterBytes = 4 * 1024 * 1024

    /// One page of an answer to a query, so that a large submission cannot fill a connection.
    public static let pageBytes = 1024 * 1024

    /// Holders from whom one request takes a lock.
    public static let lockHolders = 1_000

    /// The id of a submission, as the coordinator draws it. What is shorter stands for one that begins so.
    public static let submissionIDBytes = 10

    /// The end of a command's standard error that its failure carries.
    public static let stderrTailBytes = 4096

    /// A command's output when its operation does not say `maxOutput`.
    public static let maxOutputBytesDefault = 64 * 1024 * 1024

    /// One value, whatever its operation says: a named bound for the disks of workers and coordinator.
    public static let valueBytes = 64 << 30

    /// A command's output, or a received value, in the memory of an executor; what is larger is in a file, written in pieces of this size.
    public static let outputMemoryBytes = 1024 * 1024

    /// A command's output on its way into that file. Beyond it nothing is read from the command until the disk has caught up.
    public static let outputUnwrittenBytes = 4 * 1024 * 1024

    /// Streamed output that is kept for readers as it comes, per attempt and stream.
    public static let outputSpoolBytes = 1024 * 1024

    /// The end of what goes beyond that, kept until the attempt has ended: why something failed is said last.
    public static let outputTailBytes = 512 * 1024

    /// Output of all attempts that an executor keeps until the coordinator has it: what is there while that is away or cannot store anything.
    public static let outputKeptBytes = 64 * 1024 * 1024

    /// The text that goes with an operation's progress; the rest is cut off, since it may be sent ten times a second.
    public static let progressTextBytes = 512

    /// One partial result of an operation: a message holds several.
    public static let partialResultBytes = 1024 * 1024

    /// What one attempt produces at once, in its wire form: it travels within one message.
    public static let additionBytes = 8 * 1024 * 1024

    /// The id under which something is produced: it is part of a path.
    public static let productIdBytes = 256

    /// Fields of the context of a trace that travels with a submission: `traceparent`, `tracestate`, and what a tracer has of its own.
    public static let traceFields = 8

    /// Their names and values together: they are in every assignment of the submission. A `tracestate` has up to 512.
    public static let traceBytes = 2048

    /// Groups within groups: what recursive descent over a graph may cost in stack.
    public static let nestingDepth = 1000

    /// Nodes of one submitted graph, a million below its root and the root: what admission may cost in memory and time.
    public static let graphNodes = 1_000_001

    /// Elements of one forEach, written or received.
    public static let forEachElements = 1_000_000

    /// What waits for one peer that reads slowly; beyond it the connection is ended instead of memory filled.
    public static let outboxBytes = 64 * 1024 * 1024
}
