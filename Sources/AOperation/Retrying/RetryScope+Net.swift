/// Where the retry scopes of a delivery net are.
extension RetryScope {
    /// Finds the scopes in a delivery net that is about to be run; `net` names producers before their receivers. What is not
    /// being added yet may still get other receivers or producers, or come into a group: it is in no scope.
    ///
    /// Several threads may be about to run parts of one net. None of them runs anything before it has done this, so
    /// that the first has seen all of the net: its scope counts.
    ///
    /// - Returns: whether there are any.
    /// - Complexity: O(operations and deliveries of the net), if any of it may be tried again.
    static func assign(to net: [AOperation]) -> Bool {
        guard net.count > 1 else { return false }
        var tails: [ObjectIdentifier: AOperation] = [:]
        for operation in net {
            let isTail = operation.core.withLock { $0.retryDecider != nil && $0.receivers.isEmpty && !$0.producers.isEmpty }
            if isTail, operation.isOrderless { tails[ObjectIdentifier(operation)] = operation }
        }
        guard !tails.isEmpty else { return false }
        for (id, members) in members(of: tails, in: net) {
            guard let tail = tails[id] else { continue }
            let scope = tail.core.withLock { core -> RetryScope? in
                guard core.state.ending == nil else { return nil }  // cancelled in this moment
                let scope = core.retryScope ?? RetryScope(tail: tail, members: members)
                core.retryScope = scope
                return scope
            }
            scope?.claim()
        }
        return true
    }

    /// By the tails: the operations from which all paths lead to it, producers before their receivers.
    private static func members(
        of tails: [ObjectIdentifier: AOperation], in net: [AOperation]
    ) -> [ObjectIdentifier: [AOperation]] {
        var destination: [ObjectIdentifier: ObjectIdentifier] = [:]
        var members: [ObjectIdentifier: [AOperation]] = [:]
        for operation in net.reversed() {
            let id = ObjectIdentifier(operation)
            guard tails[id] == nil else {
                destination[id] = id
                continue
            }
            let (receivers, group, streams) = operation.core.withLock { ($0.receivers, $0.group, $0.attachments?.streams.isEmpty == false) }
            guard !streams else { continue }  // those that read while it runs know its outcome before the end does
            let targets = Set(receivers.map { destination[ObjectIdentifier($0)] })
            guard let target = targets.first, let target, targets.count == 1, let tail = tails[target] else { continue }
            guard tail.core.withLock({ $0.group }) === group else { continue }
            destination[id] = target
            members[target, default: []].append(operation)
        }
        return members.mapValues { $0.reversed() }
    }
}
