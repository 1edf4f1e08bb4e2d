import Scheduling
import Wire

/// A large value that is asked of the peer that offers it.
struct Pull {
    enum Purpose {
        case value(UnitID, Attempt, PayloadEncoding, Addition?, startedAt: Int64, endedAt: Int64)
        case elements(UnitID, Attempt, startedAt: Int64, endedAt: Int64)
        /// `request`: as the client numbers it.
        case graph(request: UInt64, WireSubmit)
    }

    let id: PullID
    let key: BlobKey
    let purpose: Purpose
    var fetch: BlobFetch
    /// What to ask for as soon as the disk has taken what came: bounds what waits for the disk.
    var nextRequests: [WireBlobRequest] = []

    /// How much of it is asked for at a time.
    var bytesAtOnce: UInt64 { min(key.size, UInt64(Limits.blobWindow * Limits.blobChunkBytes)) }

    var attempt: AttemptName? {
        switch purpose {
        case .value(let unit, let attempt, _, _, _, _), .elements(let unit, let attempt, _, _):
            AttemptName(unit: unit, attempt: attempt)
        case .graph: nil
        }
    }
}

/// The large values asked of one peer: a few at a time, of each digest one, the others in order behind them.
struct PullQueue {
    private(set) var active: [PullID: Pull] = [:]
    /// Of those, what may be on its way.
    private var activeBytes: UInt64 = 0
    /// Of each value that is not active one.
    private var ready = Line<Pull>()
    /// Those that want a value which another one of this queue is to get.
    private var behind: [BlobKey: Line<Pull>] = [:]
    /// The values of `active` and `ready`.
    private var keys: Set<BlobKey> = []
    private var attempts: Set<AttemptName> = []
    private var behindCount = 0

    var isEmpty: Bool { count == 0 }

    /// Whether this attempt's value is asked for already.
    func contains(_ attempt: AttemptName) -> Bool { attempts.contains(attempt) }

    /// Of all that wait or are active.
    var digests: some Sequence<BlobDigest> { keys.lazy.map(\.digest) }

    /// How many wait or are active.
    var count: Int { active.count + ready.count + behindCount }

    mutating func add(_ pull: Pull) {
        if let attempt = pull.attempt { attempts.insert(attempt) }
        guard !keys.insert(pull.key).inserted else { return ready.append(pull) }
        behind[pull.key, default: Line()].append(pull)
        behindCount += 1
    }

    /// The next one that may begin; it is active from now on.
    mutating func startNext() -> Pull? {
        guard active.count < CoordinatorLimits.pullsPerPeer, activeBytes < CoordinatorLimits.pullBytesPerPeer, let pull = ready.popFirst()
        else { return nil }
        active[pull.id] = pull
        activeBytes += pull.bytesAtOnce
        return pull
    }

    /// The active one of this digest.
    func active(_ digest: BlobDigest) -> PullID? { active.first { $0.value.key.digest == digest }?.key }

    /// Changes an active one in place.
    mutating func update<Result>(_ id: PullID, _ body: (inout Pull) -> Result) -> Result? {
        guard var pull = active[id] else { return nil }
        defer { active[id] = pull }
        return body(&pull)
    }

    /// Takes out those that have not begun and are not wanted any more.
    ///
    /// - Complexity: O(count).
    mutating func removeWaiting(where isUnwanted: (Pull) -> Bool) -> [Pull] {
        var removed: [Pull] = []
        for key in Array(behind.keys) {
            let found = behind[key]?.remove(where: isUnwanted) ?? []
            if behind[key]?.isEmpty == true { behind[key] = nil }
            behindCount -= found.count
            removed += found
        }
        for pull in removed { if let attempt = pull.attempt { attempts.remove(attempt) } }
        let first = ready.remove(where: isUnwanted)
        for pull in first { letNextFollow(pull) }
        return removed + first
    }

    mutating func remove(_ id: PullID) -> Pull? {
        guard let pull = active.removeValue(forKey: id) else { return nil }
        activeBytes -= pull.bytesAtOnce
        letNextFollow(pull)
        return pull
    }

    /// It is over: who wants the same value is next.
    private mutating func letNextFollow(_ pull: Pull) {
        if let attempt = pull.attempt { attempts.remove(attempt) }
        if let next = behind[pull.key]?.popFirst() {
            ready.append(next)
            behindCount -= 1
            if behind[pull.key]?.isEmpty == true { behind[pull.key] = nil }
        } else {
            keys.remove(pull.key)
        }
    }
}
