/// A pause that was asked for while executors might begin something of it by themselves.
///
/// It takes effect, and is answered, when none may any more: nothing of it is to begin once that is told, and what has begun goes on.
/// Until then it takes one message to an executor, and one back; for one that is not heard, the rest of its lease. A coordinator that starts
/// anew is asked again.
struct AwaitedPause {
    let request: RequestID
    let submission: String
    let path: String
    let authority: Authority
    let unit: UnitID
    /// What was linked to something when it was asked for; those at the end are not known yet to be given up.
    var links: [(name: AttemptName, worker: WorkerNumber)]
}

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

    /// A pause that has to wait for what is linked to something in the unit.
    ///
    /// - Returns: nil: nothing is, and it can be paused at once.
    func awaitingLinks(_ request: RequestID, _ path: String, by authority: Authority, of unit: UnitID) -> AwaitedPause? {
        let submission = durable.submissions[durable.index(of: unit.submission)]
        guard !submission.units[unit.index].hasEnded else { return nil }
        let links = links(in: unit)
        guard !links.isEmpty else { return nil }
        return AwaitedPause(
            request: request, submission: submission.id, path: path, authority: authority, unit: unit, links: links)
    }

    /// Pauses what no executor can begin by itself any more.
    mutating func pauseAwaited(_ outputs: inout Outputs) {
        guard !awaitedPauses.isEmpty else { return }
        var open: [AwaitedPause] = []
        for var pause in awaitedPauses {
            while let link = pause.links.last, !mayBegin(link.name, on: link.worker) { pause.links.removeLast() }
            if pause.links.isEmpty { carryOut(pause, &outputs) } else { open.append(pause) }
        }
        awaitedPauses = open
    }

    /// Who resumes a unit has seen, or not waited for, what was asked before of it: that comes first.
    mutating func pauseBeforeResuming(_ unit: UnitID, _ outputs: inout Outputs) {
        guard awaitedPauses.contains(where: { $0.unit == unit }) else { return }
        let due = awaitedPauses.filter { $0.unit == unit }
        awaitedPauses.removeAll { $0.unit == unit }
        for pause in due { carryOut(pause, &outputs) }
    }

    private mutating func carryOut(_ pause: AwaitedPause, _ outputs: inout Outputs) {
        let reply = steer(pause.submission, path: pause.path, pauses: true, by: pause.authority, &outputs)
        pending.send(.reply(pause.request, reply), to: pause.request.peer)
    }

    /// Whether the unit, or something around it, is about to be paused.
    func isAboutToBePaused(_ unit: UnitID) -> Bool {
        awaitedPauses.contains { pause in
            pause.unit.submission == unit.submission
                && durable.submissions[durable.index(of: unit.submission)].isInside(unit.index, of: pause.unit.index)
        }
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
