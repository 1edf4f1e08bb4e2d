import Foundation
import Synchronization

/// Circles of dependencies without any lock: operations of our queues that wait for each other, by name or by membership of groups.
///
/// The one that comes last, to a queue or to another dependency, closes the circle, and is waited for by then. So only one that is
/// waited for already is looked at, and from there only what is in queues: that is little in most programs, which add what
/// is waited for first, or last. Where it is much, looking costs what its queue has saved: each operation that waits pays for so
/// many steps, and a search that takes more is paid for before the next one begins. So it is amortised constant time for each
/// dependency, whatever the graph is like; but a circle that is closed while much is owed is not found.
enum DependencyCircles {
    private static let stepsPerOperation = 8
    /// As many as there are at the beginning, and at most: a circle of a quarter as many operations is found.
    static let stepsMax = 1 << 18

    /// Those that are about to fail because of a circle.
    private static let failing = Guarded<Set<ObjectIdentifier>>([])

    /// An operation waits for something.
    static func pay(into lane: Lane) {
        let paid = lane.searchSteps.add(stepsPerOperation, ordering: .relaxed).newValue
        if paid > stepsMax { lane.searchSteps.subtract(paid - stepsMax, ordering: .relaxed) }
    }

    /// The circle that the dependencies of `operation`, which has not started, close; nil also if there is nothing to pay with.
    ///
    /// - Parameter lane: the queue's, which pays.
    static func circle(through operation: AOperation, paidBy lane: Lane) -> WaitForGraph.Circle? {
        guard lane.searchSteps.load(ordering: .relaxed) > 0, operation.isWaitedFor else { return nil }
        let targets = WaitForGraph.startTargets(of: operation)
        let needs = { WaitForGraph.startNeeds(of: operation, $0) }
        guard leads(from: needs, to: Set(targets.map(\.key)), paidBy: lane) else { return nil }
        guard circle(from: needs, to: targets) != nil else { return nil }
        return circle(from: needs, to: targets)  // twice, as every search of these
    }

    /// A plain operation has come to wait, and is waited for. If that closes a circle the first operation of ours in it that waits
    /// fails: a plain one cannot, and Foundation is not given it before its dependencies have ended.
    ///
    /// - Parameters:
    ///   - group: whose child it is.
    ///   - lane: the queue's, which pays.
    static func open(throughPlain operation: Foundation.Operation, in group: GroupOperation?, paidBy lane: Lane) {
        guard lane.searchSteps.load(ordering: .relaxed) > 0 else { return }
        let targets = WaitForGraph.targets(ofPlain: operation, in: group)
        let needs = { WaitForGraph.needs(ofPlain: operation, $0) }
        guard leads(from: needs, to: Set(targets.map(\.key)), paidBy: lane) else { return }
        while let found = circle(from: needs, to: targets) {
            // It is kept from starting, should somebody open the circle in this moment.
            let held = found.operations.lazy.compactMap { $0 as? AOperation }.first { $0.waitOnceMore() }
            guard let held else { return }
            defer { held.dependencyEnded() }
            guard var circle = circle(from: needs, to: targets), circle.begin(after: held, closedBy: operation) else { continue }
            // It may close others, too.
            held.failWithDependencyCycle(circle)
        }
    }

    /// A circle in which nobody is about to fail: whoever does opens that one, and perhaps not another one.
    private static func circle(
        from needs: (PlainFacts) -> WaitEvent.Needs, to targets: [WaitEvent]
    ) -> WaitForGraph.Circle? {
        var ending: Set<ObjectIdentifier> = []
        while true {
            let facts = PlainFacts()
            // A group around that is about to fail keeps nobody away either.
            let targets = targets.filter { !ending.contains($0.key.object) }
            let search = WaitSearch(from: needs(facts), to: targets, isAmongQueued: true, without: ending, knowing: facts)
            guard let circle = search.circle, circle.keys.isEmpty, circle.joiner == nil else { return nil }
            let opening = circle.operations.filter { isEnding($0) }.map { ObjectIdentifier($0) }
            guard !opening.isEmpty else { return circle }
            guard !ending.isSuperset(of: opening) else { return nil }
            ending.formUnion(opening)
        }
    }

    /// Whether it is about to fail because of a circle, or its outcome is known.
    static func isEnding(_ operation: Foundation.Operation) -> Bool {
        failing.withLock { $0.contains(ObjectIdentifier(operation)) } || (operation as? AOperation)?.ending != nil
    }

    /// Whether something that is needed, directly or not, is one of `targets`.
    private static func leads(
        from needs: (PlainFacts) -> WaitEvent.Needs, to targets: Set<WaitEvent.Key>, paidBy lane: Lane
    ) -> Bool {
        var budget = lane.searchSteps.load(ordering: .relaxed)
        var taken = 0
        defer { lane.searchSteps.subtract(taken, ordering: .relaxed) }
        let facts = PlainFacts()
        var seen: Set<WaitEvent.Key> = []
        var pending = [needs(facts)]
        while let needs = pending.popLast() {
            taken += 1 + needs.all.count
            budget -= 1 + needs.all.count
            for event in needs.all.map(\.event) + needs.shares.flatMap({ $0.holders.map(\.event) }) {
                guard !targets.contains(event.key) else { return true }
                guard seen.insert(event.key).inserted, !event.isOfNoQueue else { continue }
                // All children of a group are looked at, also those that have ended.
                if case .end(let group as GroupOperation) = event { taken += group.roster.withLock { $0.count } }
                // And so are all members of a lane with a barrier.
                if case .barrier(let lane, _) = event { taken += lane.memberCount }
                guard budget > 0 else { return false }
                pending.append(event.needs(inLine: true, knowing: facts))
            }
        }
        return false
    }

    /// Of several who have found the same circle only one is to fail: whether it is `operation`, which calls ``failed(_:)`` then.
    static func mayFail(_ operation: AOperation, in circle: WaitForGraph.Circle) -> Bool {
        failing.withLock { failing in
            let others = circle.operations.filter { $0 !== operation }
            let isBroken = others.contains { failing.contains(ObjectIdentifier($0)) || ($0 as? AOperation)?.ending != nil }
            return !isBroken && failing.insert(ObjectIdentifier(operation)).inserted
        }
    }

    static func failed(_ operation: AOperation) {
        _ = failing.withLock { $0.remove(ObjectIdentifier(operation)) }
    }
}

extension WaitForGraph.Circle {
    /// Lets the circle begin behind `operation`, which is in it. False if that is not the case any more.
    ///
    /// - Parameter last: a plain operation, which waits for the first.
    fileprivate mutating func begin(after operation: AOperation, closedBy last: Foundation.Operation) -> Bool {
        if operations.last !== last { operations.append(last) }  // a group that it is in
        guard let place = operations.firstIndex(where: { $0 === operation }) else { return false }
        operations = Array(operations[(place + 1)...] + operations[...place])
        return true
    }
}

extension AOperationError {
    /// Operations wait for each other in a circle. The one whose dependency closed it fails with this, so that the others go on.
    public struct DependencyCycle: LocalizedError, PortableError, Hashable, Sendable {
        /// The name of the operation that closed the circle.
        public let operation: String
        /// The names of those in it: the operation waits for the first, each of them for the next, and the last for the
        /// operation, or for a group that it is in.
        public let members: [String]

        private static let membersToldMax = 8

        init(_ operation: AOperation, _ circle: WaitForGraph.Circle) {
            self.operation = operation.publisherName
            members = circle.operations.filter { $0 !== operation }.map { $0.name ?? String(describing: type(of: $0)) }
        }

        public var errorDescription: String? {
            let told = members.prefix(Self.membersToldMax).joined(separator: ", ")
            let others = members.count > Self.membersToldMax ? " and \(members.count - Self.membersToldMax) others" : ""
            let way = members.isEmpty ? "" : " by way of \(told)\(others)"
            return "The Operation \(operation) would wait for itself\(way). Remove one of these dependencies"
        }
    }
}
