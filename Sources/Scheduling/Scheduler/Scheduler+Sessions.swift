/// Executors: who is there, and what they hold.
extension Scheduler {
    mutating func attach(_ peer: PeerID, _ attachment: ExecutorAttachment, _ outputs: inout Outputs) {
        let known = durable.workerByIncarnation[attachment.identity.incarnation]
        if let known, durable.workers[known.index].hasEnded {
            return pending.send(durable.workers[known.index].identity.isSubmitter ? .sessionOver : .superseded, to: peer)
        }
        if let known, attachment.connection != 0, attachment.connection < workers.sessions[known.index].lastConnection {
            // It has come late: what it says was so before what has been given out on the newer connection.
            return pending.send(.superseded, to: peer)
        }
        let number = known ?? meet(attachment.identity, &outputs)
        if !durable.workers[number.index].identity.isSubmitter {
            register(attachment.operations.map(\.name) + attachment.conditions.map(OperationClasses.knownName), &outputs)
            register(attachment.operations, &outputs)
            register(Offer(labels: attachment.labels, resources: attachment.resources), &outputs)
        }
        if let older = workers.sessions[number.index].peer, older != peer {
            workers.byPeer[older] = nil
            pending.send(.superseded, to: older)
        }
        noteArrival(of: number, isNew: known == nil, slots: max(1, attachment.slots))
        workers.forgetSilence(of: number)
        workers.byPeer[peer] = number
        workers.sessions[number.index].connection = .attached(peer)
        workers.sessions[number.index].lastConnection = attachment.connection
        workers.sessions[number.index].lastHeard = now.boot
        workers.sessions[number.index].lastHeardWall = now.wall
        workers.sessions[number.index].isSuspected = false
        workers.sessions[number.index].letIn()
        workers.sessions[number.index].isAccepting = true
        workers.sessions[number.index].slots = max(1, attachment.slots)
        workers.sessions[number.index].line = max(0, attachment.line)
        workers.sessions[number.index].followsLinks = attachment.followsLinks
        workers.sessions[number.index].links = [:]
        workers.sessions[number.index].operations = attachment.operations
        workers.sessions[number.index].labels = attachment.labels
        workers.sessions[number.index].recalled = []
        workers.sessions[number.index].endsToTell = []
        workers.sessions[number.index].endsDoubtedUntil = nil
        workers.sessions[number.index].begunUnheard = []
        workers.sessions[number.index].conditions = attachment.conditions
        workers.hosts[host(of: number.index)].capacity = attachment.resources.sorted { $0.name < $1.name }
        giveLanes(to: number.index)
        lockIntake.haveWorkersChanged = true
        watchLease(of: number, due: now.boot + configuration.leaseMilliseconds)
        let drop = reconcile(number, attachment.held, &outputs)
        pending.send(.welcome(name: durable.workers[number.index].identity.name, drop: drop), to: peer)
    }

    /// One that has only changed its connection was never away.
    private mutating func noteArrival(of number: WorkerNumber, isNew: Bool, slots: Int) {
        let session = workers.sessions[number.index]
        switch session.connection {
        case .attached: break
        case .absent where isNew: note(.joined, number, slots == 1 ? "with 1 slot" : "with \(slots) slots")
        case .absent, .awaited, .silent, .revoked:
            note(.back, number, session.slots == 0 ? "after a start of the coordinator" : "it is heard again")
        }
    }

    private mutating func meet(_ identity: WorkerIdentity, _ outputs: inout Outputs) -> WorkerNumber {
        let number = WorkerNumber(UInt32(durable.workers.count))
        var identity = identity
        identity.givenName = identity.name
        let isTaken = durable.workers.contains { !$0.hasEnded && $0.identity.name == identity.name }
        if isTaken { identity.name += "-\(number.rawValue)" }
        emit(.workerMet(number, identity), &outputs)
        workers.append(hosts: durable.resources.hostCount)
        return number
    }

    private mutating func register(_ operations: [String], _ outputs: inout Outputs) {
        let new = Set(operations).filter { !durable.knownTypes.contains($0) }.sorted()
        if !new.isEmpty { emit(.typesRegistered(new), &outputs) }
    }

    private mutating func register(_ signatures: [OperationSignature], _ outputs: inout Outputs) {
        let new = signatures.filter { !durable.signatures.contains($0) }
        guard !new.isEmpty else { return }
        emit(.signaturesRegistered(new), &outputs)
        refuseMisfits(&outputs)
    }

    private mutating func register(_ offer: Offer, _ outputs: inout Outputs) {
        if !durable.offers.contains(where: { $0.covers(offer) }) { emit(.offersRegistered([offer]), &outputs) }
    }

    /// Compares what the executor holds with what the journal says it should: the current attempts are adopted, others
    /// are to be dropped, and what never reached it is queued again.
    private mutating func reconcile(
        _ number: WorkerNumber, _ held: [ExecutorAttachment.Held], _ outputs: inout Outputs
    ) -> [ExecutorAttachment.Held] {
        var listed = Set<UnitID>()
        var drop: [ExecutorAttachment.Held] = []
        for item in held {
            guard durable.holds(item.unit), durable.phase(item.unit) == .assigned(item.attempt, number) else {
                if item.state == .running, isOrphan(item.unit, item.attempt) {
                    // Its end is wanted, though not what comes of it.
                    orderStop(item.unit, item.attempt, number, .fenced, now: true)
                } else {
                    drop.append(item)
                }
                continue
            }
            listed.insert(item.unit)
            let submission = durable.index(of: item.unit.submission)
            if item.state == .running {
                if markRunning(item.unit) { noteChange(item.unit, at: now.wall, errors: []) }
                beginStream(of: item.unit, item.attempt, &outputs)
                watchTimeout(ofAttempt: item.attempt, item.unit)
            }
            if item.state == .finished { workers.sessions[number.index].endsToTell.insert(item.unit) }
            if item.state == .queued, isPaused(item.unit) || durable.workers[number.index].isDrained {
                recall(item.unit, item.attempt, number)
            }
            if durable.submissions[submission].units[item.unit.index].isSuspect { workers.sessions[number.index].isExclusive = true }
            // Also of what has finished: its end may be held back until what it has sent is stored, and a stop lets it go.
            if let stop = durable.submissions[submission].units[item.unit.index].stop {
                orderStop(
                    item.unit, item.attempt, number, stop,
                    now: durable.submissions[submission].units[item.unit.index].isHurried
                )
            }
        }
        for unit in workers.sessions[number.index].units where !listed.contains(unit) {
            lose(unit, .neverArrived, &outputs)
        }
        endOrphans(on: number, besides: held, &outputs)
        endStrays(on: number, besides: held, &outputs)
        return drop
    }

    mutating func hear(_ peer: PeerID) {
        guard let number = workers.number(of: peer) else { return hearLate(peer) }
        workers.sessions[number.index].lastHeard = now.boot
        workers.sessions[number.index].lastHeardWall = now.wall
        workers.sessions[number.index].isSuspected = false
        if let doubted = workers.sessions[number.index].endsDoubtedUntil, doubted <= now.boot {
            workers.sessions[number.index].endsDoubtedUntil = nil
        }
    }

    /// What comes after the lease is over brings it not back, but the executor counts its limits from what was answered.
    private mutating func hearLate(_ peer: PeerID) {
        guard let number = workers.silentByPeer[peer] else { return }
        workers.sessions[number.index].lastHeard = now.boot
        workers.sessions[number.index].lastHeardWall = now.wall
        pending.send(.helloWanted, to: peer)
    }

    mutating func drain(_ peer: PeerID) {
        guard let number = workers.number(of: peer) else { return }
        refuseWork(number)
    }

    /// The executor takes nothing more.
    mutating func refuseWork(_ number: WorkerNumber) {
        if workers.sessions[number.index].isAccepting { note(.draining, number, "it is ending, and takes nothing more") }
        workers.sessions[number.index].isAccepting = false
        lockIntake.haveWorkersChanged = true
    }

    /// Nobody is there any more who would be told.
    private mutating func forgetQuestions(of peer: PeerID) {
        followers.remove(peer)
        endQueries.remove(peer)
    }

    /// A connection was seen to go. A follower is forgotten; an executor has until its lease is over.
    mutating func suspect(_ peer: PeerID) {
        forgetQuestions(of: peer)
        if let number = workers.silentByPeer[peer] { workers.forgetSilence(of: number) }
        guard let number = workers.number(of: peer) else { return }
        let identity = durable.workers[number.index].identity
        if !workers.sessions[number.index].isSuspected, !identity.isSubmitter { tell(.workerSuspected(identity.name)) }
        workers.sessions[number.index].isSuspected = true
    }

    /// The executor's key was revoked: its connection is gone for good, and nobody waits for it to come back.
    ///
    /// Its units move as at the end of a lease, and as soundly: what may run twice at once, what runs under a key or at most once when
    /// its lock lease is over, since the process may go on until then. What a submitter hosts can go nowhere else, so it keeps its time.
    mutating func revoke(_ peer: PeerID, _ outputs: inout Outputs) {
        guard let number = workers.number(of: peer), !durable.workers[number.index].identity.isSubmitter else { return suspect(peer) }
        forgetQuestions(of: peer)
        workers.byPeer[peer] = nil
        revoke(number, &outputs)
    }

    private mutating func revoke(_ number: WorkerNumber, _ outputs: inout Outputs) {
        note(.lost, number, "its key was revoked")
        lockIntake.haveWorkersChanged = true
        takeUnits(from: number, .revoked, &outputs)
        workers.sessions[number.index].connection = .revoked
        workers.sessions[number.index].keepOut(.revoked, at: now.wall)
        watchLimits(of: number)
    }

    /// An executor that is known is not let in, whether it is connected or not.
    ///
    /// What it had when its key was revoked moves as with a connection that is ended for that. Rights may have been changed by mistake: while
    /// they are too few its time runs as if it were not heard, and those who look are told why.
    mutating func bar(_ incarnation: Incarnation, _ bar: WorkerBar, _ outputs: inout Outputs) {
        guard let number = durable.workerByIncarnation[incarnation], !durable.workers[number.index].hasEnded,
            !durable.workers[number.index].identity.isSubmitter
        else { return }
        let connection = workers.sessions[number.index].connection
        switch (bar, connection) {
        case (_, .revoked): return
        // Of one of which nothing is left to know it counts for those who ask why nobody takes their work.
        case (.limited, _), (_, .silent), (_, .absent): workers.sessions[number.index].keepOut(bar, at: now.wall)
        case (.revoked, .attached(let peer)): revoke(peer, &outputs)
        case (.revoked, .awaited): revoke(number, &outputs)
        }
    }

    mutating func depart(_ peer: PeerID, _ outputs: inout Outputs) {
        forgetQuestions(of: peer)
        guard let number = workers.number(of: peer) else { return }
        bury(number, crashed: false, &outputs)
    }

    /// After a start: executors that have units in the journal get time to attach again before these are given to others.
    mutating func awaitWorkers() {
        for index in workers.sessions.indices where mayRun(index) || isOpenSubmitter(index) {
            workers.sessions[index].connection = .awaited
            workers.sessions[index].lastHeard = now.boot
            watchLease(of: WorkerNumber(UInt32(index)), due: now.boot + reattachWindow)
        }
    }

    var reattachWindow: Int64 {
        configuration.givesNoFreshLease ? 0 : configuration.leaseMilliseconds + 2 * configuration.reconnectMaximumMilliseconds
    }

    /// One timer for each executor: it is set again when it finds that its time has moved.
    private mutating func watchLease(of number: WorkerNumber, due: Int64) {
        guard !workers.sessions[number.index].isLeaseWatched else { return }
        workers.sessions[number.index].isLeaseWatched = true
        timers.insert(.lease(number), due: due)
    }

    mutating func leaseDue(_ number: WorkerNumber, _ outputs: inout Outputs) {
        workers.sessions[number.index].isLeaseWatched = false
        let heard = workers.sessions[number.index].lastHeard
        switch workers.sessions[number.index].connection {
        case .absent, .silent, .revoked:
            return
        case .attached(let peer):
            let due = heard + configuration.leaseMilliseconds
            guard due <= now.boot else { return watchLease(of: number, due: due) }
            note(.lost, number, "it was not heard for its lease")
            workers.silence(number, on: peer)
        case .awaited:
            let due = heard + reattachWindow
            guard due <= now.boot else { return watchLease(of: number, due: due) }
            note(.lost, number, "it has not come back since the coordinator's start")
        }
        lockIntake.haveWorkersChanged = true
        if durable.workers[number.index].identity.isSubmitter { return awaitSubmitter(number) }
        takeUnits(from: number, workers.sessions[number.index].bar?.loss ?? .leaseOver, &outputs)
        if !mayRun(number.index) {
            workers.sessions[number.index].connection = .absent
        } else {
            workers.sessions[number.index].connection = .silent
            watchLimits(of: number)
        }
    }

    /// Nobody waits for the executor's units any more. What is being stopped has until the orphan limit, what runs under a key or at most
    /// once until the lock lease is over.
    private mutating func takeUnits(from number: WorkerNumber, _ cause: LossCause, _ outputs: inout Outputs) {
        workers.sessions[number.index].links = [:]
        workers.sessions[number.index].begunUnheard = attemptsPossiblyBegun(workers.sessions[number.index])
        for unit in workers.sessions[number.index].units where !isStopping(unit) && !endsWithLockLease(unit) {
            lose(unit, cause, &outputs)
        }
    }

    /// What may still run in the executor has its limits, from when it was last heard.
    private mutating func watchLimits(of number: WorkerNumber) {
        let heard = workers.sessions[number.index].lastHeard
        timers.insert(.orphanLimit(number), due: heard + configuration.orphanLimitMilliseconds)
        if workers.sessions[number.index].units.contains(where: endsWithLockLease) {
            timers.insert(.lockLease(number), due: heard + configuration.lockLeaseMilliseconds)
        }
    }

    /// An executor that is not heard has stopped all that runs under a key, which goes to others, and all that runs at most once.
    mutating func lockLeaseDue(_ number: WorkerNumber, _ outputs: inout Outputs) {
        let connection = workers.sessions[number.index].connection
        guard connection.isUnheard else { return }
        // It may have been back meanwhile; the time counts from when it was last heard.
        let due = workers.sessions[number.index].lastHeard + configuration.lockLeaseMilliseconds
        guard due <= now.boot else { return timers.insert(.lockLease(number), due: due) }
        if durable.workers[number.index].identity.isSubmitter { return bury(number, crashed: false, &outputs) }
        let cause = workers.sessions[number.index].bar?.loss ?? .lockLeaseOver
        for unit in workers.sessions[number.index].units where endsWithLockLease(unit) { lose(unit, cause, &outputs) }
        if connection == .silent, !mayRun(number.index) { workers.sessions[number.index].connection = .absent }
    }

    mutating func orphanLimitDue(_ number: WorkerNumber, _ outputs: inout Outputs) {
        guard workers.sessions[number.index].connection.isUnheard else { return }
        // It may have been back meanwhile; the limit counts from when it was last heard.
        let due = workers.sessions[number.index].lastHeard + configuration.orphanLimitMilliseconds
        guard due <= now.boot else { return timers.insert(.orphanLimit(number), due: due) }
        for unit in workers.sessions[number.index].units { lose(unit, .orphanLimitOver, &outputs) }
        endOrphans(on: number, besides: [], &outputs)
        endStrays(on: number, &outputs)
        workers.sessions[number.index].connection = .absent
    }

    /// Whether something may run in an executor that is not heard.
    func mayRun(_ index: Int) -> Bool {
        !workers.sessions[index].units.isEmpty || hasStrays(index) || !durable.resources.orphans(on: WorkerNumber(UInt32(index))).isEmpty
    }

    func isRunning(_ unit: UnitID) -> Bool {
        durable.submissions[durable.index(of: unit.submission)].units[unit.index].isRunning
    }

    func endsWithLockLease(_ unit: UnitID) -> Bool {
        durable.submissions[durable.index(of: unit.submission)].endsWithLockLease(unit.index)
    }

    private func isStopping(_ unit: UnitID) -> Bool {
        switch durable.submissions[durable.index(of: unit.submission)].units[unit.index].stop {
        case nil, .streamVoided?: false
        case .some: true
        }
    }
}
