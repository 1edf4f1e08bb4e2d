import Foundation

extension GroupOperation {
    /// The children in child order, with what delivers to them or receives from them and is in no group or queue: that
    /// becomes a child too, a producer just before the first that needs it, a receiver just after its last producer. In
    /// an ordered group a producer that is listed after its receiver is moved before it.
    final func listWithNets(_ operations: [Foundation.Operation]) -> [Foundation.Operation] {
        guard operations.contains(where: { ($0 as? AOperation)?.hasDeliveryNet == true }) else { return operations }
        var nets = NetArrangement(operations, movesListed: isOrdered)
        for operation in operations where !nets.knows(operation) {
            nets.add(belongings(of: operation)) { [self] member in
                member.neighboursInNet.before.compactMap { $0.representative(in: self) }
            }
        }
        return nets.arranged()
    }

    /// An operation with what belongs to its delivery net and may be a child of this group: it is one from now on.
    final func belongings(of operation: Foundation.Operation) -> [Foundation.Operation] {
        guard let operation = operation as? AOperation else { return [operation] }
        let members = candidates(near: operation)
        guard members.count > 1 else { return members }
        let isOutside = core.withLock { $0.membership?.lane.root === Lane.outside }
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
        var waitsForGroup: [ObjectIdentifier: Bool] = [:]
        return AdmissionOrder.collect(
            from: operation,
            standingFor: { [self] neighbour in
                guard let member = neighbour.representative(in: self) else { return nil }
                let isChild = roster.withLock { $0.contains(member) }
                return !isChild && member.waits(forGroup: self, &waitsForGroup) ? nil : member
            }
        ) { member in
            member.neighboursInNet
        }
    }
}

extension AOperation {
    /// Whether it waits, directly or not, for `group` or one around it: it cannot be a child then.
    ///
    /// - Parameter known: what is known of other operations.
    fileprivate func waits(forGroup group: GroupOperation, _ known: inout [ObjectIdentifier: Bool]) -> Bool {
        if let answer = known[ObjectIdentifier(self)] { return answer }
        var around: Set<ObjectIdentifier> = []
        var outer: GroupOperation? = group
        while let next = outer {
            around.insert(ObjectIdentifier(next))
            outer = next.core.withLock { $0.group }
        }
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
        var pending: [AOperation] = [self]
        while let operation = pending.popLast() {
            guard !operation.isEnded else { continue }
            for case let dependency as AOperation in operation.dependencies {
                if around.contains(ObjectIdentifier(dependency)) || known[ObjectIdentifier(dependency)] == true {
                    known[ObjectIdentifier(self)] = true
                    return true
                }
                if known[ObjectIdentifier(dependency)] == nil, seen.insert(ObjectIdentifier(dependency)).inserted {
                    pending.append(dependency)
                }
            }
        }
        for one in seen { known[one] = false }
        return false
    }

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
