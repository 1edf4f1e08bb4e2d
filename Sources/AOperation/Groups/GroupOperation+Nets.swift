import Foundation

extension GroupOperation {
    /// The children in child order, each together with what delivers to it or receives from it and is in no group or
    /// queue: it becomes a child too, producers before their receivers.
    final func listWithNets(_ operations: [Foundation.Operation]) -> [Foundation.Operation] {
        var list: [Foundation.Operation] = []
        var known: Set<ObjectIdentifier> = []
        for operation in operations where !known.contains(ObjectIdentifier(operation)) {
            for member in belongings(of: operation) where known.insert(ObjectIdentifier(member)).inserted {
                list.append(member)
            }
        }
        return list
    }

    /// An operation with what belongs to its delivery net and may be a child of this group.
    final func belongings(of operation: Foundation.Operation) -> [Foundation.Operation] {
        guard let operation = operation as? AOperation, operation.hasDeliveryNet else { return [operation] }
        let members = AdmissionOrder.collect(from: operation, standingFor: { $0.representative(in: self) }) { member in
            member.core.withLock { AdmissionOrder.Neighbours(before: $0.producers, after: $0.receivers) }
        }
        for member in members {
            member.core.withLock { core in if core.group == nil { core.group = self } }
        }
        RetryScope.assign(to: members)
        return members
    }
}

extension AOperation {
    /// Whether something delivers to this operation, or receives from it.
    fileprivate var hasDeliveryNet: Bool {
        core.withLock { !$0.producers.isEmpty || !$0.receivers.isEmpty }
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
