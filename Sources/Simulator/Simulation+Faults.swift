import Coordinator

/// What goes wrong, and when it stops.
extension Simulation {
    func drawFault() {
        guard !areFaultsOver else { return }
        put(.fault, at: now + 50 + random.below(Int64(4_000)))
        guard let fault = random.pick(faults.each) else { return }
        let host = random.pick(hosts.filter { !$0.isLost })
        let executor = host.flatMap { random.pick($0.executors) }
        switch fault {
        case .coordinatorCrashes:
            guard coordinator != nil else { return }
            count(fault)
            crashCoordinator()
            put(.coordinatorStarts, at: now + random.below(Int64(random.oneIn(4) ? 30_000 : 1_500)))
            return
        case .executorCrashes:
            guard let executor, !executor.host.isPaused else { break }
            if random.oneIn(8), executor.isWorker { poison.formUnion(executor.runningUnits) }
            end(executor, crashed: true)
        case .hostLosses:
            guard let host, random.oneIn(3) else { return }
            note("h\(host.number) is lost")
            if host.isOfSubmitter { breakClientConnection() }
            for executor in host.executors { executor.die() }
            host.executors = []
            (host.isLost, host.isPaused, host.isPartitioned) = (true, false, false)
            put(.returns(host), at: now + random.below(Int64(20_000)))
        case .partitions:
            guard let host, !host.isPartitioned else { return }
            note("h\(host.number) cannot be reached")
            host.isPartitioned = true
            put(.heals(host), at: now + random.below(Int64(random.oneIn(3) ? 90_000 : 6_000)))
        case .brokenConnections:
            guard let executor, let connection = executor.connection else { return }
            note("the connection of \(executor.name) breaks")
            put(.lost(executor, connection), at: now + latency())
            put(.closed(connection), at: now + latency())
        case .hostPauses:
            guard let host, !host.isPaused else { return }
            note("h\(host.number) stands still")
            host.isPaused = true
            for executor in host.executors {
                executor.wasFrozen = true
                witness.standsStill(executor)
            }
            put(.resumes(host), at: now + random.below(Int64(random.oneIn(3) ? 90_000 : 6_000)))
        case .coordinatorPauses: pauseCoordinator()
        case .clientLosses:
            guard clientPeer != nil else { return }
            breakClientConnection()
        case .clockJumps: wallOffset += random.below(Int64(20_000)) - 10_000
        case .draining: if random.oneIn(3), let executor, !executor.host.isPaused, executor.isWorker { executor.drain() }
        case .cancellations, .pausedWork, .releasedLocks, .drainedWorkers: if client.isConnected { put(.client(.acts), at: now) }
        default: return
        }
        if plants(.sessionOverEarly), let submitter = hosts.first(where: \.isOfSubmitter)?.executors.last, let coordinator {
            coordinator.ended(submitter.incarnation, crashed: false, by: 0)
            wake()
        }
        if plants(.deathWithoutProof), let executor, executor.host.isPartitioned || executor.host.isPaused, let coordinator {
            coordinator.ended(executor.incarnation, crashed: true, by: 0)
            wake()
        }
        count(fault)
    }

    /// Notes that a fault has happened, and what it met.
    private func count(_ fault: FaultMix) {
        coverage.faults[fault, default: 0] += 1
        guard let coordinator else { return }
        for state in coordinator.scheduler.statesOfOpenWork { coverage.pairs[FaultMeeting(fault: fault, state: state), default: 0] += 1 }
    }

    func stopFaults() {
        note("faults are over")
        areFaultsOver = true
        poison = []
        for host in hosts {
            heal(host)
            resume(host)
            if host.isLost { rebuild(host) }
        }
        resumeCoordinator()
        startCoordinator()
        coordinator?.spooledBytesMax = .max
        if !client.isConnected { put(.client(.connects), at: now + 1) }
        for index in client.submissions.indices where !submitted.contains(index) { put(.client(.acts), at: now + Int64(index)) }
        put(.client(.settles), at: now + 1_000)
    }
}
