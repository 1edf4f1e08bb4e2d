import Executing
import Wire

/// An executor's process: the session and the state are those of a real one; bodies only take time.
final class SimulatedExecutor {
    let incarnation: UInt64
    let index: Int
    let slots: Int
    unowned let host: SimulatedHost
    unowned let world: Simulation
    private(set) var session = PeerSession(SimulatedExecutor.waits)
    private(set) var state: ExecutorState
    private(set) var connection: SimulatedConnection?
    /// Those that run.
    var bodies: [Int: Body] = [:]
    /// What bodies send, and what they have produced, until the coordinator has it.
    var elements = ElementDesk()
    var products = ProductDesk()
    /// What bodies receive of others.
    private(set) lazy var desk = makeDesk()
    private(set) var isAlive = true
    /// Its session is over for good: nothing is reported any more. Of a submitter only.
    private(set) var isOver = false
    /// When the coordinator has heard it last, or has begun to count anew.
    var lastHeard: Int64 = 0
    /// It has stood still since it was attached last: when it goes on it acts for a moment on what it knew.
    var wasFrozen = false
    private var reports: [WireUnitReport] = []
    private var tickAt: Int64?

    struct Body {
        let key: UnitKey
        let assignment: WireAssignment
        /// It can be ended by force; else only the end of its process ends it.
        let isCommand: Bool
        /// It ends when it is told to.
        let obeys: Bool
        var isStopped = false
        /// It has been told to end, or its time is over.
        var isDue = false
        var ending: UnitEnding
        var sending: SimulatedSending?
        var reading: SimulatedReading?
    }

    private static let waits: PeerSession.Configuration = {
        var waits = PeerSession.Configuration()
        waits.afterRefusal = .tryOn
        return waits
    }()

    init(_ incarnation: UInt64, index: Int, slots: Int, on host: SimulatedHost, of world: Simulation) {
        (self.incarnation, self.index, self.slots, self.host, self.world) = (incarnation, index, slots, host, world)
        state = ExecutorState(slots: slots)
    }

    /// It takes what others submit; else only what exists in the process that submits.
    var isWorker: Bool { !host.isOfSubmitter }

    func start() { turn { $0.perform($0.session.start(at: $0.now)) } }

    // MARK: What happens to it

    func connected(_ connection: SimulatedConnection) {
        guard connection === self.connection else { return }
        turn { $0.perform($0.session.connected(at: $0.now)) }
    }

    func lost(_ connection: SimulatedConnection) {
        guard connection === self.connection else { return }
        self.connection = nil
        turn { $0.perform($0.session.lost("it ended", at: $0.now)) }
    }

    func receive(_ message: WireCoordinatorMessage, on connection: SimulatedConnection) {
        guard connection === self.connection else { return }
        turn { $0.perform($0.session.receive(message, at: $0.now), delivering: message) }
    }

    func tick() {
        tickAt = nil
        turn { executor in
            executor.perform(executor.session.tick(at: executor.now))
            executor.step { $0.tick(now: $1, at: $2) }
        }
    }

    /// Its time is over, or it has been made to end.
    func bodyEnds(_ number: Int) {
        bodies[number]?.isDue = true
        turn { $0.endIfDone(number) }
    }

    /// Ends the body if it is time, and it has sent and received what it wants to.
    func endIfDone(_ number: Int) {
        guard let body = bodies[number], body.isDue, body.hasSaidAll else { return }
        bodies[number] = nil
        world.witness.ended(body, in: self)
        forgetStreams(of: body)
        step { $0.ended(body.key, body.ending, now: $1, at: $2) }
    }

    func drain() {
        turn { executor in executor.step { $0.drain(graceMilliseconds: 2_000, now: $1, at: $2) } }
    }

    /// The process is gone, with everything in it.
    func die() {
        isAlive = false
        for body in bodies.values { world.witness.ended(body, in: self) }
        bodies = [:]
        if let connection { world.abandon(connection) }
        connection = nil
    }

    // MARK: Turns

    var now: Int64 { world.now }

    /// Does something, tells the coordinator what there is to tell, and sees to it that it is called when its time has come.
    func turn(_ body: (SimulatedExecutor) -> Void) {
        guard isAlive else { return }
        body(self)
        flush()
        let elementsDue = session.isAttached ? elements.deadline : nil
        guard isAlive, !isOver, let due = [session.deadline, state.deadline, elementsDue].compactMap(\.self).min() else { return }
        guard tickAt.map({ due < $0 }) ?? true else { return }
        tickAt = due
        world.put(.tick(self), at: max(due, now))
    }

    private func flush() {
        if session.isAttached, let connection {
            for batch in elements.take(now: now) { world.send(.with { $0.elements = batch }, on: connection, from: self) }
            for batch in products.take() { world.send(.with { $0.products = batch }, on: connection, from: self) }
        }
        let news = reports
        reports = []
        guard !news.isEmpty, session.isAttached, let connection else { return }
        world.send(.with { $0.reports.reports = news.foldingStarts }, on: connection, from: self)
    }

    private func perform(_ actions: [PeerSession.Action], delivering message: WireCoordinatorMessage? = nil) {
        for action in actions {
            switch action {
            case .connect:
                if let connection { world.abandon(connection) }
                connection = world.connect(self)
            case .sayHello:
                guard let connection else { continue }
                world.send(.with { $0.hello = hello() }, on: connection, from: self)
                perform(session.helloSent(at: now))
            case .beat:
                guard let connection else { continue }
                let beat = WireHeartbeat.with {
                    $0.sentAt = UInt64(now)
                    $0.running = UInt32(state.runningCount)
                    $0.queued = UInt32(state.queuedCount)
                    $0.accepting = state.isAccepting
                }
                world.send(.with { $0.heartbeat = beat }, on: connection, from: self)
                perform(session.heartbeatSent(at: now))
            case .disconnect:
                if let connection { world.abandon(connection) }
                connection = nil
            case .emit(let notice): hear(notice)
            case .deliver: if let message { handle(message) }
            case .stop: break
            }
        }
    }

    private func hello() -> WireHello {
        let isUntold = world.plants(.holdingsUntold) || (!isWorker && world.plants(.hostedUntold))
        let held = isUntold ? [] : state.tellHeld()
        return .with {
            $0.protocolMajor = ProtocolVersion.major
            $0.role = .executor
            $0.incarnation = incarnation
            $0.capabilities = ProtocolVersion.capabilities
            $0.connection = UInt64(connection?.number ?? 0)
            $0.host = "h\(host.number)"
            $0.pid = UInt32(index)
            $0.executor = .with {
                $0.units = held
                $0.slots = UInt32(slots)
                $0.submitter = !isWorker
                guard isWorker else { return }
                $0.supervisorIncarnation = UInt64(host.number) + 1
                $0.operations = RandomWork.types
                $0.conditions = [RandomWork.condition]
                $0.labels = host.labels
                $0.resources = host.offer.map { resource in
                    .with {
                        $0.name = resource.name
                        $0.amount = UInt64(resource.amount) * (world.plants(.hostOversold) ? 2 : 1)
                    }
                }
                $0.index = UInt32(index)
            }
        }
    }

    private func hear(_ notice: PeerSession.Notice) {
        world.note("\(name): \(notice.text)")
        switch notice {
        case .attached(let welcome, _):
            wasFrozen = host.isPaused
            desk.resume()
            elements.forgetSent()
            products.forgetSent()
            step { $0.attached(drop: welcome.drop.map { UnitKey($0) }, now: $1, at: $2) }
            if !isWorker { world.client.sessionBegan() }
        case .leaseOver:
            if !world.plants(.startAfterLease) { state.leaseOver() }
        case .lockLeaseEnding(let grace):
            guard !world.plants(.runAfterLockLease) else { return }
            step { state, now, _ in state.lockLeaseEnding(graceMilliseconds: grace, now: now) }
        case .orphanLimitOver: step { state, now, _ in state.orphanLimitOver(now: now) }
        case .refused where !isWorker:
            isOver = true
            for key in bodies.sorted(by: { $0.key < $1.key }).map(\.value.key) { stop(key) }
            world.sessionEnded(of: self)
        case .detached, .denied, .farewell, .refused: break
        }
    }

    private func handle(_ message: WireCoordinatorMessage) {
        switch message.body {
        case .dispatch(let dispatch)?: step { $0.dispatched(dispatch.assignments, now: $1, at: $2) }
        case .stop(let stop)?:
            for unit in stop.units where unit.reason != .recalled {
                if let end = products.release(UnitKey(unit)) { admit(end) }
                if let end = elements.release(UnitKey(unit)) { reports.append(end) }
            }
            step { $0.stopOrdered(stop.units, now: $1, at: $2) }
        case .acknowledgement(let acknowledgement)?:
            step { $0.acknowledged(acknowledgement.units.map { UnitKey($0) }, now: $1, at: $2) }
        case .elementReceipts(let receipts)?:
            reports += elements.receive(receipts.receipts, now: now)
            sendOn()
        case .productReceipts(let receipts)?:
            for receipt in receipts.receipts {
                let (end, stops) = products.receive(receipt, host: "h\(host.number)")
                if let end { admit(end) }
                if stops { stop(UnitKey(unit: receipt.unit, attempt: receipt.attempt)) }
            }
        case .response(let response)?: desk.receive(response)
        case .blobRequest?, .blobChunk?, .welcome?, .refusal?, .heartbeatAnswer?, .events?, .farewell?, .helloWanted?,
            .outputReceipts?, .enrolled?, nil:
            break
        }
    }

    /// What it has produced is on the coordinator's disk; its elements may not be.
    private func admit(_ report: WireUnitReport) {
        if world.plants(.endBeforeElements) { return reports.append(report) }
        if let report = elements.admit(report) { reports.append(report) }
    }

    func step(_ input: (inout ExecutorState, _ now: Int64, _ at: Int64) -> [ExecutorAction]) {
        guard isAlive, !isOver else { return }
        for action in input(&state, now, world.wall) { perform(action) }
    }

    private func perform(_ action: ExecutorAction) {
        guard isAlive else { return }
        switch action {
        case .report(let report): if let report = products.admit(report) { admit(report) }
        case .start(let key, let assignment): begin(key, assignment)
        case .stop(let key): stop(key)
        case .kill(let key):
            guard let (number, body) = body(of: key) else { return }
            guard isWorker else { return giveUp(number) }
            guard body.isCommand else { return step { $0.cannotKill(key, now: $1, at: $2) } }
            bodies[number]?.ending = .cancelled
            bodies[number]?.endsAtOnce()
            world.put(.bodyEnds(self, body: number), at: now + 1 + world.random.below(5))
            step { $0.killed(key, at: $2) }
        case .fetchInputs(let key, _): step { $0.inputsReady(key, now: $1, at: $2) }
        // The program that submits is not ended for what it does not end.
        case .askForReplacement where !isWorker, .exit where !isWorker: break
        case .askForReplacement: world.put(.replace(host, index: index), at: now + 100)
        case .exit(let reason):
            flush()
            if bodies.isEmpty, session.isAttached, let connection {
                world.send(.with { $0.goodbye.reason = reason.rawValue }, on: connection, from: self)
            }
            world.exited(self)
        case .forget(let key):
            products.forget(key)
            elements.forget(key)
        case .lineUp: break
        }
    }

    // MARK: Bodies

    private func begin(_ key: UnitKey, _ assignment: WireAssignment) {
        let work = world.work(for: assignment)
        let number = world.drawNumber()
        let body = Body(key: key, assignment: assignment, isCommand: work.isCommand, obeys: work.obeys, ending: work.ending)
        bodies[number] = body
        world.witness.began(body, in: self)
        products.open(key)
        if let before = state.predecessor(of: assignment) { products.follow(key, after: before) }
        beginStreams(number, work)
        beginProducts(number, work)
        world.put(.bodyEnds(self, body: number), at: now + work.milliseconds)
        if world.poison.contains(key.unit) { world.put(.kill(self), at: now + world.random.below(work.milliseconds + 1)) }
    }

    private func stop(_ key: UnitKey) {
        guard let (number, body) = body(of: key), !body.isStopped else { return }
        bodies[number]?.isStopped = true
        guard body.obeys else { return }
        bodies[number]?.ending = .cancelled
        bodies[number]?.endsAtOnce()
        world.put(.bodyEnds(self, body: number), at: now + world.random.below(Int64(200)))
    }

    /// A body of the program does not end, or is not to be waited for: it counts as ended.
    private func giveUp(_ number: Int) {
        bodies[number]?.ending = .cancelled
        bodies[number]?.endsAtOnce()
        bodies[number]?.isDue = true
        endIfDone(number)
    }

    private func body(of key: UnitKey) -> (Int, Body)? { bodies.first { $0.value.key == key }.map { ($0.key, $0.value) } }

    var runningUnits: [UInt64] { bodies.values.map(\.key.unit) }

    var name: String { "h\(host.number)/\(index)" }
}

extension PeerSession.Notice {
    fileprivate var text: String {
        switch self {
        case .attached(let welcome, _): "attached, drops \(welcome.drop.count)"
        case .detached(let reason, _): "detached: \(reason)"
        case .leaseOver: "its lease is over"
        case .lockLeaseEnding: "its lock lease ends"
        case .orphanLimitOver: "its orphan limit is over"
        case .refused(let refusal): "refused: \(refusal.message)"
        case .farewell: "farewell"
        case .denied(let reason): "denied: \(reason)"
        }
    }
}
