/// What those who look are shown of locks.
extension Scheduler {
    /// One page of the cluster's locks, in the order in which their keys were first named.
    func lockViews(of key: String, from: Int) -> Reply {
        guard key.isEmpty else {
            let number = durable.locks.knownNumber(of: key)
            return .locks(number.flatMap { lockView(LockID(scope: 0, key: $0), shown: Self.shownMax) }.map { [$0] } ?? [], next: 0)
        }
        var views: [LockView] = []
        var bytes = 0
        for number in durable.locks.keys.indices.dropFirst(from) {
            guard let view = lockView(LockID(scope: 0, key: Int32(number)), shown: Self.shownMax) else { continue }
            bytes += view.approximateBytes
            if !views.isEmpty, bytes > configuration.pageBytes { return .locks(views, next: number) }
            views.append(view)
        }
        return .locks(views, next: 0)
    }

    /// The locks that a unit waits for and that have no room, or others in line before it, as `reader` may see them.
    func locksInTheWay(of unit: UnitID, for reader: Authority) -> [LockView] {
        (durable.locks.requests[unit]?.terms ?? []).compactMap { term in
            guard let lock = durable.locks.locks[term.lock] else { return nil }
            let isFirst = lock.waiters.first(where: durable.locks.isWaiting)?.unit == unit
            return lock.hasRoom && isFirst ? nil : lockView(term.lock, shown: 1, for: reader)
        }
    }

    /// - Parameter reader: is not shown whose submissions' operations those are that it may not read; who lists locks may read all.
    func lockView(_ id: LockID, shown: Int, for reader: Authority = .unlimited) -> LockView? {
        guard let lock = durable.locks.locks[id] else { return nil }
        return LockView(
            key: durable.locks.keys[Int(id.key)], limit: Int(lock.limit),
            scope: id.scope == 0 ? "" : name(UnitID(rawValue: id.scope)),
            holders: lock.holders.prefix(shown).map { holder($0, for: reader) }, holderCount: lock.holders.count,
            waiting: lock.waiters.lazy.filter(durable.locks.isWaiting).prefix(shown).map { waiter in
                LockView.Waiter(
                    operation: mayRead(waiter.unit, reader) ? name(waiter.unit) : "",
                    since: durable.locks.requests[waiter.unit]?.askedAt ?? 0)
            },
            waitingCount: lock.waitingCount
        )
    }

    func mayRead(_ unit: UnitID, _ reader: Authority) -> Bool {
        reader.mayRead(durable.submissions[durable.index(of: unit.submission)])
    }

    private func holder(_ unit: UnitID, for reader: Authority) -> LockView.Holder {
        var holder = LockView.Holder(operation: "", worker: "", token: 0, since: durable.locks.requests[unit]?.heldSince ?? 0)
        guard mayRead(unit, reader) else { return holder }
        holder.operation = name(unit)
        if case .assigned(let attempt, let worker) = durable.phase(unit) {
            holder.worker = durable.workers[worker.index].identity.name
            holder.token = attempt.rawValue
        }
        return holder
    }

    private func name(_ unit: UnitID) -> String { durable.name(of: unit) }

    /// Holders and waiters of one lock in a list of locks.
    private static let shownMax = 1_000
}
