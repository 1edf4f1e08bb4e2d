/// The times of a session, as a welcome sets them.
struct SessionTiming: Equatable, Sendable {
    var heartbeatMilliseconds: Int64 = 1000
    var leaseMilliseconds: Int64 = 3000
    /// 0: the coordinator knows none.
    var lockLeaseMilliseconds: Int64 = 0
    var orphanLimitMilliseconds: Int64 = 600_000

    /// When what runs under a key is asked to end, so that it has ended when the lock lease is over: 13 of 20 seconds.
    var lockStopMilliseconds: Int64 { max(leaseMilliseconds, lockLeaseMilliseconds * 13 / 20) }
    /// How long it may take before it is ended by force: until 18 of 20 seconds have passed.
    var lockGraceMilliseconds: Int64 { max(0, lockLeaseMilliseconds * 18 / 20 - lockStopMilliseconds) }

    init() {}

    /// A zero keeps the default; a heartbeat faster than 100 a second, or a lease shorter than two heartbeats, is a mistake that
    /// would flood the coordinator or lose every connection, and is lifted. So is a lease below the minimum that this peer has for itself.
    init(_ welcome: WireWelcome, leaseMinimumMilliseconds: Int64 = 0) {
        if welcome.heartbeatMilliseconds > 0 { heartbeatMilliseconds = max(10, Int64(welcome.heartbeatMilliseconds)) }
        if welcome.leaseMilliseconds > 0 { leaseMilliseconds = Int64(welcome.leaseMilliseconds) }
        leaseMilliseconds = max(leaseMilliseconds, 2 * heartbeatMilliseconds, leaseMinimumMilliseconds)
        lockLeaseMilliseconds = Int64(welcome.lockLeaseMilliseconds)
        if welcome.orphanLimitMilliseconds > 0 { orphanLimitMilliseconds = Int64(welcome.orphanLimitMilliseconds) }
        orphanLimitMilliseconds = max(orphanLimitMilliseconds, leaseMilliseconds)
    }
}

/// What this peer may still rely on of the lease that its last answered heartbeat gave it.
enum LeaseStanding: Equatable, Sendable {
    /// Never welcomed: there is nothing to lose.
    case none
    /// `answeredAt`: when the last answered heartbeat (or the welcomed hello) was sent. `lastSentAt`: the last heartbeat sent.
    case held(answeredAt: Int64, lastSentAt: Int64)
    /// The lease has run out, and the peer was told; the other limits count from the same instant.
    case over(answeredAt: Int64, lastSentAt: Int64)
    /// So has the time for what runs under a key.
    case locksOver(answeredAt: Int64, lastSentAt: Int64)
    /// The orphan limit has run out as well, and the peer was told.
    case orphaned(lastSentAt: Int64)

    enum Answer: Equatable, Sendable {
        /// Not an answer to a heartbeat of ours.
        case none
        case renewed
        /// It came after the lease was over: nothing is renewed.
        case tooLate
    }

    mutating func sent(at now: Int64) {
        switch self {
        case .none: return
        case .held(let answeredAt, _): self = .held(answeredAt: answeredAt, lastSentAt: now)
        case .over(let answeredAt, _): self = .over(answeredAt: answeredAt, lastSentAt: now)
        case .locksOver(let answeredAt, _): self = .locksOver(answeredAt: answeredAt, lastSentAt: now)
        case .orphaned: self = .orphaned(lastSentAt: now)
        }
    }

    /// A heartbeat that carried `sentAt` was answered. A time that we never sent renews nothing.
    mutating func answered(_ sentAt: Int64) -> Answer {
        switch self {
        case .none: return .none
        case .held(let answeredAt, let lastSentAt):
            guard sentAt >= answeredAt, sentAt <= lastSentAt else { return .none }
            self = .held(answeredAt: sentAt, lastSentAt: lastSentAt)
            return .renewed
        case .over(let answeredAt, let lastSentAt), .locksOver(let answeredAt, let lastSentAt):
            return sentAt >= answeredAt && sentAt <= lastSentAt ? .tooLate : .none
        case .orphaned(let lastSentAt): return sentAt <= lastSentAt ? .tooLate : .none
        }
    }

    /// What has run out by `now`, each told once.
    mutating func expire(at now: Int64, _ timing: SessionTiming) -> [PeerSession.Notice] {
        var notices: [PeerSession.Notice] = []
        if case .held(let answeredAt, let lastSentAt) = self, now >= answeredAt + timing.leaseMilliseconds {
            self = .over(answeredAt: answeredAt, lastSentAt: lastSentAt)
            notices.append(.leaseOver)
        }
        if case .over(let answeredAt, let lastSentAt) = self, timing.lockLeaseMilliseconds > 0,
            now >= answeredAt + timing.lockStopMilliseconds
        {
            self = .locksOver(answeredAt: answeredAt, lastSentAt: lastSentAt)
            notices.append(.lockLeaseEnding(graceMilliseconds: timing.lockGraceMilliseconds))
        }
        if let (answeredAt, lastSentAt) = beyondLease, now >= answeredAt + timing.orphanLimitMilliseconds {
            self = .orphaned(lastSentAt: lastSentAt)
            notices.append(.orphanLimitOver)
        }
        return notices
    }

    func deadline(_ timing: SessionTiming) -> Int64? {
        switch self {
        case .none, .orphaned: nil
        case .held(let answeredAt, _): answeredAt + timing.leaseMilliseconds
        case .over(let answeredAt, _):
            answeredAt
                + (timing.lockLeaseMilliseconds > 0
                    ? min(timing.lockStopMilliseconds, timing.orphanLimitMilliseconds) : timing.orphanLimitMilliseconds)
        case .locksOver(let answeredAt, _): answeredAt + timing.orphanLimitMilliseconds
        }
    }

    private var beyondLease: (answeredAt: Int64, lastSentAt: Int64)? {
        switch self {
        case .over(let answeredAt, let lastSentAt), .locksOver(let answeredAt, let lastSentAt): (answeredAt, lastSentAt)
        case .none, .held, .orphaned: nil
        }
    }
}
