import DequeModule

/// Units that wait for a worker, by class and priority; within a class and priority submissions take turns, each for
/// as many units as its weight says.
///
/// Of several classes and priorities that an executor can take, the one with the highest rank is next: its priority, and
/// what it has gained by being passed over. So a higher priority goes first, equal ones take turns, and a flood of
/// whatever priority holds nobody up for ever. Ageing is counted in units handed out and not in time, so that it means the
/// same for operations of a millisecond and of an hour.
///
/// Entries are not taken out when a unit is stopped: whoever pops one checks that it still waits.
struct ReadyUnits {
    /// The waiting units of one class and priority.
    private struct Level {
        let priority: Int
        /// How often its lane had had a choice when it was last served, or came to wait.
        var servedAt: Int
        private var bySubmission: [SubmissionNumber: Deque<UnitID>] = [:]
        private var turns = Deque<Turn>()
        /// How many units the first of `turns` has had of its turn.
        private var taken = 0

        private struct Turn {
            let submission: SubmissionNumber
            /// How many units it may hand out before the next one's turn.
            let weight: Int
        }

        init(priority: Int, servedAt: Int) {
            self.priority = priority
            self.servedAt = servedAt
        }

        var isEmpty: Bool { turns.isEmpty }
        var next: UnitID? { turns.first.flatMap { bySubmission[$0.submission]?.first } }

        /// Before everything else.
        mutating func pushFirst(_ unit: UnitID, weight: Int) {
            turns.removeAll { $0.submission == unit.submission }
            turns.prepend(Turn(submission: unit.submission, weight: weight))
            taken = 0
            bySubmission[unit.submission, default: []].prepend(unit)
        }

        mutating func push(_ unit: UnitID, weight: Int) {
            if bySubmission[unit.submission] == nil {
                turns.append(Turn(submission: unit.submission, weight: weight))
                bySubmission[unit.submission] = [unit]
            } else {
                bySubmission[unit.submission]?.append(unit)
            }
        }

        mutating func pop() -> UnitID? {
            guard let turn = turns.first, let unit = bySubmission[turn.submission]?.popFirst() else { return nil }
            taken += 1
            let isEmpty = bySubmission[turn.submission]?.isEmpty ?? true
            if isEmpty { bySubmission[turn.submission] = nil }
            guard isEmpty || taken >= turn.weight else { return unit }
            taken = 0
            turns.removeFirst()
            if !isEmpty { turns.append(turn) }
            return unit
        }
    }

    /// The waiting units of one class.
    private struct Lane {
        /// Those with units. Mostly one.
        var levels: [Level] = []
        /// How many units were handed out while something of this lane waited that could have gone in their place.
        var choices = 0

        func rank(_ level: Int) -> Int { levels[level].priority * ReadyUnits.choicesPerPriority + choices - levels[level].servedAt }

        /// The level that is next. - Precondition: there is one.
        var best: Int {
            var best = 0
            for level in levels.indices.dropFirst() where rank(level) > rank(best) { best = level }
            return best
        }

        mutating func push(_ unit: UnitID, _ standing: Standing) {
            levels[level(of: standing.priority)].push(unit, weight: standing.weight)
        }

        mutating func pushFirst(_ unit: UnitID, _ standing: Standing) {
            levels[level(of: standing.priority)].pushFirst(unit, weight: standing.weight)
        }

        private mutating func level(of priority: Int) -> Int {
            if let level = levels.firstIndex(where: { $0.priority == priority }) { return level }
            levels.append(Level(priority: priority, servedAt: choices))
            return levels.count - 1
        }
    }

    /// What a unit has to say when it is somebody's turn.
    struct Standing {
        let priority: Int
        /// Of its submission.
        let weight: Int
    }

    /// A level of a lane from which a unit was taken.
    struct Place {
        let lane: Int
        fileprivate let priority: Int
    }

    /// So often something has to be passed over to gain what one step of priority is worth.
    static let choicesPerPriority = 8

    private var lanes: [Lane] = []
    private(set) var count = 0
    /// Units that must run alone in a process, oldest first.
    private(set) var suspects = Deque<UnitID>()
    /// Those whose submitters are to be asked about their ends.
    private(set) var conclusions = Deque<UnitID>()

    mutating func push(_ unit: UnitID, lane: Int, _ standing: Standing) {
        while lanes.count <= lane { lanes.append(Lane()) }
        lanes[lane].push(unit, standing)
        count += 1
    }

    /// Before everything else of its priority.
    mutating func pushFirst(_ unit: UnitID, lane: Int, _ standing: Standing) {
        while lanes.count <= lane { lanes.append(Lane()) }
        lanes[lane].pushFirst(unit, standing)
        count += 1
    }

    /// How urgent the unit is that is next for an executor that can run these classes; nil if there is none.
    /// - Complexity: O(classes of the executor).
    func rank(among candidates: [Int]) -> Int? { best(among: candidates)?.rank }

    private func best(among candidates: [Int]) -> (lane: Int, level: Int, rank: Int)? {
        var best: (lane: Int, level: Int, rank: Int)?
        for lane in candidates where lane < lanes.count && !lanes[lane].levels.isEmpty {
            let level = lanes[lane].best
            let rank = lanes[lane].rank(level)
            if rank > best?.rank ?? .min { best = (lane, level, rank) }
        }
        return best
    }

    /// Takes out the unit that is next for an executor that can run these classes.
    /// - Complexity: O(classes of the executor).
    mutating func pop(among candidates: [Int]) -> (unit: UnitID, place: Place)? {
        guard let best = best(among: candidates), let unit = lanes[best.lane].levels[best.level].pop() else { return nil }
        let place = Place(lane: best.lane, priority: lanes[best.lane].levels[best.level].priority)
        if lanes[best.lane].levels[best.level].isEmpty { lanes[best.lane].levels.remove(at: best.level) }
        count -= 1
        return (unit, place)
    }

    /// A unit of `place` was handed out, or of elsewhere; what waits in the other classes and priorities was passed over.
    mutating func noteServed(_ place: Place?, among candidates: [Int]) {
        for lane in candidates where lane < lanes.count && (lane == place?.lane || !lanes[lane].levels.isEmpty) { lanes[lane].choices += 1 }
        guard let place else { return }
        guard let level = lanes[place.lane].levels.firstIndex(where: { $0.priority == place.priority }) else { return }
        lanes[place.lane].levels[level].servedAt = lanes[place.lane].choices
    }

    func isWaiting(lane: Int) -> Bool { lane < lanes.count && !lanes[lane].levels.isEmpty }

    /// The unit of the class that is next.
    func next(lane: Int) -> UnitID? { isWaiting(lane: lane) ? lanes[lane].levels[lanes[lane].best].next : nil }

    /// Takes it out without its having been served.
    mutating func dropNext(lane: Int) { _ = pop(among: [lane]) }

    /// Of those of the class that wait.
    func highestPriority(lane: Int) -> Int? { isWaiting(lane: lane) ? lanes[lane].levels.map(\.priority).max() : nil }

    /// How many units of the class that `counts` are taken out before `unit`, if nothing comes or goes, `limit` at most; 0 if it
    /// does not wait.
    /// - Complexity: O(waiting units of the class).
    func countBefore(_ unit: UnitID, lane: Int, upTo limit: Int, _ counts: (UnitID) -> Bool) -> Int {
        var rest = self
        var before = 0
        while before < limit, let (next, place) = rest.pop(among: [lane]) {
            if next == unit { return before }
            guard counts(next) else { continue }
            rest.noteServed(place, among: [lane])
            before += 1
        }
        return before < limit ? 0 : before
    }

    mutating func pushConclusion(_ unit: UnitID) { conclusions.append(unit) }

    mutating func removeConclusions() -> Deque<UnitID> {
        defer { conclusions = [] }
        return conclusions
    }

    mutating func pushSuspect(_ unit: UnitID) { suspects.append(unit) }
    mutating func removeSuspects() -> Deque<UnitID> {
        defer { suspects = [] }
        return suspects
    }
}
