import Shapes
import Wire

/// Who ran what when: the attempts of operations, as far as they had begun, and where some were lost.
package struct Timeline: Sendable {
    package struct Bar: Sendable {
        package var path: String
        /// A word of `aop show`; of an earlier attempt how it ended: `succeeded`, `failed`, `cancelled`, `lost`.
        package var state: String
        /// From 1.
        package var attempt: Int
        /// It is not the attempt that counts: another one has followed, or may, or it was lost.
        package var isEarlier = false
        /// Milliseconds since 1970.
        package var from: Int64
        package var to: Int64
        /// Why it failed, or ended otherwise without counting; empty: there is nothing to say.
        package var error: String

        /// How it is told apart in colour and count.
        var mark: String {
            switch (isEarlier, state) {
            case (false, _): state
            case (true, "lost"): Self.lost
            case (true, _): "\(state)\(Self.again)"
            }
        }
        static let lost = "lost"
        /// Behind how an earlier attempt ended.
        static let again = " and tried again"
    }

    /// What runs one after the other on a worker.
    package struct Lane: Sendable {
        package var worker: String
        package internal(set) var bars: [Bar] = []
    }

    /// An attempt that was lost with its worker.
    package struct Loss: Sendable {
        package var path: String
        package var at: Int64
        package var text: String
    }

    package let name: String
    package let state: String
    /// By worker.
    package let lanes: [Lane]
    /// In the order in which they came.
    package let losses: [Loss]
    /// How many operations have begun.
    package let begun: Int
    /// Milliseconds since 1970.
    package let start: Int64
    package let end: Int64

    /// - Parameters:
    ///   - views: of the operations; groups are left out.
    ///   - now: what goes on goes on until then; milliseconds since 1970.
    /// - Complexity: O(attempts × (log of it + lanes)).
    package init(name: String, state: String, views: [WireOperationView], submittedAt: Int64, now: Int64) {
        var lanes: [String: [Lane]] = [:]
        let parts = views.filter(\.isPart).map { ($0.unit, $0.bars(until: now)) }
        let bars = parts.flatMap { unit, bars in bars.map { (unit: unit, worker: $0.worker, bar: $0.bar) } }
            .sorted { ($0.bar.from, $0.unit, $0.bar.attempt) < ($1.bar.from, $1.unit, $1.bar.attempt) }
        for (_, worker, bar) in bars {
            let worker = worker.isEmpty ? "-" : worker
            var own = lanes.removeValue(forKey: worker) ?? []
            let free = own.firstIndex { ($0.bars.last?.to ?? .min) <= bar.from }
            if free == nil { own.append(Lane(worker: worker)) }
            own[free ?? own.count - 1].bars.append(bar)
            lanes[worker] = own
        }
        let losses = views.filter(\.isPart).flatMap { view in
            view.history.filter { $0.event == "lost" }.map { Loss(path: view.path, at: $0.at, text: $0.text) }
        }
        self.name = name
        self.state = state
        self.lanes = lanes.keys.sorted(by: Self.comesFirst).flatMap { lanes[$0] ?? [] }
        self.losses = losses.sorted { ($0.at, $0.path) < ($1.at, $1.path) }
        begun = parts.count { !$0.1.isEmpty }
        start = ([submittedAt] + (bars.first.map { [$0.bar.from] } ?? []) + losses.map(\.at)).filter { $0 > 0 }.min() ?? now
        end = max(start + 1, self.lanes.flatMap(\.bars).map(\.to).max() ?? 0, losses.map(\.at).max() ?? 0)
    }

    var bars: [Bar] { lanes.flatMap(\.bars) }

    /// `h/2` before `h/10`.
    private static func comesFirst(_ a: String, _ b: String) -> Bool {
        let (first, second) = (a.split(separator: "/"), b.split(separator: "/"))
        guard first.count > 1, second.count > 1, first.dropLast() == second.dropLast(), let x = first.last.flatMap({ Int($0) }),
            let y = second.last.flatMap({ Int($0) })
        else { return a < b }
        return x < y
    }
}

extension WireOperationView {
    /// Something that executes.
    fileprivate var isPart: Bool {
        switch kind {
        case .operation, .decider: true
        case .group, .ordered, .forEach, .UNRECOGNIZED: false
        }
    }

    /// Its attempts that have begun, in their order.
    fileprivate func bars(until now: Int64) -> [(worker: String, bar: Timeline.Bar)] {
        var bars: [(worker: String, bar: Timeline.Bar)] = earlierAttempts.map { attempt in
            (
                attempt.worker,
                Timeline.Bar(
                    path: path, state: attempt.word, attempt: Int(attempt.number), isEarlier: true, from: attempt.startedAt,
                    to: max(attempt.startedAt, attempt.finishedAt), error: attempt.text)
            )
        }
        // Its newest attempt may have ended without counting, and another one follow.
        guard startedAt > 0, earlierAttempts.last?.number != attempts else { return bars }
        bars.append(
            (
                worker,
                Timeline.Bar(
                    path: path, state: state.word, attempt: Int(attempts), from: startedAt,
                    to: max(startedAt, finishedAt > 0 ? finishedAt : now), error: errors.first?.message ?? "")
            ))
        return bars
    }
}
