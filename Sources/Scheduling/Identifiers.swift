/// Position of a submission in the order of admission, from 1. Never used again.
public struct SubmissionNumber: Hashable, Comparable, Sendable {
    public let rawValue: UInt32
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A unit of a submission: the submission's number in the upper 32 bits, the unit's index within it in the lower.
public struct UnitID: Hashable, Comparable, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public init(_ submission: SubmissionNumber, _ index: Int) {
        rawValue = UInt64(submission.rawValue) << 32 | UInt64(UInt32(index))
    }
    public var submission: SubmissionNumber { SubmissionNumber(UInt32(rawValue >> 32)) }
    public var index: Int { Int(UInt32(truncatingIfNeeded: rawValue)) }
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// The token of one attempt: the epoch it was made in (upper 32 bits) and a counter. Tokens rise for ever.
public struct Attempt: Hashable, Comparable, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public init(epoch: UInt32, counter: UInt32) { rawValue = UInt64(epoch) << 32 | UInt64(counter) }
    public var epoch: UInt32 { UInt32(rawValue >> 32) }
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// One connection of a peer, numbered by the transport. A peer that reconnects is a new one.
public struct PeerID: Hashable, Comparable, Sendable {
    public let rawValue: UInt64
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Random number that a process draws when it starts; it outlives the process's connections.
public struct Incarnation: Hashable, Sendable {
    public let rawValue: UInt64
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// Executor process in the order in which the coordinator first met them, from 0.
public struct WorkerNumber: Hashable, Comparable, Sendable {
    public let rawValue: UInt32
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    var index: Int { Int(rawValue) }
}

/// Position of a fact in the journal, from 1. Zero stands for "before every fact".
public struct JournalSequence: Hashable, Comparable, Sendable {
    public let rawValue: UInt64
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
    public static let none = JournalSequence(0)
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    public var next: JournalSequence { JournalSequence(rawValue + 1) }
}

/// The two readings of time that a step is given, in milliseconds.
///
/// Leases, timeouts and grace run on `boot`, which never steps. What outlives a process is journaled as `wall`.
public struct Instant: Hashable, Sendable {
    /// Monotonic clock that also counts while the machine sleeps.
    public var boot: Int64
    /// Milliseconds since 1970.
    public var wall: Int64
    public init(boot: Int64, wall: Int64) {
        self.boot = boot
        self.wall = wall
    }
}
