import Coordinator

/// Hosts and the processes on them.
extension Simulation {
    func executor(_ incarnation: UInt64) -> SimulatedExecutor? {
        hosts.flatMap(\.executors).first { $0.incarnation == incarnation }
    }

    func spawn(_ index: Int, on host: SimulatedHost) {
        let executor = SimulatedExecutor(random.next() | 1, index: index, slots: 1 + random.below(3), on: host, of: self)
        executor.lastHeard = now
        host.executors.append(executor)
        executor.start()
    }

    /// The session in which what exists only in the client executes; nil: it is not attached.
    var submitter: SimulatedExecutor? {
        hosts.first(where: \.isOfSubmitter)?.executors.last { $0.isAlive && !$0.isOver && $0.session.isAttached }
    }

    /// It makes another session for what it submits next.
    func sessionEnded(of executor: SimulatedExecutor) {
        note("the session of \(executor.name) is over")
        put(.replace(executor.host, index: executor.index), at: now + 1 + random.below(Int64(500)))
    }

    func breakClientConnection() {
        guard let peer = clientPeer else { return }
        note("the client's connection breaks")
        coordinator?.disconnect(peer)
        wake()
        clientPeer = nil
        put(.client(.lost(start: start)), at: now + latency())
    }

    func exited(_ executor: SimulatedExecutor) { end(executor, crashed: false) }

    /// The process ends; its supervisor proves it, and starts another one.
    func end(_ executor: SimulatedExecutor, crashed: Bool) {
        guard executor.isAlive else { return }
        note("\(executor.name) \(crashed ? "crashes" : "exits")")
        executor.die()
        let host = executor.host
        host.executors.removeAll { $0 === executor }
        if host.isOfSubmitter {
            breakClientConnection()
        } else {
            host.proofs.append((executor.incarnation, crashed))
            put(.proof(host), at: now + latency())
        }
        if !host.executors.contains(where: { $0.index == executor.index && !$0.isOver }) {
            put(.replace(host, index: executor.index), at: now + 100 + random.below(Int64(500)))
        }
    }

    /// A supervisor repeats what it has to prove until that is known to be durable.
    func prove(_ host: SimulatedHost) {
        guard !host.isLost, !host.proofs.isEmpty else { return }
        put(.proof(host), at: now + 500)
        guard let coordinator, !host.isPaused else { return }
        if host.supervisor?.start != start { host.supervisor = (start, coordinator.connect()) }
        for proof in host.proofs { coordinator.ended(proof.incarnation, crashed: proof.crashed, by: host.supervisor?.peer ?? 0) }
        wake()
    }

    func heal(_ host: SimulatedHost) {
        guard host.isPartitioned else { return }
        note("h\(host.number) can be reached")
        host.isPartitioned = false
        let events = host.stalled
        host.stalled = []
        for event in events { happen(event) }
    }

    func resume(_ host: SimulatedHost) {
        guard host.isPaused else { return }
        note("h\(host.number) goes on")
        host.isPaused = false
        let events = host.backlog
        host.backlog = []
        for event in events { happen(event, hasArrived: true) }
    }

    /// Another host takes the lost one's place; of that nothing is left.
    func rebuild(_ host: SimulatedHost) {
        host.isLost = false
        (host.stalled, host.backlog, host.proofs) = ([], [], [])
        spawn(0, on: host)
    }
}
