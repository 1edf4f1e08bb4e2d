import DequeModule

/// Units that wait for a worker, by class, priority and submission.
///
/// Of the priorities of which an executor can take something, the one with the highest rank is next: the priority itself, and what it
/// has gained by being passed over. So a higher one goes first, and a flood of whatever priority holds nobody up for ever. Ageing is
/// counted in units handed out and not in time, so that it means the same for operations of a millisecond and of an hour. Within a
/// priority submissions take turns, each for as many units as its weight says, whatever classes its units are of; and within a
/// submission units go in the order in which they came.
///
/// What an executor could not have taken was not passed over by what it took: ages and turns are kept by class.
///
/// Entries are not taken out when a unit is stopped: whoever pops one checks that it still waits.
struct ReadyUnits {
    /// Units with conditions are judged when they are taken out.
    enum Kind: Int, CaseIterable, Comparable {
        case plain, conditioned

        static func < (one: Kind, other: Kind) -> Bool { one.rawValue < other.rawValue }
    }

    /// What a unit has to say when it is somebody's turn.
    struct Standing {
        let priority: Int
        /// Of its submission.
        let weight: Int
    }

    /// From where a unit was taken.
    struct Place {
        let lane: Int
        let kind: Kind
        /// A worker had evaluated its conditions: what that has cost was its turn.
        var isAnswered = false
        fileprivate let priority: Int
        fileprivate let weight: Int
        fileprivate let submission: SubmissionNumber
    }

    /// Units of one class, kind, priority and submission.
    private struct Queue {
        struct Entry {
            let unit: UnitID
            /// Counts those that have come.
            let arrival: Int
        }
        var entries: Deque<Entry>
        /// Counts turns: that of the last one, or of when it came.
        var stamp: Int
        let weight: Int
    }

    /// The waiting units of one class, kind and priority.
    private struct Level {
        let priority: Int
        /// How often its lane had had a choice when this priority was last served, or came to wait.
        var servedAt: Int
        var queues: [SubmissionNumber: Queue] = [:]
        /// By stamp. One whose stamp is not that of its queue any more is skipped.
        private var turns = Deque<(submission: SubmissionNumber, stamp: Int)>()

        init(priority: Int, servedAt: Int) {
            self.priority = priority
            self.servedAt = servedAt
        }

        private func isOver(_ turn: (submission: SubmissionNumber, stamp: Int)) -> Bool { queues[turn.submission]?.stamp != turn.stamp }

        /// Whose turn was the longest time ago.
        var first: (submission: SubmissionNumber, stamp: Int)? { turns.first { !isOver($0) } }

        mutating func dropOver() {
            while let turn = turns.first, isOver(turn) { turns.removeFirst() }
        }

        mutating func push(_ entry: Queue.Entry, weight: Int, stamp: Int) {
            let submission = entry.unit.submission
            if queues[submission] == nil {
                queues[submission] = Queue(entries: [entry], stamp: stamp, weight: weight)
                turns.append((submission, stamp))
            } else {
                queues[submission]?.entries.append(entry)
            }
        }

        mutating func pop(_ submission: SubmissionNumber) -> Queue.Entry? {
            guard let entry = queues[submission]?.entries.popFirst() else { return nil }
            if queues[submission]?.entries.isEmpty ?? true { queues[submission] = nil }
            return entry
        }

        /// The submission, if it waits here, has had its turn.
        mutating func endTurn(of submission: SubmissionNumber, stamp: Int) {
            guard queues[submission] != nil else { return }
            queues[submission]?.stamp = stamp
            turns.append((submission, stamp))
            dropOver()
            // Those within are few: whoever is ahead of them has its turn before they have another one.
            if turns.count > 2 * queues.count + Self.overMax { turns.removeAll(where: isOver) }
        }

        private static let overMax = 16
    }

    /// The waiting units of one class and kind.
    private struct Lane {
        /// Those with units. Mostly one.
        var levels: [Level] = []
        /// How many units were handed out while something of this lane waited that could have gone in their place.
        var choices = 0
        /// Those whose conditions have been evaluated.
        var answered = Deque<(entry: Queue.Entry, priority: Int)>()

        var isEmpty: Bool { levels.isEmpty && answered.isEmpty }

        func rank(_ level: Int) -> Int { levels[level].priority * ReadyUnits.choicesPerPriority + choices - levels[level].servedAt }

        func level(_ priority: Int) -> Int? { levels.firstIndex { $0.priority == priority } }

        mutating func push(_ entry: Queue.Entry, _ standing: Standing, stamp: Int) {
            let index = level(standing.priority) ?? levels.count
            if index == levels.count { levels.append(Level(priority: standing.priority, servedAt: choices)) }
            levels[index].push(entry, weight: standing.weight, stamp: stamp)
        }
    }

    /// The units of a submission that are of one priority: who takes turns.
    private struct Account: Hashable {
        let submission: SubmissionNumber
        let priority: Int
    }

    /// So often something has to be passed over to gain what one step of priority is worth.
    static let choicesPerPriority = 8
    private static let takenMax = 10_000

    /// By class, and within that by kind.
    private var lanes: [Lane] = []
    private var plainCount = 0
    private var conditionedCount = 0
    /// Of those with conditions.
    private var answeredCount = 0
    private var arrivals = 0
    private var stamps = 0
    /// How many units of its turn somebody has had who may have more.
    private var taken: [Account: Int] = [:]
    /// Those that ``findLevels(of:among:_:)`` has found.
    private var found: [(lane: Int, level: Int)] = []
    /// Units that must run alone in a process, oldest first.
    private(set) var suspects = Deque<UnitID>()
    /// Those whose submitters are to be asked about their ends.
    private(set) var conclusions = Deque<UnitID>()

    func count(_ kind: Kind) -> Int {
        switch kind {
        case .plain: plainCount
        case .conditioned: conditionedCount
        }
    }

    var isAnyWaiting: Bool { plainCount + conditionedCount > 0 }

    private mutating func count(_ kind: Kind, _ change: Int) {
        switch kind {
        case .plain: plainCount += change
        case .conditioned: conditionedCount += change
        }
    }

    // MARK: Coming

    mutating func push(_ unit: UnitID, lane: Int, _ kind: Kind, _ standing: Standing) {
        let index = index(lane, kind)
        stamps += 1
        lanes[index].push(entry(unit), standing, stamp: stamps)
        count(kind, 1)
    }

    /// Its conditions were evaluated: before everything else, as what a worker has said grows old. Those are no more than there are
    /// slots, and hold nobody up.
    mutating func pushAnswered(_ unit: UnitID, lane: Int, _ standing: Standing) {
        lanes[index(lane, .conditioned)].answered.append((entry(unit), standing.priority))
        count(.conditioned, 1)
        answeredCount += 1
    }

    private mutating func entry(_ unit: UnitID) -> Queue.Entry {
        arrivals += 1
        return Queue.Entry(unit: unit, arrival: arrivals)
    }

    private mutating func index(_ lane: Int, _ kind: Kind) -> Int {
        let index = Kind.allCases.count * lane + kind.rawValue
        while lanes.count <= index { lanes.append(Lane()) }
        return index
    }

    // MARK: Going

    /// Takes out the unit that is next for an executor that can run these classes.
    /// - Parameter ahead: it does not begin at once, as none with conditions may.
    /// - Complexity: O(classes of the executor).
    mutating func pop(among classes: [Int], ahead: Bool = false) -> (unit: UnitID, place: Place)? {
        let kinds = ahead ? Kind.plain...Kind.plain : Kind.plain...Kind.conditioned
        if answeredCount > 0, !ahead, let answered = popAnswered(among: classes) { return answered }
        guard let priority = nextPriority(among: classes, kinds) else { return nil }
        findLevels(of: priority, among: classes, kinds)
        var first: (submission: SubmissionNumber, stamp: Int)?
        for (lane, level) in found {
            lanes[lane].levels[level].dropOver()
            if let turn = lanes[lane].levels[level].first, turn.stamp < first?.stamp ?? .max { first = turn }
        }
        guard let submission = first?.submission else { return nil }
        var oldest: (lane: Int, level: Int, arrival: Int)?
        for (lane, level) in found {
            guard let entry = lanes[lane].levels[level].queues[submission]?.entries.first else { continue }
            if entry.arrival < oldest?.arrival ?? .max { oldest = (lane, level, entry.arrival) }
        }
        return oldest.flatMap { pop(submission, lane: $0.lane, level: $0.level) }
    }

    private mutating func pop(_ submission: SubmissionNumber, lane: Int, level: Int) -> (unit: UnitID, place: Place)? {
        let weight = lanes[lane].levels[level].queues[submission]?.weight ?? 1
        guard let entry = lanes[lane].levels[level].pop(submission) else { return nil }
        let kind = kind(lane)
        let place = Place(
            lane: lane / Kind.allCases.count, kind: kind, priority: lanes[lane].levels[level].priority, weight: weight,
            submission: submission)
        if lanes[lane].levels[level].queues.isEmpty { lanes[lane].levels.remove(at: level) }
        count(kind, -1)
        return (entry.unit, place)
    }

    private mutating func popAnswered(among classes: [Int]) -> (unit: UnitID, place: Place)? {
        var oldest: (lane: Int, arrival: Int)?
        for lane in classes {
            let index = Kind.allCases.count * lane + Kind.conditioned.rawValue
            guard index < lanes.count, let first = lanes[index].answered.first else { continue }
            if first.entry.arrival < oldest?.arrival ?? .max { oldest = (index, first.entry.arrival) }
        }
        return oldest.flatMap { popAnswered(lane: $0.lane) }
    }

    private mutating func popAnswered(lane index: Int) -> (unit: UnitID, place: Place)? {
        guard let (entry, priority) = lanes[index].answered.popFirst() else { return nil }
        count(.conditioned, -1)
        answeredCount -= 1
        let place = Place(
            lane: index / Kind.allCases.count, kind: .conditioned, isAnswered: true, priority: priority, weight: 1,
            submission: entry.unit.submission)
        return (entry.unit, place)
    }

    /// The one with the highest rank; of two the one that was passed over longer.
    private func nextPriority(among classes: [Int], _ kinds: ClosedRange<Kind>) -> Int? {
        var best: (rank: Int, priority: Int)?
        for lane in classes {
            for kind in kinds.lowerBound.rawValue...kinds.upperBound.rawValue {
                let index = Kind.allCases.count * lane + kind
                guard index < lanes.count else { continue }
                for level in lanes[index].levels.indices {
                    let (rank, priority) = (lanes[index].rank(level), lanes[index].levels[level].priority)
                    guard let known = best, (rank, -priority) <= (known.rank, -known.priority) else {
                        best = (rank, priority)
                        continue
                    }
                }
            }
        }
        return best?.priority
    }

    private mutating func findLevels(of priority: Int, among classes: [Int], _ kinds: ClosedRange<Kind>) {
        found.removeAll(keepingCapacity: true)
        for lane in classes {
            for kind in kinds.lowerBound.rawValue...kinds.upperBound.rawValue {
                let index = Kind.allCases.count * lane + kind
                if index < lanes.count, let level = lanes[index].level(priority) { found.append((index, level)) }
            }
        }
    }

    /// A unit of `place` was handed out: other priorities of which something could have gone were passed over, and its submission has
    /// had a unit of its turn.
    mutating func noteServed(_ place: Place, among classes: [Int]) {
        let account = Account(submission: place.submission, priority: place.priority)
        var isThere = false
        let had = (taken[account] ?? 0) + 1
        let isOver = had >= place.weight
        stamps += 1
        for lane in classes {
            for kind in Kind.allCases {
                let index = Kind.allCases.count * lane + kind.rawValue
                guard index < lanes.count, (lane == place.lane && kind == place.kind) || !lanes[index].levels.isEmpty else { continue }
                lanes[index].choices += 1
                guard let level = lanes[index].level(place.priority) else { continue }
                lanes[index].levels[level].servedAt = lanes[index].choices
                if isOver {
                    lanes[index].levels[level].endTurn(of: place.submission, stamp: stamps)
                } else if lanes[index].levels[level].queues[place.submission] != nil {
                    isThere = true
                }
            }
        }
        guard place.weight > 1 else { return }
        taken[account] = !isOver && isThere ? had : nil
        // Those of units that were stopped in their turn stay behind.
        if taken.count > Self.takenMax { taken.removeAll() }
    }

    // MARK: Looking

    private func kind(_ index: Int) -> Kind { index % Kind.allCases.count == Kind.plain.rawValue ? .plain : .conditioned }

    private func isWaiting(index: Int) -> Bool { index < lanes.count && !lanes[index].isEmpty }

    func isWaiting(lane: Int, _ kind: Kind) -> Bool { isWaiting(index: Kind.allCases.count * lane + kind.rawValue) }

    func isWaiting(lane: Int) -> Bool { Kind.allCases.contains { isWaiting(lane: lane, $0) } }

    /// The unit of the class that is next.
    func next(lane: Int, _ kind: Kind) -> UnitID? {
        guard isWaiting(lane: lane, kind) else { return nil }
        let index = Kind.allCases.count * lane + kind.rawValue
        if let answered = lanes[index].answered.first { return answered.entry.unit }
        guard let priority = nextPriority(among: [lane], kind...kind), let level = lanes[index].level(priority),
            let first = lanes[index].levels[level].first
        else { return nil }
        return lanes[index].levels[level].queues[first.submission]?.entries.first?.unit
    }

    /// Takes it out without its having been served.
    mutating func dropNext(lane: Int, _ kind: Kind) {
        let index = Kind.allCases.count * lane + kind.rawValue
        guard isWaiting(index: index) else { return }
        if !lanes[index].answered.isEmpty {
            _ = popAnswered(lane: index)
        } else if let priority = nextPriority(among: [lane], kind...kind), let level = lanes[index].level(priority),
            let first = lanes[index].levels[level].first
        {
            _ = pop(first.submission, lane: index, level: level)
        }
    }

    /// Of those of the class that wait.
    func highestPriority(lane: Int) -> Int? {
        Kind.allCases.lazy.map { Kind.allCases.count * lane + $0.rawValue }.filter { $0 < lanes.count }.flatMap { index in
            lanes[index].levels.map(\.priority) + lanes[index].answered.map(\.priority)
        }.max()
    }

    /// How many units that `counts` are taken out before `unit` by one that can run these classes, if nothing comes or goes, `limit` at
    /// most; 0 if it does not wait.
    /// - Complexity: O(waiting units of the classes).
    func countBefore(_ unit: UnitID, among classes: [Int], upTo limit: Int, _ counts: (UnitID, Place) -> Bool) -> Int {
        var rest = self
        var before = 0
        while before < limit, let (next, place) = rest.pop(among: classes) {
            guard counts(next, place) else { continue }
            if next == unit { return before }
            if !place.isAnswered { rest.noteServed(place, among: classes) }
            before += 1
        }
        return before < limit ? 0 : before
    }

    // MARK: Apart

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
