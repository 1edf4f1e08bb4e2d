import Shapes
import Wire

/// Who ran what when: of each operation of a submission that has begun its newest attempt, and attempts that were lost.
package struct Timeline: Sendable {
    package struct Bar: Sendable {
        package var path: String
        /// A word of `aop show`.
        package var state: String
        package var attempts: Int
        /// Milliseconds since 1970.
        package var from: Int64
        package var to: Int64
        /// Why it failed; empty: it has not.
        package var error: String
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
    /// Milliseconds since 1970.
    package let start: Int64
    package let end: Int64

    /// - Parameters:
    ///   - views: of the operations; groups are left out.
    ///   - now: what goes on goes on until then; milliseconds since 1970.
    /// - Complexity: O(operations × (log of it + lanes)).
    package init(name: String, state: String, views: [WireOperationView], submittedAt: Int64, now: Int64) {
        var lanes: [String: [Lane]] = [:]
        let begun = views.filter { $0.isPart && $0.startedAt > 0 }.sorted { ($0.startedAt, $0.unit) < ($1.startedAt, $1.unit) }
        for view in begun {
            let end = max(view.startedAt, view.finishedAt > 0 ? view.finishedAt : now)
            let bar = Bar(
                path: view.path, state: view.state.word, attempts: Int(view.attempts), from: view.startedAt, to: end,
                error: view.errors.first?.message ?? "")
            let worker = view.worker.isEmpty ? "-" : view.worker
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
        start = ([submittedAt] + (begun.first.map { [$0.startedAt] } ?? []) + losses.map(\.at)).filter { $0 > 0 }.min() ?? now
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
}
