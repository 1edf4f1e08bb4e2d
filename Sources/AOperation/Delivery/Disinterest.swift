import Foundation

/// How many of those who receive from an operation, or wait for it, are known to have been cancelled: the first so many.
///
/// Who was cancelled stays so. Each cancelled receiver asks whether all the others were: only from here on they are
/// looked at, so that cancelling 100,000 receivers of one producer is not quadratic.
struct Disinterest {
    fileprivate var receivers = 0
    fileprivate(set) var waiters = 0
    /// Counts the waiters that were removed: what was counted before one of these is of no use.
    fileprivate var removals = 0

    /// - Parameter known: how many places of waiters are known by now.
    mutating func waiterRemoved(leaving known: Int) {
        removals += 1
        waiters = known
    }

    /// Remembers what `other` has found beyond this.
    fileprivate mutating func advance(to other: Disinterest) {
        receivers = max(receivers, other.receivers)
        if removals == other.removals { waiters = max(waiters, other.waiters) }
    }
}

extension AOperation {
    /// Whether all who receive from this operation, wait for it, have declared that they depend on it or have joined it have been
    /// cancelled, and no task waits for its result. Amortised constant time.
    final var isUnneeded: Bool {
        let (receivers, waiters, known, isKept) = core.withLock { core in
            (
                core.receivers, core.waiters.places, core.attachments?.disinterest ?? Disinterest(),
                // Who waited for what is provisional has been told of it, and is not known any more.
                core.declaredDependents > 0 || core.joiners > 0 || core.state.isProvisional
            )
        }
        guard !isKept else { return false }
        var disinterest = known
        while disinterest.receivers < receivers.count, receivers[disinterest.receivers].wasCancelled {
            disinterest.receivers += 1
        }
        while disinterest.waiters < waiters.count,
            waiters[disinterest.waiters].isUninterested
        {
            disinterest.waiters += 1
        }
        withAttachments { $0.disinterest.advance(to: disinterest) }
        return disinterest.receivers >= receivers.count && disinterest.waiters >= waiters.count
    }

    /// An operation in no queue has declared that it depends on this one: it will wait. Or a task waits for its result.
    final func declareDependent() { core.withLock { $0.declaredDependents += 1 } }

    /// It does not wait any more, or not as one that has only declared it.
    final func withdrawDependent() { core.withLock { $0.declaredDependents -= 1 } }

    /// Whether somebody cancelled it; an attempt that has timed out was not.
    fileprivate var wasCancelled: Bool { core.withLock { $0.isCancelKnown } }
}

extension [Foundation.Operation] {
    /// Who has declared that it depends on these waits for them by now, or never will.
    func withdrawDeclaration() {
        for case let operation as AOperation in self { operation.withdrawDependent() }
    }
}

extension Waiter {
    /// Whether it waits for nothing any more, as it was cancelled, or waits in another way.
    fileprivate var isUninterested: Bool {
        switch self {
        case let operation as AOperation: operation.wasCancelled
        case let waiter as FoundationWaiter: !waiter.isInterested
        default: WaiterList.isHole(self)
        }
    }
}
