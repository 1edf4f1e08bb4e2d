/// What a unit waits for that has not begun: others, its turn, its group, its place.
extension Explainer {
    /// Of one that is blocked.
    mutating func addEdges(of unit: Int) {
        let parent = Int(submission.units[unit].parent)
        let hasBeenCalled = parent < 0 || submission.hasCalled(parent, unit)
        if submission.isDecider(unit), hasBeenCalled { return addOccasions(of: parent) }
        if !hasBeenCalled { add(.group(blocking(submission.firstUnbegun(around: unit)))) }
        guard !isFull else { return }
        let node = submission.node(unit)
        let (received, named) = (Set(node.receives), Set(node.after))
        var others: Set<Int> = []
        for target in submission.layout.dependencies[Int(submission.units[unit].node)] {
            let other = submission.unit(ofNode: Int(target), seenFrom: unit)
            guard submission.knownOutcome(other) == nil else { continue }
            let isStreamed = node.streamProducer == Int(target) && !submission.begunStreams.contains(Int32(other))
            let isReceived = received.contains(Int(target))
            // Else it is the one before it in an ordered group.
            guard isReceived || named.contains(Int(target)) || isStreamed else { continue }
            others.insert(other)
            guard takesMore() else { continue }
            if isReceived {
                add(.delivery(blocking(other), of: .value))
            } else {
                add(named.contains(Int(target)) ? .dependency(blocking(other)) : .delivery(blocking(other), of: .begin))
            }
        }
        if let before = submission.memberBefore(unit), !others.contains(before) { add(.order(blocking(before))) }
    }

    /// Of a decider at rest: there is something to decide when a child has ended.
    private mutating func addOccasions(of group: Int) {
        for child in submission.children(of: group) where !submission.units[child].hasEnded && takesMore() {
            add(.dependency(blocking(child)))
        }
    }

    mutating func addJoin(of unit: Int, _ duplicate: UniqueStanding.Duplicate) {
        if submission.joined(unit) != nil { add(.join(blocking(duplicate.first), uniqueID: duplicate.id)) }
        if let before = submission.memberBefore(unit) { add(.order(blocking(before))) }
    }

    /// Of one that could begin but for its group's limit.
    mutating func addPlace(of unit: Int) {
        let group = Int(submission.units[unit].parent)
        var ahead = 0
        if !isBrief {
            let line = submission.heldChildren[Int32(group)] ?? []
            ahead = line.prefix { $0 != Int32(unit) }.count { submission.units[Int($0)].phase == .held }
        }
        add(
            .maxConcurrent(
                PlaceWait(
                    group: blocking(group), limit: submission.maxConcurrent(group),
                    taken: Int(submission.units[group].activeChildren), ahead: ahead)))
    }

    /// Of one that waits in lines.
    mutating func addLocks(of unit: Int) {
        let id = submission.id(unit)
        let table = scheduler.durable.locks
        for term in table.requests[id]?.terms ?? [] {
            guard !isFull, let lock = table.locks[term.lock] else { continue }
            let first = lock.waiters.first(where: table.isWaiting)?.unit
            guard !lock.hasRoom || first != id, let view = scheduler.lockView(term.lock, shown: Self.holdersShown, for: reader) else {
                continue
            }
            let ahead = isBrief ? 0 : table.ahead(of: id, in: lock).count
            add(.lock(LockWait(lock: view, ahead: ahead)))
        }
    }

    private static let holdersShown = 10

    /// One whose producer's attempt has to begin anew.
    mutating func addStream(of unit: Int) {
        guard submission.lacksStream(unit), let producer = submission.openStreamProducer(of: unit) else { return }
        add(.delivery(blocking(producer), of: .begin))
    }

    /// Of one whose conditions' dependent operations run.
    mutating func addPreparations(of unit: Int) {
        let conditions = submission.conditions(of: unit)
        for preparation in submission.preparations(of: unit) where !submission.units[preparation].hasEnded {
            let position = submission.node(preparation).options.prepares ?? 0
            add(.condition(ConditionWait(key: conditions[position].key, stage: .preparing(blocking(preparation)))))
        }
    }
}

extension Submission {
    /// The outermost of those around the unit that have not begun what stands in them.
    fileprivate func firstUnbegun(around unit: Int) -> Int {
        var first = Int(units[unit].parent)
        var current = first
        while units[current].parent >= 0 {
            let parent = Int(units[current].parent)
            if !hasCalled(parent, current) { first = parent }
            current = parent
        }
        return first
    }
}
