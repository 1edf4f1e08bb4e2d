import Foundation

/// Plain operations for which one of ours waits, if only by way of others of them.
///
/// In a plain queue they tell nobody whom they wait for in their turn. So that is found when somebody begins to wait for them,
/// and those who are waited for know it: their ends count for others than their retry scope.
///
/// Complexity: each is looked at once, so that all calls together are O(plain operations and their dependencies).
enum AwaitedPlain {
    private struct Known {
        weak var operation: Foundation.Operation?
    }

    private struct State {
        var known: [ObjectIdentifier: Known] = [:]
        /// How many there may be before those that have ended are looked for.
        var limit = AwaitedPlain.fewest
    }

    private static let fewest = 64
    private static let state = Guarded(State())

    /// One of ours has begun to wait for `operation`, a plain one.
    static func note(_ operation: Foundation.Operation) {
        var pending = [operation]
        while let plain = pending.popLast() {
            // Where a queue of ours, or a group, has it run, it is known to wait.
            guard !plain.isFinished, !plain.isExecuting, !PlainPlaces.isInOurQueue(plain), isNew(plain) else { continue }
            for dependency in plain.dependencies {
                if let dependency = dependency as? AOperation { dependency.isAwaited(by: plain) } else { pending.append(dependency) }
            }
        }
    }

    /// Whether one of ours has waited for `operation` since before it was in a queue of ours.
    static func isKnown(_ operation: Foundation.Operation) -> Bool {
        let known = state.withLock { $0.known[ObjectIdentifier(operation)]?.operation }
        return known === operation
    }

    private static func isNew(_ plain: Foundation.Operation) -> Bool {
        let (isNew, looked) = state.withLock { state -> (Bool, [Foundation.Operation]) in
            let id = ObjectIdentifier(plain)
            if let known = state.known[id], known.operation != nil { return (false, []) }
            var open: [Foundation.Operation] = []
            if state.known.count >= state.limit {
                open = state.known.values.compactMap(\.operation)
                state.known = state.known.filter { $0.value.operation != nil }
                state.limit = max(fewest, 2 * state.known.count)
            }
            state.known[id] = Known(operation: plain)
            return (true, open)
        }
        return withExtendedLifetime(looked) { isNew }  // none of the program's objects goes away under the lock
    }
}

/// Somebody who is to wait for an operation, and is not held for that.
final class WaitingOperation: Sendable {
    private weak let operation: Foundation.Operation?
    init(_ operation: Foundation.Operation) { self.operation = operation }

    /// Whether it still is to wait for `awaited`. One that was cancelled is not.
    func awaits(_ awaited: AOperation) -> Bool {
        guard let operation, !operation.isCancelled else { return false }
        guard let operation = operation as? AOperation else { return !operation.isFinished && operation.dependencies.contains(awaited) }
        return operation.core.withLock { $0.dependencies.contains(awaited) }
    }
}

extension AOperation {
    /// `plain` waits for it, and one of ours waits for that.
    fileprivate final func isAwaited(by plain: Foundation.Operation) {
        let isOpen = core.withLock { core in
            guard !core.state.isEnded else { return false }
            core.attach().plainWaiters[ObjectIdentifier(plain)] = WaitingOperation(plain)
            return true
        }
        if isOpen { endIsFollowedOutside() }
    }

    /// Whether others than those who wait for it here learn of its end, and are in no retry scope with it.
    final var isFollowedOutside: Bool {
        let (isFollowed, plain) = core.withLock { core in
            (core.joiners > 0 || core.attachments?.streams.isEmpty == false, core.attachments?.plainWaiters)
        }
        return isFollowed || plain?.values.contains { $0.awaits(self) } == true
    }
}
