/// The end of a delivery net that is tried again when it fails, and the operations above it that may be tried again
/// with it: those from which every path leads to that end.
///
/// What fails among them, and what followed on a failure, is held provisionally until the end has decided.
///
/// Invariant behind `@unchecked Sendable`: `state` is only reached under its lock; the rest is constant.
final class RetryScope: @unchecked Sendable {
    private weak let tail: AOperation?
    private let members: Set<ObjectIdentifier>
    private let state = Guarded(State())

    private struct State {
        /// In the order in which their attempts ended: producers before receivers.
        var provisional: [AOperation] = []
        /// The outcome of the end is decided.
        var isOver = false
    }

    private init(tail: AOperation, members: Set<ObjectIdentifier>) {
        self.tail = tail
        self.members = members
    }

    /// Finds the scopes in a delivery net that is about to be run; `net` names producers before their receivers.
    ///
    /// - Complexity: O(operations and deliveries of the net), if any of it may be tried again.
    static func assign(to net: [AOperation]) {
        guard net.count > 1 else { return }
        var tails: [ObjectIdentifier: AOperation] = [:]
        for operation in net {
            let isTail = operation.core.withLock { $0.retryDecider != nil && $0.receivers.isEmpty && !$0.producers.isEmpty }
            if isTail, operation.isOrderless { tails[ObjectIdentifier(operation)] = operation }
        }
        guard !tails.isEmpty else { return }
        // To which tail all paths from an operation lead.
        var destination: [ObjectIdentifier: ObjectIdentifier] = [:]
        var members: [ObjectIdentifier: Set<ObjectIdentifier>] = [:]
        for operation in net.reversed() {
            let id = ObjectIdentifier(operation)
            guard tails[id] == nil else {
                destination[id] = id
                continue
            }
            let (receivers, group) = operation.core.withLock { ($0.receivers, $0.group) }
            let targets = Set(receivers.map { destination[ObjectIdentifier($0)] })
            guard let target = targets.first, let target, targets.count == 1, let tail = tails[target] else { continue }
            guard tail.core.withLock({ $0.group }) === group else { continue }
            destination[id] = target
            members[target, default: []].insert(id)
        }
        for (id, tail) in tails {
            guard let inside = members[id] else { continue }
            let scope = RetryScope(tail: tail, members: inside)
            for operation in net where inside.contains(ObjectIdentifier(operation)) || operation === tail {
                operation.core.withLock { $0.retryScope = scope }
            }
        }
    }

    func isMember(_ operation: AOperation) -> Bool { members.contains(ObjectIdentifier(operation)) }

    /// The end, if `operation` is held provisionally: it waits for that one's decision.
    var decider: AOperation? { tail }

    /// Whether all of `waiters` may be told of a provisional end.
    func covers(_ waiters: [any Waiter]) -> Bool {
        waiters.allSatisfy { waiter in
            guard let operation = (waiter as? AOperation)?.logical else { return false }
            return operation === tail || isMember(operation)
        }
    }

    /// An operation's attempt is about to end provisionally. False when there is nobody to decide about it any more.
    func hold(_ operation: AOperation) -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            state.provisional.append(operation)
            return true
        }
    }

    /// What `operation` would have tried again with it.
    func restartable(by operation: AOperation) -> [AOperation] {
        operation === tail ? state.withLock { $0.provisional } : []
    }

    /// Takes out what `operation` has tried again with it.
    func restart(by operation: AOperation) -> [AOperation] {
        guard operation === tail else { return [] }
        return state.withLock { state in
            defer { state.provisional = [] }
            return state.provisional
        }
    }

    /// The outcome of `operation` is decided: if it is the end, so are all others.
    func decided(_ operation: AOperation) {
        guard operation === tail else { return }
        let members = state.withLock { state in
            state.isOver = true
            defer { state.provisional = [] }
            return state.provisional
        }
        for member in members { member.accept() }
    }

    /// The request of a provisional operation that holds the lock `name`: it lends it to the others.
    func heldRequest(for name: String) -> LockRequest? {
        for operation in state.withLock({ $0.provisional }) {
            if let request = operation.core.withLock({ $0.lockRequest }), request.names.contains(name) { return request }
        }
        return nil
    }
}

extension AOperation {
    /// The operation that this one is an attempt of, or itself.
    fileprivate var logical: AOperation { core.withLock { $0.isAttempt ? $0.whole : nil } ?? self }

    /// Whether its place among others of a group does not matter.
    fileprivate var isOrderless: Bool { core.withLock { $0.group }?.isOrdered != true }

    /// The ending of its attempt is the outcome.
    fileprivate func accept() {
        guard let ending = core.withLock({ $0.state.open }) else { return }
        accept(ending)
    }

    /// Tells those who receive from the operation of an ending that may be tried again. False when there is nobody to
    /// decide that, or somebody else waits, who must not be told yet.
    final func holdProvisionally() -> Bool {
        guard let scope = core.withLock({ $0.retryScope }), scope.isMember(self) else { return false }
        guard scope.covers(core.withLock { $0.waiters }), scope.hold(self) else { return false }
        guard let waiters = core.withLock({ $0.holdProvisionally() }) else { return true }
        for waiter in waiters {
            // One that came from outside in this moment goes on waiting.
            if scope.covers([waiter]) || !addWaiter(waiter, untilAnnounced: waiter is PlainMember) {
                waiter.dependencyEnded()
            }
        }
        return true
    }
}
