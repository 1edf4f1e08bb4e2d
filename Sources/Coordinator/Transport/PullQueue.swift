import Scheduling
import Wire

/// A large value that is asked of the peer that offers it.
struct Pull {
    enum Purpose {
        case value(UnitID, Attempt, PayloadEncoding, startedAt: Int64, endedAt: Int64)
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

    var attempt: AttemptName? {
        switch purpose {
        case .value(let unit, let attempt, _, _, _), .elements(let unit, let attempt, _, _):
            AttemptName(unit: unit, attempt: attempt)
        case .graph: nil
        }
    }
}

/// The large values asked of one peer: a few at a time, of each digest one, the others in order behind them.
struct PullQueue {
    private(set) var active: [PullID: Pull] = [:]
    private var waiting: [Pull] = []

    var isEmpty: Bool { active.isEmpty && waiting.isEmpty }

    /// Whether this attempt's value is asked for already.
    func contains(_ attempt: AttemptName) -> Bool {
        waiting.contains { $0.attempt == attempt } || active.values.contains { $0.attempt == attempt }
    }

    /// How many wait or are active.
    var count: Int { active.count + waiting.count }

    mutating func add(_ pull: Pull) { waiting.append(pull) }

    /// The next one that may begin; it is active from now on.
    mutating func startNext() -> Pull? {
        guard active.count < CoordinatorLimits.pullsPerPeer else { return nil }
        guard let index = waiting.firstIndex(where: { pull in !active.values.contains { $0.key == pull.key } }) else {
            return nil
        }
        let pull = waiting.remove(at: index)
        active[pull.id] = pull
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

    mutating func remove(_ id: PullID) -> Pull? { active.removeValue(forKey: id) }
}
