import DequeModule

/// Names one lock: of the whole cluster, or inside of the group that holds it.
struct LockID: Hashable {
    /// The unit inside of which it is taken in turns; 0: the cluster's.
    let scope: UInt64
    /// Index into `LockTable.keys`.
    let key: Int32
}

struct LockTerm: Hashable {
    let lock: LockID
    let limit: Int32
}

/// Who holds which lock, and who waits for one.
///
/// A request gets all its locks at once or none. For each lock it is first come, first served: a request is granted when
/// it is the first of every queue it waits in and each of its locks has room. So nobody starves, and two requests cannot
/// wait for each other. Everything is amortised O(locks of the request).
struct LockTable {
    struct Request {
        /// Position in the order of asking; never used again.
        let ticket: UInt64
        let terms: [LockTerm]
        /// Wall time.
        let askedAt: Int64
        /// Wall time of the grant; nil: it waits.
        var heldSince: Int64?

        var isHeld: Bool { heldSince != nil }
    }

    struct Lock {
        struct Waiter {
            let unit: UnitID
            let ticket: UInt64
        }
        var holders: [UnitID] = []
        /// Those that were withdrawn are skipped when their turn comes.
        var waiters = Deque<Waiter>()
        /// How many of those that hold it or wait for it named which limit.
        var limits: [(limit: Int32, count: Int)] = []

        var limit: Int32 { limits.min { $0.limit < $1.limit }?.limit ?? .max }
        var hasRoom: Bool { holders.count < Int(limit) }
        var waitingCount: Int { limits.reduce(0) { $0 + $1.count } - holders.count }

        mutating func count(_ limit: Int32, by step: Int) {
            guard let index = limits.firstIndex(where: { $0.limit == limit }) else { return limits.append((limit, step)) }
            limits[index].count += step
            if limits[index].count == 0 { limits.remove(at: index) }
        }
    }

    /// Every key that was ever named.
    var keys: [String] = []
    var numbers: [String: Int32] = [:]
    /// Both are looked up; whoever iterates them brings what he finds into an order.
    var locks: [LockID: Lock] = [:]
    var requests: [UnitID: Request] = [:]
    var lastTicket: UInt64 = 0

    mutating func number(of key: String) -> Int32 {
        if let known = numbers[key] { return known }
        let number = Int32(keys.count)
        keys.append(key)
        numbers[key] = number
        return number
    }

    /// nil: nobody ever named it.
    func knownNumber(of key: String) -> Int32? { numbers[key] }

    /// Asks for all of `terms` at once. Returns whether the unit holds them now.
    mutating func ask(_ unit: UnitID, _ terms: [LockTerm], at: Int64) -> Bool {
        lastTicket += 1
        requests[unit] = Request(ticket: lastTicket, terms: terms, askedAt: at)
        for term in terms {
            locks[term.lock, default: Lock()].count(term.limit, by: 1)
            locks[term.lock]?.waiters.append(Lock.Waiter(unit: unit, ticket: lastTicket))
        }
        return grantIfFirst(unit, at: at)
    }

    /// Gives back what the units hold, withdraws what they wait for, and returns who holds their locks now in their place,
    /// in the order of the grants.
    mutating func release(_ units: [UnitID], at: Int64) -> [UnitID] {
        var changed = Deque<LockID>()
        for unit in units {
            guard let request = requests.removeValue(forKey: unit) else { continue }
            for term in request.terms {
                locks[term.lock]?.count(term.limit, by: -1)
                if request.isHeld { locks[term.lock]?.holders.removeAll { $0 == unit } }
                changed.append(term.lock)
            }
        }
        var granted: [UnitID] = []
        while let lock = changed.popFirst() {
            guard let next = firstWaiter(of: lock) else {
                if locks[lock]?.holders.isEmpty ?? false { locks[lock] = nil }
                continue
            }
            guard grantIfFirst(next, at: at) else { continue }
            granted.append(next)
            // Who stands behind it may have room, too.
            for term in requests[next]?.terms ?? [] { changed.append(term.lock) }
        }
        return granted
    }

    func isWaiting(_ waiter: Lock.Waiter) -> Bool {
        guard let request = requests[waiter.unit] else { return false }
        return request.ticket == waiter.ticket && !request.isHeld
    }

    /// Those who wait in the line before the unit; everybody if it is nil, or does not wait there. It may have stood in it before.
    func ahead(of unit: UnitID?, in lock: Lock) -> [UnitID] {
        lock.waiters.lazy.filter(isWaiting).map(\.unit).prefix { $0 != unit }
    }

    private mutating func firstWaiter(of lock: LockID) -> UnitID? {
        while let first = locks[lock]?.waiters.first {
            if isWaiting(first) { return first.unit }
            locks[lock]?.waiters.removeFirst()
        }
        return nil
    }

    private mutating func grantIfFirst(_ unit: UnitID, at: Int64) -> Bool {
        guard let terms = requests[unit]?.terms else { return false }
        for term in terms {
            guard firstWaiter(of: term.lock) == unit, locks[term.lock]?.hasRoom ?? false else { return false }
        }
        for term in terms {
            locks[term.lock]?.waiters.removeFirst()
            locks[term.lock]?.holders.append(unit)
        }
        requests[unit]?.heldSince = at
        return true
    }
}
