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
    /// The members, producers before receivers, and the end.
    private let operations: [Reference]
    private let state = Guarded(State())

    private struct State {
        /// In the order in which their attempts ended: each behind those that it has waited for.
        var held: [Held] = []
        /// What attempts that are over have locked: kept for those that are tried again, lent to all others.
        var locks = KeptLocks()
        var keys = Keys.unknown
        /// What was taken in one step, while `keys` says so: by names, and how many that name it have not ended.
        var taken: [String: (request: LockRequest, users: Int)] = [:]
        /// How often they were taken.
        var takings = 0
        /// What its operations wait for outside of it; nil: it was not looked for since one of them was given a dependency.
        var outside: [Foundation.Operation]?
        /// What ``outside`` waits for, in turn, as far as only AOperations are in between: these tell whom they wait for. With the
        /// plain operations that are reached so, which do not.
        var detours: (members: Set<ObjectIdentifier>, plain: [Foundation.Operation])?
        /// Who will wait for members, from outside, by the members: see ``foresee(_:)``.
        var foreseen: [ObjectIdentifier: [WaitingOperation]] = [:]
        /// Which members somebody outside waits for, if only by way of others, as far as that was looked for.
        var awaited: [ObjectIdentifier: Awaited] = [:]
        /// The members by way of which the scope waits for itself, when `awaited` was found.
        var detoursOfAwaited: Set<ObjectIdentifier> = []
        /// How often somebody has begun to wait for a member, or has ceased to.
        var waits = 0
        var stage = Stage.open
    }

    /// One whose attempt has ended, while the end may have it tried again.
    private struct Held {
        let operation: AOperation
        let attempt: Int
    }

    private enum Awaited {
        case byNobody
        /// By way of this member, while somebody outside waits for that: this one, if he was found among its waiters.
        case byWayOf(Reference, Witness?)
    }

    private final class Witness: @unchecked Sendable {
        // Invariant: set once, before it is shared.
        private(set) weak var waiter: (any Waiter)?
        init(_ waiter: any Waiter) { self.waiter = waiter }
    }

    fileprivate final class Reference: Sendable {
        weak let operation: AOperation?
        init(_ operation: AOperation) { self.operation = operation }
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

    /// - Parameter members: producers before their receivers.
    init(tail: AOperation, members: [AOperation]) {
        self.tail = tail
        operations = (members + [tail]).map { Reference($0) }
    }

    /// Makes its operations know that they are of it, until they have ended.
    func claim() {
        for operation in operations.compactMap(\.operation) {
            operation.core.withLock { core in if core.state.ending == nil { core.retryScope = self } }
        }
    }

    func isMember(_ operation: AOperation) -> Bool { operation !== tail && operation.core.withLock { $0.retryScope } === self }

    /// The end, if `operation` is held provisionally: it waits for that one's decision.
    var decider: AOperation? { tail }

    // MARK: What is held

    /// Whether it is for the end to decide about an ending of `member`: it can be tried again with it, and nobody outside of the
    /// scope is to learn of the ending before.
    func decides(about member: AOperation) -> Bool {
        guard let tail, isMember(member) else { return false }
        // A group may have taken it, or the end, while the scope was made. The order of one is a bond to those outside.
        guard tail.core.withLock({ $0.group }) === member.core.withLock({ $0.group }), tail.isOrderless else { return false }
        return !isBehindABarrier(from: member) && !isAwaited(member)
    }

    /// Whether the end cannot decide before a barrier that waits for `operation`, or is not known to be able to.
    private func isBehindABarrier(from operation: AOperation) -> Bool {
        guard let place = operation.core.withLock({ $0.membership }), place.lane.hasBarrier(behind: place.epoch) else { return false }
        guard let end = tail?.core.withLock({ $0.membership }), end.lane === place.lane else { return true }
        return end.epoch > place.epoch
    }

    /// An operation's attempt is about to end provisionally. False when there is nobody to decide about it any more.
    func hold(_ operation: AOperation, attempt: Int) -> Bool {
        state.withLock { state in
            guard case .open = state.stage else { return false }
            state.held.append(Held(operation: operation, attempt: attempt))
            return true
        }
    }

    /// What `operation` would have tried again with it.
    func restartable(by operation: AOperation) -> [AOperation] {
        guard operation === tail else { return [] }
        let held = state.withLock(\.held).map(\.operation).filter { $0.core.withLock { $0.state.isProvisional } }
        guard !held.isEmpty else { return [] }
        let ways = waysToTheEnd()
        return held.filter { ways.contains(ObjectIdentifier($0)) }
    }

    /// Has those that are held, and can still deliver to the end, begin anew with it: `operation`. What was held and does not, is
    /// the outcome.
    ///
    /// Others may begin to wait for one in this moment. So those begin anew first that have followed: if one does not, because
    /// its end counts for somebody outside, neither do those that it has followed.
    ///
    /// - Returns: those that begin anew, producers before receivers, each with the ending that does not count.
    func restart(by operation: AOperation) -> [(operation: AOperation, ending: Ending)] {
        guard operation === tail else { return [] }
        takeLocks(of: operation)
        let held = state.withLock(\.held)
        guard !held.isEmpty else { return [] }
        var ways = waysToTheEnd()
        var again: [(operation: AOperation, ending: Ending)] = []
        var followed: Set<ObjectIdentifier> = []
        for one in held.reversed() {
            let (id, member) = (ObjectIdentifier(one.operation), one.operation)
            let delivers = ways.contains(id) && member.core.withLock(\.receivers).contains { ways.contains(ObjectIdentifier($0)) }
            if delivers, !followed.contains(id), let ending = member.core.withLock({ $0.retry(after: one.attempt) }) {
                again.append((member, ending))
                continue
            }
            ways.remove(id)
            guard !followed.contains(id), isToldOutside(member) else { continue }
            followed.formUnion(self.held(above: member).map { ObjectIdentifier($0.operation) })
        }
        let restarted = Set(again.map { ObjectIdentifier($0.operation) })
        for one in held where !restarted.contains(ObjectIdentifier(one.operation)) { one.operation.acceptAttempt(one.attempt) }
        // None are left if the end was decided meanwhile; and none goes away under the lock.
        withExtendedLifetime(held) { state.withLock { $0.held.removeFirst(min(held.count, $0.held.count)) } }
        return again.reversed()
    }

    /// Those that can still deliver to the end, if only by way of others. The outcome of a receiver between may be decided
    /// already, because others waited for it: what it received is of no use to the end any more.
    private func waysToTheEnd() -> Set<ObjectIdentifier> {
        guard let tail else { return [] }
        var ways: Set<ObjectIdentifier> = [ObjectIdentifier(tail)]
        for operation in operations.reversed().compactMap(\.operation) where operation !== tail {
            let (isOver, receivers) = operation.core.withLock { ($0.state.proposed != nil, $0.receivers) }
            guard !isOver, receivers.contains(where: { ways.contains(ObjectIdentifier($0)) }) else { continue }
            ways.insert(ObjectIdentifier(operation))
        }
        return ways
    }

    /// The outcome of `operation` is decided: if it is the end, so are all others.
    func decided(_ operation: AOperation) {
        guard operation === tail else {
            // One that has ended before its turn came waits no more.
            if !operation.core.withLock(\.isProposedByBody) { noteWait() }
            return acceptWhatIsAbove(operation)
        }
        let held = state.withLock { state in
            state.stage = .over(open: state.held.count + 1)
            defer { state.held = [] }
            return state.held
        }
        for one in held { one.operation.acceptAttempt(one.attempt) }
        for one in held { one.operation.onEnd { [self] _ in letGo() } }
        letGo()
    }

    /// An end for which somebody outside waits is told: those that it followed are not tried again.
    private func acceptWhatIsAbove(_ member: AOperation) {
        guard state.withLock({ !$0.held.isEmpty }), isToldOutside(member) else { return }
        for one in held(above: member) { one.operation.acceptAttempt(one.attempt) }
    }

    /// Whether somebody outside waits for the end of `member`, and that counts. If nobody does it may be that of one that was
    /// cancelled, or that keeps what it has succeeded with.
    private func isToldOutside(_ member: AOperation) -> Bool {
        member.core.withLock { $0.state.proposed }?.isCancelled == false && isAwaited(member)
    }

    /// Those that `member` has waited for and that are held, each behind those that it has waited for.
    private func held(above member: AOperation) -> [Held] {
        var found: [Held] = []
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(member)]
        var pending: [(Held, isExplored: Bool)] = []
        func explore(_ operation: AOperation) {
            for case let operation as AOperation in operation.dependencies where isMember(operation) {
                let attempt = operation.core.withLock { $0.state.isProvisional ? $0.retries : nil }
                if let attempt { pending.append((Held(operation: operation, attempt: attempt), isExplored: false)) }
            }
        }
        explore(member)
        while let (next, isExplored) = pending.popLast() {
            if isExplored {
                found.append(next)
            } else if seen.insert(ObjectIdentifier(next.operation)).inserted {
                pending.append((next, isExplored: true))
                explore(next.operation)
            }
        }
        return found
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

// MARK: - Those who wait

extension RetryScope {
    /// Whether `waiter` may be told of a provisional end: it is of the scope, or waits no more.
    func covers(_ waiter: any Waiter) -> Bool {
        guard waiter.stillWaits else { return true }
        guard let operation = (waiter as? AOperation)?.logical else { return false }
        return operation === tail || isMember(operation)
    }

    /// Somebody has begun to wait for a member, or has ceased to.
    func noteWait() {
        state.withLock { state in
            state.waits += 1
            state.awaited = [:]
        }
    }

    /// One of its operations was given a dependency.
    func noteDependency() {
        let dropped = state.withLock { state in
            state.waits += 1
            state.awaited = [:]
            defer { (state.outside, state.detours) = (nil, nil) }
            return (state.outside, state.detours)
        }
        withExtendedLifetime(dropped) {}  // none of the program's objects goes away under the lock
    }

    /// Whether somebody waits for `member` who must not be told of a provisional end, or will; or for one of the scope that
    /// waits for it: that one goes on with its end, and its own end is told.
    ///
    /// - Complexity: O(operations and dependencies below it), once for all members as long as nobody else begins to wait.
    private func isAwaited(_ member: AOperation) -> Bool {
        let detours = self.detours()
        let waits = state.withLock { state in
            if state.detoursOfAwaited != detours { (state.awaited, state.detoursOfAwaited) = ([:], detours) }
            return state.waits
        }
        var answers: [ObjectIdentifier: Awaited] = [:]
        var seen: Set<ObjectIdentifier> = []
        var pending = [(member, isExplored: false)]
        var found: (member: AOperation, witness: Witness?)?
        func find(_ member: AOperation) {
            if let witness = self.witness(of: member) {
                found = (member, witness)
            } else if detours.contains(ObjectIdentifier(member)) || member.isFollowedOutside || willBeAwaited(member) {
                found = (member, nil)
            }
        }
        while found == nil, let (next, isExplored) = pending.popLast() {
            let id = ObjectIdentifier(next)
            if isExplored {
                answers[id] = .byNobody
                continue
            }
            guard seen.insert(id).inserted else { continue }
            switch state.withLock({ $0.awaited[id] }) {
            case .byNobody: continue
            case .byWayOf(let reference, let witness):
                guard let member = reference.operation else { break }
                if let witness, isOutside(witness, of: member) { found = (member, witness) } else { find(member) }
            case nil: break
            }
            pending.append((next, isExplored: true))
            if found == nil { find(next) }
            guard found == nil else { continue }
            for waiter in next.core.withLock(\.waiters.all) {
                guard waiter.stillWaits, let operation = (waiter as? AOperation)?.logical, isMember(operation) else { continue }
                pending.append((operation, isExplored: false))
            }
        }
        if let found {
            // What is not explored to the end is on the way to it.
            let reference = Reference(found.member)
            for (operation, isExplored) in pending where isExplored {
                answers[ObjectIdentifier(operation)] = .byWayOf(reference, found.witness)
            }
        }
        state.withLock { state in
            if state.waits == waits, state.detoursOfAwaited == detours { state.awaited.merge(answers) { _, new in new } }
        }
        return found != nil
    }

    /// Somebody outside who waits for `member`.
    private func witness(of member: AOperation) -> Witness? {
        member.core.withLock(\.waiters.all).first { !covers($0) }.map { Witness($0) }
    }

    private func isOutside(_ witness: Witness, of member: AOperation) -> Bool {
        guard let waiter = witness.waiter, !covers(waiter) else { return false }
        return member.core.withLock { !$0.state.isEnded }
    }

    /// The members that the scope waits for by way of somebody outside. ``AwaitedPlain`` knows of plain operations in plain queues,
    /// but not of a dependency that one of them was given since.
    ///
    /// - Complexity: O(1) if none of the scope waits for anything outside, or only for AOperations; otherwise O(plain operations that it
    ///   waits for, and those and dependencies before them). Once for a scope, and whenever one of it is given a dependency,
    ///   O(operations and dependencies before it).
    private func detours() -> Set<ObjectIdentifier> {
        var (found, plain) = state.withLock(\.detours) ?? findDetours()
        var seen: Set<ObjectIdentifier> = []
        while let operation = plain.popLast() {
            guard operation !== tail, !operation.isOver, seen.insert(ObjectIdentifier(operation)).inserted else { continue }
            if let member = operation as? AOperation, isMember(member) {
                found.insert(ObjectIdentifier(member))
            } else {
                plain += operation.dependencies
            }
        }
        return found
    }

    private func findDetours() -> (members: Set<ObjectIdentifier>, plain: [Foundation.Operation]) {
        let waits = state.withLock(\.waits)
        let outside = state.withLock({ $0.outside }) ?? whatIsAwaitedOutside()
        var members: Set<ObjectIdentifier> = []
        var plain: [Foundation.Operation] = []
        var seen: Set<ObjectIdentifier> = []
        var pending = outside
        while let operation = pending.popLast() {
            if let operation = operation as? AOperation, isMember(operation) {
                members.insert(ObjectIdentifier(operation))
                continue
            }
            guard operation !== tail, !operation.isOver, seen.insert(ObjectIdentifier(operation)).inserted else { continue }
            if operation is AOperation { pending += operation.dependencies } else { plain.append(operation) }
        }
        let dropped = state.withLock { state -> Any? in
            guard state.waits == waits else { return nil }
            defer { (state.outside, state.detours) = (outside, (members, plain)) }
            return (state.outside, state.detours)
        }
        withExtendedLifetime(dropped) {}
        return (members, plain)
    }

    private func whatIsAwaitedOutside() -> [Foundation.Operation] {
        operations.compactMap(\.operation).flatMap(\.dependencies).filter { dependency in
            if let dependency = dependency as? AOperation, isMember(dependency) { return false }
            return !dependency.isOver
        }
    }

    /// Finds the scopes of `operations`, which come into a queue together, and makes known who waits for whom before they do so one
    /// after another: the first of them may have failed before the last is there.
    ///
    /// - Complexity: O(operations, their dependencies and their nets).
    static func foresee(_ operations: some Collection<Foundation.Operation>) {
        guard operations.count > 1 else { return }
        var known: Set<ObjectIdentifier> = []
        for case let operation as AOperation in operations where !known.contains(ObjectIdentifier(operation)) {
            // Those of a group are found when it takes them.
            guard operation.core.withLock({ $0.hasNet && $0.group == nil && $0.retryScope == nil }) else { continue }
            known.formUnion(operation.netToAdd().members.map { ObjectIdentifier($0) })
        }
        for operation in operations {
            for case let member as AOperation in operation.dependencies {
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
        if let operation = operation as? AOperation, covers(operation) { return }
        state.withLock { $0.foreseen[ObjectIdentifier(member), default: []].append(WaitingOperation(operation)) }
        noteWait()
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
    ///
    /// What the scope does not take is never held in its name, not for a moment: the end waits for all of the scope, so
    /// whoever of it looked then would see a circle.
    func take(_ request: LockRequest) {
        // Semaphores may have been granted to two of the scope at once; the end may have decided.
        guard let taking = beginTaking() else { return LockTable.shared.release(request) }
        let users = operations.compactMap(\.operation).map { ($0, Set($0.exclusions.map(\.key))) }
        var counts: [String: Int] = [:]
        for (_, names) in users { for name in names { counts[name, default: 0] += 1 } }
        let parts = LockTable.shared.split(request, to: tail)
        let isTaken = state.withLock { state in
            guard case .open = state.stage, case .taken = state.keys, state.takings == taking else { return false }
            for part in parts {
                for name in part.names { state.taken[name] = (part, counts[name, default: 0]) }
                state.locks.append(part)
            }
            return true
        }
        guard isTaken else { return parts.forEach(LockTable.shared.release) }
        for part in parts { lend(part) }
        for (operation, names) in users where !names.isEmpty {
            operation.onEnd { [self] _ in giveBack(names, of: taking) }
        }
    }

    /// The number of this taking; nil if there is nothing to be taken any more.
    private func beginTaking() -> Int? {
        state.withLock { state in
            guard case .several = state.keys, case .open = state.stage else { return nil }
            state.keys = .taken
            state.takings += 1
            return state.takings
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
