import Foundation

extension GroupOperation {
    /// The children in child order, with what delivers to them or receives from them and is in no group or queue: that
    /// becomes a child too, a producer just before the first that needs it, a receiver just after the last that it needs. In
    /// an ordered group a producer that is listed after its receiver is moved before it, and what is inside of children
    /// counts as well.
    final func listWithNets(_ operations: [Foundation.Operation]) -> [Foundation.Operation] {
        guard operations.contains(where: { ($0 as? AOperation)?.hasDeliveryNet == true }) else { return operations }
        let others = membersBeside(operations)
        let excluded = Set(others.map { ObjectIdentifier($0) })
        var nets = NetArrangement(operations, movesListed: isOrdered)
        for operation in operations where !nets.knows(operation) {
            nets.add(belongings(of: operation, without: excluded))
        }
        nets.connect { [self] member in needs(of: member) }
        for member in others { addToQueue(member) }
        return nets.arranged()
    }

    /// An operation with what belongs to its delivery net and may be a child of this group: it is one from now on. What may
    /// not comes into the queue beside it.
    final func belongings(of operation: Foundation.Operation) -> [Foundation.Operation] {
        guard (operation as? AOperation)?.hasDeliveryNet == true else { return [operation] }
        let others = membersBeside([operation])
        let members = belongings(of: operation, without: Set(others.map { ObjectIdentifier($0) }), withFreshGroups: true)
        for member in others { addToQueue(member) }
        return members
    }

    /// The children that must have ended before `child` can: what delivers to it, or in an ordered group, where it makes a
    /// difference, to something in it; and there what else that waits for.
    private func needs(of child: AOperation) -> (producers: [AOperation], others: [AOperation]) {
        var producers: [AOperation] = []
        var others: [AOperation] = []
        var pending = [child]
        while let operation = pending.popLast() {
            producers += operation.neighboursInNet.before
            guard isOrdered else { break }
            others += operation.dependencies.compactMap { $0 as? AOperation }
            if let group = operation as? GroupOperation { pending += group.operations.compactMap { $0 as? AOperation } }
        }
        return (producers.compactMap { $0.representative(in: self) }, others.compactMap { $0.representative(in: self) })
    }

    private func belongings(
        of operation: Foundation.Operation, without excluded: Set<ObjectIdentifier>, withFreshGroups: Bool = false
    ) -> [Foundation.Operation] {
        guard let operation = operation as? AOperation else { return [operation] }
        var members = candidates(near: operation, without: excluded, withFreshGroups: withFreshGroups)
        guard members.count > 1 else { return members }
        let isOutside = core.withLock { $0.membership?.lane.root === Lane.outside }
        members.removeAll { member in
            if member !== operation, member.core.withLock(\.isListedBeside) { return true }
            guard member !== operation, !member.isInitialized else { return false }
            // Cancelled before it was in any queue: no child, but it counts as added, which Foundation is told. In a plain queue the
            // program adds it by itself.
            if !isOutside { member.enter(.outside, of: nil, announcement: .due) }
            return true
        }
        for member in members {
            member.core.withLock { core in
                guard core.group == nil else { return }
                core.group = self
                if isOutside, core.announcement == .unknown { core.announcement = .open }
            }
        }
        if RetryScope.assign(to: members) { roster.withLock { $0.isScoped = true } }
        return members
    }

    /// Members of the children's nets that would wait for ever as children: those that wait for the group, and in an ordered
    /// group those that have no place.
    ///
    /// - Complexity: O(nets, and what can be reached from them in the graph of waits), once for all children.
    private func membersBeside(_ children: [Foundation.Operation]) -> [AOperation] {
        let listed = Set(children.map { ObjectIdentifier($0) })
        var known: Set<ObjectIdentifier> = []
        var new: [AOperation] = []
        for case let child as AOperation in children where child.hasDeliveryNet && !known.contains(ObjectIdentifier(child)) {
            for member in candidates(near: child, without: []) where known.insert(ObjectIdentifier(member)).inserted {
                if !listed.contains(ObjectIdentifier(member)), !isChild(member) { new.append(member) }
            }
        }
        let isAnyDependent = new.contains { member in
            member.dependencies.contains { !known.contains(ObjectIdentifier($0)) && !$0.isOver }
        }
        guard isAnyDependent || isOrdered && !new.isEmpty else { return [] }
        var excluded = isAnyDependent ? WaitForGraph.thoseWhoWait(for: self, among: new) : []
        if isOrdered {
            let all = operations.filter { !listed.contains(ObjectIdentifier($0)) } + children
            excluded.formUnion(withoutPlace(among: new, known: known, children: all))
        }
        return new.filter { excluded.contains(ObjectIdentifier($0)) }
    }

    /// Which of `members`, each after what it waits for, have no place among the children of an ordered group: no child needs them,
    /// and they wait for something else than their net, which may come after any child; or they wait for something inside
    /// of a child that needs them; or a child before the first that needs them waits for them, elsewhere; or a plain child does.
    private func withoutPlace(
        among members: [AOperation], known: Set<ObjectIdentifier>, children: [Foundation.Operation]
    ) -> Set<ObjectIdentifier> {
        var needing: [ObjectIdentifier: [Int]] = [:]
        for (index, child) in children.enumerated() where !child.isOver {
            guard let child = child as? AOperation else { continue }
            for producer in needs(of: child).producers { needing[ObjectIdentifier(producer), default: []].append(index) }
        }
        let awaited = Self.awaited(byPlain: children)
        var lost: Set<ObjectIdentifier> = []
        for member in members {
            let open = member.dependencies.filter { !$0.isOver }
            let isLost: Bool
            if let indices = needing[ObjectIdentifier(member)], let first = indices.first {
                let isKnotted = !open.isEmpty && waits(anyOf: open, forPartsOf: indices.map { children[$0] })
                let isShared = member.neighboursInNet.after.contains { $0.representative(in: self) == nil }
                isLost = isKnotted || isShared && first > 0 && WaitForGraph.waits(for: member, anyOf: children[..<first])
            } else {
                isLost = open.contains { !known.contains(ObjectIdentifier($0)) || lost.contains(ObjectIdentifier($0)) }
            }
            if isLost || awaited.contains(ObjectIdentifier(member)) { lost.insert(ObjectIdentifier(member)) }
        }
        return lost
    }

    /// Whether one of `operations` is inside of one of `children`, or waits for something that is.
    private func waits(anyOf operations: [Foundation.Operation], forPartsOf children: [Foundation.Operation]) -> Bool {
        var seen: Set<ObjectIdentifier> = []
        var pending = operations
        while let operation = pending.popLast() {
            guard !operation.isOver, seen.insert(ObjectIdentifier(operation)).inserted else { continue }
            let owner = (operation as? AOperation) ?? operation.groupToStartPlain
            if let child = owner?.representative(in: self), child !== operation, child !== self {
                if children.contains(where: { $0 === child }) { return true }
            } else {
                pending += operation.dependencies
            }
        }
        return false
    }

    /// What plain operations among `children` wait for: these tell nobody, and are not moved.
    private static func awaited(byPlain children: [Foundation.Operation]) -> Set<ObjectIdentifier> {
        var seen: Set<ObjectIdentifier> = []
        var pending = children.filter { !($0 is AOperation) && !$0.isOver }.flatMap(\.dependencies)
        while let operation = pending.popLast() {
            guard !operation.isOver, seen.insert(ObjectIdentifier(operation)).inserted else { continue }
            pending += operation.dependencies
        }
        return seen
    }

    /// Adds an operation to the queue that this group, or what is around it, is in; before the barriers that wait for the group.
    private func addToQueue(_ operation: AOperation) {
        guard let place = (enclosingOperations.last ?? self).core.withLock({ $0.membership }) else { return }
        if let queue = place.host as? AOperationQueue {
            queue.add(operation, epoch: place.epoch)
        } else {
            operation.enterNet(into: .outside) { member in
                if member.isInitialized { member.enter(.outside, of: nil, announcement: .onStart) }
            }
        }
    }

    /// An operation with what belongs to its delivery net and may come to be a child of this group with it. It need not:
    /// a group around this one is asked before.
    final func candidates(near operation: AOperation) -> [AOperation] { candidates(near: operation, without: []) }

    /// - Parameter withFreshGroups: in place of what is in a group that nobody has added, that group: nobody else brings it along.
    private func candidates(
        near operation: AOperation, without excluded: Set<ObjectIdentifier>, withFreshGroups: Bool = false
    ) -> [AOperation] {
        guard operation.hasDeliveryNet else { return [operation] }
        return AdmissionOrder.collect(
            from: operation,
            standingFor: { [self] neighbour in
                var member = neighbour.representative(in: self)
                if member == nil, withFreshGroups { member = neighbour.freshOutermost }
                return member.flatMap { $0.isLeft(to: self) && !excluded.contains(ObjectIdentifier($0)) ? $0 : nil }
            }
        ) { member in
            member.neighboursInNet
        }
    }
}

extension AOperation {
    /// The group around all that it is in, if nobody has added that.
    fileprivate var freshOutermost: AOperation? {
        let group = outermost
        return group.isInitialized && group.isInNoKnownQueue ? group : nil
    }

    /// Whether nobody else is about to add it.
    fileprivate func isLeft(to group: GroupOperation) -> Bool { core.withLock { !$0.isReserved || $0.group === group } }

    /// The child of `group` that this operation is, or is in; the operation itself when it is in no group; nil when
    /// it is somewhere else.
    fileprivate func representative(in group: GroupOperation) -> AOperation? {
        guard var owner = core.withLock({ $0.group }) else { return self }
        var operation = self
        while owner !== group {
            operation = owner
            guard let next = operation.core.withLock({ $0.group }) else { return nil }
            owner = next
        }
        return operation
    }
}
