import Coordinator
import Executing
import Scheduling
import Wire

/// A whole cluster in virtual time under one seed: the real scheduler, its translation and order of journal and sends, the real sessions
/// and states of executors; network, disk, clocks and processes are simulated, and fail.
///
/// After every step of the coordinator its invariants are computed from scratch, and a ``Witness`` compares what really runs, and
/// what was told, with what is on the disk.
public final class Simulation {
    let faults: FaultMix
    private let plan: SimulationPlan
    var random: SimulationRandom
    private let work: RandomWork
    private var queue = SimulationQueue<Event>()
    private(set) var now: Int64 = 1_000
    private var wallOffset = Simulation.firstDay
    private(set) lazy var witness = Witness(of: self, configuration)
    private var hosts: [SimulatedHost] = []
    private(set) lazy var client = SimulatedClient(graphs, of: self)
    private let graphs: [Graph]

    private var coordinator: MemoryCoordinator?
    /// Counts the coordinator's starts.
    private var start = 0
    private var isCoordinatorPaused = false
    private var coordinatorBacklog: [Event] = []
    private var stepAt: Int64?
    private var isWriting = false
    private var connections: [SimulatedConnection] = []
    private var clientPeer: UInt64?
    private var lastToClient: Int64 = 0
    private var clientRequests: [UInt64: ClientRequest] = [:]
    private var nextConnection = 0
    private var nextNumber = 0
    private var areFaultsOver = false
    private var faultCounts: [String: Int] = [:]
    private var steps = 0
    private var violation: String?
    private var trace: [String] = []
    private var latestAttempts: [UInt64: UInt64] = [:]

    /// What virtual time begins with, as a wall time.
    private static let firstDay: Int64 = 1_900_000_000_000
    private static let heartbeat: Int64 = 1_000
    static let lease: Int64 = 3_000
    static let lockLease: Int64 = 20_000
    static let orphanLimit: Int64 = 60_000
    /// How long everything may take to end once faults are over.
    private static let patience: Int64 = 3_600_000
    private static let traceMax = 400

    public init(_ plan: SimulationPlan) {
        self.plan = plan
        var random = SimulationRandom(seed: plan.seed)
        let drawn = FaultMix.draw(using: &random)
        faults = drawn.intersection(plan.faults)
        work = RandomWork(using: &random)
        let count = 1 + random.below(3)
        var graphs: [Graph] = []
        for _ in 0..<count { graphs.append(work.graph(using: &random)) }
        self.graphs = Array(graphs.prefix(plan.submissionsMax))
        self.random = random
    }

    private var configuration: Scheduler.Configuration {
        var configuration = MemoryCoordinator.standard
        configuration.leaseMilliseconds = Self.lease
        configuration.lockLeaseMilliseconds = plants(.lockMovedOnSuspicion) ? Self.lease : Self.lockLease
        configuration.orphanLimitMilliseconds = Self.orphanLimit
        configuration.forgetsRetries = plants(.retryForgotten)
        return configuration
    }

    func plants(_ defect: PlantedDefect) -> Bool { plan.defect == defect }

    var wall: Int64 { now + wallOffset }

    // MARK: The run

    /// Runs until everything has ended, or something is wrong.
    public func run() -> SimulationReport {
        begin()
        while violation == nil, let (at, event) = queue.next() {
            now = max(now, at)
            if areFaultsOver, client.isDone { break }
            if areFaultsOver, now > faultsEnd + Self.patience {
                violate("work is left when faults are over: \(unfinished)")
                break
            }
            happen(event)
        }
        if violation == nil { finish() }
        return SimulationReport(
            plan: plan, faults: faults, violation: violation, trace: trace, steps: steps, milliseconds: now, facts: witness.factCounts,
            faultCounts: faultCounts)
    }

    private var faultsEnd: Int64 = 0

    private func begin() {
        startCoordinator()
        for number in 0..<(1 + random.below(3)) {
            let host = SimulatedHost(number)
            hosts.append(host)
            for index in 0..<(1 + random.below(2)) { spawn(index, on: host) }
        }
        put(.client(.connects), at: now + 5)
        for index in graphs.indices { put(.client(.acts), at: now + 10 + Int64(index) * random.below(Int64(3_000))) }
        faultsEnd = now + 5_000 + random.below(Int64(60_000))
        put(.fault, at: now + random.below(Int64(2_000)))
        put(.faultsStop, at: faultsEnd)
    }

    /// What was told must still be so in a coordinator that starts with the journal alone.
    private func finish() {
        client.askAgain()
        restartCoordinator(keepsWriting: true)
        while violation == nil, now < faultsEnd + 2 * Self.patience, let (at, event) = queue.next() {
            now = max(now, at)
            happen(event)
            if client.isConnected, client.isDone, clientRequests.isEmpty, coordinator != nil { break }
        }
    }

    private var unfinished: String {
        client.submissions.filter { !$0.hasOutcomes }.map { "\($0.id ?? $0.key)" }.joined(separator: ", ")
    }

    private func happen(_ event: Event) {
        if let host = event.network, host.isPartitioned { return host.stalled.append(event) }
        if let host = event.host, host.isPaused { return host.backlog.append(event) }
        if event.isOfCoordinator, isCoordinatorPaused { return coordinatorBacklog.append(event) }
        switch event {
        case .connected(let executor, let connection): executor.connected(connection)
        case .lost(let executor, let connection):
            connection.isOpenHere = false
            executor.lost(connection)
        case .up(let connection, let message, let executor): receive(message, on: connection, from: executor)
        case .down(let connection, let message, let executor):
            guard connection.isOpenHere else { return }
            if case .acknowledgement(let acknowledgement)? = message.body {
                for unit in acknowledgement.units { witness.acknowledged(UnitID(rawValue: unit.unit), Attempt(rawValue: unit.attempt)) }
            }
            executor.receive(message, on: connection)
        case .closed(let connection): close(connection)
        case .tick(let executor): executor.tick()
        case .bodyEnds(let executor, let body): executor.bodyEnds(body)
        case .proof(let host): prove(host)
        case .proofKnown(let host, let incarnation): host.proofs.removeAll { $0.incarnation == incarnation }
        case .replace(let host, let index): if !host.isLost { spawn(index, on: host) }
        case .kill(let executor): if executor.isAlive, !executor.host.isLost { end(executor, crashed: true) }
        case .step: step()
        case .written(let start): if start == self.start { written() }
        case .coordinatorStarts: startCoordinator()
        case .coordinatorResumes: resumeCoordinator()
        case .client(let event): happen(event)
        case .fault: drawFault()
        case .heals(let host): heal(host)
        case .resumes(let host): resume(host)
        case .returns(let host): rebuild(host)
        case .faultsStop: stopFaults()
        }
    }

    func put(_ event: Event, at time: Int64) { queue.put(event, at: max(time, now)) }

    func drawNumber() -> Int {
        nextNumber += 1
        return nextNumber
    }

    func work(for assignment: WireAssignment) -> RandomWork.Body {
        work.body(of: assignment, areFaultsOver ? faults.subtracting([.deafBodies]) : faults, using: &random)
    }

    // MARK: What is noted

    func note(_ text: @autoclosure () -> String) {
        guard plan.keepsTrace else { return }
        trace.append("\(now) \(text())")
        if trace.count > 2 * Self.traceMax { trace.removeFirst(Self.traceMax) }
    }

    func violate(_ text: String) {
        note("VIOLATION: \(text)")
        if violation == nil { violation = text }
    }

    private func count(_ fault: String) { faultCounts[fault, default: 0] += 1 }

    // MARK: The coordinator

    private var instant: Instant { Instant(boot: now, wall: wall) }

    private func startCoordinator() {
        guard coordinator == nil else { return }
        do {
            if let stopped {
                try stopped.coordinator.crash(at: instant, incarnation: random.next() | 1, keepsWriting: stopped.keepsWriting)
                coordinator = stopped.coordinator
                self.stopped = nil
            } else {
                coordinator = try MemoryCoordinator(
                    at: instant, incarnation: random.next() | 1, configuration: configuration, hearing: .speakers,
                    whenDecided: { [unowned self] in decided($0) }, whenWritten: { [unowned self] in witness.written($0) })
            }
        } catch {
            return violate("the coordinator cannot start: \(error)")
        }
        coordinator?.goesOutEarly = early
        start += 1
        note("the coordinator starts, for the \(start). time")
        for executor in hosts.flatMap(\.executors) where !plants(.noFreshLease) { executor.lastHeard = now }
        compareWithDisk()
        wake()
    }

    private var stopped: (coordinator: MemoryCoordinator, keepsWriting: Bool)?

    private var early: ((Message) -> Bool)? {
        switch plan.defect {
        case .dispatchBeforeCommit: { if case .dispatch = $0 { true } else { false } }
        case .acknowledgementBeforeCommit: { if case .acknowledge = $0 { true } else { false } }
        case .replyBeforeCommit: { if case .reply = $0 { true } else { false } }
        case .eventsBeforeCommit: { if case .events = $0 { true } else { false } }
        default: nil
        }
    }

    /// What the coordinator has recovered is what the journal says.
    private func compareWithDisk() {
        guard let coordinator, coordinator.scheduler.sequence != witness.disk.sequence else { return }
        violate(
            "the coordinator starts at fact \(coordinator.scheduler.sequence.rawValue), and \(witness.disk.sequence.rawValue) are on the disk"
        )
    }

    private func crashCoordinator() {
        guard let crashed = coordinator else { return }
        note("the coordinator crashes")
        let keepsWriting = random.oneIn(2)
        if plants(.lyingDisk) { crashed.forgetsLastWrite = true }
        stopped = (crashed, keepsWriting)
        coordinator = nil
        (stepAt, isWriting, coordinatorBacklog, isCoordinatorPaused, clientPeer, clientRequests) = (nil, false, [], false, nil, [:])
        for connection in connections { connection.isOpenThere = false }
        for executor in hosts.flatMap(\.executors) {
            if let connection = executor.connection { put(.lost(executor, connection), at: now + latency()) }
        }
        connections = []
        put(.client(.lost(start: start)), at: now + latency())
    }

    private func restartCoordinator(keepsWriting: Bool) {
        crashCoordinator()
        stopped?.keepsWriting = keepsWriting
        startCoordinator()
    }

    /// Something has come: the coordinator steps soon.
    private func wake(at time: Int64? = nil) {
        let time = max(time ?? now, now)
        guard coordinator != nil, stepAt.map({ time < $0 }) ?? true else { return }
        stepAt = time
        put(.step, at: time)
    }

    private func step() {
        guard let coordinator, let due = stepAt, due <= now else { return }
        stepAt = nil
        steps += 1
        coordinator.step(at: instant)
        for found in coordinator.scheduler.violations() + coordinator.scheduler.idleViolations() { violate(found) }
        write()
        deliver(coordinator.release())
        if let wakeAt = coordinator.wakeAt { wake(at: wakeAt) }
    }

    private func write() {
        guard let coordinator, !isWriting, coordinator.beginSync() else { return }
        isWriting = true
        let isSlow = faults.contains(.slowDisk) && !areFaultsOver && random.oneIn(4)
        put(.written(start: start), at: now + (isSlow ? random.below(Int64(4_000)) : 1 + random.below(Int64(8))))
    }

    private func written() {
        guard let coordinator else { return }
        isWriting = false
        deliver(coordinator.finishSync())
        write()
    }

    private func deliver(_ deliveries: [MemoryCoordinator.Delivery]) {
        guard let coordinator else { return }
        for delivery in deliveries {
            if delivery.peer == clientPeer {
                if case .events(let events)? = delivery.message.body { put(.client(.hears(events, start: start)), at: arrivalAtClient()) }
            } else if let connection = connections.first(where: { $0.peer == delivery.peer }) {
                send(timed(delivery.message), on: connection)
            }
        }
        for answer in coordinator.takeAnswers() {
            guard let request = clientRequests.removeValue(forKey: answer.number) else { continue }
            put(.client(.answered(request, answer.reply, start: start)), at: arrivalAtClient())
        }
        for end in coordinator.takeAcknowledgedEnds() {
            for host in hosts where host.proofs.contains(where: { $0.incarnation == end.incarnation }) {
                put(.proofKnown(host, end.incarnation), at: now + latency())
            }
        }
    }

    /// What is sent to the client comes in the order in which it was sent.
    private func arrivalAtClient() -> Int64 {
        lastToClient = max(lastToClient, now + 1 + random.below(Int64(3)))
        return lastToClient
    }

    /// A welcome says how long the leases are.
    private func timed(_ message: WireCoordinatorMessage) -> WireCoordinatorMessage {
        guard case .welcome(var welcome)? = message.body else { return message }
        welcome.heartbeatMilliseconds = UInt32(Self.heartbeat)
        welcome.leaseMilliseconds = UInt32(Self.lease)
        welcome.lockLeaseMilliseconds = UInt32(Self.lockLease)
        welcome.orphanLimitMilliseconds = UInt32(Self.orphanLimit)
        return .with { $0.welcome = welcome }
    }

    private func decided(_ facts: [Fact]) {
        for fact in facts {
            if case .assigned(let unit, let attempt, _, _) = fact { latestAttempts[unit.rawValue] = attempt.rawValue }
            note("decided: \(fact.short)")
        }
        witness.decided(facts)
    }

    private func pauseCoordinator() {
        guard coordinator != nil, !isCoordinatorPaused else { return }
        note("the coordinator stands still")
        isCoordinatorPaused = true
        put(.coordinatorResumes, at: now + 500 + random.below(Int64(8_000)))
    }

    private func resumeCoordinator() {
        guard isCoordinatorPaused else { return }
        note("the coordinator goes on")
        isCoordinatorPaused = false
        let events = coordinatorBacklog
        coordinatorBacklog = []
        // Everybody who has spoken is heard before the step that looks at leases.
        let steps = events.filter { if case .step = $0 { true } else { false } }
        for event in events where !isStep(event) { happen(event) }
        for event in steps { happen(event) }
    }

    private func isStep(_ event: Event) -> Bool { if case .step = event { true } else { false } }

    // MARK: The network

    private func latency() -> Int64 {
        faults.contains(.slowNetwork) && !areFaultsOver && random.oneIn(4) ? random.below(Int64(1_500)) : 1 + random.below(Int64(4))
    }

    func connect(_ executor: SimulatedExecutor) -> SimulatedConnection {
        nextConnection += 1
        let connection = SimulatedConnection(nextConnection, of: executor.host, start: start)
        guard coordinator != nil else {
            connection.isOpenThere = false
            put(.lost(executor, connection), at: now + latency())
            return connection
        }
        connections.append(connection)
        put(.connected(executor, connection), at: now + latency())
        return connection
    }

    /// The peer closes its end.
    func abandon(_ connection: SimulatedConnection) {
        guard connection.isOpenHere else { return }
        connection.isOpenHere = false
        let at = max(connection.lastUp, now + latency())
        connection.lastUp = at
        put(.closed(connection), at: at)
    }

    func send(_ message: WirePeerMessage, on connection: SimulatedConnection, from executor: SimulatedExecutor) {
        guard connection.isOpenHere else { return }
        let at = max(connection.lastUp, now + latency())
        connection.lastUp = at
        put(.up(connection, message, from: executor), at: at)
    }

    private func send(_ message: WireCoordinatorMessage, on connection: SimulatedConnection) {
        guard connection.isOpenThere, let executor = hosts.flatMap(\.executors).first(where: { $0.connection === connection }) else {
            return
        }
        if plants(.messageDropped), message.isOrder, random.oneIn(12) { return note("a message to \(executor.name) is dropped") }
        let at = max(connection.lastDown, now + latency())
        connection.lastDown = at
        put(.down(connection, message, to: executor), at: at)
    }

    private func close(_ connection: SimulatedConnection) {
        guard connection.isOpenThere else { return }
        connection.isOpenThere = false
        connections.removeAll { $0 === connection }
        if let peer = connection.peer {
            coordinator?.disconnect(peer)
            wake()
        }
    }

    private func receive(_ message: WirePeerMessage, on connection: SimulatedConnection, from executor: SimulatedExecutor) {
        guard let coordinator, connection.isOpenThere, connection.start == start else { return }
        if connection === executor.connection { executor.lastHeard = now }
        note("heard of \(executor.name): \(message.kind)")
        defer { wake() }
        if case .hello(let hello)? = message.body {
            do { connection.peer = try coordinator.attach(hello) } catch { violate("a hello is refused: \(error)") }
            return
        }
        guard let peer = connection.peer else { return }
        if case .heartbeat(let heartbeat)? = message.body {
            send(.with { $0.heartbeatAnswer.sentAt = heartbeat.sentAt }, on: connection)
        }
        deliver(coordinator.receive(altered(message), from: peer, at: instant))
    }

    /// With the fault that is planted.
    private func altered(_ message: WirePeerMessage) -> WirePeerMessage {
        guard case .reports(var reports)? = message.body else { return message }
        for index in reports.reports.indices {
            if plants(.staleTokenAccepted), let latest = latestAttempts[reports.reports[index].unit] {
                reports.reports[index].attempt = latest
            }
            if plants(.decisionTwice), case .ended(var end)? = reports.reports[index].body, case .elements(var elements)? = end.outcome {
                elements.elements += elements.elements
                end.elements = elements
                reports.reports[index].ended = end
            }
        }
        return .with { $0.reports = reports }
    }

    // MARK: The client

    func ask(_ request: ClientRequest) { put(.client(.asks(request, start: start)), at: now + 1 + random.below(Int64(3))) }

    private func happen(_ event: ClientEvent) {
        switch event {
        case .asks(let request, let start):
            guard let coordinator, let clientPeer, start == self.start else { return }
            clientRequests[coordinator.ask(request.body, of: clientPeer)] = request
            wake()
        case .answered(let request, let reply, let start): if start == self.start { client.answered(request, reply) }
        case .hears(let events, let start): if start == self.start { client.hears(events) }
        case .connects:
            guard let coordinator else { return put(.client(.connects), at: now + 200) }
            clientPeer = coordinator.connect()
            client.connected()
        case .lost(let start):
            guard start == self.start || coordinator == nil || clientPeer == nil else { return }
            client.disconnected()
            put(.client(.connects), at: now + random.below(Int64(500)))
        case .acts:
            if let index = client.submissions.indices.first(where: { !submitted.contains($0) }) {
                submitted.insert(index)
                client.submit(index)
            } else {
                client.meddle()
            }
        case .settles:
            client.settle()
            put(.client(.settles), at: now + 5_000)
        }
    }

    private var submitted: Set<Int> = []

    // MARK: Hosts

    func executor(_ incarnation: UInt64) -> SimulatedExecutor? {
        hosts.flatMap(\.executors).first { $0.incarnation == incarnation }
    }

    private func spawn(_ index: Int, on host: SimulatedHost) {
        let executor = SimulatedExecutor(random.next() | 1, index: index, slots: 1 + random.below(3), on: host, of: self)
        executor.lastHeard = now
        host.executors.append(executor)
        executor.start()
    }

    func exited(_ executor: SimulatedExecutor) { end(executor, crashed: false) }

    /// The process ends; its supervisor proves it, and starts another one.
    private func end(_ executor: SimulatedExecutor, crashed: Bool) {
        guard executor.isAlive else { return }
        note("\(executor.name) \(crashed ? "crashes" : "exits")")
        executor.die()
        let host = executor.host
        host.executors.removeAll { $0 === executor }
        host.proofs.append((executor.incarnation, crashed))
        put(.proof(host), at: now + latency())
        if !host.executors.contains(where: { $0.index == executor.index }) {
            put(.replace(host, index: executor.index), at: now + 100 + random.below(Int64(500)))
        }
    }

    /// A supervisor repeats what it has to prove until that is known to be durable.
    private func prove(_ host: SimulatedHost) {
        guard !host.isLost, !host.proofs.isEmpty else { return }
        put(.proof(host), at: now + 500)
        guard let coordinator, !host.isPaused else { return }
        if host.supervisor?.start != start { host.supervisor = (start, coordinator.connect()) }
        for proof in host.proofs { coordinator.ended(proof.incarnation, crashed: proof.crashed, by: host.supervisor?.peer ?? 0) }
        wake()
    }

    private func heal(_ host: SimulatedHost) {
        guard host.isPartitioned else { return }
        note("h\(host.number) can be reached")
        host.isPartitioned = false
        let events = host.stalled
        host.stalled = []
        for event in events { happen(event) }
    }

    private func resume(_ host: SimulatedHost) {
        guard host.isPaused else { return }
        note("h\(host.number) goes on")
        host.isPaused = false
        let events = host.backlog
        host.backlog = []
        for event in events { happen(event) }
    }

    /// Another host takes the lost one's place; of that nothing is left.
    private func rebuild(_ host: SimulatedHost) {
        host.isLost = false
        (host.stalled, host.backlog, host.proofs) = ([], [], [])
        spawn(0, on: host)
    }

    // MARK: Faults

    private func drawFault() {
        guard !areFaultsOver else { return }
        put(.fault, at: now + 50 + random.below(Int64(4_000)))
        guard let fault = random.pick(faults.each) else { return }
        let host = random.pick(hosts.filter { !$0.isLost })
        let executor = host.flatMap { random.pick($0.executors) }
        switch fault {
        case .coordinatorCrashes:
            guard coordinator != nil else { return }
            crashCoordinator()
            put(.coordinatorStarts, at: now + random.below(Int64(random.oneIn(4) ? 30_000 : 1_500)))
        case .executorCrashes: if let executor, !executor.host.isPaused { end(executor, crashed: true) }
        case .hostLosses:
            guard let host, random.oneIn(3) else { return }
            note("h\(host.number) is lost")
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
            for executor in host.executors { executor.wasFrozen = true }
            put(.resumes(host), at: now + random.below(Int64(random.oneIn(3) ? 90_000 : 6_000)))
        case .coordinatorPauses: pauseCoordinator()
        case .clockJumps: wallOffset += random.below(Int64(20_000)) - 10_000
        case .draining: if random.oneIn(3), let executor, !executor.host.isPaused { executor.drain() }
        case .cancellations, .pausedWork: if client.isConnected { put(.client(.acts), at: now) }
        default: return
        }
        if plants(.deathWithoutProof), let executor, executor.host.isPartitioned || executor.host.isPaused, let coordinator {
            coordinator.ended(executor.incarnation, crashed: true, by: 0)
            wake()
        }
        count(FaultMix.names.first { $0.fault == fault }?.name ?? "")
    }

    private func stopFaults() {
        note("faults are over")
        areFaultsOver = true
        for host in hosts {
            heal(host)
            resume(host)
            if host.isLost { rebuild(host) }
        }
        resumeCoordinator()
        startCoordinator()
        if !client.isConnected { put(.client(.connects), at: now + 1) }
        for index in client.submissions.indices where !submitted.contains(index) { put(.client(.acts), at: now + Int64(index)) }
        put(.client(.settles), at: now + 1_000)
    }
}

extension WirePeerMessage {
    fileprivate var kind: String {
        switch body {
        case .hello?: "hello"
        case .heartbeat?: "heartbeat"
        case .reports(let reports)?: "\(reports.reports.count) reports"
        case .goodbye?: "goodbye"
        default: "something"
        }
    }
}

extension WireCoordinatorMessage {
    /// It asks for something to be done.
    fileprivate var isOrder: Bool {
        switch body {
        case .dispatch?, .stop?: true
        default: false
        }
    }
}

extension Fact {
    fileprivate var short: String {
        if case .submitted(let admission) = self { return "submitted \(admission.id)" }
        var text = "\(self)"
        for name in ["Scheduling.", "rawValue: "] { text = text.split(separator: name, omittingEmptySubsequences: false).joined() }
        return String(text.prefix(160))
    }
}
