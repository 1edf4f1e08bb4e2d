/// Pausing and resuming, as clients ask for it.
extension Scheduler {
    func isPaused(_ unit: UnitID) -> Bool { durable.submissions[durable.index(of: unit.submission)].isPaused(unit.index) }

    /// - Parameter pauses: false: it is to go on.
    mutating func steer(_ unit: UnitID, pauses: Bool, _ outputs: inout Outputs) -> Reply {
        let index = durable.index(of: unit.submission)
        let id = durable.submissions[index].id
        guard !durable.submissions[index].units[unit.index].hasEnded else {
            return .steered(id: id, changed: false, alreadyEnded: true, pausedBy: nil)
        }
        let isChange = (durable.submissions[index].pauses[Int32(unit.index)] != nil) != pauses
        if isChange { emit(pauses ? .paused(unit, at: now.wall) : .resumed(unit, at: now.wall), &outputs) }
        let around = durable.submissions[index].pausedUnit(around: unit.index)
        return .steered(
            id: id, changed: isChange, alreadyEnded: false,
            pausedBy: pauses ? nil : around.map { durable.submissions[index].path(of: $0) })
    }

    /// What its executor has not begun comes back, if it is not too late.
    mutating func recall(_ unit: UnitID, _ attempt: Attempt, _ worker: WorkerNumber) {
        let index = durable.index(of: unit.submission)
        let session = workers.sessions[worker.index]
        guard session.isAttached, !durable.submissions[index].units[unit.index].isRunning, !session.recalled.contains(unit) else { return }
        workers.sessions[worker.index].recalled.append(unit)
        pending.stops[worker.index, default: []].append(StopOrder(unit: unit, attempt: attempt, reason: .recalled, now: false))
    }

    /// Why a unit waits that could go on but for a pause.
    func pauseInTheWay(of unit: UnitID) -> WaitingView? {
        let index = durable.index(of: unit.submission)
        let state = durable.submissions[index].units[unit.index]
        guard let paused = durable.submissions[index].pausedUnit(around: unit.index),
            operationState(of: state, isPaused: true) == .paused
        else { return nil }
        let path = durable.submissions[index].path(of: paused)
        let name = path.isEmpty ? durable.submissions[index].id : "\(durable.submissions[index].id)/\(path)"
        return WaitingView(kind: .paused, text: "paused; `aop resume \(name)` lets it go on")
    }
}
