/// What an executor begins by itself.
///
/// It knows of each link under which attempt that runs, and after which one; so does `WorkerTable.Session.links`, as long as the
/// connection lasts. A new connection forgets all of them on both sides.
extension Scheduler {
    /// Sends what may follow a unit along with it: as much as the executor does in the time for which it is sent ahead anyway.
    mutating func sendLinks(after unit: UnitID, _ attempt: Attempt, to worker: Int, _ outputs: inout Outputs) {
        let submission = durable.index(of: unit.submission)
        guard workers.sessions[worker].followsLinks, durable.submissions[submission].layout.policies != nil else { return }
        var last = AttemptName(unit: unit, attempt: attempt)
        for _ in 0..<workers.sessions[worker].prefetchPerSlot {
            guard !sends(last.unit), let next = durable.submissions[submission].link(after: last.unit.index) else { return }
            let link = UnitID(unit.submission, next)
            guard workers.sessions[worker].lanes.contains(operationClass(of: link)), !isAboutToBePaused(link) else { return }
            attemptCounter += 1
            let name = AttemptName(unit: link, attempt: Attempt(epoch: durable.epoch, counter: attemptCounter))
            if !configuration.forgetsLinks {
                emit(.linked(link, name.attempt, WorkerNumber(UInt32(worker)), at: now.wall), &outputs)
            }
            workers.sessions[worker].links[last] = name
            let assignment = durable.submissions[submission].assignment(of: next, name.attempt, resources: [], after: last)
            pending.dispatches[worker, default: []].append(assignment)
            last = name
        }
    }

    /// Whether the end of the operation is told when what it sends is on the coordinator's disk, and not before: the end of what is
    /// linked to it would be heard of first, and would not count.
    private func sends(_ unit: UnitID) -> Bool {
        guard case .operation(let operation) = durable.submissions[durable.index(of: unit.submission)].node(unit.index).kind else {
            return false
        }
        return durable.signatures.signatures(of: operation.type).contains { $0.sent != nil }
    }

    /// The attempt has succeeded: the executor has begun what is linked to it, which is the unit's attempt now.
    mutating func followLink(after name: AttemptName, on number: WorkerNumber, _ outputs: inout Outputs) {
        guard let link = workers.sessions[number.index].links.removeValue(forKey: name) else {
            if configuration.takesAnyLink { takeAnyLink(after: name.unit, &outputs) }
            return
        }
        guard isWaiting(link.unit), case .ready = durable.phase(link.unit), !endQuarantined(link.unit, &outputs),
            !endMisfit(link.unit, &outputs)
        else {
            orderStop(link.unit, link.attempt, number, .cancelled, now: false)
            return stopLinks(after: link, on: number)
        }
        emit(.assigned(link.unit, link.attempt, number, at: now.wall), &outputs)
        workers.sessions[number.index].strays.removeAll { $0 == link }
        workers.sessions[number.index].units.append(link.unit)
        noteServed(link.unit, by: number.index)
        if markRunning(link.unit) { noteChange(link.unit, at: now.wall, errors: []) }
    }

    /// What has perhaps begun after another attempt of the unit counts as the attempt of its own: the fault that ``Configuration/takesAnyLink``
    /// plants.
    private mutating func takeAnyLink(after unit: UnitID, _ outputs: inout Outputs) {
        let submission = durable.submissions[durable.index(of: unit.submission)]
        let dependents = submission.layout.dependents[Int(submission.units[unit.index].node)].map { Int($0) }
        for stray in submission.strays where dependents.contains(Int(submission.units[Int(stray.unit)].node)) {
            let link = AttemptName(unit: submission.id(Int(stray.unit)), attempt: stray.attempt)
            guard isWaiting(link.unit), case .ready = durable.phase(link.unit) else { continue }
            emit(.assigned(link.unit, link.attempt, stray.worker, at: now.wall), &outputs)
            workers.sessions[stray.worker.index].strays.removeAll { $0 == link }
            workers.sessions[stray.worker.index].units.append(link.unit)
        }
    }

    /// The attempt has not succeeded, or never began: what is linked to it never begins.
    mutating func breakLinks(after name: AttemptName, on number: WorkerNumber, _ outputs: inout Outputs) {
        var last = name
        while let link = workers.sessions[number.index].links.removeValue(forKey: last) {
            endStray(link.unit, link.attempt, isUnbegun: true, on: number, &outputs)
            last = link
        }
    }

    /// The executor has given the attempt back: it is not begun, and what is linked to it is not either.
    ///
    /// - Returns: whether it was itself linked to another one.
    mutating func giveUpLink(_ name: AttemptName, on number: WorkerNumber, _ outputs: inout Outputs) -> Bool {
        guard !workers.sessions[number.index].links.isEmpty else { return false }
        breakLinks(after: name, on: number, &outputs)
        return dropLink(to: name, on: number)
    }

    /// The attempt is over: nobody follows by it.
    ///
    /// - Returns: whether it was linked to another one.
    @discardableResult
    mutating func dropLink(to name: AttemptName, on number: WorkerNumber) -> Bool {
        guard let before = workers.sessions[number.index].links.first(where: { $0.value == name })?.key else { return false }
        workers.sessions[number.index].links[before] = nil
        return true
    }

    /// What is linked to something, in the unit, and may begin; and on which executors.
    func links(in unit: UnitID) -> [(name: AttemptName, worker: WorkerNumber)] {
        let submission = durable.submissions[durable.index(of: unit.submission)]
        return submission.strays.compactMap { stray in
            guard submission.isInside(Int(stray.unit), of: unit.index) else { return nil }
            let name = AttemptName(unit: submission.id(Int(stray.unit)), attempt: stray.attempt)
            return mayBegin(name, on: stray.worker) ? (name, stray.worker) : nil
        }
    }

    /// They are to come back, where they have not begun.
    mutating func recall(_ links: [(name: AttemptName, worker: WorkerNumber)]) {
        for link in links where workers.sessions[link.worker.index].isAttached {
            pending.stops[link.worker.index, default: []].append(
                StopOrder(unit: link.name.unit, attempt: link.name.attempt, reason: .recalled, now: false))
        }
    }

    /// Whether the executor may begin the attempt, which is not its unit's, by itself: it has not said that it gave it back, nor that the one
    /// before has succeeded. One whose lease is over begins nothing, and one that has come back on a new connection forgot it.
    func mayBegin(_ name: AttemptName, on number: WorkerNumber) -> Bool {
        guard isStray(name.unit, name.attempt), durable.phase(name.unit) == .blocked else { return false }
        let session = workers.sessions[number.index]
        return switch session.connection {
        case .attached: session.links.values.contains(name)
        // What it had been told before the coordinator started is not known.
        case .awaited: true
        case .absent, .silent, .revoked: false
        }
    }

    /// The executor may have begun what is linked to the attempt, and nothing of that is wanted.
    mutating func stopLinks(after name: AttemptName, on number: WorkerNumber) {
        var last = name
        while let link = workers.sessions[number.index].links.removeValue(forKey: last) {
            orderStop(link.unit, link.attempt, number, .cancelled, now: false)
            last = link
        }
    }
}
