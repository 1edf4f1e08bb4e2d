import Foundation

/// The end of a delivery net that is tried again when it fails, and the operations above it that may be tried again
/// with it: those from which every path leads to that end.
///
/// What fails among them, and what followed on a failure, is held provisionally until the end has decided.
///
/// Locks stay with an operation over all its attempts. If the operations of a scope name several, the first that needs one
/// takes all of them in one step, as a group does: none of the scope holds one while another waits for one that somebody
/// else holds. The scope keeps each until the last operation that names it has ended, and lends it meanwhile.
///
/// Invariant behind `@unchecked Sendable`: `state` is only reached under its lock; the rest is constant.
final class RetryScope: @unchecked Sendable {
    private weak let tail: AOperation?
    private let members: Set<ObjectIdentifier>
    /// The members and the end.
    private let operations: [Reference]
    private let state = Guarded(State())

    private struct State {
        /// In the order in which their attempts ended: producers before receivers.
        var provisional: [AOperation] = []
        /// What attempts that are over have locked: kept for those that are tried again, lent to all others.
        var locks = KeptLocks()
        var keys = Keys.unknown
        /// What was taken in one step, while `keys` says so: by names, and how many that name it have not ended.
        var taken: [String: (request: LockRequest, users: Int)] = [:]
        /// How often they were taken.
        var takings = 0
        /// The members that the scope waits for by way of others; nil: they were not looked for.
        var detours: Set<ObjectIdentifier>?
        /// Who will wait for members, from outside, by the members: see ``foresee(_:)``.
        var foreseen: [ObjectIdentifier: [Waiting]] = [:]
        /// Members for which nobody outside waits, not even by way of others, as far as ``isAwaited(_:by:)`` has looked.
        var unawaited: Set<ObjectIdentifier> = []
        /// How often somebody has begun to wait for a member.
        var waits = 0
        var stage = Stage.open
    }

    private final class Reference: Sendable {
        weak let operation: AOperation?
        init(_ operation: AOperation) { self.operation = operation }
    }

    /// Somebody who will wait for a member.
    private final class Waiting: Sendable {
        weak let operation: Foundation.Operation?
        init(_ operation: Foundation.Operation) { self.operation = operation }

        /// Whether it still is to wait for `member`.
        func awaits(_ member: AOperation) -> Bool {
            guard let operation = operation as? AOperation else { return operation?.dependencies.contains(member) == true }
            return operation.core.withLock { $0.dependencies.contains(member) }
        }
    }

    /// The locks that the operations of the scope name.
    private enum Keys {
        /// Nobody has asked for one.
        case unknown
        /// There is one only: everybody asks for it when he needs it.
        case single
        /// They are to be taken by the first who needs one.
        case several([MutualExclusion])
        /// They were taken.
        case taken
    }

    private enum Stage {
        case open
        /// The outcome of the end is decided, and so are those of the others; so many of these have not ended.
        case over(open: Int)
        /// All have ended: the locks have been given back.
        case released
    }

    private init(tail: AOperation, members: Set<ObjectIdentifier>, of net: [AOperation]) {
        self.tail = tail
        self.members = members
        operations = net.filter { $0 === tail || members.contains(ObjectIdentifier($0)) }.map { Reference($0) }
    }

    /// Finds the scopes in a delivery net that is about to be run; `net` names producers before their receivers.
    ///
    /// Several threads may be about to run parts of one net. None of them runs anything before it has done this, so
    /// that the first has seen all of the net: its scope counts.
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
        for (id, inside) in members(of: tails, in: net) {
            guard let tail = tails[id] else { continue }
            let scope = tail.core.withLock { core -> RetryScope? in
                guard core.state.ending == nil else { return nil }  // cancelled in this moment
                let scope = core.retryScope ?? RetryScope(tail: tail, members: inside, of: net)
                core.retryScope = scope
                return scope
            }
            guard let scope else { continue }
            for operation in net where scope.isMember(operation) { operation.core.withLock { $0.retryScope = scope } }
        }
    }

    /// By the tails: the operations from which all paths lead to it.
    private static func members(
        of tails: [ObjectIdentifier: AOperation], in net: [AOperation]
    ) -> [ObjectIdentifier: Set<ObjectIdentifier>] {
        var destination: [ObjectIdentifier: ObjectIdentifier] = [:]
        var members: [ObjectIdentifier: Set<ObjectIdentifier>] = [:]
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
            members[target, default: []].insert(id)
        }
        return members
    }

    func isMember(_ operation: AOperation) -> Bool { members.contains(ObjectIdentifier(operation)) }

    /// The end, if `operation` is held provisionally: it waits for that one's decision.
    var decider: AOperation? { tail }

    /// Whether all of `waiters` may be told of a provisional end.
    func covers(_ waiters: [any Waiter]) -> Bool {
        waiters.allSatisfy { waiter in
            if let waiter = waiter as? FoundationWaiter { return !waiter.isWaiting }
            guard let operation = (waiter as? AOperation)?.logical else { return false }
            return operation === tail || isMember(operation)
        }
    }

    /// Whether some of the scope waits for somebody outside who waits for the member. In a Foundation queue nobody tells of
    /// plain operations that wait.
    ///
    /// - Complexity: once for a scope O(operations and dependencies before it).
    private func isOnDetour(_ member: AOperation) -> Bool {
        if let detours = state.withLock({ $0.detours }) { return detours.contains(ObjectIdentifier(member)) }
        let inside = Set(operations.compactMap(\.operation).map { ObjectIdentifier($0) })
        var pending = operations.compactMap(\.operation).flatMap(\.dependencies).filter { !inside.contains(ObjectIdentifier($0)) }
        var seen: Set<ObjectIdentifier> = []
        while let operation = pending.popLast() {
            guard seen.insert(ObjectIdentifier(operation)).inserted, !inside.contains(ObjectIdentifier(operation)) else { continue }
            pending += operation.dependencies
        }
        state.withLock { $0.detours = seen }
        return seen.contains(ObjectIdentifier(member))
    }

    /// Whether somebody waits for `member` who must not be told of a provisional end, or may not be known; or for one of the
    /// scope that waits for it: that one goes on with its end, and its own end is told.
    func isAwaited(_ member: AOperation, by waiters: [any Waiter]) -> Bool {
        if !covers(waiters) || isAwaitedByWayOfOthers(member) { return true }
        return member.core.withLock { $0.membership?.lane.root === Lane.outside } && isOnDetour(member)
    }

    /// - Complexity: O(operations and dependencies below it), once for all members as long as nobody else begins to wait.
    private func isAwaitedByWayOfOthers(_ member: AOperation) -> Bool {
        let waits = state.withLock(\.waits)
        var seen: Set<ObjectIdentifier> = []
        var pending = [member]
        while let next = pending.popLast() {
            let id = ObjectIdentifier(next)
            guard !state.withLock({ $0.unawaited.contains(id) }), seen.insert(id).inserted else { continue }
            if willBeAwaited(next) { return true }
            for waiter in next.core.withLock(\.waiters) {
                guard let operation = (waiter as? AOperation)?.logical else {
                    if (waiter as? FoundationWaiter)?.isWaiting != false { return true }
                    continue
                }
                guard operation !== tail else { continue }
                guard isMember(operation) else { return true }
                pending.append(operation)
            }
        }
        state.withLock { if $0.waits == waits { $0.unawaited.formUnion(seen) } }
        return false
    }

    /// Somebody has begun to wait for a member.
    func noteWait() {
        state.withLock { state in
            state.waits += 1
            state.unawaited = []
        }
    }

    /// Whether the end cannot decide before a barrier that waits for `operation`, or is not known to be able to.
    func isBehindABarrier(from operation: AOperation) -> Bool {
        guard let place = operation.core.withLock({ $0.membership }), place.lane.hasBarrier(behind: place.epoch) else { return false }
        guard let end = tail?.core.withLock({ $0.membership }), end.lane === place.lane else { return true }
        return end.epoch > place.epoch
    }

    /// An operation's attempt is about to end provisionally. False when there is nobody to decide about it any more.
    func hold(_ operation: AOperation) -> Bool {
        state.withLock { state in
            guard case .open = state.stage else { return false }
            state.provisional.append(operation)
            return true
        }
    }

    /// What `operation` would have tried again with it.
    func restartable(by operation: AOperation) -> [AOperation] {
        guard operation === tail else { return [] }
        return sorted(state.withLock { $0.provisional }.filter { $0.core.withLock { $0.state.isProvisional } }).again
    }

    /// Takes out what `operation` has tried again with it.
    func restart(by operation: AOperation) -> [AOperation] {
        guard operation === tail else { return [] }
        takeLocks(of: operation)
        let provisional = state.withLock { state in
            defer { state.provisional = [] }
            return state.provisional
        }
        let (again, over) = sorted(provisional)
        for member in over { member.acceptAttempt() }
        return again
    }

    /// Those that can still deliver to the end, if only by way of others, are tried again. The outcome of a receiver
    /// between may be decided already, because others waited for it: what it received is of no use to the end any more.
    private func sorted(_ provisional: [AOperation]) -> (again: [AOperation], over: [AOperation]) {
        guard !provisional.isEmpty, let tail else { return ([], provisional) }
        var ways: Set<ObjectIdentifier> = [ObjectIdentifier(tail)]
        for operation in operations.reversed().compactMap(\.operation) where operation !== tail {
            let (isOver, receivers) = operation.core.withLock { ($0.state.ending != nil, $0.receivers) }
            guard !isOver, receivers.contains(where: { ways.contains(ObjectIdentifier($0)) }) else { continue }
            ways.insert(ObjectIdentifier(operation))
        }
        return (
            provisional.filter { ways.contains(ObjectIdentifier($0)) },
            provisional.filter { !ways.contains(ObjectIdentifier($0)) }
        )
    }

    /// The outcome of `operation` is decided: if it is the end, so are all others.
    func decided(_ operation: AOperation) {
        guard operation === tail else { return acceptWhatIsAbove(operation) }
        let members = state.withLock { state in
            state.stage = .over(open: state.provisional.count + 1)
            defer { state.provisional = [] }
            return state.provisional
        }
        for member in members { member.acceptAttempt() }
        for member in members { member.onEnd { [self] _ in letGo() } }
        letGo()
    }

    /// An end for which somebody outside waits is told: those that it followed are not tried again. If nobody waits there it
    /// was cancelled, or keeps what it has succeeded with.
    private func acceptWhatIsAbove(_ member: AOperation) {
        guard state.withLock({ !$0.provisional.isEmpty }) else { return }
        let (ending, waiters) = member.core.withLock { ($0.state.ending, $0.waiters) }
        guard ending?.isCancelled == false, isAwaited(member, by: waiters) else { return }
        for operation in provisional(above: member) { operation.acceptAttempt() }
    }

    /// Those that `member` has waited for and that are held, each behind those that it has waited for.
    private func provisional(above member: AOperation) -> [AOperation] {
        var found: [AOperation] = []
        var seen: Set<ObjectIdentifier> = []
        var pending = [(member, isExplored: false)]
        while let (next, isExplored) = pending.popLast() {
            if isExplored {
                found.append(next)
                continue
            }
            guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
            pending.append((next, isExplored: true))
            for case let operation as AOperation in next.dependencies
            where isMember(operation) && operation.core.withLock({ $0.state.isProvisional }) {
                pending.append((operation, isExplored: false))
            }
        }
        return found.dropLast()
    }

    private func letGo() {
        let locks = state.withLock { state -> [LockRequest] in
            guard case .over(let open) = state.stage else { return [] }
            state.stage = open > 1 ? .over(open: open - 1) : .released
            guard case .released = state.stage else { return [] }
            return state.locks.removeAll()
        }
        for request in locks { LockTable.shared.release(request) }
    }
}

// MARK: - Those who will wait

extension RetryScope {
    /// Makes known who waits for whom before `operations`, which come into a queue together, do so one after another: the
    /// first of them may have failed before the last is there.
    ///
    /// - Complexity: O(operations, their dependencies and the nets of these).
    static func foresee(_ operations: some Collection<Foundation.Operation>) {
        guard operations.count > 1 else { return }
        var known: Set<ObjectIdentifier> = []
        for operation in operations {
            for case let member as AOperation in operation.dependencies {
                if member.core.withLock({ $0.retryScope == nil && $0.hasNet }), !known.contains(ObjectIdentifier(member)) {
                    known.formUnion(member.deliveryNet().map { ObjectIdentifier($0) })  // finds its scope
                }
                guard let scope = member.core.withLock(\.retryScope), scope.isMember(member) else { continue }
                scope.foresee(operation, behind: member)
            }
        }
    }

    private func willBeAwaited(_ member: AOperation) -> Bool {
        let foreseen = state.withLock { $0.foreseen[ObjectIdentifier(member)] }
        return foreseen?.contains { $0.awaits(member) } == true
    }

    private func foresee(_ operation: Foundation.Operation, behind member: AOperation) {
        if let operation = operation as? AOperation, covers([operation]) { return }
        state.withLock { state in
            state.foreseen[ObjectIdentifier(member), default: []].append(Waiting(operation))
            state.unawaited = []
            state.waits += 1
        }
    }
}

// MARK: - Locks

extension RetryScope {
    /// Who keeps the lock `name` for the operations of the scope: they take turns.
    func keepers(of name: String) -> [LockRequest] {
        state.withLock { $0.locks.holding(name) }
    }

    /// What whoever of the scope needs a lock has to take in the same step; nil if that is nothing beside his own: so it
    /// is once the end has decided.
    var exclusionsToTake: [MutualExclusion]? {
        if case .unknown = state.withLock({ $0.keys }) { findKeys() }
        return state.withLock { state in
            guard case .open = state.stage, case .several(let exclusions) = state.keys else { return nil }
            return exclusions
        }
    }

    private func findKeys() {
        let exclusions = operations.flatMap { $0.operation?.exclusions ?? [] }
        let isSingle = Set(exclusions.map(\.key)).count < 2
        state.withLock { state in
            if case .unknown = state.keys { state.keys = isSingle ? .single : .several(Array(Set(exclusions))) }
        }
    }

    /// Keeps all locks of the scope, that one of its operations was granted, and lends them.
    func take(_ request: LockRequest) {
        let users = operations.compactMap(\.operation).map { ($0, Set($0.exclusions.map(\.key))) }
        var counts: [String: Int] = [:]
        for (_, names) in users { for name in names { counts[name, default: 0] += 1 } }
        let parts = LockTable.shared.split(request, to: tail)
        let taking = state.withLock { state -> Int? in
            guard case .several = state.keys, case .open = state.stage else { return nil }
            for part in parts {
                for name in part.names { state.taken[name] = (part, counts[name, default: 0]) }
                state.locks.append(part)
            }
            state.keys = .taken
            state.takings += 1
            return state.takings
        }
        // Semaphores may have been granted to two of the scope at once; the end may have decided.
        guard let taking else { return parts.forEach(LockTable.shared.release) }
        for part in parts { lend(part) }
        for (operation, names) in users where !names.isEmpty {
            operation.onEnd { [self] _ in giveBack(names, of: taking) }
        }
    }

    /// One of those who named `names` has ended.
    private func giveBack(_ names: Set<String>, of taking: Int) {
        let free = state.withLock { state -> [LockRequest] in
            guard case .taken = state.keys, state.takings == taking else { return [] }
            var free: [LockRequest] = []
            for name in names {
                guard let (request, users) = state.taken[name] else { continue }
                state.taken[name] = users > 1 ? (request, users - 1) : nil
                if users <= 1 { free.append(request) }
            }
            for request in free { state.locks.remove(request) }
            return free
        }
        for request in free { LockTable.shared.release(request) }
    }

    /// The queue starts nothing: the locks go back if none of the scope has begun.
    func putBack() {
        guard operations.allSatisfy({ $0.operation?.core.withLock { $0.state.isUnstarted } == true }) else { return }
        let free = state.withLock { state -> [LockRequest] in
            guard case .taken = state.keys else { return [] }
            state.keys = .unknown
            let free = state.taken.values.map(\.request)
            state.taken = [:]
            for request in free { state.locks.remove(request) }
            return free
        }
        for request in free { LockTable.shared.release(request) }
    }

    /// An attempt of `operation` is over: what it has locked is kept here, until all of the scope have ended, and lent
    /// to those of the scope who ask for it, and to those whom the scope waits for. What it was lent it gives back.
    func takeLocks(of operation: AOperation) {
        let request = operation.core.withLock { core in
            defer { core.lockRequest = nil }
            return core.lockRequest
        }
        guard let request else { return }
        let kept = LockTable.shared.handOver(request, to: tail) { id in
            id.scope.map { scope in !state.withLock { $0.locks.contains(scope) } } ?? true
        }
        if let kept { keep(kept) }
    }

    private func keep(_ kept: LockRequest) {
        let isKept = state.withLock { state in
            if case .released = state.stage { return false }
            state.locks.append(kept)
            return true
        }
        if isKept { lend(kept) } else { LockTable.shared.release(kept) }
    }

    /// Those who wait for what is kept from now on, and may have it, get it.
    private func lend(_ kept: LockRequest) {
        tail?.noteCrossing()  // it may wait for what is outside of the scope
        let waiters = LockTable.shared.waiters(for: kept)
        guard !waiters.isEmpty else { return }
        for waiting in waiters {
            guard let operation = waiting.operation else { continue }
            if operation.isInside(of: self) {
                operation.askAgain(inPlaceOf: waiting)
            } else if let tail, WaitForGraph.leads(from: tail, to: operation) {
                operation.borrow(from: [kept], inPlaceOf: waiting)
            }
        }
        tail?.checkKeptLocks()
    }
}
