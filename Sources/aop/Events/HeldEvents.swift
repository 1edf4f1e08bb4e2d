/// Events of many submissions and of workers, in the order of their times: pure. Each is held for a moment, as one that is heard of later may
/// have happened before it. What is heard of too late for that comes when it is heard of.
struct HeldEvents: Sendable {
    /// How long an event is held: longer than between two looks for new submissions.
    static let holdMilliseconds: Int64 = 1_000
    /// Events that are held; of more none is.
    static let heldMax = 10_000

    private struct Held {
        /// Its time; no earlier than that of what came before it for the same operation, whatever the clocks of two workers say.
        let at: Int64
        let number: Int
        let heardAt: Int64
        let event: ClusterEvent
    }

    private var held: [Held] = []
    private var count = 0
    /// Of what is held: the last time of a submission, or of an operation.
    private var latest: [String: Int64] = [:]

    /// - Parameter now: milliseconds of any clock that does not go back.
    mutating func add(_ events: [ClusterEvent], now: Int64) {
        for event in events {
            count += 1
            let at = event.places.reduce(event.at) { max($0, latest[$1] ?? $0) }
            if let own = event.places.last { latest[own] = at }
            held.append(Held(at: at, number: count, heardAt: now, event: event))
        }
    }

    var isFull: Bool { held.count > Self.heldMax }

    /// Those that have been held for long enough, and whatever happened before them.
    mutating func due(now: Int64) -> [ClusterEvent] {
        guard let last = held.lazy.filter({ $0.heardAt + Self.holdMilliseconds <= now }).map(\.at).max() else { return [] }
        return take { $0.at <= last }
    }

    mutating func all() -> [ClusterEvent] { take { _ in true } }

    private mutating func take(_ isDue: (Held) -> Bool) -> [ClusterEvent] {
        let due = held.filter(isDue).sorted { ($0.at, $0.number) < ($1.at, $1.number) }
        held.removeAll(where: isDue)
        latest = [:]
        for rest in held { if let own = rest.event.places.last { latest[own] = max(rest.at, latest[own] ?? 0) } }
        return due.map(\.event)
    }
}

extension ClusterEvent {
    /// What it does not come before: other events of the same, the last one.
    fileprivate var places: [String] {
        switch subject {
        case .submission: [id]
        case .operation(let path, _, _): [id, "\(id)/\(path)"]
        case .worker(let worker, _): ["\n\(worker)"]
        }
    }
}
