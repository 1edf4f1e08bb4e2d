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
    let plan: SimulationPlan
    var random: SimulationRandom
    let work: RandomWork
    private var queue = SimulationQueue<Event>()
    private(set) var now: Int64 = 1_000
    var wallOffset = Simulation.firstDay
    private(set) lazy var witness = Witness(of: self, configuration)
    private(set) lazy var streams = StreamWitness(of: self)
    var hosts: [SimulatedHost] = []
    private(set) lazy var client = SimulatedClient(graphs, of: self)
    private let graphs: [Graph]

    var coordinator: MemoryCoordinator?
    /// Counts the coordinator's starts.
    var start = 0
    var isCoordinatorPaused = false
    var coordinatorBacklog: [Event] = []
    var stepAt: Int64?
    var isWriting = false
    var isSpooling = false
    var isWritingValues = false
    var connections: [SimulatedConnection] = []
    var clientPeer: UInt64?
    var lastToClient: Int64 = 0
    var lastFromClient: Int64 = 0
    var clientRequests: [UInt64: ClientRequest] = [:]
    /// Where executors and the client have read in streams, by what they have asked and not been answered: a planted defect looks there.
    var reads: [ReadName: WireReadElements] = [:]
    var nextConnection = 0
    private var nextNumber = 0
    var areFaultsOver = false
    var coverage = SimulationCoverage()
    var steps = 0
    private var violation: String?
    private var trace: [String] = []
    var latestAttempts: [UInt64: UInt64] = [:]
    /// A coordinator that has crashed, and whether what it was writing is on the disk.
    var stopped: (coordinator: MemoryCoordinator, keepsWriting: Bool)?
    /// Graphs that have been submitted.
    var submitted: Set<Int> = []
    /// Units that end each process which tries them, until faults are over: what quarantine is for.
    var poison: Set<UInt64> = []
    /// When faults stop.
    var faultsEnd: Int64 = 0

    /// Sets apart what the features of the work are drawn from.
    private static let rareWork: UInt64 = 0x5EED_0F_4A2E
    /// What virtual time begins with, as a wall time.
    static let firstDay: Int64 = 1_900_000_000_000
    static let heartbeat: Int64 = 1_000
    static let lease: Int64 = 3_000
    static let lockLease: Int64 = 20_000
    static let orphanLimit: Int64 = 60_000
    /// How long everything may take to end once faults are over.
    private static let patience: Int64 = 1_200_000
    private static let traceMax = 400

    public init(_ plan: SimulationPlan) {
        self.plan = plan
        var random = SimulationRandom(seed: plan.seed)
        var drawn = FaultMix.draw(using: &random)
        // Of its own source: what a seed draws besides stays as it is.
        var operators = SimulationRandom(seed: ~plan.seed)
        if operators.oneIn(3) { drawn.insert(.drainedWorkers) }
        faults = drawn.intersection(plan.faults)
        var rare = SimulationRandom(seed: plan.seed ^ Self.rareWork)
        var drawnFeatures = WorkFeatures.draw(using: &rare)
        if operators.oneIn(4) { drawnFeatures.insert(.files) }
        let features = drawnFeatures.intersection(plan.features).union(plan.added)
        work = RandomWork(with: features, using: &random, rare: &rare)
        let count = 1 + random.below(3)
        var graphs: [Graph] = []
        for _ in 0..<count { graphs.append(work.graph(using: &random)) }
        self.graphs = Array(graphs.prefix(plan.submissionsMax))
        self.random = random
    }

    var configuration: Scheduler.Configuration {
        var configuration = MemoryCoordinator.standard
        configuration.leaseMilliseconds = Self.lease
        configuration.lockLeaseMilliseconds = plants(.lockMovedOnSuspicion) ? Self.lease : Self.lockLease
        configuration.orphanLimitMilliseconds = Self.orphanLimit
        configuration.forgetsRetries = plants(.retryForgotten)
        configuration.givesNoFreshLease = plants(.noFreshLease)
        configuration.forgetsStrays = plants(.straysForgotten)
        configuration.forgetsLinks = plants(.linksUnjournaled)
        configuration.takesAnyLink = plants(.linkOfAnotherAttempt)
        if work.retention.milliseconds > 0 { configuration.retentionMilliseconds = work.retention.milliseconds }
        if work.retention.bytes > 0 { configuration.retentionBytes = work.retention.bytes }
        configuration.ignoresDrains = plants(.drainIgnored)
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
            if areFaultsOver, client.isDone, client.hasRead { break }
            if areFaultsOver, now > faultsEnd + Self.patience {
                explainUnfinished()
                violate("work is left when faults are over: \(unfinished)")
                break
            }
            happen(event)
        }
        if violation == nil { finish() }
        // They know each other.
        for host in hosts { (host.executors, host.stalled, host.backlog) = ([], [], []) }
        return SimulationReport(
            plan: plan, faults: faults, features: work.features, violation: violation, trace: trace, steps: steps, milliseconds: now,
            coverage: coverage)
    }

    private func begin() {
        startCoordinator()
        for number in 0..<(1 + random.below(3)) {
            let host = SimulatedHost(
                number, labels: number == 0 ? [RandomWork.label] : [], offer: work.offer(ofHost: number, using: &random))
            hosts.append(host)
            for index in 0..<(1 + random.below(2)) { spawn(index, on: host) }
        }
        if graphs.contains(where: \.hasHostedCode) {
            let host = SimulatedHost(hosts.count, isOfSubmitter: true)
            hosts.append(host)
            spawn(0, on: host)
        }
        put(.client(.connects), at: now + 5)
        for index in graphs.indices { put(.client(.acts), at: now + 10 + Int64(index) * random.below(Int64(3_000))) }
        faultsEnd = now + 5_000 + random.below(Int64(60_000))
        put(.fault, at: now + random.below(Int64(2_000)))
        put(.faultsStop, at: faultsEnd)
    }

    /// What was told must still be so in a coordinator that starts with the journal alone.
    private func finish() {
        witness.checkRates()
        client.askAgain()
        restartCoordinator(keepsWriting: true)
        while violation == nil, now < faultsEnd + 2 * Self.patience, let (at, event) = queue.next() {
            now = max(now, at)
            happen(event)
            if client.isConnected, client.isAnswered, client.isDone, client.hasRead, coordinator != nil { return }
        }
        if violation == nil { violate("what was told is not told again by the next coordinator: \(client.openRequests)") }
    }

    private func explainUnfinished() {
        for id in client.submissions.filter({ !$0.hasOutcomes }).compactMap(\.id) {
            for line in coordinator?.scheduler.explanations(submission: id) ?? [] { note("\(id)/\(line)") }
        }
    }

    private var unfinished: String {
        (client.submissions.filter { !$0.hasOutcomes }.map { "\($0.id ?? $0.key)" } + client.openReaders).joined(separator: ", ")
    }

    /// - Parameter hasArrived: it has come through the network, and has waited for whom it is for: what is sent later does not overtake it.
    func happen(_ event: Event, hasArrived: Bool = false) {
        if !hasArrived, let host = event.network, host.isPartitioned { return host.stalled.append(event) }
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
            if case .productReceipts(let receipts)? = message.body { for receipt in receipts.receipts { witness.told(receipt) } }
            if case .acknowledgement(let acknowledgement)? = message.body {
                for unit in acknowledgement.units { witness.acknowledged(UnitID(rawValue: unit.unit), Attempt(rawValue: unit.attempt)) }
            }
            executor.receive(message, on: connection)
        case .closed(let connection): close(connection)
        case .tick(let executor): executor.tick()
        case .bodyEnds(let executor, let body): executor.bodyEnds(body)
        case .bodySends(let executor, let body): executor.bodySends(body)
        case .bodyReads(let executor, let body): executor.bodyReads(body)
        case .bodyProduces(let executor, let body, let product): executor.bodyProduces(body, product)
        case .proof(let host): prove(host)
        case .proofKnown(let host, let incarnation): host.proofs.removeAll { $0.incarnation == incarnation }
        case .replace(let host, let index): if !host.isLost { spawn(index, on: host) }
        case .kill(let executor): if executor.isAlive, !executor.host.isLost { end(executor, crashed: true) }
        case .step: step()
        case .written(let start): if start == self.start { written() }
        case .spooled(let start): if start == self.start { spooled() }
        case .valuesWritten(let start): if start == self.start { valuesWritten() }
        case .waitsEnd(let start): if start == self.start { endWaits() }
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
        work.body(of: assignment, areFaultsOver ? faults.subtracting([.deafBodies, .longBodies]) : faults, using: &random)
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
}
