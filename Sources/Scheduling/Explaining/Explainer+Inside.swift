/// What in a group waits, and for what.
extension Explainer {
    struct Inside {
        var waiting: [WaitingUnits] = []
        /// More that wait, for something else.
        var more = 0
        /// There is more in it than was looked at.
        var isPartial = false
    }

    /// So many units are looked at.
    static let unitsMax = 20_000
    /// So many different things that are waited for are told.
    private static let waitingMax = 20

    /// Those in the group that wait, by what is nearest in their way: first what waits for nothing else in here.
    mutating func inside(_ group: Int) -> Inside {
        var inside = Inside()
        var places: [String: Int] = [:]
        var units = Array(membersToLookAt(of: group))
        var next = 0
        while next < units.count {
            guard next < Self.unitsMax else {
                inside.isPartial = true
                break
            }
            let unit = units[next]
            next += 1
            let state = scheduler.operationState(of: unit, index)
            if !submission.node(unit).isOperation || state == .evaluating { units += membersToLookAt(of: unit) }
            if state == .running || (submission.isDecider(unit) && state == .blocked) { continue }
            guard let blocker = blockers(of: unit).first else { continue }
            let text = blocker.headline(now: now)
            let path = submission.path(of: unit)
            if let place = places[text] {
                inside.waiting[place].count += 1
                if inside.waiting[place].operations.count < WaitingUnits.namedMax { inside.waiting[place].operations.append(path) }
            } else {
                places[text] = inside.waiting.count
                inside.waiting.append(WaitingUnits(kind: blocker.kind, text: text, count: 1, operations: [path]))
            }
        }
        inside.waiting = inside.waiting.enumerated().sorted { one, other in
            (one.element.kind.isFollowing ? 1 : 0, -one.element.count, one.offset)
                < (other.element.kind.isFollowing ? 1 : 0, -other.element.count, other.offset)
        }.map(\.element)
        inside.more = inside.waiting.dropFirst(Self.waitingMax).reduce(0) { $0 + $1.count }
        inside.waiting = Array(inside.waiting.prefix(Self.waitingMax))
        return inside
    }

    private func membersToLookAt(of unit: Int) -> [Int] {
        let decider = submission.decider(of: unit).map { [$0] } ?? []
        return (Array(submission.children(of: unit)) + submission.preparations(of: unit) + decider).filter {
            !submission.units[$0].hasEnded && submission.units[$0].phase != .dropped
        }
    }
}

extension Blocker.Kind {
    /// Whether it mostly waits for something else that waits.
    fileprivate var isFollowing: Bool {
        switch self {
        case .dependency, .delivery, .order, .group, .maxConcurrent: true
        case .delay, .paused, .lock, .condition, .join, .worker, .slots, .retry, .submitter, .stopping, .partialResults, .value, .pausing:
            false
        }
    }
}
