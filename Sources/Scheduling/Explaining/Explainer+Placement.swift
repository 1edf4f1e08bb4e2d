/// What keeps workers, or the process that submitted it, from taking a unit that could start otherwise.
extension Explainer {
    /// Of one that waits to be given out. Nothing is found while somebody could take it.
    mutating func addPlacement(of unit: Int) {
        guard !isFull else { return }
        let id = submission.id(unit)
        if scheduler.isForSubmitter(id) { return addSubmitter(of: unit) }
        // Most groups are given to nobody.
        if submission.isPlainGroup(unit) { return }
        let lane = scheduler.operationClass(of: id)
        if isBrief, !submission.units[unit].isSuspect {
            let known = takersByClass[lane] ?? placement(of: unit, lane)
            takersByClass[lane] = .some(known)
            if let known, known.kind == .worker || scheduler.isWaiting(id) { add(known) }
        } else if let blocker = placement(of: unit, lane), blocker.kind == .worker || scheduler.isWaiting(id) {
            add(blocker)
        }
    }

    private func placement(of unit: Int, _ lane: Int) -> Blocker? {
        let sessions = scheduler.workers.sessions
        let candidates = sessions.indices.filter {
            !scheduler.durable.workers[$0].identity.isSubmitter && scheduler.couldTake(lane, worker: $0)
        }
        let takers = candidates.filter { scheduler.isTaking($0) }
        guard !takers.isEmpty else {
            return .worker(workerWait(ofNode: Int(submission.units[unit].node), for: "", lane))
        }
        let isSuspect = submission.units[unit].isSuspect
        let kept = isSuspect ? takers.first { sessions[$0].reservedFor == submission.id(unit) } : nil
        let inOrder = kept.map { kept in [kept] + takers.filter { $0 != kept } } ?? takers
        let obstacles = inOrder.map { (worker: $0, obstacle: obstacle(to: unit, lane, worker: $0)) }
        // Somebody could take it: it is not that.
        guard obstacles.allSatisfy({ $0.obstacle != nil }) else { return nil }
        let shown = obstacles.prefix(Self.takersShown).compactMap { worker, obstacle in obstacle.map { taker(worker, $0) } }
        var wait = SlotWait(
            takers: shown, takerCount: obstacles.count,
            ahead: isBrief ? 0 : scheduler.unitsBefore(submission.id(unit), worker: obstacles[0].worker),
            runsAlone: isSuspect)
        if isSuspect {
            wait.crashes = Int(submission.units[unit].crashes)
            wait.crashLimit = submission.crashLimit(unit, standard: scheduler.configuration.crashLimit)
        }
        return .slots(wait)
    }

    private static let takersShown = 10

    private func taker(_ worker: Int, _ obstacle: SlotWait.Taker.Obstacle) -> SlotWait.Taker {
        let session = scheduler.workers.sessions[worker]
        var taker = SlotWait.Taker(
            number: WorkerNumber(UInt32(worker)), worker: scheduler.durable.workers[worker].identity.name, slots: session.slots,
            taken: session.units.count, obstacle: obstacle)
        if obstacle == .full, !scheduler.waitingValues.isEmpty {
            let reasons = session.units.compactMap { scheduler.waitingValues[$0] }
            taker.undelivered = reasons.count
            taker.undeliveredReason = reasons.first ?? ""
        }
        return taker
    }

    private func obstacle(to unit: Int, _ lane: Int, worker: Int) -> SlotWait.Taker.Obstacle? {
        let session = scheduler.workers.sessions[worker]
        let isSuspect = submission.units[unit].isSuspect
        if session.isSuspected { return .suspected }
        if session.isExclusive { return .alone }
        if let other = session.reservedFor, other != submission.id(unit) { return .kept }
        let isFull = isSuspect ? !session.units.isEmpty : session.units.count >= session.slots
        let host = scheduler.host(of: worker)
        // First: more slots would not help.
        guard isSuspect ? scheduler.fitsAlone(lane, onHost: host) : scheduler.fits(lane, onHost: host) else {
            let need = Requirements(resources: scheduler.classes.need(of: lane)).text
            return .resources("needs \(need), and \(scheduler.spare(lane, worker: worker, isAlone: isSuspect, for: reader))")
        }
        return isFull ? .full : nil
    }

    /// Why nobody is there who could take units of the node.
    private func workerWait(ofNode node: Int, for operation: String, _ lane: Int) -> WorkerWait {
        let reason = scheduler.workerGap(ofNode: node, index, lane, there: scheduler.workersThere)
        let named: WorkerBar? = if case .barred(_, let bar, _, _) = reason { bar } else { nil }
        let absent = scheduler.absentWorkers(for: lane).map { worker in
            WorkerWait.Absentee(worker: scheduler.durable.workers[worker].identity.name, bar: scheduler.bar(ofWorker: worker))
        }
        // Of many those are shown of which something is known.
        let others = absent.filter { named == nil || $0.bar != named }
        let shown = (others.filter { $0.bar != nil } + others.filter { $0.bar == nil }).prefix(Self.takersShown)
        return WorkerWait(reason: reason, operation: operation, absent: Array(shown))
    }

    // MARK: Before it asks for locks

    /// Of one that does not ask for its locks, because nobody is there who could run it, or something in it.
    mutating func addUndispatchable(_ unit: Int) {
        guard !isFull else { return }
        var lanes: Set<Int32> = []
        for node in submission.layout.subtree(of: Int(submission.units[unit].node)) {
            if isFull { return }
            let isHosted = submission.graph.nodes[node].isHosted
            let lacksWorker = !isHosted && scheduler.lacksExecutor(node, index)
            let lacksSubmitter = scheduler.awaitsSubmitter(node, index) || (isHosted && scheduler.lacksExecutor(node, index))
            if lacksSubmitter, lanes.insert(scheduler.submitterClasses[index]).inserted, let wait = submitterWait() {
                add(.submitter(wait))
            }
            guard lacksWorker, lanes.insert(scheduler.nodeClasses[index][node]).inserted, takesMore() else { continue }
            let name = node == Int(submission.units[unit].node) ? "" : "\(submission.id)/\(submission.graph.path(of: node))"
            add(.worker(workerWait(ofNode: node, for: name, Int(scheduler.nodeClasses[index][node]))))
        }
    }

    // MARK: The process that submitted it

    private mutating func addSubmitter(of unit: Int) {
        if let wait = submitterWait() { return add(.submitter(wait)) }
        guard let number = scheduler.durable.workerByIncarnation[submission.submitter] else { return }
        let session = scheduler.workers.sessions[number.index]
        guard session.units.count >= session.slots else { return }
        add(
            .slots(
                SlotWait(
                    takers: [taker(number.index, .full)], takerCount: 1,
                    ahead: isBrief ? 0 : scheduler.unitsBefore(submission.id(unit), worker: number.index), runsAlone: false)))
    }

    /// nil: it is there.
    func submitterWait() -> SubmitterWait? {
        guard let number = scheduler.durable.workerByIncarnation[submission.submitter] else { return nil }
        let session = scheduler.workers.sessions[number.index]
        guard !session.isAttached || session.isSuspected else { return nil }
        return SubmitterWait(
            name: scheduler.durable.workers[number.index].identity.name,
            until: wall(session.lastHeard + scheduler.configuration.lockLeaseMilliseconds))
    }
}

extension Submission {
    /// Whether the unit is a group that no worker is asked about.
    fileprivate func isPlainGroup(_ unit: Int) -> Bool {
        guard case .group = node(unit).kind else { return false }
        return !needsProbing(unit)
    }
}

extension Scheduler {
    /// Workers that take work.
    var workersThere: [Int] {
        workers.sessions.indices.filter { isTaking($0) && !durable.workers[$0].identity.isSubmitter }
    }

    /// How many units the worker is handed before the unit, as far as is known now.
    fileprivate func unitsBefore(_ unit: UnitID, worker: Int) -> Int {
        let session = workers.sessions[worker]
        let own = operationClass(of: unit)
        let lanes = session.lanes + fittingLanes(of: worker).filter { $0 != own } + (classes.takesResources(own) ? [own] : [])
        return ready.countBefore(unit, among: lanes, upTo: SlotWait.aheadMax) { other, place in
            isWaiting(other) && (place.kind == .plain || conditionedUnits[other] == place.lane)
        }
    }
}
