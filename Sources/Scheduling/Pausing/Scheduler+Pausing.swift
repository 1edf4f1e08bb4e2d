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
    /// When it was asked for (wall time).
    let since: Int64
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
        let isPaused = durable.submissions[index].pauses[Int32(unit.index)] != nil
        // It may begin anew with its group, and is paused then, too.
        let isKept = isPaused && !pauses
        guard !durable.submissions[index].units[unit.index].hasEnded || isKept else {
            return .steered(id: id, changed: false, alreadyEnded: true, pausedBy: nil)
        }
        let isChange = isPaused != pauses
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
            request: request, submission: submission.id, path: path, authority: authority, unit: unit, since: now.wall, links: links)
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
    func isAboutToBePaused(_ unit: UnitID) -> Bool { awaitedPauses.contains { $0.unit.submission == unit.submission && isAbout($0, unit) } }

    /// Pauses of the unit, or of something around it, that have not taken effect.
    func awaitedPauses(around unit: UnitID) -> [AwaitedPause] {
        awaitedPauses.filter { $0.unit.submission == unit.submission && isAbout($0, unit) }
    }

    private func isAbout(_ pause: AwaitedPause, _ unit: UnitID) -> Bool {
        durable.submissions[durable.index(of: unit.submission)].isInside(unit.index, of: pause.unit.index)
    }

    /// Who might still begin something of what is to be paused, in the order in which they were asked.
    func workersAwaited(by pause: AwaitedPause) -> [String] {
        var names: [String] = []
        for link in pause.links where mayBegin(link.name, on: link.worker) {
            let name = durable.workers[link.worker.index].identity.name
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    /// What its executor has not begun comes back, if it is not too late.
    mutating func recall(_ unit: UnitID, _ attempt: Attempt, _ worker: WorkerNumber) {
        let index = durable.index(of: unit.submission)
        let session = workers.sessions[worker.index]
        guard session.isAttached, !durable.submissions[index].units[unit.index].isRunning, !session.recalled.contains(unit) else { return }
        workers.sessions[worker.index].recalled.append(unit)
        pending.stops[worker.index, default: []].append(StopOrder(unit: unit, attempt: attempt, reason: .recalled, now: false))
    }

    /// What is to be paused as soon as that may be told, and has not begun.
    func pauseOnTheWay(to unit: UnitID) -> WaitingView? {
        guard !awaitedPauses.isEmpty else { return nil }
        let index = durable.index(of: unit.submission)
        switch operationState(of: unit.index, index) {
        case .blocked, .locking, .evaluating, .queued, .retrying: break
        case .running where !durable.submissions[index].node(unit.index).isOperation: break
        case .running, .stopping, .paused, .succeeded, .failed, .cancelled: return nil
        }
        guard let pause = awaitedPauses(around: unit).first else { return nil }
        let wait = PauseWait(unit: blocking(pause.unit), since: pause.since, workers: workersAwaited(by: pause))
        return WaitingView(kind: .paused, text: "a pause was asked for, which takes effect \(wait.moment)")
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
