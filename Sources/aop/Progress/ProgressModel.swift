import Cluster
import Wire

/// What a watcher knows of a submission that runs: pure, fed by events and asked for lines.
struct ProgressModel: Sendable {
    struct RunningOperation: Hashable, Sendable {
        var path: String
        var worker: String
        /// Milliseconds since 1970.
        var since: Int64
        /// How far it has come; empty: it has not said.
        var progress = ""
    }

    private(set) var view: WireSubmissionView?
    private(set) var interruption: String?
    private var running: [String: RunningOperation] = [:]
    /// Ended operations and when the watch began, for the rate.
    private var firstSeen: (ended: UInt64, at: Int64)?

    /// Takes an event in; gives the state changes it brought. How far something has come is none.
    ///
    /// What ran before an interruption is taken to go on until something else is told of it: a view does not name operations.
    mutating func apply(_ event: FollowEvent, now: Int64) -> [WireEvent] {
        switch event {
        case .interrupted(let reason):
            interruption = reason
            return []
        case .view(let view):
            interruption = nil
            self.view = view
            if firstSeen == nil { firstSeen = (view.counts.ended, now) }
            return []
        case .events(let events, let view):
            interruption = nil
            self.view = view
            for event in events {
                if event.hasProgress {
                    running[event.path]?.progress = ProgressText.of(event.progress)
                } else if event.state == .running {
                    running[event.path] = RunningOperation(path: event.path, worker: event.worker, since: event.at)
                } else {
                    running[event.path] = nil
                }
            }
            return events.filter { !$0.hasProgress }
        }
    }

    /// Operations that have been running longest, groups left out while something inside them runs.
    func longestRunning(_ count: Int) -> [RunningOperation] {
        let outer = Set(running.keys.flatMap(Self.enclosing))
        return running.values.filter { !outer.contains($0.path) && !$0.path.isEmpty }
            .sorted { ($0.since, $0.path) < ($1.since, $1.path) }
            .prefix(count).map { $0 }
    }

    var runningCount: Int { running.count }

    /// Operations that ended per second since the watch began; nil while there is nothing to say.
    func rate(now: Int64) -> Double? {
        guard let view, let firstSeen, now > firstSeen.at, view.counts.ended > firstSeen.ended else { return nil }
        return Double(view.counts.ended - firstSeen.ended) * 1000 / Double(now - firstSeen.at)
    }

    /// Milliseconds until everything has ended, should it go on as it did since the watch began; nil while there is nothing to say.
    func timeLeft(now: Int64) -> Int64? {
        guard let view, view.state == .running, interruption == nil, view.counts.total > view.counts.ended, let rate = rate(now: now)
        else { return nil }
        return Int64(Double(view.counts.total - view.counts.ended) / rate * 1000)
    }

    private static func enclosing(_ path: String) -> [String] {
        path.indices.filter { path[$0] == "/" }.map { String(path[..<$0]) }
    }
}

extension WireCounts {
    /// Those with an outcome.
    var ended: UInt64 { succeeded + failed + cancelled }
}
