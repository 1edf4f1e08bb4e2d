import Scheduling
import Wire

/// A coordinator without sockets and disks, for tests: the scheduler, the translation of messages, and the order of journal
/// and sends are those of a real one. Time is what it is given.
///
/// Its journal is a list of encoded facts. Nothing is delivered before `sync()` has put the facts that it follows from there,
/// and after `crash(at:incarnation:)` it goes on with nothing but that list. Values of any size are kept in messages. Output and
/// partial results are not kept.
package struct MemoryCoordinator {
    /// A message, and for whom it is.
    package struct Delivery {
        package let peer: UInt64
        package let message: WireCoordinatorMessage
    }

    private var scheduler: Scheduler
    private var journal = JournalBatch(after: .none)
    /// Facts that a crash loses.
    private var unwritten: [Fact] = []
    private var durable = JournalSequence.none
    private var held = HeldSends()
    private var inputs: [Input] = []
    private var outputs = Outputs()
    private var zones = ZoneTables()
    private var executors: Set<PeerID> = []
    /// Clients' requests by the numbers under which the scheduler knows them.
    private var requests: [UInt64: (peer: PeerID, request: UInt64)] = [:]
    private var unfinished: Set<String> = []
    /// Proofs of death that are not acknowledged. A supervisor repeats them: it does not go down with the coordinator.
    private var proofs: [(peer: PeerID, incarnation: Incarnation)] = []
    private var nextPeer: UInt64 = 0
    private var nextRequest: UInt64 = 0
    private var incarnation = Incarnation(0)

    /// Boot time of the next step that is wanted without an input.
    package private(set) var wakeAt: Int64?

    package init(at now: Instant, incarnation: UInt64) {
        scheduler = Scheduler(Self.configuration)
        begin(at: now, Incarnation(incarnation))
    }

    private static var configuration: Scheduler.Configuration {
        var configuration = Scheduler.Configuration()
        configuration.pageBytes = Limits.pageBytes
        configuration.graphLimits = GraphLimits(
            nodesMax: Limits.graphNodes, depthMax: Limits.nestingDepth, elementsMax: Limits.forEachElements)
        return configuration
    }

    private mutating func begin(at now: Instant, _ incarnation: Incarnation) {
        self.incarnation = incarnation
        outputs.removeAll()
        scheduler.start(at: now, incarnation: incarnation, into: &outputs)
        for fact in outputs.facts { journal.append(fact) }
        durable = scheduler.sequence
        wakeAt = outputs.wakeAt
    }

    /// Whether there is something that `step` has not seen.
    package var hasInputs: Bool { !inputs.isEmpty }

    /// Whether a client has submitted something that has not ended, as far as it has been told.
    package var hasWork: Bool { !unfinished.isEmpty }

    /// Whether a crash would lose something.
    package var hasUnwritten: Bool { !unwritten.isEmpty }

    // MARK: Peers

    /// A client's connection.
    package mutating func connect() -> UInt64 { drawPeer().rawValue }

    /// An executor's connection; what it says in its hello counts.
    package mutating func attach(_ hello: WireHello) throws -> UInt64 {
        let peer = drawPeer()
        inputs.append(.executorAttached(peer, try ExecutorAttachment(wire: hello)))
        executors.insert(peer)
        return peer.rawValue
    }

    /// Proof that an executor's process has ended; repeated to the next coordinator if this one crashes before it is durable.
    package mutating func died(_ peer: UInt64, incarnation: UInt64) {
        executors.remove(PeerID(peer))
        proofs.append((PeerID(peer), Incarnation(incarnation)))
        prove(PeerID(peer), Incarnation(incarnation))
    }

    private mutating func prove(_ peer: PeerID, _ incarnation: Incarnation) {
        inputs.append(.disconnected(peer))
        inputs.append(.executorEnded(supervisor: Self.supervisor, incarnation, crashed: true))
    }

    /// In whose name proofs of death are given.
    private static let supervisor = PeerID(.max)

    private mutating func drawPeer() -> PeerID {
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
    package mutating func receive(_ message: WirePeerMessage, from peer: UInt64, at now: Instant) -> [Delivery] {
        switch message.body {
        case .request(let request): return receive(request, from: PeerID(peer), at: now)
        case .reports(let reports):
            for report in reports.reports { receive(report, from: PeerID(peer)) }
        case .goodbye:
            if executors.remove(PeerID(peer)) != nil { inputs.append(.departed(PeerID(peer))) }
        case .hello, .heartbeat, .blobRequest, .blobChunk, .output, .progress, .elements, .products, .executorEnded, nil: break
        }
        return []
    }

    private mutating func receive(_ request: WireRequest, from peer: PeerID, at now: Instant) -> [Delivery] {
        do throws(TranslationError) {
            switch try ClientRequest(wire: request) {
            case .scheduler(let body):
                nextRequest += 1
                requests[nextRequest] = (peer, request.id)
                let tables = zones.tables(for: body.zones, at: now.wall)
                if !tables.isEmpty { inputs.append(.zones(tables)) }
                inputs.append(.request(RequestID(peer: peer, number: nextRequest), body))
                return []
            case .submitStored, .read:
                throw TranslationError("a cluster in memory keeps neither output nor partial results, and takes no graph in parts")
            }
        } catch {
            return [respond(request.id, .failed(WireRequestFailed(.malformed, "\(error)")), to: peer)]
        }
    }

    private func respond(_ request: UInt64, _ body: WireResponse.OneOf_Body?, to peer: PeerID) -> Delivery {
        Delivery(
            peer: peer.rawValue,
            message: .with {
                $0.response = .with {
                    $0.request = request
                    $0.body = body
                }
            })
    }

    private mutating func receive(_ report: WireUnitReport, from peer: PeerID) {
        let (unit, attempt) = (UnitID(rawValue: report.unit), Attempt(rawValue: report.attempt))
        switch report.body {
        case .started(let started): inputs.append(.started(peer, unit, attempt, at: started.startedAt))
        case .stopping(let stop): inputs.append(.stopping(peer, unit, attempt, forced: stop.forced, at: stop.at))
        case .released(let released): inputs.append(.released(peer, unit, attempt, wasStopped: released.stopped))
        case .ended(let end):
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

    /// Decides on everything that has come. Every executor that is there counts as heard.
    package mutating func step(at now: Instant) {
        outputs.removeAll()
        let heard = executors.sorted().map { Input.heard($0) }
        // An executor is heard after it has attached.
        scheduler.step(inputs + heard, at: now, into: &outputs)
        inputs = []
        wakeAt = outputs.wakeAt
        unwritten += outputs.facts
        held.append(outputs.sends)
    }

    /// Puts what was decided into the journal, and gives out what may go then.
    package mutating func sync() -> [Delivery] {
        for fact in unwritten { journal.append(fact) }
        unwritten = []
        durable = scheduler.sequence
        return held.release(upTo: durable).compactMap { delivery(of: $0) }
    }

    private mutating func delivery(of send: Outputs.Send) -> Delivery? {
        func to(_ fill: (inout WireCoordinatorMessage) -> Void) -> Delivery {
            Delivery(peer: send.to.rawValue, message: .with(fill))
        }
        switch send.message {
        case .welcome(let name, let drop): return to { $0.welcome = welcome(name: name, drop: drop.map(\.wire)) }
        case .dispatch(let assignments):
            let grace = scheduler.configuration.graceMillisecondsDefault
            return to {
                $0.dispatch.assignments = assignments.map { $0.wire(inputs: $0.inputs.map(\.wire), defaultGraceMilliseconds: grace) }
            }
        case .stop(let orders): return to { $0.stop.units = orders.map(\.wire) }
        case .acknowledge(let names): return to { $0.acknowledgement.units = names.map(\.wire) }
        case .reply(let id, let reply):
            guard let (peer, request) = requests.removeValue(forKey: id.number) else { return nil }
            switch reply {
            case .submitted(let id, _): unfinished.insert(id)
            case .following(let view), .submission(let view): note(view)
            default: break
            }
            return respond(request, reply.wire, to: peer)
        case .events(let batch):
            note(batch.view)
            return to {
                $0.events = .with {
                    $0.submission = batch.submission
                    $0.events = batch.events.map(\.wire)
                    $0.view = batch.view.wire
                }
            }
        case .acknowledgeEnd(let incarnation):
            proofs.removeAll { $0.incarnation == incarnation }
            return nil
        case .superseded, .sessionOver, .productReceipts: return nil
        }
    }

    private mutating func note(_ view: SubmissionView) {
        if view.finishedAt != 0 { unfinished.remove(view.id) }
    }

    // MARK: The end

    /// The process ends, and another one begins with what is in the journal. All connections are gone.
    ///
    /// - Throws: what the codec and the fold throw for a journal that cannot have been written like this.
    package mutating func crash(at now: Instant, incarnation: UInt64) throws {
        var scheduler = Scheduler(Self.configuration)
        try JournalBatch.forEachFact(in: journal.body) { try scheduler.restore($0) }
        self.scheduler = scheduler
        (unwritten, inputs, requests, executors, held) = ([], [], [:], [], HeldSends())
        begin(at: now, Incarnation(incarnation))
        for proof in proofs { prove(proof.peer, proof.incarnation) }
    }
}
