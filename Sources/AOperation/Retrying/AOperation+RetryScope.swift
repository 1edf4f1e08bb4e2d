/// What an operation does as one of a retry scope.
extension AOperation {
    /// The operation that this one is an attempt of, or itself.
    final var logical: AOperation { core.withLock { $0.isAttempt ? $0.whole : nil } ?? self }

    /// Whether its place among others of a group does not matter.
    final var isOrderless: Bool { core.withLock { $0.group }?.isOrdered != true }

    /// Whether it, or one that it is inside of, is of `scope`.
    final func isInside(of scope: RetryScope) -> Bool {
        ([self] + enclosingOperations).contains { $0.core.withLock { $0.retryScope } === scope }
    }

    /// The ending of its attempt is the outcome.
    final func acceptAttempt() {
        guard let ending = core.withLock({ $0.state.open }) else { return }
        accept(ending)
    }

    /// Tells those who receive from the operation of an ending that may be tried again. False when there is nobody to
    /// decide that, or somebody else waits, who must not be told yet.
    final func holdProvisionally() -> Bool {
        let (retryScope, waiters, isJoined) = core.withLock { ($0.retryScope, $0.waiters, $0.isJoined) }
        guard let scope = retryScope, scope.isMember(self), !isJoined else { return false }
        // A group may have taken it, or the end, while the scope was made.
        guard scope.decider?.core.withLock({ $0.group }) === core.withLock({ $0.group }) else { return false }
        guard !scope.isBehindABarrier(from: self), !scope.isAwaited(self, by: waiters), scope.hold(self) else { return false }
        scope.takeLocks(of: self)
        guard let waiters = core.withLock({ $0.holdProvisionally() }) else { return true }
        for waiter in waiters {
            // One may have come from outside in this moment.
            if scope.covers([waiter]) || !addWaiter(waiter, untilAnnounced: waiter is PlainMember) {
                waiter.dependencyEnded()
            }
        }
        return true
    }
}
