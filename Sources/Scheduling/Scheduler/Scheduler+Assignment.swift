/// Who gets what.
extension Scheduler {
    /// Gives waiting units to executors: first to free slots, then ahead of need to those whose operations are short.
    /// One unit at a time in turn, so that work spreads before it piles up.
    mutating func assignReadyUnits(_ outputs: inout Outputs) {
        assignSuspects(&outputs)
        if ready.count > 0 { assign(&outputs) { $0.slots } }
        if ready.count > 0 { assign(&outputs) { $0.slots + $0.prefetch } }
        recallForIdle()
    }

    private mutating func assign(_ outputs: inout Outputs, upTo limit: (WorkerTable.Session) -> Int) {
        var candidates = workers.sessions.indices.filter { index in
            workers.sessions[index].reservedFor == nil && canTake(index)
                && workers.sessions[index].units.count < limit(workers.sessions[index])
        }
        // Those with the least to do come first.
        candidates.sort { (workers.sessions[$0].units.count, $0) < (workers.sessions[$1].units.count, $1) }
        while !candidates.isEmpty, ready.count > 0 {
            candidates.removeAll { index in
                guard workers.sessions[index].units.count < limit(workers.sessions[index]), let unit = popReady(for: index) else {
                    return true
                }
                assign(unit, to: index, &outputs)
                return false
            }
        }
    }

    private func canTake(_ worker: Int) -> Bool {
        let session = workers.sessions[worker]
        return session.isAttached && session.isAccepting && !session.isSuspected && !session.isExclusive
    }

    /// The next unit that still waits and that this executor can run.
    private mutating func popReady(for worker: Int) -> UnitID? {
        let lanes = workers.sessions[worker].lanes
        while let (unit, place) = ready.pop(among: lanes) {
            guard isWaiting(unit) else { continue }
            ready.noteServed(place, among: lanes)
            return unit
        }
        return nil
    }

    private func isWaiting(_ unit: UnitID) -> Bool {
        switch durable.phase(unit) {
        // A unit in retryWait is queued only when its time has come.
        case .ready, .retryWait: true
        case .blocked, .delayed, .held, .wanting, .locking, .assigned, .open, .ended, .dropped: false
        }
    }

    /// Units under which a process died run alone: an executor is kept free for each until it is empty.
    private mutating func assignSuspects(_ outputs: inout Outputs) {
        guard !ready.suspects.isEmpty else { return }
        for worker in workers.sessions.indices {
            if let unit = workers.sessions[worker].reservedFor, !isWaiting(unit) || !canTake(worker) {
                workers.sessions[worker].reservedFor = nil
            }
        }
        for unit in ready.removeSuspects() where isWaiting(unit) {
            guard let worker = executor(for: unit) else {
                ready.pushSuspect(unit)
                continue
            }
            guard workers.sessions[worker].units.isEmpty else {
                workers.sessions[worker].reservedFor = unit
                ready.pushSuspect(unit)
                continue
            }
            workers.sessions[worker].reservedFor = nil
            assign(unit, to: worker, &outputs)
            workers.sessions[worker].isExclusive = true
        }
    }

    /// The executor that is or may be kept for a suspect: of those not kept for another the one with the least to do.
    private func executor(for unit: UnitID) -> Int? {
        if let kept = workers.sessions.firstIndex(where: { $0.reservedFor == unit }) { return kept }
        let lane = operationClass(of: unit)
        return workers.sessions.indices
            .filter { canTake($0) && workers.sessions[$0].reservedFor == nil && workers.sessions[$0].lanes.contains(lane) }
            .min { (workers.sessions[$0].units.count, $0) < (workers.sessions[$1].units.count, $1) }
    }

    private mutating func assign(_ unit: UnitID, to worker: Int, _ outputs: inout Outputs) {
        attemptCounter += 1
        let attempt = Attempt(epoch: durable.epoch, counter: attemptCounter)
        emit(.assigned(unit, attempt, WorkerNumber(UInt32(worker)), at: now.wall), &outputs)
        workers.sessions[worker].units.append(unit)
        pending.dispatches[worker, default: []].append(assignment(unit, attempt))
    }

    private func assignment(_ id: UnitID, _ attempt: Attempt) -> Assignment {
        let index = durable.index(of: id.submission)
        let unit = id.index
        let node = durable.submissions[index].node(unit)
        var assignment = Assignment(
            unit: id, attempt: attempt, kind: .execute, submission: durable.submissions[index].id,
            path: durable.submissions[index].path(of: unit), attemptNumber: Int(durable.submissions[index].units[unit].attempts),
            operation: "", version: 0, parameters: [], isTemplated: false,
            bindings: durable.submissions[index].bindings(of: unit),
            inputs: node.receives.map { producer in
                durable.submissions[index].received(from: durable.submissions[index].unit(ofNode: producer, seenFrom: unit))
            },
            receivesArray: node.receivesArray,
            timeoutMilliseconds: node.timeoutMilliseconds, graceMilliseconds: node.graceMilliseconds,
            fences: durable.submissions[index].fences(of: unit, attempt),
            isAtMostOnce: durable.submissions[index].isAtMostOnce(unit)
        )
        switch node.kind {
        case .operation(let operation):
            assignment.operation = operation.type
            assignment.version = operation.version
            assignment.parameters = durable.submissions[index].graph.parameters[operation.parameters]
            assignment.isTemplated = operation.isTemplated
        case .forEach:
            assignment.kind = .decide
            // Whose list it is, for the text of an error.
            assignment.operation = node.receives.first.map { durable.submissions[index].graph.nodes[$0].id } ?? ""
        case .group:
            preconditionFailure("the group \(assignment.path) cannot be given to a worker")
        }
        return assignment
    }

    /// Asks busy executors for units that they have not begun, when another one has nothing to do.
    private mutating func recallForIdle() {
        for idle in workers.sessions.indices where canTake(idle) && workers.sessions[idle].units.isEmpty {
            let lanes = workers.sessions[idle].lanes
            guard
                let busy = workers.sessions.indices.filter({ index in
                    workers.sessions[index].isAttached && workers.sessions[index].recalled.isEmpty
                        && workers.sessions[index].units.count > workers.sessions[index].slots
                }).max(by: { workers.sessions[$0].units.count < workers.sessions[$1].units.count })
            else { return }
            let spare = workers.sessions[busy].units.dropFirst(workers.sessions[busy].slots)
            let wanted = spare.suffix((spare.count + 1) / 2).filter { lanes.contains(operationClass(of: $0)) }
            for unit in wanted {
                guard case .assigned(let attempt, _) = durable.phase(unit) else { continue }
                workers.sessions[busy].recalled.append(unit)
                pending.stops[busy, default: []].append(StopOrder(unit: unit, attempt: attempt, reason: .recalled, now: false))
            }
        }
    }
}
