/// Locks: a unit that names keys asks for them when it could begin, and goes on when it holds them all.
extension Submission {
    /// Whether the unit has to hold locks that it has not got before it goes on.
    func lacksLocks(_ unit: Int) -> Bool {
        guard let plan = layout.locks else { return false }
        return units[unit].locks == .none && plan.asks(Int(units[unit].node))
    }

    /// Whether attempts of the unit run under a key.
    func isUnderKey(_ unit: Int) -> Bool { layout.locks?.isUnderKey(Int(units[unit].node)) ?? false }

    /// What the unit asks for.
    func lockTerms(of unit: Int) -> [LockTerm] {
        guard let plan = layout.locks else { return [] }
        let node = Int(units[unit].node)
        return plan.terms(of: node).map { term in
            let key = keyNumbers[Int(term.key)]
            guard let scope = plan.scope(of: node, for: term.key) else {
                return LockTerm(lock: LockID(scope: 0, key: key), limit: term.limit)
            }
            // The holder around it has one permit of each; those inside take turns.
            let holder = id(self.unit(ofNode: scope, seenFrom: unit)).rawValue
            return LockTerm(lock: LockID(scope: holder, key: key), limit: 1)
        }
    }

    /// It could begin but for its locks.
    mutating func wantLocks(_ unit: Int, _ effects: inout [Effect]) {
        units[unit].phase = .wanting
        effects.append(.wantsLocks(id(unit)))
    }

    /// Whether it could begin but for its locks, and but for a time of day that it waited for.
    func mayAskForLocks(_ unit: Int) -> Bool {
        switch units[unit].phase {
        case .wanting: true
        case .postponed: lacksLocks(unit)
        case .blocked, .delayed, .held, .paused, .locking, .preparing, .ready, .assigned, .retryWait, .provisional, .open, .ended,
            .lingering, .dropped:
            false
        }
    }

    mutating func askForLocks(_ unit: Int, at: Int64, _ effects: inout [Effect]) throws(FactMismatch) {
        guard mayAskForLocks(unit), !isPaused(unit) else { throw FactMismatch("\(path(of: unit)) asked for locks while it wanted none") }
        units[unit].phase = .locking
        units[unit].locks = .asked
        effects.append(.changed(id(unit), at: at, errors: []))
    }

    /// The unit holds all its locks and goes on.
    mutating func takeLocks(_ unit: Int, at: Int64, _ effects: inout [Effect]) {
        precondition(units[unit].phase == .locking, "unit \(unit) of \(id) got locks while it waited for none")
        units[unit].locks = .held(isUsed: false)
        if case .group = node(unit).kind {
            beginGroup(unit, at, &effects)
        } else {
            makeReady(unit, at, &effects)
            effects.append(.changed(id(unit), at: at, errors: []))
        }
        settle(at: at, &effects)
    }

    /// Nobody could run it any more: what it holds or waits for goes to others until somebody can.
    mutating func returnLocks(_ unit: Int, at: Int64, _ effects: inout [Effect]) throws(FactMismatch) {
        guard mayReturnLocks(unit) else { throw FactMismatch("\(path(of: unit)) gave locks back that it needs") }
        units[unit].locks = .none
        units[unit].probing = .due
        units[unit].isPrepared = false
        wantLocks(unit, &effects)
        effects.append(.changed(id(unit), at: at, errors: []))
    }

    /// Whether it waits for locks, or holds them and has not begun.
    func mayReturnLocks(_ unit: Int) -> Bool {
        switch (units[unit].phase, units[unit].locks) {
        case (.locking, _), (.ready, .held(isUsed: false)), (.postponed, .held(isUsed: false)): true
        case (.blocked, _), (.delayed, _), (.held, _), (.paused, _), (.wanting, _), (.preparing, _), (.ready, _), (.postponed, _),
            (.assigned, _),
            (.retryWait, _), (.provisional, _),
            (.open, _),
            (.ended, _), (.lingering, _), (.dropped, _):
            false
        }
    }

    /// The tokens of an attempt. The attempt's own number serves every key: it was never used before, and it is larger
    /// than that of any attempt before it.
    func fences(of unit: Int, _ attempt: Attempt) -> [Fence] {
        guard isUnderKey(unit) else { return [] }
        return graph.keys(above: Int(units[unit].node)).map { Fence(key: $0, token: attempt.rawValue) }
    }
}

extension DurableState {
    mutating func askForLocks(_ unit: UnitID, at: Int64, _ effects: inout [Effect]) throws(FactMismatch) {
        let index = try self.index(of: unit)
        try submissions[index].askForLocks(unit.index, at: at, &effects)
        if locks.ask(unit, submissions[index].lockTerms(of: unit.index), at: at) {
            submissions[index].takeLocks(unit.index, at: at, &effects)
        }
        passLocksOn(from: index, at: at, &effects)
    }

    mutating func returnLocks(_ unit: UnitID, at: Int64, _ effects: inout [Effect]) throws(FactMismatch) {
        let index = try self.index(of: unit)
        try submissions[index].returnLocks(unit.index, at: at, &effects)
        submissions[index].releasing.append(Int32(unit.index))
        passLocksOn(from: index, at: at, &effects)
    }

    /// Locks and unique ids of units of the submission that have ended go to those who wait for them, and so on.
    mutating func passLocksOn(from index: Int, at: Int64, _ effects: inout [Effect]) {
        numberNewKeys(index)
        guard !submissions[index].releasing.isEmpty || submissions[index].hasUniqueNews else { return }
        var sources = [index]
        while !sources.isEmpty {
            passIDsOn(&sources, at: at, &effects)
            var ended: [UnitID] = []
            for source in sources {
                let number = submissions[source].number
                ended += submissions[source].releasing.map { UnitID(number, Int($0)) }
                submissions[source].releasing = []
            }
            sources = []
            for unit in locks.release(ended, at: at) {
                let next = self.index(of: unit.submission)
                // What another grant of this round brought about may have stopped it; it gives them back with the next.
                guard submissions[next].units[unit.index].phase == .locking else { continue }
                submissions[next].takeLocks(unit.index, at: at, &effects)
                let hasNews = !submissions[next].releasing.isEmpty || submissions[next].hasUniqueNews
                if hasNews, !sources.contains(next) { sources.append(next) }
            }
        }
    }
}
