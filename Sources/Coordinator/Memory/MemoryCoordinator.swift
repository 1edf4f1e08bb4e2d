import Scheduling
import Wire

/// A coordinator without sockets and disks, for tests: the scheduler, the translation of messages, and the order of journal
/// and sends are those of a real one. Time is what it is given.
///
/// Its journal is a list of encoded facts. Nothing is delivered before `sync()` has put the facts that it follows from there,
/// and after `crash(at:incarnation:)` it goes on with nothing but that list, what is in the spools, and the files of values. Values of any size
/// are kept in messages, but for those that an executor offers as files. The spools of output and partial results are those of a real one, in memory and without a limit.
package final class MemoryCoordinator {
    /// What goes out, and for whom it is.
    package struct Delivery {
        package enum Content {
            case message(WireCoordinatorMessage)
            /// The answer to what was asked with ``MemoryCoordinator/ask(_:of:)`` under this number.
            case answer(UInt64, Reply)
        }

        package let peer: UInt64
        package let content: Content
    }

    /// Whose messages count as heard.
    package enum Hearing {
        /// Every executor that is there, in every step.
        case everybody
        /// Those that have said something since the step before.
        case speakers
    }

    package private(set) var scheduler: Scheduler
    private var journal = JournalBatch(after: .none)
    /// Facts that a crash loses.
    private var unwritten: [Fact] = []
    /// Facts that are being written, up to this one: a crash may lose them.
    private var writing: (facts: [Fact], end: JournalSequence)?
    private var durable = JournalSequence.none
    private var held = HeldSends()
    var inputs: [Input] = []
    private var outputs = Outputs()
    private var zones = ZoneTables()
    private var executors: Set<PeerID> = []
    private var clients: Set<PeerID> = []
    /// What peers have asked, by the numbers under which the scheduler knows it.
    private var requests: [UInt64: (peer: PeerID, pending: PendingRequest)] = [:]
    /// What is to be delivered.
    var outbox: [Delivery] = []
    var labels = AttemptLabels()
    var waits = ReadWaits<ReadRequest>()
    var watches: [String: Int] = [:]
    var heldBack: Set<AttemptName> = []
    /// What a crash loses of what is on its way into the spools.
    var unspooled = (runs: [ElementRun](), records: [OutputRecord]())
    var spools = MemorySpools()
    var now: Instant
    private var unfinished: Set<String> = []
    /// Proofs of death that are not acknowledged. A supervisor repeats them: it does not go down with the coordinator.
    private var proofs: [(peer: PeerID, incarnation: Incarnation)] = []
    private var nextPeer: UInt64 = 0
    private var nextRequest: UInt64 = 0
    private var incarnation = Incarnation(0)
    private let configuration: Scheduler.Configuration
    private let hearing: Hearing
    /// Requests whose answers are not put into messages.
    private var plainRequests: [UInt64: PeerID] = [:]
    private var acknowledgedEnds: [(peer: UInt64, incarnation: UInt64)] = []
    /// Messages that go out before what they follow from is on the disk: a fault that a simulation plants.
    package var goesOutEarly: ((Message) -> Bool)?
    /// The last transaction is lost at the next crash, although the disk has said that it has it: a fault that a simulation plants.
    package var forgetsLastWrite = false
    private var journalBeforeLastWrite = JournalBatch(after: .none)
    /// Executors are told that their elements are kept before these are in the spool: a fault that a simulation plants.
    package var acknowledgesUnspooled = false
    var values = MemoryValues()
    /// The scheduler is told of ends before their values are on the disk: a fault that a simulation plants.
    package var takesUnwrittenValues = false
    /// Are told of facts when they are decided, and when they are on the disk.
    private let whenDecided: ([Fact]) -> Void
    private let whenWritten: ([Fact]) -> Void

    /// Boot time of the next step that is wanted without an input.
    package private(set) var wakeAt: Int64?

    /// - Parameter configuration: nil: that of a cluster in memory.
    package init(
        at now: Instant, incarnation: UInt64, configuration: Scheduler.Configuration? = nil, hearing: Hearing = .everybody,
        whenDecided: @escaping ([Fact]) -> Void = { _ in }, whenWritten: @escaping ([Fact]) -> Void = { _ in }
    ) {
        self.configuration = configuration ?? Self.standard
        (self.hearing, self.whenDecided, self.whenWritten) = (hearing, whenDecided, whenWritten)
        scheduler = Scheduler(self.configuration)
        self.now = now
        begin(at: now, Incarnation(incarnation))
    }

    package static var standard: Scheduler.Configuration {
        var configuration = Scheduler.Configuration()
        configuration.pageBytes = Limits.pageBytes
        configuration.graphLimits = GraphLimits(
            nodesMax: Limits.graphNodes, depthMax: Limits.nestingDepth, elementsMax: Limits.forEachElements)
        return configuration
    }

    private func begin(at now: Instant, _ incarnation: Incarnation) {
        (self.now, self.incarnation) = (now, incarnation)
        outputs.removeAll()
        scheduler.start(at: now, incarnation: incarnation, into: &outputs)
        for fact in outputs.facts { journal.append(fact) }
        whenDecided(outputs.facts)
        whenWritten(outputs.facts)
        durable = scheduler.sequence
        wakeAt = outputs.wakeAt
    }

    /// Whether there is something that `step` has not seen.
    package var hasInputs: Bool { !inputs.isEmpty }

    /// Whether a client has submitted something that has not ended, as far as it has been told.
    package var hasWork: Bool { !unfinished.isEmpty }

    /// Whether everything that was decided is on the disk.
    var isAllDurable: Bool { durable == scheduler.sequence }

    /// Whether a crash would lose something.
    package var hasUnwritten: Bool { !unwritten.isEmpty || writing != nil || !unspooled.runs.isEmpty || !unspooled.records.isEmpty }

    // MARK: Peers

    /// A client's connection.
    package func connect() -> UInt64 {
        let peer = drawPeer()
        clients.insert(peer)
        return peer.rawValue
    }

    /// An executor's connection; what it says in its hello counts.
    package func attach(_ hello: WireHello) throws -> UInt64 {
        let peer = drawPeer()
        let attachment = try ExecutorAttachment(wire: hello)
        // What it sends of what it holds is for attempts that another coordinator may have given out.
        for held in attachment.held {
            if let question = labels.question(held.unit, held.attempt) { inputs.append(question) }
        }
        inputs.append(.executorAttached(peer, attachment))
        executors.insert(peer)
        return peer.rawValue
    }

    /// A connection has ended, or is said to.
    package func disconnect(_ peer: UInt64) {
        let wasClient = clients.remove(PeerID(peer)) != nil
        if forget(PeerID(peer)) || wasClient { inputs.append(.disconnected(PeerID(peer))) }
    }

    /// It has read nothing for a while; what peers told meanwhile comes after this.
    package func stoodStill() { inputs.append(.stoodStill) }

    /// Proof that an executor's process has ended, by a supervisor that repeats it until it is acknowledged.
    package func ended(_ incarnation: UInt64, crashed: Bool, by supervisor: UInt64) {
        inputs.append(.executorEnded(supervisor: PeerID(supervisor), Incarnation(incarnation), crashed: crashed))
    }

    /// Those whose proofs of death are on the disk, since this was asked last, with who gave them.
    package func takeAcknowledgedEnds() -> [(peer: UInt64, incarnation: UInt64)] {
        defer { acknowledgedEnds = [] }
        return acknowledgedEnds
    }

    /// Proof that an executor's process has ended; repeated to the next coordinator if this one crashes before it is durable.
    package func died(_ peer: UInt64, incarnation: UInt64) {
        forget(PeerID(peer))
        proofs.append((PeerID(peer), Incarnation(incarnation)))
        prove(PeerID(peer), Incarnation(incarnation))
    }

    private func prove(_ peer: PeerID, _ incarnation: Incarnation) {
        inputs.append(.disconnected(peer))
        inputs.append(.executorEnded(supervisor: Self.supervisor, incarnation, crashed: true))
    }

    /// - Returns: whether it was there.
    @discardableResult
    private func forget(_ peer: PeerID) -> Bool {
        for read in waits.forget(peer) { endWatch(read) }
        return executors.remove(peer) != nil
    }

    func isThere(_ peer: PeerID) -> Bool { executors.contains(peer) || clients.contains(peer) }

    /// In whose name proofs of death are given.
    private static let supervisor = PeerID(.max)

    private func drawPeer() -> PeerID {
        nextPeer += 1
        return PeerID(nextPeer)
    }

    package func welcome(name: String = "", drop: [WireHeldUnit] = []) -> WireWelcome {
        .with {
            $0.epoch = scheduler.epoch
            $0.coordinatorIncarnation = incarnation.rawValue
            $0.productVersion = ProductVersion.current
            $0.name = name
            $0.drop = drop
            $0.capabilities = ProtocolVersion.capabilities
        }
    }

    // MARK: Messages

    /// Takes a message. Returns what is answered at once.
    package func receive(_ message: WirePeerMessage, from peer: UInt64, at now: Instant) -> [Delivery] {
        self.now = now
        let peer = PeerID(peer)
        if hearing == .speakers, executors.contains(peer) { inputs.append(.heard(peer)) }
        switch message.body {
        case .request(let request): receive(request, from: peer)
        case .reports(let reports):
            for report in reports.reports { receive(report, from: peer) }
        case .elements(let batch): receive(batch, from: peer)
        case .output(let batch): receive(batch, from: peer)
        case .products(let batch):
            for product in batch.products { receive(product, from: peer) }
        case .goodbye:
            if forget(peer) { inputs.append(.departed(peer)) }
        case .hello, .heartbeat, .blobRequest, .blobChunk, .progress, .executorEnded, .enrol, nil: break
        }
        return takeOutbox()
    }

    private func takeOutbox() -> [Delivery] {
        defer { outbox = [] }
        return outbox
    }

    private func receive(_ request: WireRequest, from peer: PeerID) {
        do throws(TranslationError) {
            switch try ClientRequest(wire: request) {
            case .scheduler(let body): ask(body, .reply(request.id), of: peer)
            case .read(let submission, let reading, let waits):
                begin(
                    ReadRequest(
                        peer: peer, request: request.id, reading: reading, submission: submission,
                        waitsUntil: waits ? now.boot + CoordinatorLimits.waitMilliseconds : nil))
            case .submitStored: throw TranslationError("a cluster in memory takes no graph in parts")
            }
        } catch {
            respond(request.id, .failed(WireRequestFailed(.malformed, "\(error)")), to: peer)
        }
    }

    /// Asks in the name of a client. Returns the number under which the answer is delivered.
    package func ask(_ body: Request, of client: UInt64) -> UInt64 {
        plainRequests[nextRequest + 1] = PeerID(client)
        put(body, of: PeerID(client))
        return nextRequest
    }

    func ask(_ body: Request, _ pending: PendingRequest, of peer: PeerID) {
        requests[nextRequest + 1] = (peer, pending)
        put(body, of: peer)
    }

    private func put(_ body: Request, of peer: PeerID) {
        nextRequest += 1
        let tables = zones.tables(for: body.zones, at: now.wall)
        if !tables.isEmpty { inputs.append(.zones(tables)) }
        inputs.append(.request(RequestID(peer: peer, number: nextRequest), body))
    }

    private func receive(_ product: WireProduct, from peer: PeerID) {
        let number = product.number
        do throws(TranslationError) {
            let addition = try Addition(wire: product.addition)
            inputs.append(.produced(peer, UnitID(rawValue: product.unit), Attempt(rawValue: product.attempt), number: number, addition))
        } catch {
            let receipt = WireProductReceipt.with {
                $0.unit = product.unit
                $0.attempt = product.attempt
                $0.number = number
                $0.problem = "produced what cannot be read: \(error)"
            }
            send(.with { $0.productReceipts.receipts = [receipt] }, to: peer)
        }
    }

    private func receive(_ report: WireUnitReport, from peer: PeerID) {
        let (unit, attempt) = (UnitID(rawValue: report.unit), Attempt(rawValue: report.attempt))
        switch report.body {
        case .started(let started): inputs.append(.started(peer, unit, attempt, at: started.startedAt))
        case .stopping(let stop): inputs.append(.stopping(peer, unit, attempt, forced: stop.forced, at: stop.at))
        case .released(let released):
            inputs.append(.released(peer, unit, attempt, wasStopped: released.stopped, isAccepting: released.accepting))
        case .ended(let end):
            guard !takeValue(of: end, unit, attempt, from: peer) else { return }
            inputs.append(.ended(peer, unit, attempt, Self.outcome(end), startedAt: end.startedAt, at: end.endedAt))
        case nil: break
        }
    }

    private static func outcome(_ end: WireAttemptEnd) -> AttemptOutcome {
        // A value of any size comes as it is.
        if !end.hasAddition, case .success(let value)? = end.outcome, case .inline(let bytes)? = value.storage,
            let encoding = try? PayloadEncoding(wire: value.encoding)
        {
            return .success(Payload(encoding: encoding, storage: .inline([UInt8](bytes))))
        }
        if case .whole(let outcome) = ReportedEnd(wire: end, host: "memory") { return outcome }
        return .failure([ReportedEnd.unreadable("it is stored elsewhere", host: "memory")])
    }

    // MARK: Steps

    /// Decides on everything that has come.
    package func step(at now: Instant) {
        self.now = now
        outputs.removeAll()
        let heard = hearing == .everybody ? executors.sorted().map { Input.heard($0) } : []
        // An executor is heard after it has attached.
        scheduler.step(inputs + heard, at: now, into: &outputs)
        inputs = []
        wakeAt = outputs.wakeAt
        for fact in outputs.facts { labels.observe(fact) }
        unwritten += outputs.facts
        whenDecided(outputs.facts)
        var sends: [Outputs.Send] = []
        for send in outputs.sends {
            if send.to == AttemptLabels.asker, !send.message.isEvents {
                labels.receive(send.message) { scheduler.isOpen($0, under: $1) }
            } else if goesOutEarly?(send.message) == true {
                deliver(send)
            } else {
                sends.append(send)
            }
        }
        held.append(sends)
    }

    /// Puts what was decided into the journal, and what was sent into the spools; gives out what may go then.
    package func sync() -> [Delivery] {
        beginSync()
        write()
        spool()
        return release()
    }

    /// Begins to write what was decided, if nothing is being written.
    /// - Returns: whether something is being written now.
    @discardableResult
    package func beginSync() -> Bool {
        if writing == nil, !unwritten.isEmpty {
            writing = (unwritten, scheduler.sequence)
            unwritten = []
        }
        return writing != nil
    }

    /// What was being written is on the disk.
    package func finishSync() -> [Delivery] {
        write()
        return release()
    }

    /// What may go out by now.
    package func release() -> [Delivery] {
        for send in held.release(upTo: durable) { deliver(send) }
        return takeOutbox()
    }

    private func write() {
        guard let (facts, end) = writing else { return }
        writing = nil
        journalBeforeLastWrite = journal
        for fact in facts { journal.append(fact) }
        durable = end
        whenWritten(facts)
    }

    private func deliver(_ message: Outputs.Send) {
        func to(_ fill: (inout WireCoordinatorMessage) -> Void) { send(.with(fill), to: message.to) }
        switch message.message {
        case .welcome(let name, let drop): to { $0.welcome = welcome(name: name, drop: drop.map(\.wire)) }
        case .dispatch(let assignments):
            let grace = scheduler.configuration.graceMillisecondsDefault
            for assignment in assignments { labels.dispatched(assignment) }
            to {
                $0.dispatch.assignments = assignments.map { $0.wire(inputs: $0.inputs.map(\.wire), defaultGraceMilliseconds: grace) }
            }
        case .stop(let orders): to { $0.stop.units = orders.map(\.wire) }
        case .acknowledge(let names): to { $0.acknowledgement.units = names.map(\.wire) }
        case .productReceipts(let receipts): to { $0.productReceipts.receipts = receipts.map(\.wire) }
        case .reply(let id, let reply): answer(id, reply)
        case .events(let batch) where message.to == AttemptLabels.asker: noteEvents(batch)
        case .events(let batch):
            note(batch.view)
            to {
                $0.events = .with {
                    $0.submission = batch.submission
                    $0.events = batch.events.map(\.wire)
                    $0.view = batch.view.wire
                }
            }
        case .acknowledgeEnd(let incarnation):
            proofs.removeAll { $0.incarnation == incarnation }
            acknowledgedEnds.append((message.to.rawValue, incarnation.rawValue))
        case .superseded: refuse(.superseded, to: message.to)
        case .helloWanted: send(.with { $0.helloWanted = WireHelloWanted() }, to: message.to)
        case .sessionOver: refuse(.sessionOver, to: message.to)
        }
    }

    /// Nothing more is taken on that connection.
    private func refuse(_ code: WireRefusal.Code, to peer: PeerID) {
        send(.with { $0.refusal.code = code }, to: peer)
        forget(peer)
    }

    private func answer(_ id: RequestID, _ reply: Reply) {
        if let peer = plainRequests.removeValue(forKey: id.number) {
            return outbox.append(Delivery(peer: peer.rawValue, content: .answer(id.number, reply)))
        }
        switch requests.removeValue(forKey: id.number) {
        case (_, .read(let read))?: found(read, reply)
        case (let peer, .reply(let request))?:
            switch reply {
            case .submitted(let id, _): unfinished.insert(id)
            case .following(let view), .submission(let view): note(view)
            default: break
            }
            respond(request, reply.wire, to: peer)
        case nil: break
        }
    }

    private func note(_ view: SubmissionView) {
        if view.finishedAt != 0 { unfinished.remove(view.id) }
    }

    // MARK: The end

    /// The process ends, and another one begins with what is in the journal. All connections are gone.
    ///
    /// - Parameter keepsWriting: what was being written is on the disk, and so is what was on its way into the spools.
    /// - Throws: what the codec and the fold throw for a journal that cannot have been written like this.
    package func crash(at now: Instant, incarnation: UInt64, keepsWriting: Bool = false) throws {
        if keepsWriting {
            write()
            spool()
        }
        values.crash(keepsWriting: keepsWriting)
        if forgetsLastWrite { (journal, forgetsLastWrite) = (journalBeforeLastWrite, false) }
        var scheduler = Scheduler(configuration)
        labels = AttemptLabels()
        let count = journal.last.rawValue
        // A snapshot may have been made anywhere.
        let snapshot = incarnation % (count + 1)
        try JournalBatch.forEachFact(in: journal.body) { fact in
            try scheduler.restore(fact)
            labels.observe(fact)
            if scheduler.sequence.rawValue == snapshot { scheduler = try throughSnapshot(scheduler) }
        }
        self.scheduler = scheduler
        (unwritten, writing, inputs, requests, executors, clients, held) = ([], nil, [], [:], [], [], HeldSends())
        (plainRequests, acknowledgedEnds) = ([:], [])
        (outbox, unspooled, waits, watches, heldBack) = ([], ([], []), ReadWaits(), [:], [])
        begin(at: now, Incarnation(incarnation))
        for proof in proofs { prove(proof.peer, proof.incarnation) }
    }

    private func throughSnapshot(_ scheduler: Scheduler) throws -> Scheduler {
        var restored = Scheduler(configuration)
        try scheduler.writeSnapshot { section in
            try Scheduler.check(section: section, isFirst: restored.sequence == .none)
            try restored.restore(section: section[...])
        }
        return restored
    }
}
