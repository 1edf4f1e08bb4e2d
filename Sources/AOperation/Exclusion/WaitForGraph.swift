import Foundation

/// Who waits for whom among operations: through locks, dependencies, order, membership.
///
/// A request for a lock, or a dependency, that comes up inside of an operation that holds locks may close a circle, in
/// which all would wait for ever. It is looked for then, and only then.
enum WaitForGraph {
    /// The locks of a circle, in its order.
    struct Circle {
        var keys: [String] = []
        /// The names of the operations that have them.
        var holders: [String] = []
    }

    private struct Edge {
        let target: AOperation
        /// The lock that is waited for; nil for another reason.
        var lock: LockID?
    }

    /// One step of a search, with the step that led to it.
    private struct Visit {
        let edge: Edge
        let origin: Int?
    }

    /// Looks for a way from what `operation` waits for back to `operation`, or to an operation that ends after it.
    ///
    /// - Complexity: O(operations and edges that are reached). Nothing is searched for an operation that nobody waits
    ///   for and that is inside of no operation that holds a lock.
    static func circle(through operation: AOperation) -> Circle? {
        let endsAfter = operation.enclosingOperations
        guard ([operation] + endsAfter).contains(where: \.isWaitedFor) else { return nil }
        let first = edges(from: operation).filter { !isSibling($0.target, of: operation) }
        return search(from: first, to: [operation] + endsAfter)
    }

    /// Whether `first` waits, directly or not, for `operation` or for one that ends after it.
    static func leads(from first: AOperation, to operation: AOperation) -> Bool {
        search(from: [Edge(target: first)], to: [operation] + operation.enclosingOperations) != nil
    }

    private static func search(from first: [Edge], to targets: [AOperation]) -> Circle? {
        let targets = Set(targets.map { ObjectIdentifier($0) })
        var seen: Set<ObjectIdentifier> = []
        var visits: [Visit] = []
        var pending = first.map { Visit(edge: $0, origin: nil) }
        while let visit = pending.popLast() {
            let operation = visit.edge.target
            visits.append(visit)
            if targets.contains(ObjectIdentifier(operation)) { return path(to: visits.count - 1, visits) }
            guard seen.insert(ObjectIdentifier(operation)).inserted else { continue }
            let origin = visits.count - 1
            pending += edges(from: operation).map { Visit(edge: $0, origin: origin) }
        }
        return nil
    }

    private static func path(to last: Int, _ visits: [Visit]) -> Circle {
        var circle = Circle()
        var next: Int? = last
        while let index = next {
            let visit = visits[index]
            if let lock = visit.edge.lock {
                circle.keys.insert(lock.name, at: 0)
                circle.holders.insert(visit.edge.target.publisherName, at: 0)
            }
            next = visit.origin
        }
        return circle
    }

    /// A dependency on a sibling in the same group closes no circle that the sibling itself does not close.
    private static func isSibling(_ other: AOperation, of operation: AOperation) -> Bool {
        guard let group = operation.core.withLock({ $0.group }) else { return false }
        return other.core.withLock { $0.group } === group
    }

    /// The AOperations among `dependencies`, and those that the plain ones among them wait for.
    private static func behindPlain(_ dependencies: [Foundation.Operation]) -> [AOperation] {
        var found: [AOperation] = []
        var seen: Set<ObjectIdentifier> = []
        var pending = dependencies
        while let dependency = pending.popLast() {
            if let operation = dependency as? AOperation {
                found.append(operation)
            } else if !dependency.isFinished, seen.insert(ObjectIdentifier(dependency)).inserted {
                pending += dependency.dependencies
            }
        }
        return found
    }

    /// What `operation` waits for before it can end.
    private static func edges(from operation: AOperation) -> [Edge] {
        let (dependencies, parts, request, uniqueness, state) = operation.core.withLock { core in
            (core.dependencies.all, core.parts, core.lockRequest, core.uniqueness, core.state)
        }
        guard !state.isEnded else { return [] }
        var edges = behindPlain(dependencies).filter { $0.isWaited(for: operation) }.map { Edge(target: $0) }
        edges += parts.map { Edge(target: $0) }
        if state.isProvisional, let decider = operation.core.withLock({ $0.retryScope?.decider }) {
            edges.append(Edge(target: decider))
        }
        if let request {
            edges += LockTable.shared.blockers(of: request).map { Edge(target: $0.operation, lock: $0.lock) }
        }
        if case .duplicate(let duplicate)? = uniqueness { edges.append(Edge(target: duplicate.first)) }
        edges += operation.openMembers.map { Edge(target: $0) }
        edges += operation.openPredecessors.map { Edge(target: $0) }
        return edges
    }
}

extension AOperation {
    /// The operation that this one is inside of: the whole it is a part of, or the group it is a child of.
    var enclosing: AOperation? { core.withLock { $0.whole ?? $0.group } }

    /// Whether this operation, or one around it, holds locks.
    var enclosesLocks: Bool {
        ([self] + enclosingOperations).contains { $0.core.withLock { $0.lockRequest != nil } }
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

    /// Whether somebody waits for its end: a dependent, a receiver, a successor, one who wants a lock of it.
    fileprivate var isWaitedFor: Bool {
        let (hasWaiters, request, group, scope) = core.withLock { core in
            (!core.waiters.isEmpty || !core.receivers.isEmpty, core.lockRequest, core.group, core.retryScope)
        }
        if hasWaiters || group?.isOrdered == true || scope?.isWaitedFor(self) == true { return true }
        guard let request else { return false }
        return LockTable.shared.isHeld(request)
    }

    /// Whether `operation`, which depends on this one, waits for it: not after a provisional end that it was told of.
    fileprivate func isWaited(for operation: AOperation) -> Bool {
        let (state, scope) = core.withLock { ($0.state, $0.retryScope) }
        return !state.isEnded && !(state.isProvisional && scope?.covers([operation]) == true)
    }

    /// In an ordered group: the children before this one that have not ended, as long as it has not started.
    fileprivate var openPredecessors: [AOperation] {
        guard isInitialized, let group = core.withLock({ $0.group }), group.isOrdered else { return [] }
        return group.openMembers.filter { $0 !== self && !$0.isInitialized }
    }
}
