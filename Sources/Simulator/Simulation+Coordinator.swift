import Coordinator
import Scheduling
import Wire

/// The coordinator's process and its disk.
extension Simulation {
    var instant: Instant { Instant(boot: now, wall: wall) }

    func startCoordinator() {
        guard coordinator == nil else { return }
        do {
            if let stopped {
                try stopped.coordinator.crash(at: instant, incarnation: random.next() | 1, keepsWriting: stopped.keepsWriting)
                coordinator = stopped.coordinator
                self.stopped = nil
            } else {
                coordinator = MemoryCoordinator(
                    at: instant, incarnation: random.next() | 1, configuration: configuration, hearing: .speakers,
                    whenDecided: { [unowned self] in decided($0) }, whenWritten: { [unowned self] in witness.written($0) })
            }
        } catch {
            return violate("the coordinator cannot start: \(error)")
        }
        coordinator?.goesOutEarly = early
        coordinator?.takesUnwrittenValues = plants(.valueBeforeDisk)
        coordinator?.acknowledgesUnspooled = plants(.elementsBeforeSpool)
        coordinator?.spooledBytesMax = faults.contains(.fullSpools) && !areFaultsOver ? Self.littleRoom : .max
        start += 1
        note("the coordinator starts, for the \(start). time")
        for executor in hosts.flatMap(\.executors) { executor.lastHeard = now }
        compareWithDisk()
        for place in coordinator?.missingValues ?? [] { violate("the value of \(place) is not on the disk") }
        witness.coordinatorStarts()
        wake()
    }

    var early: ((Message) -> Bool)? {
        switch plan.defect {
        case .dispatchBeforeCommit: { if case .dispatch = $0 { true } else { false } }
        case .acknowledgementBeforeCommit: { if case .acknowledge = $0 { true } else { false } }
        case .replyBeforeCommit: { if case .reply = $0 { true } else { false } }
        case .receiptBeforeCommit: { if case .productReceipts = $0 { true } else { false } }
        case .eventsBeforeCommit: { if case .events = $0 { true } else { false } }
        default: nil
        }
    }

    /// What the coordinator has recovered is what the journal says.
    func compareWithDisk() {
        guard let coordinator, coordinator.scheduler.sequence != witness.disk.sequence else { return }
        violate(
            "the coordinator starts at fact \(coordinator.scheduler.sequence.rawValue), and \(witness.disk.sequence.rawValue) are on the disk"
        )
    }

    func crashCoordinator() {
        guard let crashed = coordinator else { return }
        note("the coordinator crashes")
        let keepsWriting = random.oneIn(2)
        if plants(.lyingDisk) { crashed.forgetsLastWrite = true }
        stopped = (crashed, keepsWriting)
        coordinator = nil
        (stepAt, isWriting, coordinatorBacklog, isCoordinatorPaused, clientPeer, clientRequests) = (nil, false, [], false, nil, [:])
        (isSpooling, isWritingValues, reads) = (false, false, [:])
        for connection in connections { connection.isOpenThere = false }
        for executor in hosts.flatMap(\.executors) {
            if let connection = executor.connection { put(.lost(executor, connection), at: now + latency()) }
        }
        connections = []
        put(.client(.lost(start: start)), at: now + latency())
    }

    func restartCoordinator(keepsWriting: Bool) {
        crashCoordinator()
        stopped?.keepsWriting = keepsWriting
        startCoordinator()
    }

    /// Something has come: the coordinator steps soon.
    func wake(at time: Int64? = nil) {
        let time = max(time ?? now, now)
        guard coordinator != nil, stepAt.map({ time < $0 }) ?? true else { return }
        stepAt = time
        put(.step, at: time)
    }

    func step() {
        guard let coordinator, let due = stepAt, due <= now else { return }
        stepAt = nil
        steps += 1
        coordinator.step(at: instant)
        for found in coordinator.scheduler.violations() + coordinator.scheduler.idleViolations() { violate(found) }
        write()
        deliver(coordinator.release())
        spool()
        writeValues()
        if coordinator.hasInputs { wake() }
        if let wakeAt = coordinator.wakeAt { wake(at: wakeAt) }
    }

    func write() {
        guard let coordinator, !isWriting, coordinator.beginSync() else { return }
        isWriting = true
        put(.written(start: start), at: now + diskTime())
    }

    func written() {
        guard let coordinator else { return }
        isWriting = false
        deliver(coordinator.finishSync())
        write()
    }

    /// What has come for the spools is put there after a while.
    func spool() {
        guard let coordinator, !isSpooling, coordinator.hasUnspooled else { return }
        isSpooling = true
        put(.spooled(start: start), at: now + diskTime())
    }

    func spooled() {
        guard let coordinator else { return }
        isSpooling = false
        deliver(coordinator.finishSpooling())
        if coordinator.spooledBytes > coordinator.spooledBytesMax {
            violate("the spool of partial results has \(coordinator.spooledBytes) bytes, and may have \(coordinator.spooledBytesMax)")
        }
        // Readers are to look, and those who look at the coordinator are told of what is held back.
        if coordinator.hasInputs { wake() }
        spool()
    }

    /// Values that have come are on the disk after a while.
    func writeValues() {
        guard let coordinator, !isWritingValues, coordinator.hasUnwrittenValues else { return }
        isWritingValues = true
        put(.valuesWritten(start: start), at: now + diskTime())
    }

    func valuesWritten() {
        guard let coordinator else { return }
        isWritingValues = false
        coordinator.finishWritingValues()
        if coordinator.hasInputs { wake() }
        writeValues()
    }

    func endWaits() {
        coordinator?.answerLongWaits(at: instant)
        wake()
    }

    private func diskTime() -> Int64 {
        let isSlow = faults.contains(.slowDisk) && !areFaultsOver && random.oneIn(4)
        return isSlow ? random.below(Int64(4_000)) : 1 + random.below(Int64(8))
    }

    /// What the spool of partial results may have while there is little room.
    static let littleRoom: Int64 = 2_000

    func deliver(_ deliveries: [MemoryCoordinator.Delivery]) {
        guard let coordinator else { return }
        for delivery in deliveries {
            switch delivery.content {
            case .answer(let number, let reply):
                guard let request = clientRequests.removeValue(forKey: number) else { continue }
                put(.client(.answered(request, reply, start: start)), at: arrivalAtClient())
            case .message(let message) where delivery.peer == clientPeer:
                switch message.body {
                case .events(let events)?: put(.client(.hears(events, start: start)), at: arrivalAtClient())
                case .response(let response)?:
                    put(.client(.reads(altered(response, for: delivery.peer), start: start)), at: arrivalAtClient())
                default: break
                }
            case .message(var message):
                if case .response(let response)? = message.body { message.response = altered(response, for: delivery.peer) }
                if let connection = connections.first(where: { $0.peer == delivery.peer }) { send(timed(message), on: connection) }
            }
        }
        for end in coordinator.takeAcknowledgedEnds() {
            for host in hosts where host.proofs.contains(where: { $0.incarnation == end.incarnation }) {
                put(.proofKnown(host, end.incarnation), at: now + latency())
            }
        }
    }

    /// What is sent to the client comes in the order in which it was sent.
    func arrivalAtClient() -> Int64 {
        lastToClient = max(lastToClient, now + 1 + random.below(Int64(3)))
        return lastToClient
    }

    /// A welcome says how long the leases are.
    func timed(_ message: WireCoordinatorMessage) -> WireCoordinatorMessage {
        guard case .welcome(var welcome)? = message.body else { return message }
        welcome.heartbeatMilliseconds = UInt32(Self.heartbeat)
        welcome.leaseMilliseconds = UInt32(Self.lease)
        welcome.lockLeaseMilliseconds = UInt32(Self.lockLease)
        welcome.orphanLimitMilliseconds = UInt32(Self.orphanLimit)
        return .with { $0.welcome = welcome }
    }

    /// Submission and path.
    func name(of unit: UnitID) -> String { coordinator?.scheduler.name(of: unit) ?? "" }

    func decided(_ facts: [Fact]) {
        for fact in facts {
            if case .assigned(let unit, let attempt, _, _) = fact { latestAttempts[unit.rawValue] = attempt.rawValue }
            note("decided: \(fact.short)")
        }
        witness.decided(facts)
    }

    func pauseCoordinator() {
        guard coordinator != nil, !isCoordinatorPaused else { return }
        note("the coordinator stands still")
        isCoordinatorPaused = true
        put(.coordinatorResumes, at: now + 500 + random.below(Int64(8_000)))
    }

    func resumeCoordinator() {
        guard isCoordinatorPaused else { return }
        note("the coordinator goes on")
        isCoordinatorPaused = false
        coordinator?.stoodStill()
        let events = coordinatorBacklog
        coordinatorBacklog = []
        // Everybody who has spoken is heard before the step that looks at leases.
        let steps = events.filter { if case .step = $0 { true } else { false } }
        for event in events where !isStep(event) { happen(event, hasArrived: true) }
        for event in steps { happen(event, hasArrived: true) }
    }

    func isStep(_ event: Event) -> Bool { if case .step = event { true } else { false } }
}

extension Fact {
    fileprivate var short: String {
        if case .submitted(let admission) = self { return "submitted \(admission.id)" }
        var text = "\(self)"
        for name in ["Scheduling.", "rawValue: "] { text = text.split(separator: name, omittingEmptySubsequences: false).joined() }
        return String(text.prefix(160))
    }
}
