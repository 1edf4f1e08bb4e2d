import Synchronization

/// Names one lock: of the whole process, or inside the operation that holds it.
struct LockID: Hashable {
    /// The request of the enclosing operation that holds the lock; those inside take turns. Nil for the process.
    let scope: UInt64?
    let name: String
}

/// All locks that an operation asks for, in one step, and then holds until its final end.
///
/// Invariant behind `@unchecked Sendable`: `stage` is only reached under the table's lock; the rest is constant.
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
    /// The names it holds for those inside of the operation.
    let names: Set<String>
    fileprivate var stage = Stage.new
    fileprivate let granted: @Sendable () -> Void

    /// - Parameter granted: called once, on the thread that gives the last of the locks back; not for a request that
    ///   is granted at once.
    init(by operation: AOperation, locks: [LockID: Int], granted: @escaping @Sendable () -> Void) {
        self.operation = operation
        self.locks = locks
        self.granted = granted
        names = Set(locks.keys.map(\.name))
    }
}

/// Who holds which lock of this process, and who waits for one.
///
/// A request gets all its locks at once or none. For each lock it is first come, first served: a request is granted
/// when it is the first of every queue it waits in and each of its locks is free. So nobody starves, and two requests
/// cannot wait for each other. All operations are amortised O(locks of the request).
final class LockTable: Sendable {
    static let shared = LockTable()

    private struct Lock {
        var holders: [UInt64: LockRequest] = [:]
        var waiters = Backlog<LockRequest>()
        /// How many that wait for it, or hold it, want other locks too.
        var entangled = 0
        /// How many of those that hold it or wait for it named which limit.
        var limits: [Int: Int] = [:]

        var isFree: Bool { holders.count < limits.keys.min() ?? .max }

        mutating func count(_ limit: Int, by step: Int) {
            let count = limits[limit, default: 0] + step
            limits[limit] = count > 0 ? count : nil
        }

        /// Who is next; those that were withdrawn are dropped.
        mutating func next() -> LockRequest? {
            while let first = waiters.first {
                if case .waiting = first.stage { return first }
                _ = waiters.popFirst()
            }
            return nil
        }
    }

    private let state = Guarded<[LockID: Lock]>([:])

    /// Asks for the locks of `request`. Returns whether it holds them now, or was given back before.
    func ask(_ request: LockRequest) -> Bool {
        state.withLock { locks in
            guard case .new = request.stage else { return true }
            request.stage = .waiting
            for (id, limit) in request.locks {
                locks[id, default: Lock()].count(limit, by: 1)
                if request.locks.count > 1 { locks[id]?.entangled += 1 }
                locks[id]?.waiters.append(request)
            }
            guard Self.isGrantable(request, &locks) else { return false }
            Self.grant(request, &locks)
            return true
        }
    }

    /// Gives the locks back, or withdraws the request.
    func release(_ request: LockRequest) {
        let granted = state.withLock { locks -> [LockRequest] in
            defer { request.stage = .over }
            switch request.stage {
            case .new, .over: return []
            case .waiting, .held: break
            }
            request.stage = .over
            for (id, limit) in request.locks {
                locks[id]?.holders[request.id] = nil
                if request.locks.count > 1 { locks[id]?.entangled -= 1 }
                locks[id]?.count(limit, by: -1)
            }
            return Self.grantNext(Array(request.locks.keys), &locks)
        }
        for next in granted { next.granted() }
    }

    /// Who must give something back before `request` is granted: holders, and those in front of it that wait for
    /// other locks as well (the rest wait for the same holders).
    func blockers(of request: LockRequest) -> [(operation: AOperation, lock: LockID)] {
        state.withLock { locks in
            guard case .waiting = request.stage else { return [] }
            var found: [(AOperation, LockID)] = []
            for id in request.locks.keys {
                guard let lock = locks[id] else { continue }
                for holder in lock.holders.values { if let operation = holder.operation { found.append((operation, id)) } }
                guard lock.entangled > 0 else { continue }
                for waiter in lock.waiters.elements {
                    if waiter === request { break }
                    guard case .waiting = waiter.stage, waiter.locks.count > 1 else { continue }
                    if let operation = waiter.operation { found.append((operation, id)) }
                }
            }
            return found
        }
    }

    /// Whether the request holds its locks.
    func isHeld(_ request: LockRequest) -> Bool {
        state.withLock { _ in if case .held = request.stage { true } else { false } }
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
            _ = locks[id]?.waiters.popFirst()
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

extension LockTable {
    /// Whether anybody holds a lock of this name, or waits for it; in any scope.
    func knows(_ name: String) -> Bool {
        state.withLock { locks in locks.keys.contains { $0.name == name } }
    }
}
