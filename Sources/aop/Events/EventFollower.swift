import Cluster
import Shapes
import Synchronization
import Wire

/// Tells what happens in a cluster: it follows every submission that has not ended, and looks for new ones. What was missed, because the
/// connection was away or somebody reads slowly, is made up for from how the operations stand; of a submission that begins and ends in
/// between everything is told in the same way.
struct EventFollower: Sendable {
    /// Between two looks for new submissions.
    private static let pollMilliseconds = 500
    /// New submissions that are looked for at once, at first.
    private static let pageSize = 100
    /// What has happened already is sorted, and so held as a whole.
    static let eventsMax = 1_000_000

    let connection: ClusterConnection
    let console: Console
    /// nil: nothing of what has happened already.
    let since: Int64?
    private let patience: Patience
    private let workers: WorkerFollower
    private let held = HeldCollection()

    init(_ connection: ClusterConnection, _ console: Console, since: Int64?) {
        (self.connection, self.console, self.since) = (connection, console, since)
        patience = Patience(console)
        workers = WorkerFollower(connection)
    }

    // MARK: What has happened

    /// What has happened until now, as far as that is still known, the oldest first.
    func past() async throws -> [ClusterEvent] {
        var events: [ClusterEvent] = []
        for view in try await connection.list() where isRecent(view) {
            guard let (_, found) = try await stand(view) else { continue }
            try add(found, to: &events)
        }
        try add(try await workers.news(), to: &events)
        return Self.sorted(events)
    }

    private func isRecent(_ view: WireSubmissionView) -> Bool {
        guard let since else { return !view.state.isFinal }
        return !view.state.isFinal || view.finishedAt >= since
    }

    private func add(_ found: [ClusterEvent], to events: inout [ClusterEvent]) throws {
        guard let since else { return }
        events += found.filter { $0.at >= since }
        guard events.count <= Self.eventsMax else {
            throw ToolError(
                .toolError, "limit",
                "more than \(Self.eventsMax) events (eventsMax) since \(TimeText.rfc3339(since)); ask for fewer with a later --since")
        }
    }

    private static func sorted(_ events: [ClusterEvent]) -> [ClusterEvent] {
        events.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    /// How all of a submission stands now, as events; nil: it is known no more.
    private func stand(_ view: WireSubmissionView) async throws -> (ToldEvents, [ClusterEvent])? {
        var told = ToldEvents(view)
        guard let events = try await catchUp(view, &told) else { return nil }
        return (told, [ToldEvents.submitted(view)] + events + told.ended(view))
    }

    private func catchUp(_ view: WireSubmissionView, _ told: inout ToldEvents) async throws -> [ClusterEvent]? {
        var events: [ClusterEvent] = []
        do {
            for try await page in connection.operations(of: view.id) { events += told.stand(page) }
        } catch let error as ClusterError where error.code == .notFound {
            // Its retention is over.
            return nil
        }
        return Self.sorted(events)
    }

    // MARK: What happens

    /// Goes on until it is cancelled.
    func follow() async throws {
        do { try await followAll() } catch {
            // What was heard is told, whoever ends this.
            try await write(held.withLock { $0.all() })
            throw error
        }
    }

    private func followAll() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            var known: Set<String> = []
            var past: [ClusterEvent] = []
            for view in try await connection.list() {
                known.insert(view.id)
                guard isRecent(view) else { continue }
                // Followed first, so that nothing happens unseen between the two.
                let stream = view.state.isFinal ? nil : connection.followDetails(of: view.id)
                guard let (told, events) = try await stand(view) else { continue }
                try add(events, to: &past)
                if let stream { group.addTask { try await tell(stream, told) } }
            }
            try add(try await workers.news(), to: &past)
            try await write(Self.sorted(past))
            group.addTask { try await writeHeld() }
            // A task that fails cancels the others, and not this one.
            while !group.isCancelled {
                try await hold(try await patience.during { try await workers.news() })
                for view in try await patience.during({ try await newcomers(&known) }) {
                    try await hold([ToldEvents.submitted(view)])
                    group.addTask { try await tell(connection.followDetails(of: view.id), ToldEvents(view)) }
                }
                try await Task.sleep(for: .milliseconds(Self.pollMilliseconds))
            }
        }
    }

    /// The oldest first. Newer ones stand before those that are known.
    private func newcomers(_ known: inout Set<String>) async throws -> [WireSubmissionView] {
        var limit = Self.pageSize
        while true {
            let listed = try await connection.list(limit: limit)
            let fresh = listed.prefix { !known.contains($0.id) }
            if fresh.count < listed.count || listed.count < limit {
                known.formUnion(fresh.map(\.id))
                return fresh.reversed()
            }
            limit *= 4
        }
    }

    private func tell(_ stream: FollowedEvents, _ before: ToldEvents) async throws {
        var told = before
        do {
            for try await event in stream {
                switch event {
                case .interrupted(let reason):
                    patience.isLost(reason)
                case .view(let view):
                    patience.isHeard()
                    guard let events = try await catchUp(view, &told) else { return }
                    try await hold(events + told.ended(view))
                case .events(let events, let view):
                    try await hold(told.happened(events) + told.ended(view))
                }
            }
        } catch let error as ClusterError where error.code == .notFound {
            // Its retention is over.
            return
        }
    }

    /// They are told in the order of their times. Where too many wait for that they are told at once, and who hears of them waits.
    private func hold(_ events: [ClusterEvent]) async throws {
        let told = held.withLock { held -> [ClusterEvent] in
            held.add(events, now: BootClock.milliseconds())
            return held.isFull ? held.all() : []
        }
        try await write(told)
    }

    private func writeHeld() async throws {
        while true {
            try await Task.sleep(for: .milliseconds(Self.tickMilliseconds))
            try await write(held.withLock { $0.due(now: BootClock.milliseconds()) })
        }
    }

    private static let tickMilliseconds = 100

    func write(_ events: [ClusterEvent]) async throws {
        guard !events.isEmpty else { return }
        switch console.mode {
        case .text: try await console.write(events.map { $0.line(console.outStyle) }.joined())
        case .quiet: try await console.write(events.map(\.bare).joined())
        case .json, .jsonl: for event in events { try await console.writeValue(.shape(event.members)) }
        }
    }
}

/// What is held, for all who hear of something.
private final class HeldCollection: Sendable {
    private let held = Mutex(HeldEvents())

    func withLock<Value: Sendable>(_ body: (inout sending HeldEvents) -> sending Value) -> Value { held.withLock(body) }
}
