/// Retry scopes: the end of a delivery net, its tail, has what failed above it tried again.
///
/// An attempt of a member that has failed, or that followed on such a failure, is held: those that receive from it are given
/// its ending and go on, and nobody else is told. So all that can deliver to the tail have ended or are held when it runs. If
/// that fails and is tried again, what is held begins anew with it; once the tail has ended, however it did, what is held
/// counts.
extension Submission {
    /// How the unit has ended, or is held to end.
    func knownOutcome(_ unit: Int) -> Outcome? {
        if let outcome = units[unit].outcome { return outcome }
        guard !scoped.isEmpty else { return nil }
        return switch scoped[Int32(unit)] {
        case .success(let success)?: .success(success.payload)
        case .failure(let failures)?: .failure(failures)
        case nil: nil
        }
    }

    @inline(__always)  // else the submission is copied for the call
    func isHeldInScope(_ unit: Int) -> Bool { !scoped.isEmpty && scoped[Int32(unit)] != nil }

    /// The operation whose retry decides about ends of the unit; nil: they count at once.
    func openTail(of unit: Int) -> Int? {
        guard let tail = layout.scopes?.tail(of: units[unit].node) else { return nil }
        let place = Int(units[unit].base) + Int(layout.offset[Int(tail)])
        return units[place].hasEnded || duplicate(place) != nil ? nil : place
    }

    /// Those that are tried again with the unit, producers before their receivers.
    private func scopeMembers(of unit: Int) -> [Int] {
        guard let plan = layout.scopes else { return [] }
        return plan.members(of: units[unit].node).map { Int(units[unit].base) + Int(layout.offset[Int($0)]) }
    }

    /// Whether something is tried again with the unit.
    func hasHeldMembers(_ unit: Int) -> Bool { !scoped.isEmpty && scopeMembers(of: unit).contains { isHeldInScope($0) } }

    /// Whether the unit, which waits to be tried again, begins anew as it did at first, and what is held for it too: something is, or
    /// it has passed a failure on without having run, and so without its locks.
    func beginsAnewWithNet(_ unit: Int) -> Bool { hasHeldMembers(unit) || lacksLocks(unit) || forwardedFailure(unit) != nil }

    // MARK: Ends of attempts

    /// Whether a success of the unit may have to be made anew: it followed on something that is held.
    func holdsInScope(_ unit: Int) -> Bool { !scoped.isEmpty && openTail(of: unit) != nil && followsHeld(unit) }

    private func followsHeld(_ unit: Int) -> Bool {
        !scoped.isEmpty && node(unit).receives.contains { isHeldInScope(self.unit(ofNode: $0, seenFrom: unit)) }
    }

    /// The unit has failed, and is not tried again by itself.
    mutating func settleFailure(_ unit: Int, _ failures: [Failure], _ at: Int64, _ effects: inout [Effect]) {
        guard openTail(of: unit) != nil else { return finish(unit, .failure(failures), at, &effects) }
        holdInScope(unit, .failure(failures), at, &effects)
    }

    /// The unit does not run, because a producer failed. The tail is tried again for what may be tried again with it.
    mutating func forward(_ failures: [Failure], from unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        guard openTail(of: unit) == nil, followsHeld(unit) else { return settleFailure(unit, failures, at, &effects) }
        failAttempt(unit, failures, at, &effects)
    }

    /// Gives those that receive from the unit an ending that does not count yet. Its place in its group is free meanwhile.
    mutating func holdInScope(_ unit: Int, _ ending: HeldEnd.Ending, _ at: Int64, _ effects: inout [Effect]) {
        noteNotRunning(unit)
        scoped[Int32(unit)] = ending
        var failures: [Failure] = []
        if case .failure(let found) = ending { failures = found }
        lastFailures[Int32(unit)] = failures.first
        units[unit].stop = nil
        units[unit].phase = .provisional
        heldChildren[Int32(unit)] = nil
        effects.append(.changed(id(unit), at: at, errors: failures))
        leaveGroup(unit)
        releaseDependents(of: unit, hadBegunStream: false)
    }

    // MARK: The tail

    /// The tail has waited to be tried again: what is held begins anew with it, if it can still deliver to it. To what cannot,
    /// because what is between has ended for good, the tail has nothing to say any more.
    mutating func restartScope(of unit: Int, at: Int64, _ effects: inout [Effect]) throws(FactMismatch) {
        guard case .retryWait = units[unit].phase, beginsAnewWithNet(unit) else {
            throw FactMismatch("the scope of \(path(of: unit)) began anew while that did not wait to be tried again")
        }
        let members = scopeMembers(of: unit)
        var again: Set<Int> = [unit]
        var delivering = Set(node(unit).receives)
        for member in members.reversed() where beginsAnew(member) && delivering.contains(Int(units[member].node)) {
            again.insert(member)
            delivering.formUnion(node(member).receives)
        }
        for member in members where isHeldInScope(member) && !again.contains(member) { accept(member, at, &effects) }
        // What was cancelled while it was held, and still lingers, has another end than those that begin anew were told: they wait for that.
        for member in members where units[member].phase == .lingering { scoped[Int32(member)] = nil }
        let restarted = members.filter(again.contains) + [unit]
        for member in restarted { beginAnew(member) }
        for member in restarted {
            // And until all of them have been put back.
            units[member].unmet = unmetDependencies(member) + 1
            work.append(.release(Int32(member)))
            effects.append(.changed(id(member), at: at, errors: []))
        }
        settle(at: at, &effects)
    }

    /// Whether its end is held for others to decide about: not if it was cancelled meanwhile.
    private func beginsAnew(_ member: Int) -> Bool { isHeldInScope(member) && units[member].phase != .lingering }

    private mutating func beginAnew(_ unit: Int) {
        noteEarlierFailure(held: unit)
        forgetCancellation(of: unit)
        scoped[Int32(unit)] = nil
        leaveGroup(unit)
        if !node(unit).isOperation {
            empty(unit)
            resetCounters(unit)
        }
        let options = node(unit).options
        if options.delayMilliseconds > 0 || options.notBefore > 0 { begunAnew.insert(Int32(unit)) }
        units[unit].phase = .blocked
        units[unit].stop = nil
        if node(unit).isOperation { units[unit].startedAt = 0 }
        units[unit].probing = .due
        units[unit].isPrepared = false
        units[unit].isCleared = false
        endCancelled(in: unit)
    }

    /// The unit is about to end: if others were held for it, their ends count, and they come before it.
    mutating func decideScope(of unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        guard !scoped.isEmpty else { return }
        // Nobody is tried again by it any more, whatever follows from these.
        for member in scopeMembers(of: unit) where isHeldInScope(member) { accept(member, at, &effects) }
    }

    private mutating func accept(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        // It was cancelled, and ends so when nothing of it can run any more.
        if units[unit].phase == .lingering { return }
        switch scoped[Int32(unit)] {
        case .success(let success)?:
            accept(success, of: unit, at, &effects)
        case .failure? where units[unit].openChildren > 0:
            // The conditions of a group have failed: what is in it ends as cancelled before it.
            units[unit].stop = .conditionFailed
            awaitChildren(of: unit, stoppedBy: .siblingFailed)
        case .failure(let failures)?:
            finish(unit, .failure(failures), at, &effects)
        case nil:
            break
        }
    }

    mutating func forgetScope(of unit: Int) {
        if !scoped.isEmpty { scoped[Int32(unit)] = nil }
        if !begunAnew.isEmpty { begunAnew.remove(Int32(unit)) }
    }

    // MARK: Checks

    func scopeViolations() -> [String] {
        guard layout.scopes != nil else { return scoped.isEmpty ? [] : ["\(id): ends are held in a graph without scopes"] }
        var found: [String] = []
        for unit in units.indices where isHeldInScope(unit) {
            let path = "\(id)/\(path(of: unit))"
            switch units[unit].phase {
            case .provisional, .lingering: break
            default:
                found.append("\(path): its end is held, but it is \(units[unit].phase)")
            }
            if openTail(of: unit) == nil, units[unit].stop == nil { found.append("\(path): its end is held for nobody") }
        }
        for unit in units.indices {
            guard case .assigned = units[unit].phase, !scopeMembers(of: unit).isEmpty else { continue }
            if node(unit).receives.contains(where: { knownOutcome(self.unit(ofNode: $0, seenFrom: unit)) == nil }) {
                found.append("\(id)/\(path(of: unit)): runs before all that deliver to it have ended")
            }
        }
        return found
    }
}

extension Scheduler {
    /// Why the end of a unit does not count yet.
    func scopeInTheWay(of unit: UnitID) -> WaitingView? {
        let index = durable.index(of: unit.submission)
        guard durable.submissions[index].isHeldInScope(unit.index), let tail = durable.submissions[index].openTail(of: unit.index) else {
            return nil
        }
        let name = durable.submissions[index].path(of: tail)
        return WaitingView(kind: .retryScope, text: "has ended; whether that counts `\(name)` decides, which may have it tried again")
    }
}
