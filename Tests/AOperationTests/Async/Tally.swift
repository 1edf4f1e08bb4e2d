@testable import AOperation

/// What happened, in order, for those who wait until so much has.
final class Tally<Entry: Sendable>: Sendable {
    private let state = Guarded(State())

    private struct State {
        var entries: [Entry] = []
        var waiters: [(count: Int, signal: Signal)] = []
    }

    var entries: [Entry] { state.withLock { $0.entries } }
    var count: Int { entries.count }

    func append(_ entry: Entry) {
        let reached = state.withLock { state in
            state.entries.append(entry)
            let count = state.entries.count
            defer { state.waiters.removeAll { $0.count <= count } }
            return state.waiters.filter { $0.count <= count }
        }
        for waiter in reached { waiter.signal.fire() }
    }

    /// Waits until there are `count` entries.
    func reaches(_ count: Int) async {
        let signal = Signal()
        let isPast = state.withLock { state in
            if state.entries.count < count { state.waiters.append((count, signal)) }
            return state.entries.count >= count
        }
        if !isPast { await signal.wait() }
    }
}
