/// Where what requires something runs.
let placementRules: [Rule] = [
    Rule("placedWhereItBelongs", "requires: its worker has all the labels, and so much of its host as it asks for.") { account in
        account.placed.compactMap { placed -> Rule.Breach? in
            guard let required = account.node(placed.run.node).requires, let host = account.hosts[placed.host] else { return nil }
            let isThere = required.label.map(host.labels.contains) ?? true
            let isEnough = Set(placed.permits).count == required.permits && placed.permits.allSatisfy { $0 < host.permits }
            guard !isThere || !isEnough else { return nil }
            return .init(placed.run.node, [placed.run.start], "ran on \(placed.host) with \(placed.permits)")
        }
    },
    Rule("permitsAreOnesOwn", "Resources belong to a worker host: what one has of them no other has until the end of its body.") {
        account in
        let placed = account.placed
        return placed.compactMap { mine -> Rule.Breach? in
            let other = placed.first { other in
                other.host == mine.host && other.run.node != mine.run.node && !other.permits.allSatisfy { !mine.permits.contains($0) }
                    && other.run.start <= mine.run.start && mine.run.start < other.run.end
            }
            return other.map {
                .init(
                    mine.run.node, [$0.run.start, mine.run.start, $0.run.end],
                    "has \(mine.permits) of \(mine.host) beside \(GraphPlan.name(of: $0.run.node)) with \($0.permits)")
            }
        }
    },
]

extension Account {
    fileprivate struct Placed {
        var run: Run
        var host: String
        var permits: [Int]
    }

    fileprivate var placed: [Placed] {
        plan.leaves.flatMap { node in
            everyRun[node].compactMap { run in placements[node][run.number].map { Placed(run: run, host: $0.host, permits: $0.permits) } }
        }
    }
}
