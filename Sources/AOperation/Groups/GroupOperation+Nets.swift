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

    /// An operation with what belongs to its delivery net and may be a child of this group: it is one from now on.
    final func belongings(of operation: Foundation.Operation) -> [Foundation.Operation] {
        guard let operation = operation as? AOperation else { return [operation] }
        var members = candidates(near: operation)
        guard members.count > 1 else { return members }
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
        return members
    }

    /// An operation with what belongs to its delivery net and may come to be a child of this group with it. It need not:
    /// a group around this one is asked before.
    final func candidates(near operation: AOperation) -> [AOperation] {
        guard operation.hasDeliveryNet else { return [operation] }
        let all = candidates(near: operation, without: [])
        let known = Set(all.map { ObjectIdentifier($0) })
        let waiting = all.filter { member in
            guard member !== operation, !roster.withLock({ $0.contains(member) }) else { return false }
            return member.dependencies.contains { !known.contains(ObjectIdentifier($0)) && !$0.isOver }
        }
        guard !waiting.isEmpty else { return all }
        let excluded = WaitForGraph.thoseWhoWait(for: self, among: waiting)
        return excluded.isEmpty ? all : candidates(near: operation, without: excluded)
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
