import Foundation

extension GroupOperation {
    /// The children in child order, with what delivers to them or receives from them and is in no group or queue: that
    /// becomes a child too, a producer just before the first that needs it, a receiver just after the last that it needs. In
    /// an ordered group a producer that is listed after its receiver is moved before it, and what is inside of children
    /// counts as well.
    final func listWithNets(_ operations: [Foundation.Operation]) -> [Foundation.Operation] {
        guard operations.contains(where: { ($0 as? AOperation)?.hasDeliveryNet == true }) else { return operations }
        var nets = NetArrangement(operations, movesListed: isOrdered)
        for operation in operations where !nets.knows(operation) {
            nets.add(belongings(of: operation))
        }
        nets.connect { [self] member in needs(of: member) }
        return nets.arranged()
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

    /// An operation with what belongs to its delivery net and may be a child of this group: it is one from now on. What may
    /// not, because it waits for the group, comes into the queue beside it.
    final func belongings(of operation: Foundation.Operation) -> [Foundation.Operation] {
        guard let operation = operation as? AOperation else { return [operation] }
        var (members, waiting) = net(of: operation)
        guard members.count + waiting.count > 1 else { return members }
        let isOutside = core.withLock { $0.membership?.lane.root === Lane.outside }
        members.removeAll { member in
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
        RetryScope.assign(to: members)
        for member in waiting { addToQueue(member) }
        return members
    }

    /// An operation with what belongs to its delivery net and may come to be a child of this group with it. It need not:
    /// a group around this one is asked before.
    final func candidates(near operation: AOperation) -> [AOperation] { net(of: operation).members }

    /// What belongs to the delivery net of an operation: what may be in this group with it, and what would wait for ever there.
    private func net(of operation: AOperation) -> (members: [AOperation], waiting: [AOperation]) {
        guard operation.hasDeliveryNet else { return ([operation], []) }
        let all = candidates(near: operation, without: [])
        let known = Set(all.map { ObjectIdentifier($0) })
        let new = all.filter { member in member !== operation && !roster.withLock { $0.contains(member) } }
        let dependent = new.filter { member in
            member.dependencies.contains { !known.contains(ObjectIdentifier($0)) && !$0.isOver }
        }
        var excluded = dependent.isEmpty ? [] : WaitForGraph.thoseWhoWait(for: self, among: dependent)
        if isOrdered { excluded.formUnion(withoutPlace(among: new)) }
        guard !excluded.isEmpty else { return (all, []) }
        return (candidates(near: operation, without: excluded), all.filter { excluded.contains(ObjectIdentifier($0)) })
    }

    /// In an ordered group: which of `members` have no place, because a child before the first that needs them waits for
    /// them elsewhere, or because they wait for something inside of a child that needs them.
    private func withoutPlace(among members: [AOperation]) -> Set<ObjectIdentifier> {
        let suspects = members.filter { member in
            member.neighboursInNet.after.contains { $0.representative(in: self) == nil }
                || member.dependencies.contains { ($0 as? AOperation).map { $0.representative(in: self) !== $0 } ?? false }
        }
        guard !suspects.isEmpty else { return [] }
        let children = operations.filter { !$0.isOver }
        let needed = children.map { child in
            Set((child as? AOperation).map { needs(of: $0).producers.map { ObjectIdentifier($0) } } ?? [])
        }
        let lost = suspects.filter { member in
            guard let first = needed.firstIndex(where: { $0.contains(ObjectIdentifier(member)) }) else { return false }
            let needing = zip(children, needed).filter { $1.contains(ObjectIdentifier(member)) }.map(\.0)
            let isKnotted = member.dependencies.contains { dependency in
                guard let child = (dependency as? AOperation)?.representative(in: self), child !== dependency else { return false }
                return needing.contains { $0 === child }
            }
            return isKnotted || first > 0 && WaitForGraph.waits(for: member, anyOf: children[..<first])
        }
        return Set(lost.map { ObjectIdentifier($0) })
    }

    /// Adds an operation to the queue that this group, or what is around it, is in; before the barriers that wait for the group.
    private func addToQueue(_ operation: AOperation) {
        let place = (enclosingOperations.last ?? self).core.withLock { $0.membership }
        if let queue = place?.host as? AOperationQueue {
            queue.add(operation, epoch: place?.epoch)
        } else {
            operation.enterNet { member in
                if member.isInitialized { member.enter(.outside, of: nil, announcement: .onStart) }
            }
        }
    }

    private func candidates(near operation: AOperation, without excluded: Set<ObjectIdentifier>) -> [AOperation] {
        AdmissionOrder.collect(
            from: operation,
            standingFor: { [self] neighbour in
                guard let member = neighbour.representative(in: self), !excluded.contains(ObjectIdentifier(member)) else { return nil }
                return member
            }
        ) { member in
            member.neighboursInNet
        }
    }
}

extension AOperation {
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
