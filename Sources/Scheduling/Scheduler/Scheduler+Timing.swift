/// When units may start.
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

    /// Boot time at which something is due. While something waits for a wall time the clock is looked at now and then,
    /// because it may be stepped.
    var nextWake: Int64? {
        guard let wall = wallTimers.nextDue else { return timers.nextDue }
        let look = now.boot + min(max(0, wall - now.wall), Self.wallClockLookMilliseconds)
        return min(timers.nextDue ?? look, look)
    }

    private static let wallClockLookMilliseconds: Int64 = 10_000
}
