import Synchronization

/// Names one lock: of the whole process, or inside the operation that holds it.
struct LockID: Hashable {
    /// The request that holds the lock for several: those of the operation inside of which it is, or those of a retry
    /// scope; they take turns. Nil for the process.
    let scope: UInt64?
    let name: String
}

/// All locks that an operation asks for, in one step, and then holds until its final end.
///
/// Invariant behind `@unchecked Sendable`: `combination`, `stage` and `turn` are only reached under the table's lock; the
/// rest is constant.
final class LockRequest: @unchecked Sendable {
    enum Stage {
        /// Not asked yet.
        case new
        case waiting
        case held
        /// Given back, or withdrawn.
        case over
    }

    private static let lastID = Atomic<UInt64>(0)

    let id = LockRequest.lastID.wrappingAdd(1, ordering: .relaxed).newValue
    /// Who asks; for messages, and to find circles.
    weak let operation: AOperation?
    /// What is asked for, with how many may hold each at once.
    let locks: [LockID: Int]
    /// Those that lend it the locks that are not the process's.
    let lenders: [LockRequest]
    /// The names it holds for those inside of the operation.
    let names: Set<String>
    /// Whether it is held by a retry scope, while nobody uses it.
    let isKept: Bool
    /// Whether it asks for everything that the operations of a retry scope name: that scope keeps it.
    let isForScope: Bool
    /// Whether it goes before those who wait already: they wait, some way round, for who asks.
    let isFirst: Bool
    /// All of its locks, if there are several and it has been asked for them.
    fileprivate var combination: Combination?
    /// Whether others are worse off since it waits: it goes before them, or names a smaller limit than they knew.
    fileprivate var setsBack = false
    fileprivate var stage = Stage.new
    /// Rises along every line.
    fileprivate var turn: Int64 = 0
    fileprivate var isHeld: Bool { if case .held = stage { true } else { false } }
    fileprivate var isWaiting: Bool { if case .waiting = stage { true } else { false } }
    fileprivate let granted: @Sendable (LockRequest) -> Void

    /// - Parameter granted: called once, on the thread that gives the last of the locks back; not for a request that
    ///   is granted at once.
    init(
        by operation: AOperation?, locks: [LockID: Int], lenders: [LockRequest] = [], isKept: Bool = false,
        isForScope: Bool = false, isFirst: Bool = false, granted: @escaping @Sendable (LockRequest) -> Void
    ) {
        self.isKept = isKept
        self.isForScope = isForScope
        self.isFirst = isFirst
        self.operation = operation
        self.locks = locks
        self.lenders = lenders
        self.granted = granted
        names = Set(locks.keys.map(\.name))
    }
}

extension LockRequest {
    /// Its locks, and those that they were lent from.
    fileprivate var chain: [LockID] {
        var ids: [LockID] = []
        for var id in locks.keys {
            var lenders = lenders
            ids.append(id)
            while let scope = id.scope, let lender = lenders.first(where: { $0.id == scope }) {
                guard let outer = lender.locks.keys.first(where: { $0.name == id.name }) else { break }
                id = outer
                lenders = lender.lenders
                ids.append(id)
            }
        }
        return ids
    }
}

/// Several locks that are asked for together; one object for all who ask for the same ones.
private final class Combination {
    let locks: Set<LockID>
    /// How many hold them or wait for them.
    var users = 0

    init(_ locks: Set<LockID>) {
        self.locks = locks
    }
}

/// Who holds which lock of this process, and who waits for one.
///
/// A request gets all its locks at once or none. For each lock it is first come, first served: a request is granted
/// when it is the first of every queue it waits in and each of its locks is free. So nobody starves, and two requests
/// cannot wait for each other. Only who is waited for by those in front of him goes before them. All operations are amortised O(locks of the request).
final class LockTable: Sendable {
    static let shared = LockTable()

    private struct Lock {
        var holders: [UInt64: LockRequest] = [:]
        var waiters = Backlog<LockRequest>()
        /// How many of these were withdrawn, and are in line still.
        private var withdrawn = 0
        /// Those of the waiters who want other locks too, by all that they want.
        var entangled: [ObjectIdentifier: Backlog<LockRequest>] = [:]
        /// How many of those that hold it or wait for it named which limit.
        var limits: [Int: Int] = [:]

        var isFree: Bool { holders.count < limits.keys.min() ?? .max }

        mutating func count(_ limit: Int, by step: Int) {
            let count = limits[limit, default: 0] + step
            limits[limit] = count > 0 ? count : nil
        }

        /// At the end of the line, or at its head.
        mutating func line(up request: LockRequest) {
            if request.isFirst { waiters.prepend(request) } else { waiters.append(request) }
            guard let combination = request.combination else { return }
            let id = ObjectIdentifier(combination)
            if request.isFirst {
                entangled[id, default: Backlog()].prepend(request)
            } else {
                entangled[id, default: Backlog()].append(request)
            }
        }

        /// Who is next; those that were withdrawn are dropped.
        mutating func next() -> LockRequest? {
            while let first = waiters.first {
                if first.isWaiting { return first }
                popFirst()
                withdrawn -= 1
            }
            return nil
        }

        /// One of the waiters was withdrawn. It keeps its place until it is the first, or until more than half of the places are such:
        /// the first may wait for as long as others hold the lock.
        mutating func noteWithdrawal() {
            withdrawn += 1
            guard withdrawn > Self.withdrawnMax, withdrawn > waiters.count / 2 else { return }
            let left = waiters.elements.filter(\.isWaiting)
            waiters = Backlog()
            entangled = [:]
            withdrawn = 0
            for request in left {
                waiters.append(request)
                if let combination = request.combination { entangled[ObjectIdentifier(combination), default: Backlog()].append(request) }
            }
        }

        private static let withdrawnMax = 16

        mutating func popFirst() {
            guard let combination = waiters.popFirst()?.combination else { return }
            let id = ObjectIdentifier(combination)
            _ = entangled[id]?.popFirst()
            if entangled[id]?.isEmpty == true { entangled[id] = nil }
        }
    }

    private let state = Guarded(State())

    private struct State {
        var locks: [LockID: Lock] = [:]
        var lastTurn: Int64 = 0
        var firstTurn: Int64 = 0
        var combinations: [Set<LockID>: Combination] = [:]
        /// Those who hold or wait for a lock inside of a request, by its id. What is used inside is not given back outside.
        var borrowers: [UInt64: [UInt64: LockRequest]] = [:]
        /// Given back while something was lent.
        var returning: [UInt64: LockRequest] = [:]

        mutating func turn(isFirst: Bool) -> Int64 {
            if isFirst { firstTurn -= 1 } else { lastTurn += 1 }
            return isFirst ? firstTurn : lastTurn
        }

        mutating func combine(_ request: LockRequest) {
            guard request.locks.count > 1 else { return }
            let locks = Set(request.locks.keys)
            let combination = combinations[locks] ?? Combination(locks)
            combination.users += 1
            combinations[locks] = combination
            request.combination = combination
        }

        /// The request holds nothing and waits for nothing any more.
        mutating func separate(_ request: LockRequest) {
            guard let combination = request.combination else { return }
            combination.users -= 1
            if combination.users == 0 { combinations[combination.locks] = nil }
        }
    }

    /// What a request leads to.
    enum Answer {
        case held
        case waiting
        /// It was given back before it was asked for, or who would have lent it a lock has none any more.
        case void
    }

    /// Asks for the locks of `request`.
    func ask(_ request: LockRequest) -> Answer {
        state.withLock { state in
            guard case .new = request.stage else { return .void }
            guard request.lenders.allSatisfy(\.isHeld) else {
                request.stage = .over
                return .void
            }
            request.stage = .waiting
            request.turn = state.turn(isFirst: request.isFirst)
            request.setsBack =
                request.isFirst
                || request.locks.contains { id, limit in
                    state.locks[id]?.limits.keys.min().map { limit < $0 } ?? false
                }
            Self.count(request, by: 1, &state)
            state.combine(request)
            for id in request.locks.keys { state.locks[id]?.line(up: request) }
            guard Self.isGrantable(request, &state.locks) else { return .waiting }
            Self.grant(request, &state.locks)
            return .held
        }
    }

    /// Gives the locks back, or withdraws the request. Locks that are lent to operations inside, or to others of its
    /// retry scope, are given back when those have done so.
    func release(_ request: LockRequest) {
        let granted = state.withLock { state -> [LockRequest] in
            switch request.stage {
            case .new: request.stage = .over
            case .over: break
            case .waiting: return Self.end(request, &state)
            case .held:
                guard state.borrowers[request.id] != nil else { return Self.end(request, &state) }
                state.returning[request.id] = request
            }
            return []
        }
        for next in granted { next.granted(next) }
    }

    /// Withdraws a request that has not been granted; false if it has, or was given back.
    func withdraw(_ request: LockRequest) -> Bool {
        let granted = state.withLock { state -> [LockRequest]? in
            guard case .waiting = request.stage else { return nil }
            return Self.end(request, &state)
        }
        for next in granted ?? [] { next.granted(next) }
        return granted != nil
    }

    /// Hands those locks of a held request that `isKept` names over to `operation`, and gives the others back. Nil if
    /// the request is not held, or nothing is left of it.
    func handOver(_ request: LockRequest, to operation: AOperation?, where isKept: (LockID) -> Bool) -> LockRequest? {
        let (kept, granted) = state.withLock { state -> (LockRequest?, [LockRequest]) in
            guard case .held = request.stage else { return (nil, []) }
            let rest = LockRequest(
                by: operation, locks: request.locks.filter { isKept($0.key) }, lenders: request.lenders, isKept: true
            ) { _ in }
            if !rest.locks.isEmpty {
                Self.count(rest, by: 1, &state)
                rest.stage = .held
                for id in rest.locks.keys { state.locks[id]?.holders[rest.id] = rest }
            }
            return (rest.locks.isEmpty ? nil : rest, Self.end(request, &state))
        }
        for next in granted { next.granted(next) }
        return kept
    }

    /// Hands the locks of a held request over to `operation`, each as a request of its own, to be given back one by one.
    /// Empty if the request is not held.
    func split(_ request: LockRequest, to operation: AOperation?) -> [LockRequest] {
        let (parts, granted) = state.withLock { state -> ([LockRequest], [LockRequest]) in
            guard case .held = request.stage else { return ([], []) }
            let parts = request.locks.map { lock in
                LockRequest(by: operation, locks: [lock.key: lock.value], lenders: request.lenders, isKept: true) { _ in }
            }
            for part in parts {
                Self.count(part, by: 1, &state)
                part.stage = .held
                for id in part.locks.keys { state.locks[id]?.holders[part.id] = part }
            }
            return (parts, Self.end(request, &state))
        }
        for next in granted { next.granted(next) }
        return parts
    }

    /// Those who wait longer, or for ever, because `request` waits.
    func setBack(by request: LockRequest) -> [LockRequest] {
        state.withLock { state in
            guard request.isWaiting, request.setsBack else { return [] }
            return request.locks.keys.flatMap { id in
                state.locks[id]?.waiters.elements.filter { $0.isWaiting && $0 !== request } ?? []
            }
        }
    }

    /// Those who wait for a lock of `request`, or for the one that it was lent from.
    func waiters(for request: LockRequest) -> [LockRequest] {
        let ids = request.chain
        return state.withLock { state in
            ids.flatMap { id in state.locks[id]?.waiters.elements.filter(\.isWaiting) ?? [] }
        }
    }

    /// The retry scopes that keep what `request` waits for, or what was lent on of it.
    func keepers(before request: LockRequest) -> [LockRequest] {
        state.withLock { state in
            var keepers: [LockRequest] = []
            var pending = Array(request.locks.keys)
            while let id = pending.popLast() {
                for holder in state.locks[id]?.holders.values ?? [:].values {
                    if holder.isKept { keepers.append(holder) }
                    pending.append(LockID(scope: holder.id, name: id.name))
                }
            }
            return keepers
        }
    }

    /// A request begins to hold its locks, or to wait for them: `step` is 1; or it ceases to: -1.
    private static func count(_ request: LockRequest, by step: Int, _ state: inout State) {
        for (id, limit) in request.locks {
            state.locks[id, default: Lock()].count(limit, by: step)
            guard let scope = id.scope else { continue }
            state.borrowers[scope, default: [:]][request.id] = step > 0 ? request : nil
            if state.borrowers[scope]?.isEmpty == true { state.borrowers[scope] = nil }
        }
    }

    /// Takes a request out that waits or holds. Returns who is granted something by that.
    private static func end(_ request: LockRequest, _ state: inout State) -> [LockRequest] {
        var granted: [LockRequest] = []
        var pending = [request]
        while let request = pending.popLast() {
            let isWithdrawn = request.isWaiting
            request.stage = .over
            if isWithdrawn { for id in request.locks.keys { state.locks[id]?.noteWithdrawal() } }
            state.separate(request)
            for id in request.locks.keys { state.locks[id]?.holders[request.id] = nil }
            count(request, by: -1, &state)
            granted += grantNext(Array(request.locks.keys), &state.locks)
            for id in request.locks.keys {
                guard let scope = id.scope, state.borrowers[scope] == nil else { continue }
                if let outer = state.returning.removeValue(forKey: scope) { pending.append(outer) }
            }
        }
        return granted
    }

    /// Whether the request holds its locks.
    func isHeld(_ request: LockRequest) -> Bool {
        state.withLock { _ in request.isHeld }
    }

    func isWaiting(_ request: LockRequest) -> Bool {
        state.withLock { _ in request.isWaiting }
    }

    private static func isGrantable(_ request: LockRequest, _ locks: inout [LockID: Lock]) -> Bool {
        for id in request.locks.keys {
            guard locks[id]?.next() === request, locks[id]?.isFree == true else { return false }
        }
        return true
    }

    private static func grant(_ request: LockRequest, _ locks: inout [LockID: Lock]) {
        request.stage = .held
        for id in request.locks.keys {
            locks[id]?.popFirst()
            locks[id]?.holders[request.id] = request
        }
    }

    /// Grants what has become grantable since `ids` changed; forgets locks that nobody is interested in.
    private static func grantNext(_ ids: [LockID], _ locks: inout [LockID: Lock]) -> [LockRequest] {
        var granted: [LockRequest] = []
        var pending = ids
        while let id = pending.popLast() {
            guard let next = locks[id]?.next() else {
                if locks[id]?.holders.isEmpty == true { locks[id] = nil }
                continue
            }
            guard isGrantable(next, &locks) else { continue }
            grant(next, &locks)
            granted.append(next)
            pending.append(contentsOf: next.locks.keys)
        }
        return granted
    }
}

// MARK: - Looking

extension LockTable {
    /// A lock that must come free, or partly free, before a request is granted its own.
    struct Obstacle {
        let lock: LockID
        /// How many may hold the lock at once.
        let limit: Int
        let holders: [LockRequest]
    }

    /// What is in the way of `request`; empty unless it is waiting.
    ///
    /// Whoever is in front of it must be granted all of its locks before, and therefore whoever is in front of that one.
    /// Those who want the same locks differ only in their turns: the last one in front stands for all of them.
    ///
    /// - Complexity: O(c² log w) for c different combinations of locks among the w who wait.
    func obstacles(of request: LockRequest) -> [Obstacle] {
        state.withLock { state in
            guard request.isWaiting else { return [] }
            var wanted: Set<LockID> = []
            var seen: Set<ObjectIdentifier> = []
            var pending = [(locks: Set(request.locks.keys), turn: request.turn, id: request.combination.map { ObjectIdentifier($0) })]
            while let last = pending.indices.max(by: { pending[$0].turn < pending[$1].turn }) {
                pending.swapAt(last, pending.endIndex - 1)
                let (locks, turn, id) = pending.removeLast()
                if let id, !seen.insert(id).inserted { continue }
                wanted.formUnion(locks)
                for id in locks {
                    for (others, waiters) in state.locks[id]?.entangled ?? [:] where !seen.contains(others) {
                        guard let front = waiters.last(before: turn), let locks = front.combination?.locks else { continue }
                        pending.append((locks, front.turn, others))
                    }
                }
            }
            return wanted.compactMap { id in
                state.locks[id].map { lock in
                    Obstacle(lock: id, limit: lock.limits.keys.min() ?? .max, holders: Array(lock.holders.values))
                }
            }
        }
    }

    /// All that hold a lock or wait for one.
    var requests: [LockRequest] {
        let all = state.withLock { state in
            state.locks.values.flatMap { lock in lock.holders.values + lock.waiters.elements.filter(\.isWaiting) }
        }
        var seen: Set<UInt64> = []
        return all.filter { seen.insert($0.id).inserted }
    }

    /// Those who are lent a lock of `request`, and hold it or wait for it.
    func borrowers(of request: LockRequest) -> [LockRequest] {
        state.withLock { state in state.borrowers[request.id].map { Array($0.values) } ?? [] }
    }

    /// Whether anybody holds a lock of this name, or waits for it; in any scope.
    func knows(_ name: String) -> Bool {
        state.withLock { state in state.locks.keys.contains { $0.name == name } }
    }
}

extension Backlog<LockRequest> {
    /// The last one that waits and came before `turn`. The turns rise.
    fileprivate func last(before turn: Int64) -> LockRequest? {
        var range = 0..<count
        while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
            if let request = self[middle], request.turn < turn {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return (0..<range.lowerBound).reversed().lazy.compactMap { self[$0] }.first(where: \.isWaiting)
    }
}
