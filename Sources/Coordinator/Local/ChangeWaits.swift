/// Those who wait for anything durable to change: within the coordinator's process, so that they need not ask again and again.
struct ChangeWaits {
    private var waiting: [(since: UInt64, OneShot<UInt64?>)] = []
    private var hasEnded = false

    /// - Parameters:
    ///   - since: what the waiter has seen.
    ///   - version: what there is.
    mutating func add(_ waiter: OneShot<UInt64?>, since: UInt64, version: UInt64) {
        guard !hasEnded else { return waiter.set(nil) }
        if version != since { waiter.set(version) } else { waiting.append((since, waiter)) }
    }

    /// Tells those who have not seen this version.
    mutating func tell(_ version: UInt64) {
        guard !waiting.isEmpty, waiting.contains(where: { $0.since != version }) else { return }
        for (since, waiter) in waiting where since != version { waiter.set(version) }
        waiting.removeAll { $0.since != version }
    }

    /// Nothing will change any more.
    mutating func end() {
        hasEnded = true
        for (_, waiter) in waiting { waiter.set(nil) }
        waiting = []
    }
}
