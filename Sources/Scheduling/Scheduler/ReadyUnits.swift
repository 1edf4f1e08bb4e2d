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
        fileprivate let submission: SubmissionNumber
        fileprivate var queue = 0
    }

    private struct Entry {
        let unit: UnitID
        /// Counts those that have come.
        let arrival: Int
    }

    /// Units of one class, kind, priority and submission.
    private struct Queue {
        var submission: SubmissionNumber
        var entries = Deque<Entry>()
        /// Counts turns: that of the last one, or of when it came. 0: the place is free.
        var stamp: Int
        /// How many units of its turn it has had.
        var taken = 0
        var weight: Int
        /// It has had many entries, and room for them.
        var isLarge = false
    }

    /// The waiting units of one class, kind and priority.
    private struct Level {
        private typealias Turn = (queue: Int, stamp: Int)

        let priority: Int
        /// How often its lane had had a choice when this priority was last served, or came to wait.
        var servedAt: Int
        private(set) var queues: [Queue] = []
        private var places: [SubmissionNumber: Int] = [:]
        private var free: [Int] = []
        /// By stamp. One whose stamp is not that of its queue any more is skipped.
        private var turns = Deque<Turn>()

        init(priority: Int, servedAt: Int) {
            self.priority = priority
            self.servedAt = servedAt
        }

        var isEmpty: Bool { places.isEmpty }

        private func isOver(_ turn: Turn) -> Bool { queues[turn.queue].stamp != turn.stamp }

        /// The queue whose turn was the longest time ago.
        var first: (queue: Int, stamp: Int)? { turns.first { !isOver($0) } }

        func queue(of submission: SubmissionNumber) -> Int? { places[submission] }

        mutating func dropOver() {
            while let turn = turns.first, isOver(turn) { turns.removeFirst() }
        }

        mutating func push(_ entry: Entry, weight: Int, stamp: Int) {
            let submission = entry.unit.submission
            if let queue = places[submission] {
                queues[queue].entries.append(entry)
                if queues[queue].entries.count > Self.smallMax { queues[queue].isLarge = true }
            } else {
                let queue = open(Queue(submission: submission, stamp: stamp, weight: weight))
                queues[queue].entries.append(entry)
                places[submission] = queue
                turns.append((queue, stamp))
            }
        }

        private mutating func open(_ new: Queue) -> Int {
            guard let queue = free.popLast() else {
                queues.append(new)
                return queues.count - 1
            }
            (queues[queue].submission, queues[queue].stamp) = (new.submission, new.stamp)
            (queues[queue].taken, queues[queue].weight) = (0, new.weight)
            return queue
        }

        mutating func pop(_ queue: Int) -> Entry? {
            guard let entry = queues[queue].entries.popFirst() else { return nil }
            if queues[queue].entries.isEmpty {
                places[queues[queue].submission] = nil
                queues[queue].stamp = 0
                if queues[queue].isLarge { (queues[queue].entries, queues[queue].isLarge) = ([], false) }
                free.append(queue)
            }
            return entry
        }

        /// The submission, if it waits here, has had a unit of its turn.
        ///
        /// - Parameter known: where it was, if that was here.
        mutating func noteTaken(by submission: SubmissionNumber, known: Int?, stamp: Int) {
            guard let queue = known ?? places[submission], queues[queue].stamp > 0, queues[queue].submission == submission else { return }
            queues[queue].taken += 1
            guard queues[queue].taken >= queues[queue].weight else { return }
            (queues[queue].taken, queues[queue].stamp) = (0, stamp)
            turns.append((queue, stamp))
            dropOver()
            // Those within are few: whoever is ahead of them has its turn before they have another one.
            if turns.count > 2 * places.count + Self.overMax { turns.removeAll(where: isOver) }
        }

        private static let overMax = 16
        private static let smallMax = 1_000
    }

    /// The waiting units of one class and kind.
    private struct Lane {
        /// Those with units. Mostly one.
        var levels: [Level] = []
        /// How many units were handed out while something of this lane waited that could have gone in their place.
        var choices = 0
        /// Those whose conditions have been evaluated.
        var answered = Deque<(entry: Entry, priority: Int)>()

        var isEmpty: Bool { levels.isEmpty && answered.isEmpty }

        func rank(_ level: Int) -> Int { levels[level].priority * ReadyUnits.choicesPerPriority + choices - levels[level].servedAt }

        func level(_ priority: Int) -> Int? { levels.firstIndex { $0.priority == priority } }

        /// The level that is next. - Precondition: there is one.
        var best: Int {
            var best = 0
            for level in levels.indices.dropFirst() where (rank(level), -levels[level].priority) > (rank(best), -levels[best].priority) {
                best = level
            }
            return best
        }

        mutating func push(_ entry: Entry, _ standing: Standing, stamp: Int) {
            let index = level(standing.priority) ?? levels.count
            if index == levels.count { levels.append(Level(priority: standing.priority, servedAt: choices)) }
            levels[index].push(entry, weight: standing.weight, stamp: stamp)
        }
    }

    /// So often something has to be passed over to gain what one step of priority is worth.
    static let choicesPerPriority = 8

    /// By class, and within that by kind.
    private var lanes: [Lane] = []
    private var plainCount = 0
    private var conditionedCount = 0
    /// Of those with conditions.
    private var answeredCount = 0
    private var arrivals = 0
    private var stamps = 0
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

    private mutating func entry(_ unit: UnitID) -> Entry {
        arrivals += 1
        return Entry(unit: unit, arrival: arrivals)
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
        if answeredCount > 0, !ahead, let answered = popAnswered(among: classes) { return answered }
        findNext(among: classes, lastKind: ahead ? .plain : lastKind)
        var first: (lane: Int, level: Int, queue: Int, stamp: Int)?
        for (lane, level) in found {
            lanes[lane].levels[level].dropOver()
            if let turn = lanes[lane].levels[level].first, turn.stamp < first?.stamp ?? .max {
                first = (lane, level, turn.queue, turn.stamp)
            }
        }
        guard let first else { return nil }
        if found.count == 1 { return pop(first.queue, lane: first.lane, level: first.level) }
        let submission = lanes[first.lane].levels[first.level].queues[first.queue].submission
        var oldest: (lane: Int, level: Int, queue: Int, arrival: Int)?
        for (lane, level) in found {
            guard let queue = lanes[lane].levels[level].queue(of: submission),
                let entry = lanes[lane].levels[level].queues[queue].entries.first, entry.arrival < oldest?.arrival ?? .max
            else { continue }
            oldest = (lane, level, queue, entry.arrival)
        }
        return oldest.flatMap { pop($0.queue, lane: $0.lane, level: $0.level) }
    }

    /// Those of which there is something.
    private var lastKind: Kind { conditionedCount == 0 ? .plain : .conditioned }

    /// Finds the levels of the priority with the highest rank; of two that of the one that was passed over longer.
    private mutating func findNext(among classes: [Int], lastKind: Kind) {
        found.removeAll(keepingCapacity: true)
        var best: (rank: Int, priority: Int)?
        for lane in classes {
            for kind in 0...lastKind.rawValue {
                let index = Kind.allCases.count * lane + kind
                guard index < lanes.count else { continue }
                for level in lanes[index].levels.indices {
                    let (rank, priority) = (lanes[index].rank(level), lanes[index].levels[level].priority)
                    if let known = best, (rank, -priority) < (known.rank, -known.priority) {
                        if priority == known.priority { found.append((index, level)) }
                        continue
                    }
                    if best?.priority == priority { best?.rank = rank } else { best = (rank, priority) }
                    found.append((index, level))
                }
            }
        }
        // Those of others that were ahead for a while.
        guard let priority = best?.priority, found.count > 1 else { return }
        if found.contains(where: { lanes[$0.lane].levels[$0.level].priority != priority }) { findLevels(of: priority, classes, lastKind) }
    }

    private mutating func findLevels(of priority: Int, _ classes: [Int], _ lastKind: Kind) {
        found.removeAll(keepingCapacity: true)
        for lane in classes {
            for kind in 0...lastKind.rawValue {
                let index = Kind.allCases.count * lane + kind
                if index < lanes.count, let level = lanes[index].level(priority) { found.append((index, level)) }
            }
        }
    }

    private mutating func pop(_ queue: Int, lane: Int, level: Int) -> (unit: UnitID, place: Place)? {
        guard let entry = lanes[lane].levels[level].pop(queue) else { return nil }
        let kind = kind(lane)
        let place = Place(
            lane: lane / Kind.allCases.count, kind: kind, priority: lanes[lane].levels[level].priority,
            submission: entry.unit.submission, queue: queue)
        if lanes[lane].levels[level].isEmpty { lanes[lane].levels.remove(at: level) }
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
            lane: index / Kind.allCases.count, kind: .conditioned, isAnswered: true, priority: priority,
            submission: entry.unit.submission)
        return (entry.unit, place)
    }

    /// A unit of `place` was handed out: other priorities of which something could have gone were passed over, and its submission has
    /// had a unit of its turn.
    mutating func noteServed(_ place: Place, among classes: [Int]) {
        stamps += 1
        let lastKind = max(lastKind, place.kind)
        for lane in classes {
            for kind in Kind.plain.rawValue...lastKind.rawValue {
                let index = Kind.allCases.count * lane + kind
                let isThere = lane == place.lane && kind == place.kind.rawValue
                guard index < lanes.count, isThere || !lanes[index].levels.isEmpty else { continue }
                lanes[index].choices += 1
                guard let level = lanes[index].level(place.priority) else { continue }
                lanes[index].levels[level].servedAt = lanes[index].choices
                lanes[index].levels[level].noteTaken(by: place.submission, known: isThere ? place.queue : nil, stamp: stamps)
            }
        }
    }

    // MARK: Looking

    private func kind(_ index: Int) -> Kind { index % Kind.allCases.count == Kind.plain.rawValue ? .plain : .conditioned }

    private func isWaiting(index: Int) -> Bool { index < lanes.count && !lanes[index].isEmpty }

    func isWaiting(lane: Int, _ kind: Kind) -> Bool { isWaiting(index: Kind.allCases.count * lane + kind.rawValue) }

    func isWaiting(lane: Int) -> Bool { Kind.allCases.contains { isWaiting(lane: lane, $0) } }

    /// The unit of the class that is next.
    func next(lane: Int, _ kind: Kind) -> UnitID? {
        let index = Kind.allCases.count * lane + kind.rawValue
        guard isWaiting(index: index) else { return nil }
        if let answered = lanes[index].answered.first { return answered.entry.unit }
        let level = lanes[index].best
        return lanes[index].levels[level].first.flatMap { lanes[index].levels[level].queues[$0.queue].entries.first?.unit }
    }

    /// Takes it out without its having been served.
    mutating func dropNext(lane: Int, _ kind: Kind) {
        let index = Kind.allCases.count * lane + kind.rawValue
        guard isWaiting(index: index) else { return }
        guard lanes[index].answered.isEmpty else {
            _ = popAnswered(lane: index)
            return
        }
        let level = lanes[index].best
        if let turn = lanes[index].levels[level].first { _ = pop(turn.queue, lane: index, level: level) }
    }

    /// Of those of the class that wait.
    func highestPriority(lane: Int) -> Int? {
        var highest: Int?
        for kind in Kind.allCases {
            let index = Kind.allCases.count * lane + kind.rawValue
            guard index < lanes.count else { continue }
            for level in lanes[index].levels where level.priority > highest ?? .min { highest = level.priority }
            for answered in lanes[index].answered where answered.priority > highest ?? .min { highest = answered.priority }
        }
        return highest
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
