import Foundation
import Logging
import Scheduling
import Wire

/// The transport thread: takes messages of many peers, steps the scheduler once for all of them, hands facts to the journal
/// and sends what is durable.
///
/// Everything in it belongs to that one thread; others reach it through `mailbox`. It does not wait for a disk: journal,
/// blobs and output have threads of their own and answer through the mailbox. Only what it has little of and nothing else to do for, it
/// commits itself, while the disk is quick.
final class CoordinatorLoop {
    enum Phase {
        case running
        /// Nothing is read any more; what was decided is committed and sent, until `deadline` (boot time) at the latest.
        case ending(deadline: Int64, reason: String)
    }

    let configuration: CoordinatorConfiguration
    let logger: Logger
    let mailbox: Mailbox<LoopEvent>
    let incarnation: Incarnation
    let journal: JournalWriter
    let blobs: BlobService
    let output: OutputService
    let elements: ElementService
    /// nil: there is none.
    let history: HistoryService?
    let router: RouterSocket
    /// nil: there are no keys.
    let gatekeeper: Gatekeeper?
    /// nil: there are no keys.
    let enrolments: EnrolmentDesk?
    let monitor: SocketMonitor
    private(set) var endpoints: [Endpoint] = []

    var scheduler: Scheduler
    var inputs: [Input] = []
    var peers = PeerTable()
    /// Peers whose outbox is not empty.
    var unflushed: Set<PeerID> = []
    var labels = AttemptLabels()
    var zones = ZoneTables()
    var counters = ProtocolCounters()
    var diskReserve: DiskReserve
    /// Dispatches some of whose inputs are being stored.
    var storing: [StoreID: StoredInput] = [:]
    /// Whom each large value is asked of.
    var pullers: [PullID: PeerID] = [:]
    /// Large values that wait for room on the disk; nil: there is room.
    var waitingForRoom: Set<PullID>?
    /// A snapshot of the journal is due, and the disk has no room for it.
    var snapshotWaitsForRoom = false
    /// Boot time of the last look at what nobody tells of.
    var lookedAroundAt: Int64 = 0
    var freedMemory = FreedMemory()
    var nextNumber: UInt64 = 0
    var outputBytesInFlight = 0
    /// Readers that wait for more.
    var waits = ReadWaits<ReadRequest>()
    /// How many readers want to be told of a submission, by its id.
    var watches: [String: Int] = [:]
    /// Attempts whose partial results are not taken.
    var heldBack: Set<AttemptName> = []
    /// With which keys executors have come, by their incarnations.
    var executorKeys: [UInt64: PublicKey] = [:]
    /// Join tokens that are being exchanged.
    var enrolling: Set<PublicKey> = []
    var stepNumber: UInt64 = 0
    /// Steps in which operations have begun, which is shown, and not journaled.
    private var stepsWithStarts: UInt64 = 0
    /// Submissions that are known no more, until that is on the disk.
    private var forgotten: [(number: SubmissionNumber, after: JournalSequence)] = []
    /// Large values that are to go.
    var removals: ValueRemovals
    /// The reading of time of this round.
    var now: Instant

    /// Milliseconds before this round in which the loop itself did not read what peers had sent.
    private(set) var pauseBefore: Int64 = 0

    let files: FilesInPlace
    let database: JournalDatabase
    /// nil: nothing is recorded.
    private let recorder: FlightRecorder?
    private var phase = Phase.running
    private var held = HeldSends()
    var logWatch = LogWatch()
    var historyFeed = HistoryFeed()
    /// As the scheduler was told.
    var isHistoryBehind = false
    var unwrittenLog = RateLimit()
    var eventLog: EventLog
    private var outputs: Outputs
    private(set) var durable: JournalSequence
    private var wakeAt: Int64?
    private var silenceCheckAt: Int64
    let startedAt: Int64
    /// Whose connections have ended; what they still brought is read first.
    private var disconnected: [Peer] = []
    var ledger = ConnectionLedger()
    var meter = LoopMeter()
    /// Clients within this process.
    var locals: [ObjectIdentifier: PeerID] = [:]
    private var changeWaits = ChangeWaits()
    /// A handshake that has failed; the end of its connection, which says whose, comes next.
    private var failedHandshake: FailedHandshake?
    private var ownPause = OwnPause()
    private var poller = Poller()
    private let mailToken: Poller.Token
    private let monitorToken: Poller.Token
    private let zapToken: Poller.Token?
    /// nil: nothing is read, since what was read before has to be written first.
    private var routerToken: Poller.Token?

    private struct FailedHandshake {
        let kind: ProtocolCounters.Kind
        /// From where it came, if that is known, as in " from 10.0.0.7".
        let text: (String) -> String
    }

    /// One input that is being stored for a dispatch.
    struct StoredInput {
        let peer: PeerID
        let dispatch: DispatchBeingStored
        let place: DispatchBeingStored.Place
    }

    /// Recovers, starts the threads and listens. Takes over the calling thread's part from here on.
    ///
    /// - Throws: `DataDirectoryError`, `JournalError`, `BlobStoreError`, `ThreadError`, `ZMQError`, `CoordinatorError`.
    init(
        _ configuration: CoordinatorConfiguration, context: ZMQContext, mailbox: Mailbox<LoopEvent>, logger: Logger
    ) throws {
        try configuration.checkEndpoints()
        // Before anything listens.
        let gatekeeper = try configuration.keys.map { try Gatekeeper($0, context: context) }
        if let gatekeeper, !gatekeeper.keys.letsAnybodyIn(at: WallClock.milliseconds()) {
            logger.warning("\(AuthorizedKeys.nobodyText(gatekeeper.path))")
        }
        let recovery = try Recovery(configuration, logger: logger)
        let router = try RouterSocket(context: context)
        let monitor = try router.makeMonitor()
        let journal = try JournalWriter(
            recovery.database, after: recovery.end, snapshots: configuration.snapshots, hasForgotten: recovery.hasForgotten, logger: logger
        ) {
            mailbox.post(.journal($0))
        }
        var store = recovery.blobs
        store.reserveBytes = UInt64(max(configuration.diskReserveBytes, 0)) / 2
        let blobs = try BlobService(store) { mailbox.post(.blobs($0)) }
        let output = try OutputService(recovery.output, logger: logger) { mailbox.post(.output($0)) }
        let elements = try ElementService(recovery.elements, logger: logger) { mailbox.post(.elements($0)) }
        let age = HistoryAge(keepMilliseconds: configuration.historyMilliseconds, doubt: recovery.scheduler.clockDoubt)
        let history = try recovery.history.map { try HistoryService($0, age: age, logger: logger) { mailbox.post(.history($0)) } }
        let enrolments = try configuration.keys.map { keys in
            try EnrolmentDesk(keys.authorizedPath, logger: logger) { mailbox.post(.enrolment($0)) }
        }
        self.configuration = configuration
        diskReserve = DiskReserve(bytes: configuration.diskReserveBytes, directory: configuration.dataDirectory)
        self.logger = logger
        eventLog = EventLog(logger)
        self.mailbox = mailbox
        self.journal = journal
        self.blobs = blobs
        self.output = output
        self.elements = elements
        self.history = history
        self.router = router
        self.gatekeeper = gatekeeper
        self.enrolments = enrolments
        self.monitor = monitor
        files = recovery.files
        database = recovery.database
        recorder = recovery.recorder
        incarnation = recovery.incarnation
        scheduler = recovery.scheduler
        outputs = recovery.outputs
        wakeAt = recovery.outputs.wakeAt
        durable = recovery.end.sequence
        labels.submissionIDs = recovery.submissionIDs
        now = .current()
        silenceCheckAt = now.boot + 1000
        startedAt = now.boot
        removals = ValueRemovals(graceMilliseconds: configuration.forgottenValueMilliseconds, startedAt: now.boot)
        mailToken = poller.add(mailbox)
        monitorToken = poller.add(monitor)
        if let gatekeeper { zapToken = poller.add(gatekeeper.zap) } else { zapToken = nil }
        routerToken = poller.add(router)
        outputs.removeAll()
        scheduler.tellsWaits = configuration.whenBegun != nil
        scheduler.telling = eventLog.telling
        if let database = recovery.history { fillHistory { !database.holds($0, endedAt: $1) } }
        do { try listen() } catch {
            closeThreads()
            throw error
        }
    }

    private func listen() throws {
        var bound: [Int: Endpoint] = [:]
        for (index, endpoint) in configuration.endpoints.enumerated() where endpoint.port == nil {
            bound[index] = try router.bind(endpoint)
        }
        // Keys are for what is bound from here on: tcp.
        if let keys = configuration.keys { try router.useKey(of: keys.pair) }
        for (index, endpoint) in configuration.endpoints.enumerated() where endpoint.port != nil {
            bound[index] = try router.bind(endpoint)
        }
        endpoints = configuration.endpoints.indices.compactMap { bound[$0] }
        logger.info(
            "listening",
            metadata: [
                "endpoints": "\(endpoints.map(\.description).joined(separator: ", "))",
                "keys": "\(configuration.keys?.authorizedPath ?? "none")",
            ])
    }

    // MARK: Rounds

    /// Works until it is told to end, or cannot go on.
    ///
    /// - Throws: `JournalError`, `DataDirectoryError`, `BlobStoreError`, `ZMQError`: the process must end with an error.
    func run() throws {
        defer { close() }
        while try round() {}
    }

    /// - Returns: whether there is to be another one.
    private func round() throws -> Bool {
        let ready = try wait()
        if ready.isReadable(mailToken) { try readMail() }
        if ready.isReadable(monitorToken) { try readMonitor() }
        if let zapToken, ready.isReadable(zapToken) { try answerHandshakes() }
        switch phase {
        case .running:
            let hasInputs = !inputs.isEmpty
            var bytes = 0
            if let routerToken, ready.isReadable(routerToken) || !disconnected.isEmpty { bytes = try receiveMessages() }
            if routerToken != nil { noteStandstill() }
            // While nothing is read, nobody's lease is watched either: what would renew it waits in the socket.
            if routerToken != nil {
                forgetTheSilent()
                tellOfHistory()
                if !inputs.isEmpty || isDue(wakeAt) {
                    try step(isSmall: !hasInputs && bytes <= CoordinatorLimits.bytesCommittedAtOnce)
                }
            }
            try lookAround()
            removeValues()
            release()
            try flush()
            changeWaits.tell(version)
            pauseOrResume()
            return true
        case .ending(let deadline, let reason):
            release()
            try flush()
            let isDone = durable == scheduler.sequence && held.isEmpty && storing.isEmpty
            guard isDone || now.boot >= deadline else { return true }
            try sayFarewell(reason, deadline: deadline)
            return false
        }
    }

    /// Waits for the next round and reads the clocks.
    private func wait() throws -> Poller.Ready {
        let (earlier, planned, isListening) = (now.boot, deadline, routerToken != nil)
        let began = BootClock.milliseconds()
        var ready = try poller.wait(until: planned)
        now = .current()
        ownPause.waited(since: earlier, from: began, until: planned, now: now.boot, isListening: isListening)
        pauseBefore = 0
        guard let routerToken else { return ready }
        pauseBefore = ownPause.end()
        if isAfterPause, !ready.isReadable(routerToken) {
            // Where the whole process was stopped, the socket's own threads have yet to take in what came meanwhile.
            ready = try poller.wait(timeoutMilliseconds: CoordinatorLimits.settleMilliseconds)
            now = .current()
        }
        return ready
    }

    /// Boot time of the next round, should nothing come; nil: none is needed.
    private var deadline: Int64? {
        var deadlines: [Int64] = []
        switch phase {
        case .running where routerToken == nil: break
        case .running:
            if !inputs.isEmpty { return now.boot }
            if let wakeAt { deadlines.append(wakeAt) }
            // Keys that change, and files that are gone, are to be seen where nobody is connected, too.
            deadlines.append(silenceCheckAt)
        case .ending(let deadline, _): deadlines.append(deadline)
        }
        if !unflushed.isEmpty { deadlines.append(now.boot + CoordinatorLimits.retrySendMilliseconds) }
        return deadlines.min()
    }

    private func isDue(_ time: Int64?) -> Bool { time.map { $0 <= now.boot } ?? false }

    private func readMail() throws {
        for event in mailbox.drain() { try receive(event) }
    }

    /// When everybody is told to go: what still matters of it.
    private func readLastMail() throws {
        for event in mailbox.drain() {
            switch event {
            case .journal(.failed), .probe, .metrics, .edges, .waitForChange, .local: try receive(event)
            case .journal, .blobs, .output, .elements, .history, .enrolment, .shutdown: break
            }
        }
    }

    private func receive(_ event: LoopEvent) throws {
        switch event {
        case .journal(.durable(let sequence)): becameDurable(upTo: sequence)
        case .journal(.snapshotMade): meter.snapshotAt = now.wall
        case .journal(.logCut(let cut)): receive(cut)
        case .journal(.failed(let error)): throw error
        case .blobs(let event): try receive(event)
        case .output(let event): receive(event)
        case .elements(let event): receive(event)
        case .history(let event): receive(event)
        case .enrolment(let event): receive(event)
        case .probe(let probe):
            probe.set(
                Health(
                    epoch: scheduler.epoch, peers: peers.count,
                    factsInFlight: factsInFlight))
        case .metrics(let answer): answer.set(metrics())
        case .local(let link, let message):
            if case .running = phase { try receive(message, over: link) } else { link.tell(.ended) }
        case .waitForChange(let since, let waiter): changeWaits.add(waiter, since: since, version: version)
        case .edges(let id, let from, let limit, let answer):
            answer.set(scheduler.edges(of: id, from: from, limit: limit).map { EdgePage(edges: $0.edges, next: $0.next) })
        case .shutdown(let reason): end(reason)
        }
    }

    func readMonitor() throws {
        while let event = try monitor.receive() {
            switch event {
            case .accepted(let descriptor):
                ledger.accepted(descriptor, PeerAddress.of(fileDescriptor: descriptor))
            case .disconnected(let descriptor):
                if let peer = peers.release(fileDescriptor: descriptor) { disconnected.append(peer) }
                note(ledger.ended(descriptor, isExplained: failedHandshake != nil))
            case .handshakeSucceeded: ledger.succeeded()
            // It was counted when it was not let in.
            case .handshakeDenied: ledger.refused()
            case .securityMismatch:
                let text = gatekeeper == nil ? "has a key, and there are none here" : "has no key"
                fail(FailedHandshake(kind: .keyless) { "the other side\($0) \(text)" })
            // Who has no key often goes when it is asked for one, before libzmq knows why.
            case .handshakeFailed(let reason, isClosed: true) where gatekeeper != nil:
                fail(FailedHandshake(kind: .keyless) { "a connection\($0) was closed before it had shown a key (\(reason))" })
            case .handshakeFailed(let reason, _): fail(FailedHandshake(kind: .handshake) { "a connection\($0): \(reason)" })
            case .connected, .closed, .stopped, .other: break
            }
        }
        ledger.settle()
    }

    private func fail(_ handshake: FailedHandshake) {
        note(ConnectionLedger.End(address: nil, isUnexplained: false))
        failedHandshake = handshake
    }

    /// A connection has ended: if without a handshake, that is counted.
    private func note(_ end: ConnectionLedger.End) {
        let source = LogSource(address: end.address)
        if let failed = failedHandshake {
            failedHandshake = nil
            counters.note(failed.kind, from: source, failed.text(source.text), now.boot, logger)
        } else if end.isUnexplained {
            counters.note(
                .handshake, from: source, "a connection\(source.text): what it sent is not ZMTP, or of a version without keys", now.boot,
                logger)
        }
    }

    /// - Returns: how many bytes came.
    private func receiveMessages() throws -> Int {
        // What a connection brought before it ended stands before its end.
        let ended = disconnected
        disconnected = []
        var bytes = 0
        // After a pause everybody who spoke is heard before the step that looks at leases.
        let count = isAfterPause ? CoordinatorLimits.messagesAfterPause : CoordinatorLimits.messagesPerStep
        for _ in 0..<count {
            guard bytes < CoordinatorLimits.bytesPerStep, let message = try router.receive() else { break }
            let size = message.frames.reduce(0) { $0 + $1.count }
            bytes += size
            meter.received(bytes: size)
            try receive(message)
        }
        for peer in ended { forget(peer, "its connection ended") }
        return bytes
    }

    /// - Parameter isSmall: whether all inputs have come in messages that are small.
    private func step(isSmall: Bool) throws(JournalError) {
        stepNumber += 1
        let isAlone = isSmall && isAllDurable && !logWatch.isLong && inputs.count <= CoordinatorLimits.inputsCommittedAtOnce
        if inputs.contains(where: { if case .started = $0 { true } else { false } }) { stepsWithStarts += 1 }
        outputs.removeAll()
        let began = LoopMeter.now()
        scheduler.step(inputs, at: now, into: &outputs)
        meter.stepped(inputs: inputs.count, since: began, upTo: outputs.facts.isEmpty ? nil : scheduler.sequence)
        recorder?.step(inputs, at: now, outputs, sequence: scheduler.sequence)
        if !outputs.waits.isEmpty { configuration.whenBegun?(outputs.waits) }
        inputs.removeAll(keepingCapacity: true)
        wakeAt = outputs.wakeAt
        if !outputs.facts.isEmpty {
            for fact in outputs.facts {
                if let level = EventLog.level(of: fact), eventLog.isOn(level) { log(fact, level) }
                if case .forgotten(let number, _) = fact {
                    forgotten.append((number, scheduler.sequence))
                    dropFromHistory(number)
                }
                labels.observe(fact)
                if case .lockSeized = fact { labels.forget(where: scheduler.isFenced) }
            }
            removals.add(outputs.forgottenValues.compactMap { BlobDigest($0.digest) }, at: now.boot)
            if isAlone, outputs.facts.count <= CoordinatorLimits.factsCommittedAtOnce,
                let end = try journal.commitAtOnce(outputs.facts, after: durable)
            {
                becameDurable(upTo: end)
            } else {
                journal.append(outputs.facts)
            }
        }
        if !outputs.happenings.isEmpty { log(outputs.happenings) }
        if !outputs.ended.isEmpty { log(ended: outputs.ended) }
        if history != nil { for number in outputs.ended { historyFeed.append(number, after: scheduler.sequence, at: now.boot) } }
        var sends: [Outputs.Send] = []
        sends.reserveCapacity(outputs.sends.count)
        for send in outputs.sends {
            // What it follows is told in order with the answers; see `noteEvents`.
            if send.to == AttemptLabels.asker, !send.message.isEvents {
                labels.receive(send.message) { scheduler.isOpen($0, under: $1) }
            } else {
                sends.append(send)
            }
        }
        held.append(sends)
    }

    /// Facts decided and not yet on the disk.
    var factsInFlight: UInt64 { scheduler.sequence.rawValue - durable.rawValue }

    /// Another one whenever what is shown may be: something became durable, an operation has begun, somebody came, went or is not heard. None
    /// of these numbers ever falls.
    private var version: UInt64 { durable.rawValue &+ stepsWithStarts &+ scheduler.lastWorkerEvent &+ peers.changes << 40 }

    private func becameDurable(upTo sequence: JournalSequence) {
        meter.committed(from: durable, to: sequence)
        durable = sequence
    }

    /// Everything that was decided is on the disk.
    var isAllDurable: Bool { durable == scheduler.sequence }

    private func release() {
        eventLog.release(upTo: durable)
        for send in held.release(upTo: durable) { deliver(send) }
        // To hand the scheduler over counts references to all that it has: not in each round.
        if historyFeed.isDue(upTo: durable), let page = historyFeed.page(upTo: durable, of: scheduler) { history?.post(page) }
        dropForgotten()
    }

    /// What the spools have of submissions goes when it is on the disk that they are known no more; what a crash leaves goes with
    /// the next start.
    private func dropForgotten() {
        guard let last = forgotten.last, last.after <= durable else { return }
        let numbers = forgotten.map(\.number)
        forgotten = []
        output.post(.forget(numbers))
        elements.post(.forget(numbers))
    }

    /// Nothing is read while the disk is far behind: peers are slowed down instead of memory filled.
    private func pauseOrResume() {
        let isBehind =
            scheduler.sequence.rawValue - durable.rawValue > CoordinatorLimits.factsInFlight
            || outputBytesInFlight > CoordinatorLimits.outputInFlightBytes
        switch (isBehind, routerToken) {
        case (true, .some(let token)):
            logger.notice("the disk is behind; nothing is read from peers until it has caught up")
            poller.remove(token)
            routerToken = nil
        case (false, nil): routerToken = poller.add(router)
        case (true, nil), (false, .some): break
        }
    }

    private func forgetTheSilent() {
        guard now.boot >= silenceCheckAt else { return }
        silenceCheckAt = now.boot + 1000
        refreshKeys()
        counters.noteRest(now.boot, logger)
        expireWaits()
        let limit = max(CoordinatorLimits.silenceMilliseconds, 2 * configuration.leaseMilliseconds)
        for peer in peers.all where peer.local == nil && now.boot - peer.lastHeard - pauseBefore > limit {
            forget(peer, "nothing was heard of it for \(limit / 1000) s")
        }
    }

    /// Ends what is known of a connection. The peer, if it is there, is asked for a hello when it speaks again.
    ///
    /// - Parameter isRevoked: because its key was: it is not waited for.
    func forget(_ peer: Peer, _ reason: String, isRevoked: Bool = false) {
        guard peers[peer.id] != nil else { return }
        logger.debug("peer forgotten", metadata: ["peer": "\(peer.id.rawValue)", "host": "\(peer.host)", "reason": "\(reason)"])
        peers.remove(peer)
        unflushed.remove(peer.id)
        for id in peer.pulls.active.keys {
            blobs.post(.abandon(id))
            pullers[id] = nil
        }
        storing = storing.filter { $0.value.peer != peer.id }
        for read in waits.forget(peer.id) + peer.reading { endWatch(read) }
        inputs.append(isRevoked ? .revoked(peer.id) : .disconnected(peer.id))
    }

    // MARK: The end

    private func end(_ reason: String) {
        guard case .running = phase else { return }
        phase = .ending(deadline: now.boot + CoordinatorLimits.shutdownMilliseconds, reason: reason)
        if let token = routerToken { poller.remove(token) }
        routerToken = nil
    }

    private func sayFarewell(_ reason: String, deadline: Int64) throws {
        endLocals()
        for peer in peers.all { send(.with { $0.farewell = .with { $0.reason = reason } }, to: peer) }
        try flush()
        while !unflushed.isEmpty && BootClock.milliseconds() < deadline {
            _ = try poller.wait(timeoutMilliseconds: Int(CoordinatorLimits.retrySendMilliseconds))
            try readLastMail()
            try flush()
        }
        try waitForGoing(until: min(deadline, BootClock.milliseconds() + CoordinatorLimits.farewellMilliseconds))
        if durable != scheduler.sequence {
            logger.warning("the journal did not catch up within \(CoordinatorLimits.shutdownMilliseconds) ms; it is waited for")
        }
    }

    /// A peer's socket drops what it has not read when its connection ends, so peers are given a moment to read the
    /// farewell and to go by themselves.
    private func waitForGoing(until end: Int64) throws {
        while disconnected.count < peers.count, BootClock.milliseconds() < end {
            let ready = try poller.wait(until: end)
            try readLastMail()
            if ready.isReadable(monitorToken) { try readMonitor() }
        }
    }

    private func close() {
        endLocals()
        changeWaits.end()
        router.close(lingerMilliseconds: 1000)
        monitor.close()
        gatekeeper?.zap.close()
        closeThreads()
        do { try database.close() } catch { logger.error("\(error)") }
    }

    private func closeThreads() {
        journal.close()
        blobs.close()
        output.close()
        elements.close()
        history?.close()
        enrolments?.close()
        recorder?.close()
    }
}
