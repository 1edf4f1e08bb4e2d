/// When units may start, and by when they must have ended.
extension Scheduler {
    func options(of unit: UnitID) -> NodeOptions {
        let index = durable.index(of: unit.submission)
        return durable.submissions[index].graph.nodes[Int(durable.submissions[index].units[unit.index].node)].options
    }

    /// A delay runs on boot time once it is known how long it still takes.
    mutating func watchDelay(of unit: UnitID, until: Int64) {
        timers.insert(.delay(unit, until), due: now.boot + max(0, until - now.wall))
    }

    mutating func delayDue(_ unit: UnitID, _ until: Int64, _ outputs: inout Outputs) {
        guard durable.phase(unit) == .delayed(until: until) else { return }
        let notBefore = options(of: unit).notBefore
        guard notBefore <= now.wall else { return wallTimers.insert(.delay(unit, until), due: notBefore) }
        emit(.delayEnded(unit, at: now.wall), &outputs)
    }

    mutating func watchDeadline(of unit: UnitID, at wall: Int64) {
        timers.insert(.deadline(unit, wall), due: now.boot + max(0, wall - now.wall))
    }

    /// How often it is looked whether the value of what has ended in time is there.
    static let valueLookMilliseconds: Int64 = 1_000

    mutating func deadlineDue(_ unit: UnitID, _ at: Int64, _ outputs: inout Outputs) {
        let index = durable.index(of: unit.submission)
        guard durable.submissions[index].deadlines[Int32(unit.index)] == at else { return }
        // It has ended in time; with what, is on its way.
        if waitingValues[unit] != nil {
            return timers.insert(.deadline(unit, at), due: now.boot + Self.valueLookMilliseconds)
        }
        guard !awaitEnds(of: unit, .deadline(at)) else { return }
        passDeadline(of: unit, &outputs)
    }

    mutating func passDeadline(of unit: UnitID, _ outputs: inout Outputs) {
        switch durable.submissions[durable.index(of: unit.submission)].units[unit.index].stop {
        case nil, .timedOut, .queueTimedOut, .conditionFailed, .streamVoided: emit(.deadlinePassed(unit, at: now.wall), &outputs)
        case .cancelled, .siblingFailed, .deadlinePassed, .duplicate, .submitterGone, .lockCycle, .quarantined, .unfit, .fenced: break
        }
    }

    /// The unit waits to be started: for a worker, and for locks that it asks for when a worker is there.
    ///
    /// - Parameter waited: how long it has.
    mutating func watchQueueTimeout(of unit: UnitID, waited: Int64 = 0) {
        let limit = options(of: unit).queueTimeoutMilliseconds
        guard limit > 0, let since = waitingSince(unit) else { return }
        timers.insert(.queueTimeout(unit, since), due: now.boot + max(0, limit - waited))
    }

    /// After a start: the time without a coordinator counts.
    mutating func watchQueueTimeoutAgain(of unit: UnitID) {
        guard let since = waitingSince(unit) else { return }
        watchQueueTimeout(of: unit, waited: now.wall - since)
    }

    mutating func queueTimeoutDue(_ unit: UnitID, _ since: Int64, _ outputs: inout Outputs) {
        guard waitingSince(unit) == since else { return }
        let state = durable.submissions[durable.index(of: unit.submission)].units[unit.index]
        // It waits anew when it is resumed.
        guard state.stop == nil, !state.isRunning, !isPaused(unit), !lacksStream(unit) else { return }
        if case .assigned(_, let worker) = state.phase {
            let session = workers.sessions[worker.index]
            // Whether it runs is not known while its worker is not heard.
            guard session.isAttached, !session.isSuspected else {
                return timers.insert(.queueTimeout(unit, since), due: now.boot + configuration.leaseMilliseconds)
            }
        }
        emit(.queueTimedOut(unit, at: now.wall), &outputs)
    }

    /// The wall time since which the unit has waited to be started; nil: it does not.
    private func waitingSince(_ unit: UnitID) -> Int64? {
        // It has run; only its end is asked about.
        guard !durable.submissions[durable.index(of: unit.submission)].isConcluding(unit.index) else { return nil }
        return switch durable.phase(unit) {
        case .wanting, .locking, .preparing, .ready, .postponed, .assigned:
            durable.submissions[durable.index(of: unit.submission)].units[unit.index].queuedAt
        case .retryWait(let until): until
        case .blocked, .delayed, .held, .paused, .provisional, .open, .ended, .lingering, .dropped: nil
        }
    }

    /// Boot time at which something is due. While something waits for a wall time the clock is looked at now and then,
    /// because it may be stepped.
    var nextWake: Int64? {
        guard let wall = wallTimers.nextDue else { return timers.nextDue }
        let look = now.boot + min(max(0, wall - now.wall), Self.wallClockLookMilliseconds)
        return min(timers.nextDue ?? look, look)
    }

    private static let wallClockLookMilliseconds: Int64 = 10_000
}
