import Foundation
import Synchronization

/// Who waits for whom among operations: through locks, dependencies, order, membership, joins, retries.
///
/// A wait that closes a circle would never end. Every circle that has a lock in it, or a joined duplicate, has a wait in
/// it that leads out of a lock's scope, or that is a join (``AOperation/noteCrossing()`` counts them): as long as there
/// is none, no circle of that kind is searched for. For circles of dependencies alone see ``DependencyCircles``.
enum WaitForGraph {
    /// A circle that would be closed.
    struct Circle {
        /// Its locks, in its order.
        var keys: [String] = []
        /// Who has them.
        var holders: [LockRequest] = []
        /// Those that wait for their locks in it.
        var askers: [LockRequest] = []
        /// One in it that has joined another one.
        var joiner: AOperation?
        /// Those whose ends are waited for, each by the one before, the first by the operation that closes the circle.
        var operations: [Foundation.Operation] = []
    }

    /// Operations that have not ended and wait like that.
    private static let crossings = Guarded<[ObjectIdentifier: Crossing]>([:])
    /// How many they are, for those who ask before everything else.
    private static let crossingCount = Atomic<Int>(0)

    private struct Crossing {
        weak var operation: AOperation?
    }

    /// So much is looked through before everything that can be reached is: what leads out, and what is behind those waits; that much
    /// less for each of many that are added, as what is left open then is looked at for all of them together.
    private static let lookedAtMax = (ahead: 64, behindCrossings: 4_096, behindCrossingsWhenAdded: 256)

    /// One at a time, so that of two who would close a circle only one fails.
    private static let searching = Guarded(())

    static func add(crossing operation: AOperation) {
        crossings.withLock { $0[ObjectIdentifier(operation)] = Crossing(operation: operation) }
        crossingCount.add(1, ordering: .sequentiallyConsistent)
    }

    static func remove(crossing operation: AOperation) {
        _ = crossings.withLock { $0.removeValue(forKey: ObjectIdentifier(operation)) }
        crossingCount.subtract(1, ordering: .sequentiallyConsistent)
    }

    /// Whether it is worth a search.
    static var mayHaveCircles: Bool { crossingCount.load(ordering: .sequentiallyConsistent) > 0 }

    /// Whether it is worth a search for a circle from `needs` to one of `targets`: one of those waits is in it, and leads there. What
    /// these reach is mostly little, and what is added can be a chain of any length.
    ///
    /// - Parameter limit: of what is looked at behind those waits; nil is the answer when it takes more to know.
    private static func mayBeClosed(from needs: WaitEvent.Needs, at targets: [WaitEvent], lookingAt limit: Int) -> Bool? {
        guard mayHaveCircles else { return false }
        let ahead = needs.all.map(\.event) + needs.shares.flatMap { $0.holders.map(\.event) }
        if WaitSearch.leads(from: ahead, to: targets, lookingAt: lookedAtMax.ahead) == false { return false }
        let known = crossings.withLock { $0.count <= limit ? $0.values.compactMap(\.operation) : nil }
        guard let known else { return nil }
        return WaitSearch.leads(from: known.map { .end($0) }, to: targets, lookingAt: limit)
    }

    private static func mayBeClosed(from needs: WaitEvent.Needs, at targets: [WaitEvent]) -> Bool {
        mayBeClosed(from: needs, at: targets, lookingAt: lookedAtMax.behindCrossings) ?? true
    }

    /// What a short look at what `operation`, which has not started, waits for says: whether it may close a circle; nil: it takes more to
    /// know.
    static func mayCloseCircle(_ operation: AOperation) -> Bool? {
        mayBeClosed(
            from: startNeeds(of: operation, PlainFacts()), at: startTargets(of: operation),
            lookingAt: lookedAtMax.behindCrossingsWhenAdded)
    }

    /// Which of `operations` may be in a circle: one of the waits that are in every circle leads there, and something leads from there to one.
    ///
    /// - Complexity: O(what is behind those waits, and behind the operations), for all of them together.
    static func thoseInReachOfCrossings(among operations: [AOperation]) -> [AOperation] {
        let known = crossings.withLock { $0.values.compactMap(\.operation) }
        let behind = WaitSearch.reached(from: known.map { .end($0) })
        let found = operations.filter { operation in startTargets(of: operation).contains { behind.contains($0.key) } }
        guard !found.isEmpty else { return [] }
        let ahead = WaitSearch.reached(from: found.map { .start($0) })
        let isClosed = known.contains { crossing in startTargets(of: crossing).contains { ahead.contains($0.key) } }
        return isClosed ? found : []
    }

    /// The circle that `request`, which waits, closes: it is withdrawn then.
    static func circle(closedBy request: LockRequest, of operation: AOperation) -> Circle? {
        operation.noteCrossing(asking: request)
        guard circle(through: operation) != nil else { return nil }
        // Under the lock none of the program's code runs: plain operations are asked before, and whatever the search has come across
        // goes away after it. What is found was there before they were asked, and is there still.
        let facts = PlainFacts()
        _ = WaitSearch(from: startNeeds(of: operation, facts), to: startTargets(of: operation), knowing: facts)
        facts.refresh()
        let targets = startTargets(of: operation)
        while true {
            let (search, isWithdrawn) = searching.withLock { _ -> (WaitSearch, Bool) in
                let search = WaitSearch(from: startNeeds(of: operation, facts), to: targets, knowing: facts)
                return (search, !facts.isMissing && search.circle != nil && LockTable.shared.withdraw(request))
            }
            guard facts.askMissing() else { return isWithdrawn ? search.circle : nil }
        }
    }

    /// What `operation` waits for before it starts.
    static func startNeeds(of operation: AOperation, _ facts: PlainFacts) -> WaitEvent.Needs {
        WaitEvent.start(operation).needs(inLine: true, knowing: facts)
    }

    /// What cannot come before `operation` has started, or ended.
    static func startTargets(of operation: AOperation) -> [WaitEvent] { operation.ends + [.start(operation)] }

    /// The circle that the dependencies of `operation`, which has not started, close.
    static func circle(through operation: AOperation) -> Circle? {
        guard mayHaveCircles, operation.isWaitedFor else { return nil }
        let targets = startTargets(of: operation)
        let needs = startNeeds(of: operation, PlainFacts())
        return mayBeClosed(from: needs, at: targets) ? search(from: needs, to: targets) : nil
    }

    /// The circle that the dependencies of a plain operation close: it cannot look for itself.
    static func circle(throughPlain operation: Foundation.Operation) -> Circle? {
        let target = WaitEvent.end(operation)
        let needs = target.needs(inLine: true, knowing: PlainFacts())
        return mayBeClosed(from: needs, at: [target]) ? search(from: needs, to: [target]) : nil
    }

    /// What a plain operation waits for.
    static func needs(ofPlain operation: Foundation.Operation, _ facts: PlainFacts) -> WaitEvent.Needs {
        WaitEvent.end(operation).needs(inLine: true, knowing: facts)
    }

    /// What cannot come before a plain operation has ended.
    ///
    /// - Parameter group: whose child it is.
    static func targets(ofPlain operation: Foundation.Operation, in group: GroupOperation?) -> [WaitEvent] {
        [.end(operation)] + (group?.ends ?? [])
    }

    /// Whether the circle that the dependencies of `operation` close is there in whatever order locks are given out.
    static func isClosed(through operation: AOperation) -> Bool {
        let search = WaitSearch(
            from: WaitEvent.start(operation).needs(inLine: false, knowing: PlainFacts()), to: startTargets(of: operation), isInLine: false)
        return search.circle != nil
    }

    /// The circle that is closed when `whole` comes to wait for `part`, which somebody else runs.
    static func circle(from part: Foundation.Operation, to whole: AOperation) -> Circle? {
        let needs = WaitEvent.Needs(all: [.init(.end(part))])
        return mayBeClosed(from: needs, at: whole.ends) ? search(from: needs, to: whole.ends) : nil
    }

    /// Whether `first` waits, directly or not, for `operation` or for one that ends after it.
    static func leads(from first: AOperation, to operation: AOperation) -> Bool {
        search(from: WaitEvent.Needs(all: [.init(.end(first))]), to: operation.ends + [.start(operation)]) != nil
    }

    /// Whether one of `operations` cannot end before `operation` has.
    static func waits(for operation: AOperation, anyOf operations: some Sequence<Foundation.Operation>) -> Bool {
        let needs = WaitEvent.Needs(all: operations.map { .init(.end($0)) })
        return WaitSearch(from: needs, to: [.end(operation)], isInLine: false).circle != nil
    }

    /// Which of `operations` cannot end before `group` has, or one around it: they cannot be its children.
    static func thoseWhoWait(for group: AOperation, among operations: [AOperation]) -> Set<ObjectIdentifier> {
        let search = WaitSearch(from: WaitEvent.Needs(all: operations.map { .init(.end($0)) }), to: group.ends, isInLine: false)
        return Set(operations.filter { search.keepsAway(.end($0)) }.map { ObjectIdentifier($0) })
    }

    /// Twice: a search is no snapshot, and a wait that ended while it went on may have looked like a part of a circle.
    private static func search(from needs: WaitEvent.Needs, to targets: [WaitEvent]) -> Circle? {
        guard WaitSearch(from: needs, to: targets).circle != nil else { return nil }
        return WaitSearch(from: needs, to: targets).circle
    }
}

extension AOperation {
    /// The operation that this one is inside of: the whole it is a part of, or the group it is a child of.
    var enclosing: AOperation? { core.withLock { $0.whole ?? $0.group } }

    /// Whether it is `operation`, or inside of it.
    final func isInside(of operation: AOperation) -> Bool {
        var next: AOperation? = self
        while let current = next, current !== operation { next = current.enclosing }
        return next != nil
    }

    /// All operations that this one is inside of, the nearest first.
    var enclosingOperations: [AOperation] {
        var operations: [AOperation] = []
        var next = enclosing
        while let operation = next {
            operations.append(operation)
            next = operation.enclosing
        }
        return operations
    }

    /// The nearest of this operation and those around it that has locks.
    var nearestHolder: (operation: AOperation, request: LockRequest)? {
        var next: AOperation? = self
        while let operation = next {
            if let request = operation.core.withLock({ $0.lockRequest }) { return (operation, request) }
            next = operation.enclosing
        }
        return nil
    }

    /// What cannot come before this operation has ended.
    fileprivate var ends: [WaitEvent] { ([self] + enclosingOperations).map { .end($0) } }

    /// Whether somebody waits for its end, or for the end of one around it, or for something inside of it.
    var isWaitedFor: Bool {
        if isContainer { return true }
        return ([self] + enclosingOperations).contains { operation in
            if let membership = operation.core.withLock({ $0.membership }), membership.lane.hasBarrier(behind: membership.epoch) {
                return true
            }
            return operation.core.withLock { core in
                !core.waiters.isEmpty || !core.endHandlers.isEmpty || core.lockRequest != nil || core.retryScope != nil
                    || core.group?.isOrdered == true || core.isNeededByPlain
            }
        }
    }
}
