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

    /// The ending of this attempt is the outcome, unless something else has been decided about it.
    final func acceptAttempt(_ number: Int) {
        follow(
            core.withLock { core in
                guard core.retries == number, let ending = core.state.open else { return .ignored }
                return core.accept(isHeld: !ending.isCancelled && holdsBack())
            })
    }

    /// Tells those who receive from the operation of an ending that may be tried again. False when there is nobody to
    /// decide that, or somebody else waits, who must not be told yet.
    final func holdProvisionally() -> Bool {
        let (retryScope, number) = core.withLock { ($0.retryScope, $0.retries) }
        guard let scope = retryScope, scope.decides(about: self), scope.hold(self, attempt: number) else { return false }
        scope.takeLocks(of: self)
        guard let waiters = core.withLock({ $0.holdProvisionally() }) else { return true }
        for waiter in waiters {
            // One may have come from outside in this moment.
            if scope.covers(waiter) || !addWaiter(waiter, untilAnnounced: waiter is PlainMember) {
                waiter.dependencyEnded()
            }
        }
        if isFollowedOutside { acceptAttempt(number) }  // so may these
        return true
    }

    /// Somebody outside of its scope, who is none of those that wait for it, is to learn of its end: if that was provisional, it
    /// is the outcome.
    final func endIsFollowedOutside() {
        let (scope, held) = core.withLock { ($0.retryScope, $0.state.isProvisional ? $0.retries : nil) }
        scope?.noteWait()
        if let held { acceptAttempt(held) }
    }
}
