import Foundation

/// Something that is waited for.
enum WaitEvent {
    /// The operation executes.
    case start(AOperation)
    case end(Foundation.Operation)
    /// Foundation, and so plain operations, hear of the end: that of an operation which was cancelled before it was in any queue
    /// they hear of when it comes into one.
    case announcement(AOperation)
    /// The request gets its locks.
    case grant(LockRequest)
    /// The locks of the request come back.
    case release(LockRequest)
    /// All in the lane have ended that are before this barrier.
    case barrier(Lane, UInt64)

    /// What must come first.
    struct Need {
        let event: WaitEvent
        /// The lock that is waited for, with who holds it.
        var lock: (key: String, holder: LockRequest)?
        /// The operation that has joined another one, if that is why.
        var joiner: AOperation?

        init(_ event: WaitEvent) { self.event = event }
    }

    /// Everything that must come first.
    struct Needs {
        var all: [Need] = []
        /// Of each of these, fewer than `limit` may stay away: the holders of a semaphore.
        var shares: [(limit: Int, holders: [Need])] = []

        /// Whichever of `groups` starts first will do; there may be none.
        mutating func await(oneOf groups: [GroupOperation]) {
            guard !groups.isEmpty else { return }
            shares.append((limit: groups.count, holders: groups.map { Need(.start($0)) }))
        }
    }

    struct Key: Hashable {
        let object: ObjectIdentifier
        let kind: Int
    }

    var key: Key {
        switch self {
        case .start(let operation): Key(object: ObjectIdentifier(operation), kind: 0)
        case .end(let operation): Key(object: ObjectIdentifier(operation), kind: 1)
        case .announcement(let operation): Key(object: ObjectIdentifier(operation), kind: 2)
        case .grant(let request): Key(object: ObjectIdentifier(request), kind: 3)
        case .release(let request): Key(object: ObjectIdentifier(request), kind: 4)
        case .barrier(let lane, let epoch): Key(object: ObjectIdentifier(lane), kind: 5 + Int(epoch))
        }
    }

    /// - Parameters:
    ///   - inLine: whether who asks for a lock waits for those who asked before him as well.
    ///   - facts: what is known of plain operations, which are the program's code.
    func needs(inLine: Bool, knowing facts: PlainFacts) -> Needs {
        switch self {
        case .start(let operation): operation.needsToStart(facts)
        case .end(let operation as AOperation): Needs(all: operation.needsToEnd(facts))
        case .end(let operation): Needs(all: operation.needsOfPlain(facts).map { Need($0) })
        case .announcement(let operation): operation.needsToBeAnnounced(facts)
        case .grant(let request): Self.needs(of: request, inLine: inLine, facts)
        case .release(let request): Needs(all: request.users(facts).map { Need($0) })
        case .barrier(let lane, let epoch): Needs(all: lane.members(before: epoch).map { Need(.end($0)) })
        }
    }

    /// Whether it is of an operation that is in no queue yet, and is inside of none that is: it may wait for something else before
    /// it comes there, if it ever does.
    var isOfNoQueue: Bool {
        switch self {
        case .start(let operation), .announcement(let operation), .end(let operation as AOperation):
            operation.isInitialized && operation.enclosingOperations.last?.isInitialized ?? true
        case .end, .grant, .release, .barrier: false
        }
    }

    private static func needs(of request: LockRequest, inLine: Bool, _ facts: PlainFacts) -> Needs {
        var needs = Needs()
        for obstacle in LockTable.shared.obstacles(of: request) where inLine || request.locks[obstacle.lock] != nil {
            facts.keep(obstacle.holders)
            let holders = obstacle.holders.map { holder in
                var need = Need(.release(holder))
                need.lock = (obstacle.lock.name, holder)
                return need
            }
            needs.shares.append((limit: obstacle.limit, holders: holders))
        }
        return needs
    }
}

extension Foundation.Operation {
    /// What a plain operation waits for. Those do not hear of it: they are told that they are waited for.
    fileprivate func needsOfPlain(_ facts: PlainFacts) -> [WaitEvent] {
        let fact = facts.fact(of: self)
        guard !fact.hasBegun else { return [] }
        let dependencies = fact.dependencies
        for case let dependency as AOperation in dependencies {
            dependency.core.withLock { $0.isNeededByPlain = true }
        }
        let ends = dependencies.map { dependency in
            (dependency as? AOperation).map { WaitEvent.announcement($0) } ?? .end(dependency)
        }
        guard let group = groupToStartIdlePlain else { return ends }
        facts.keep(group)
        return ends + group.needs(toStart: self, facts)
    }
}

extension GroupOperation {
    /// What must come first before the turn of a child that has not been started. In an ordered group that is the nearest one
    /// before it that has not ended: it waits for those before it.
    fileprivate func needs(toStart child: Foundation.Operation, _ facts: PlainFacts) -> [WaitEvent] {
        let start: [WaitEvent] = core.withLock { $0.state.isUnstarted } ? [.start(self)] : []
        guard isOrdered, let predecessor = openPredecessor(of: child, facts) else { return start }
        return start + [.end(predecessor)]
    }

    /// - Complexity: O(1 + ended children between the two).
    private func openPredecessor(of child: Foundation.Operation, _ facts: PlainFacts) -> Foundation.Operation? {
        var place = roster.withLock { $0.place(of: child) }
        while let predecessor = roster.withLock({ $0.operation(before: place) }) {
            facts.keep(predecessor)
            if !facts.isOver(predecessor) { return predecessor }
            place -= 1
        }
        return nil
    }
}

extension LockRequest {
    /// What must come before its locks come back: the end of its operation, and that those give back what they were lent to whom
    /// it has lent them.
    fileprivate func users(_ facts: PlainFacts) -> [WaitEvent] {
        let operation = operation
        facts.keep(operation)
        let ends: [WaitEvent] = if let operation, !operation.isEnded { [.end(operation)] } else { [] }
        return ends + LockTable.shared.borrowers(of: self).map { .release($0) }
    }
}

extension AOperation {
    fileprivate func needsToStart(_ facts: PlainFacts) -> WaitEvent.Needs {
        let (state, dependencies, parts, request, group, membership) = core.withLock { core in
            (core.state, core.dependencies.all, core.parts.all, core.lockRequest, core.group, core.membership)
        }
        facts.keep(dependencies, parts, group)
        guard state.isUnstarted else { return WaitEvent.Needs() }
        var events: [WaitEvent] = dependencies.filter { isWaiting(for: $0) }.map { .end($0) } + parts.map { .end($0) }
        if let request { events.append(.grant(request)) }
        if let membership, membership.lane.hasBarrier(before: membership.epoch) {
            events.append(.barrier(membership.lane, membership.epoch))
        }
        let groups = state.isInitialized ? group.map { [$0] } ?? groupsToCome(facts) : []
        if groups.count == 1 { events += groups[0].needs(toStart: self, facts) }
        var needs = WaitEvent.Needs(all: events.map { WaitEvent.Need($0) })
        if groups.count > 1 { needs.await(oneOf: groups) }
        return needs
    }

    fileprivate func needsToBeAnnounced(_ facts: PlainFacts) -> WaitEvent.Needs {
        var needs = WaitEvent.Needs()
        let (state, isInNoQueue, group) = core.withLock { ($0.state, $0.isInNoQueue, $0.group) }
        facts.keep(group)
        guard state.isEnded, isInNoQueue, group == nil else {
            needs.all = [WaitEvent.Need(.end(self))]
            return needs
        }
        needs.await(oneOf: groupsToCome(facts))
        return needs
    }

    /// The groups whose child it becomes if it is the first of them that starts, because it delivers to a child or receives
    /// from one.
    private func groupsToCome(_ facts: PlainFacts) -> [GroupOperation] {
        guard core.withLock(\.hasNet) else { return [] }
        var found: [GroupOperation] = []
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
        var pending: [AOperation] = [self]
        while let operation = pending.popLast() {
            let net = operation.core.withLock(\.net)
            facts.keep(net.before, net.after)
            for neighbour in net.before + net.after where seen.insert(ObjectIdentifier(neighbour)).inserted {
                let (group, isInitialized) = neighbour.core.withLock { ($0.group, $0.state.isInitialized) }
                facts.keep(group)
                guard isInitialized else { continue }
                guard let group else {
                    pending.append(neighbour)
                    continue
                }
                if seen.insert(ObjectIdentifier(group)).inserted { found.append(group) }
            }
        }
        return found
    }

    /// Not after a provisional end that it was told of.
    private func isWaiting(for dependency: Foundation.Operation) -> Bool {
        guard let dependency = dependency as? AOperation else { return true }
        let (state, scope) = dependency.core.withLock { ($0.state, $0.retryScope) }
        return !(state.isProvisional && scope?.covers(self) == true)
    }

    fileprivate func needsToEnd(_ facts: PlainFacts) -> [WaitEvent.Need] {
        let (state, verdict, parts, uniqueness, scope) = core.withLock { core in
            (core.state, core.verdict, core.parts.all, core.uniqueness, core.retryScope)
        }
        let members = members
        facts.keep(parts, members, (scope?.decider).map { [$0] } ?? [])
        guard !state.isEnded else { return [] }
        if case .duplicate(let duplicate)? = uniqueness, !state.isInitialized {
            guard duplicate.joins else { return [] }
            var need = WaitEvent.Need(.end(duplicate.first))
            need.joiner = self
            return [need]
        }
        var events: [WaitEvent] = parts.map { .end($0) } + members.filter { !facts.isOver($0) }.map { .end($0) }
        if state.isUnstarted, verdict == nil { events.append(.start(self)) }  // a cancelled group ends without a start
        if state.isProvisional, let decider = scope?.decider { events.append(.end(decider)) }
        return events.map { WaitEvent.Need($0) }
    }
}
