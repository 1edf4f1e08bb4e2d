/// Pausing: what is in a paused unit and has not begun waits until it is resumed; what runs goes on.
extension Submission {
    /// The unit, or the nearest one around it, that a user has paused; nil: none.
    @inline(__always)  // else the submission is copied for the call
    func pausedUnit(around unit: Int) -> Int? {
        guard !pauses.isEmpty else { return nil }
        var current = unit
        while current >= 0 {
            if pauses[Int32(current)] != nil { return current }
            current = Int(units[current].parent)
        }
        return nil
    }

    @inline(__always)  // else the submission is copied for the call
    func isPaused(_ unit: Int) -> Bool { pausedUnit(around: unit) != nil }

    mutating func pause(_ unit: Int, at: Int64, _ effects: inout [Effect]) throws(FactMismatch) {
        guard !units[unit].hasEnded, units[unit].phase != .dropped, pauses.updateValue(at, forKey: Int32(unit)) == nil else {
            throw FactMismatch("\(path(of: unit)) was paused when it had ended, or was paused already")
        }
        for inner in inside(unit, withPaused: true) { holdBack(inner, at, &effects) }
        effects.append(.changed(id(unit), at: at, errors: []))
    }

    mutating func resume(_ unit: Int, at: Int64, _ effects: inout [Effect]) throws(FactMismatch) {
        guard pauses.removeValue(forKey: Int32(unit)) != nil else {
            throw FactMismatch("\(path(of: unit)) was resumed while it was not paused")
        }
        effects.append(.changed(id(unit), at: at, errors: []))
        guard !isPaused(unit) else { return }
        for inner in inside(unit, withPaused: false) { goOn(inner, at, &effects) }
        settle(at: at, &effects)
    }

    /// The unit has ended, and with it that it is paused; but not while it may begin anew with a group: nobody has let it go on.
    mutating func endPause(of unit: Int) {
        guard rules >= Rules.keepsSteering else {
            pauses[Int32(unit)] = nil
            return
        }
        var around = Int(units[unit].parent)
        while around >= 0 {
            if mayBeginAnew(around) { return }
            around = Int(units[around].parent)
        }
        pauses[Int32(unit)] = nil
        guard mayBeginAnew(unit) else { return }
        for inner in inside(unit, withPaused: true) { pauses[Int32(inner)] = nil }
    }

    /// Whether it is a group that may begin anew, by itself or with the end of a delivery net.
    private func mayBeginAnew(_ group: Int) -> Bool {
        guard !node(group).isOperation else { return false }
        return node(group).mayBeginAnew(isAtMostOnce: isAtMostOnce(group)) || layout.scopes?.tail(of: units[group].node) != nil
    }

    /// The unit and everything in it; without what is paused by itself and in that, if so asked.
    func inside(_ unit: Int, withPaused: Bool) -> [Int] {
        var found = [unit]
        var place = 0
        while place < found.count {
            for child in children(of: found[place]) where withPaused || pauses[Int32(child)] == nil { found.append(child) }
            for inner in preparations(of: found[place]) where withPaused || pauses[Int32(inner)] == nil { found.append(inner) }
            if let decider = decider(of: found[place]) { found.append(decider) }
            place += 1
        }
        return found
    }

    private mutating func holdBack(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        switch units[unit].phase {
        case .held:
            units[unit].phase = .paused
        case .wanting, .locking, .ready, .postponed:
            giveBackWhilePaused(unit)
        case .retryWait, .preparing:
            break
        case .assigned(let attempt, let worker):
            return effects.append(.recall(id(unit), attempt, worker))
        case .blocked, .delayed, .paused, .provisional, .open, .ended, .lingering, .dropped:
            return
        }
        effects.append(.changed(id(unit), at: at, errors: []))
    }

    /// What has not begun gives its locks to others, and its conditions are evaluated anew when it goes on.
    mutating func giveBackWhilePaused(_ unit: Int) {
        units[unit].probing = .due
        guard mayReturnLocks(unit) else { return }
        units[unit].locks = .none
        units[unit].isPrepared = false
        units[unit].phase = .wanting
        releasing.append(Int32(unit))
    }

    /// Its worker gave the unit back before its only attempt had begun: nothing has happened under its locks.
    mutating func unuseLocks(_ unit: Int, after cause: LossCause) {
        let earlier: Int32
        switch cause {
        case .released: earlier = units[unit].attempts
        case .neverArrived: earlier = units[unit].attempts - 1
        case .leaseOver, .crashed, .processEnded, .orphanLimitOver, .suspected, .lockLeaseOver, .revoked, .limited: return
        }
        guard earlier == 0, units[unit].locks == .held(isUsed: true) else { return }
        units[unit].locks = .held(isUsed: false)
    }

    /// What was in its way is over: a pause, or that its producer had not begun.
    mutating func goOn(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        switch units[unit].phase {
        case .paused:
            return work.append(.enter(Int32(unit)))
        case .wanting:
            waitAnew(unit, at, &effects)
            effects.append(.wantsLocks(id(unit)))
        case .ready:
            waitAnew(unit, at, &effects)
            effects.append(.ready(id(unit)))
        case .postponed(let postponement):
            waitAnew(unit, at, &effects)
            effects.append(.postponed(id(unit), postponement))
        case .retryWait(let until):
            // From its time on it waits to be started.
            let due = node(unit).isOperation ? max(until, at) : until
            units[unit].phase = .retryWait(until: due)
            effects.append(.retry(id(unit), at: due))
        case .preparing:
            if node(unit).isOperation { waitAnew(unit, at, &effects) }
        case .blocked, .delayed, .held, .locking, .assigned, .provisional, .open, .ended, .lingering, .dropped:
            return
        }
        effects.append(.changed(id(unit), at: at, errors: []))
    }

    /// The time for which it was paused is not one for which it has waited to be started.
    private mutating func waitAnew(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        if case .group = node(unit).kind { return }
        startWaiting(unit, at, &effects)
    }
}
