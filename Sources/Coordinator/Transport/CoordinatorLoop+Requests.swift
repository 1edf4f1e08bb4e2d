import Scheduling
import Wire

/// What clients ask, and what operations print.
extension CoordinatorLoop {
    func receive(_ request: WireRequest, from peer: Peer) {
        if let problem = peer.lackOfRoom(for: request) { return respond(request.id, .failed(WireRequestFailed(.busy, problem)), to: peer) }
        if let problem = request.traceProblem { note(.violation, peer, "the context of a trace, without which it is taken: \(problem)") }
        do throws(TranslationError) {
            switch try ClientRequest(wire: request) {
            case .scheduler(let body): ask(body, .reply(request.id), of: peer)
            case .submitStored(let submit, let key):
                noteFreeSpace()
                if let shortage = diskReserve.shortage {
                    return respond(request.id, .failed(WireRequestFailed(.busy, shortage)), to: peer)
                }
                pull(key, .graph(request: request.id, submit), from: peer)
            case .read(let submission, let reading, let waits):
                begin(
                    ReadRequest(
                        peer: peer.id, request: request.id, reading: reading, submission: submission,
                        waitsUntil: waits ? now.boot + CoordinatorLimits.waitMilliseconds : nil))
            }
        } catch {
            respond(request.id, .failed(WireRequestFailed(.malformed, "\(error)")), to: peer)
        }
    }

    /// Asks the scheduler in the name of a client.
    func ask(_ body: Request, _ pending: PendingRequest, of peer: Peer) {
        nextNumber += 1
        peer.note(pending, as: nextNumber)
        let tables = zones.tables(for: body.zones, at: now.wall)
        if !tables.isEmpty { inputs.append(.zones(tables)) }
        switch body {
        case .submit, .retry: noteFreeSpace()
        default: break
        }
        inputs.append(.request(RequestID(peer: peer.id, number: nextNumber), body, by: peer.authority))
    }

    private func noteFreeSpace() {
        switch diskReserve.look(at: now.boot) {
        case .unchanged: break
        case .changed(let shortage):
            if let shortage { logger.error("\(shortage)") }
            inputs.append(.diskFilled(shortage))
        }
    }

    /// The scheduler's answer.
    func answer(_ request: RequestID, _ reply: Reply, _ peer: Peer) {
        if case .failed(.notPermitted(let text)) = reply { note(.notPermitted, peer, logged(text)) }
        switch (peer.takeRequest(request.number), reply) {
        case (.read(let read)?, _): found(read, reply)
        case (.reply(let number)?, .workers(let views)): respond(number, .workers(.with { $0.workers = described(views) }), to: peer)
        case (.reply(let number)?, .workerSteered(let name, let isChange, let views)):
            let steered = WireWorkerSteered.with {
                $0.name = name
                $0.changed = isChange
                $0.workers = described(views)
            }
            respond(number, .workerSteered(steered), to: peer)
        case (.reply(let number)?, _): respond(number, reply.wire, to: peer)
        case (nil, _): logger.error("the scheduler answered request \(request.number), which nobody asked")
        }
    }

    /// With what is known of their connections.
    private func described(_ views: [WorkerView]) -> [WireWorkerView] {
        var executors: [ProcessName: Peer] = [:]
        for peer in peers.all {
            if case .executor = peer.role { executors[ProcessName(host: peer.host, pid: peer.pid)] = peer }
        }
        return views.map { view in
            var wire = view.wire
            if let peer = executors[ProcessName(host: wire.host, pid: wire.pid)] {
                wire.version = peer.version
                if let offset = peer.clockOffset.milliseconds { wire.clockOffset = offset }
            }
            return wire
        }
    }

    private struct ProcessName: Hashable {
        var host: String
        var pid: UInt32
    }

    func respond(_ request: UInt64, _ body: WireResponse.OneOf_Body?, to peer: Peer) {
        send(
            .with {
                $0.response = .with {
                    $0.request = request
                    $0.body = body
                }
            }, to: peer)
    }

    // MARK: Progress

    /// Of each operation only the newest counts.
    func receive(_ batch: WireProgressBatch, from peer: Peer) {
        for unit in batch.units {
            guard let progress = Progress(wire: unit.progress) else {
                note(.violation, peer, "a progress of \(unit.progress.fraction)")
                continue
            }
            inputs.append(.progressed(peer.id, UnitID(rawValue: unit.unit), Attempt(rawValue: unit.attempt), progress))
        }
    }
}

extension Request {
    /// Time zones that its graph names.
    var zones: [String] {
        switch self {
        case .submit(_, _, let examined, _, _, _, _): examined.graph.zones.map(\.name)
        case .check(let graph, _): graph.zones.map(\.name)
        case .cancel, .pause, .resume, .list, .show, .operations, .follow, .unfollow, .workers, .worker, .locks, .locate, .locateOperation,
            .retry, .releaseLock, .explain, .drainWorker, .resumeWorker, .removeWorker, .workerEvents:
            []
        }
    }
}
