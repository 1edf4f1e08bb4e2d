import Cluster
import Coordinator
import Foundation
import Shapes
import Synchronization
import Wire

/// What changes of the cluster as a whole: the newest submissions, workers, locks. Asked of the coordinator once for all who look, when it
/// says that something has changed, and not at all while nobody looks.
final class ClusterFeed: Sendable {
    /// One thing that is shown.
    fileprivate struct Item {
        let data: Data
        /// With which version of the feed it came.
        let version: UInt64
    }

    fileprivate struct State {
        var version: UInt64 = 0
        var submissions: [String: (view: WireSubmissionView, item: Item)] = [:]
        /// Those that are not among the newest any more, and since when.
        var removed: [String: UInt64] = [:]
        var workers: (views: [WireWorkerView], item: Item)?
        var locks: (views: [WireLockView], item: Item)?
        /// What happened to workers lately, the oldest first.
        var workerEvents: [Item] = []
        /// Number of the last of them.
        var lastWorkerEvent: UInt64 = 0
    }

    /// Names this feed: what another one has counted means nothing here.
    private let nonce = String(UInt32.random(in: .min ... .max), radix: 16)
    private let connection: ClusterConnection
    private let access: CoordinatorAccess
    private let state = Mutex(State())
    private let signal = Signal()
    /// Somebody has come to look.
    private let arrivals = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    init(_ connection: ClusterConnection, _ access: CoordinatorAccess) {
        (self.connection, self.access) = (connection, access)
    }

    /// Looks until the coordinator ends.
    func run() async {
        var seen: UInt64 = .max
        for await _ in arrivals.stream {
            while signal.count > 0 {
                guard let version = await access.change(since: seen) else { return signal.end() }
                if await refresh() { seen = version }
                // What changes meanwhile is shown together.
                do { try await Task.sleep(for: .milliseconds(HTTPLimits.refreshMilliseconds)) } catch { return signal.end() }
            }
        }
        signal.end()
    }

    /// - Returns: false: it is being stopped, or has too much to do; those who look are told with the next look.
    private func refresh() async -> Bool {
        let lists: ([WireSubmissionView], [WireWorkerView], [WireLockView])
        let workerEvents: WireWorkerEventList
        do {
            lists = (
                try await connection.list(limit: HTTPLimits.streamedSubmissions), try await connection.workers(),
                try await connection.firstLocks()
            )
            workerEvents = try await connection.workerEvents(after: state.withLock { $0.lastWorkerEvent })
        } catch {
            return false
        }
        let isNews = state.withLock { $0.take(lists.0, Self.still(lists.1), lists.2, workerEvents) }
        if isNews { signal.raise() }
        return true
    }

    /// That a worker was heard is no news.
    private static func still(_ workers: [WireWorkerView]) -> [WireWorkerView] {
        workers.map { worker in
            var worker = worker
            worker.lastHeard = 0
            return worker
        }
    }

    // MARK: Readers

    /// Writes what there is, and then what changes, until the reader goes or the coordinator ends.
    ///
    /// - Parameter lastID: of the last event that the reader has; nil: none.
    func write(to sink: BodySink, after lastID: String?) async throws {
        var seen = version(of: lastID)
        let readings = signal.readings()
        arrivals.continuation.yield()
        for await _ in readings {
            let (events, version) = events(since: seen)
            seen = version
            var bytes = Data()
            for event in events { bytes.append(event.bytes) }
            try await sink.write(bytes.isEmpty ? ServerSentEvent.heartbeat : bytes)
        }
    }

    private func version(of id: String?) -> UInt64 {
        guard let parts = id?.split(separator: "-"), parts.count == 2, parts[0] == nonce, let version = UInt64(parts[1]) else { return 0 }
        return version
    }

    private func events(since seen: UInt64) -> ([ServerSentEvent], UInt64) {
        state.withLock { state in
            let id = "\(nonce)-\(state.version)"
            var events: [ServerSentEvent] = []
            let changed = state.submissions.values.filter { $0.item.version > seen }
                .sorted { ($0.view.submittedAt, $0.view.id) < ($1.view.submittedAt, $1.view.id) }
            let removed = state.removed.filter { $0.value > seen }.keys.sorted()
            if !changed.isEmpty || !removed.isEmpty || (seen == 0 && state.version > 0) {
                var data = Data(#"{"submissions":["#.utf8)
                data.append(contentsOf: changed.map { $0.item.data }.joined(separator: [UInt8(ascii: ",")]))
                data.append(contentsOf: #"],"removed":"#.utf8)
                data.append(JSONValue.array(removed.map(JSONValue.string)).data)
                data.append(UInt8(ascii: "}"))
                events.append(ServerSentEvent("submissions", id: id, data: data))
            }
            if let workers = state.workers, workers.item.version > seen {
                events.append(ServerSentEvent("workers", id: id, data: workers.item.data))
            }
            if let locks = state.locks, locks.item.version > seen {
                events.append(ServerSentEvent("locks", id: id, data: locks.item.data))
            }
            let happened = state.workerEvents.filter { $0.version > seen }
            if !happened.isEmpty {
                var data = Data(#"{"events":["#.utf8)
                data.append(contentsOf: happened.map(\.data).joined(separator: [UInt8(ascii: ",")]))
                data.append(contentsOf: "]}".utf8)
                events.append(ServerSentEvent("workerEvents", id: id, data: data))
            }
            return (events, state.version)
        }
    }
}

extension ClusterFeed.State {
    /// - Returns: whether anything of it is new.
    fileprivate mutating func take(
        _ submissions: [WireSubmissionView], _ workers: [WireWorkerView], _ locks: [WireLockView], _ happened: WireWorkerEventList
    ) -> Bool {
        let next = version + 1
        var isNews = false
        for view in submissions where self.submissions[view.id]?.view != view {
            self.submissions[view.id] = (view, ClusterFeed.Item(data: view.listJSON.data, version: next))
            removed[view.id] = nil
            isNews = true
        }
        let present = Set(submissions.map(\.id))
        for id in self.submissions.keys where !present.contains(id) {
            self.submissions[id] = nil
            removed[id] = next
            isNews = true
        }
        if removed.count > HTTPLimits.streamedSubmissions {
            for (id, _) in removed.sorted(by: { $0.value < $1.value }).dropLast(HTTPLimits.streamedSubmissions) { removed[id] = nil }
        }
        if self.workers?.views != workers {
            let value = JSONValue.object([("workers", .array(workers.map(\.json)))])
            self.workers = (workers, ClusterFeed.Item(data: value.data, version: next))
            isNews = true
        }
        if self.locks?.views != locks {
            let value = JSONValue.object([("locks", .array(locks.map(\.json)))])
            self.locks = (locks, ClusterFeed.Item(data: value.data, version: next))
            isNews = true
        }
        if !happened.events.isEmpty {
            workerEvents += happened.events.map { ClusterFeed.Item(data: $0.json.data, version: next) }
            workerEvents.removeFirst(max(0, workerEvents.count - HTTPLimits.streamedWorkerEvents))
            isNews = true
        }
        lastWorkerEvent = max(lastWorkerEvent, happened.last)
        if isNews { version = next }
        return isNews
    }
}
