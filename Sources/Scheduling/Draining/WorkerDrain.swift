/// What an operator has said of a worker that is to get nothing new.
public struct WorkerDrain: Hashable, Sendable {
    /// Whose key it was; empty: the coordinator's own user.
    public var by: String
    /// Empty: none was given.
    public var reason: String
    /// Wall time.
    public var since: Int64

    public init(by: String, reason: String, since: Int64) {
        self.by = by
        self.reason = reason
        self.since = since
    }
}

extension WorkerDrain {
    /// "since 2026-11-21T22:00:00Z (12 s) by `ann`: new disks"
    func text(now: Int64) -> String {
        "since \(Moment.since(since, now)) by \(by.isEmpty ? "the coordinator's own user" : "`\(by)`")"
            + (reason.isEmpty ? "" : ": \(reason)")
    }
}

/// All that is known of a worker, for who asks about that one.
public struct WorkerDetail: Hashable, Sendable {
    /// What it has been given and has not ended.
    public struct Held: Hashable, Sendable {
        /// Submission and path.
        public var operation: String
        public var state: OperationState
        /// Wall time at which it began; 0: it has not.
        public var startedAt: Int64
    }
    /// Oldest first, of many only the first.
    public var held: [Held]
    public var heldCount: Int
    /// Registered condition types.
    public var conditions: [String]
    /// What it has registered, with versions.
    public var signatures: [OperationSignature]
    /// How many may begin beyond its slots before it says so.
    public var line: Int
    /// It may be connected no more, and something of it still run until this wall time; 0: it is connected, or nothing runs.
    public var mayRunUntil: Int64

    /// More are not named.
    static let heldMax = 200
}
