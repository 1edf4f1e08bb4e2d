/// The bytes of what a scheduler was told, for a flight recorder. The first byte is the kind; a release reads its own recordings only.
public enum InputCodec {
    /// Of everything that is recorded.
    public static let version: UInt8 = 6

    public static func encode(_ inputs: [Input]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(list: inputs) { $0.write(input: $1) }
        return writer.bytes
    }

    /// - Throws: `DecodingFailure`; any bytes are safe to pass.
    public static func decode(_ bytes: ArraySlice<UInt8>) throws(DecodingFailure) -> [Input] {
        var reader = ByteReader(bytes)
        let inputs = try reader.list { reader throws(DecodingFailure) in try reader.input() }
        guard reader.isAtEnd else { throw DecodingFailure("bytes are left behind the inputs") }
        return inputs
    }
}

extension ByteWriter {
    fileprivate mutating func write(input: Input) {
        switch input {
        case .executorAttached(let peer, let attachment):
            begin(0, peer)
            write(attachment: attachment)
        case .heard(let peer): begin(1, peer)
        case .draining(let peer): begin(2, peer)
        case .disconnected(let peer): begin(3, peer)
        case .revoked(let peer): begin(4, peer)
        case .barred(let incarnation, let bar):
            write(UInt8(17))
            write(incarnation.rawValue)
            write(bar == .revoked)
        case .departed(let peer): begin(5, peer)
        case .executorEnded(let supervisor, let incarnation, let crashed):
            begin(6, supervisor)
            write(incarnation.rawValue)
            write(crashed)
        case .started(let peer, let unit, let attempt, let at):
            begin(7, peer, unit, attempt)
            write(at)
        case .progressed(let peer, let unit, let attempt, let progress):
            begin(8, peer, unit, attempt)
            write(progress.fraction.bitPattern)
            write(optional: progress.message) { $0.write($1) }
            write(progress.at)
        case .heldBack(let peer, let unit, let attempt, let reason):
            begin(9, peer, unit, attempt)
            write(optional: reason) { $0.write($1) }
        case .valueWaits(let peer, let unit, let attempt, let reason):
            begin(19, peer, unit, attempt)
            write(optional: reason) { $0.write($1) }
        case .ended(let peer, let unit, let attempt, let outcome, let startedAt, let at):
            begin(10, peer, unit, attempt)
            write(outcome: outcome)
            write(startedAt)
            write(at)
        case .produced(let peer, let unit, let attempt, let number, let addition):
            begin(11, peer, unit, attempt)
            write(number)
            write(addition: addition)
        case .released(let peer, let unit, let attempt, let wasStopped, let isAccepting):
            begin(12, peer, unit, attempt)
            write(wasStopped)
            write(isAccepting)
        case .request(let id, let request, let authority):
            begin(13, id.peer)
            write(id.number)
            write(request: request)
            write(authority: authority)
        case .stopping(let peer, let unit, let attempt, let forced, let at):
            begin(14, peer, unit, attempt)
            write(forced)
            write(at)
        case .zones(let tables):
            write(UInt8(15))
            write(zones: tables)
        case .diskFilled(let reason):
            write(UInt8(16))
            write(optional: reason) { $0.write($1) }
        case .historyBehind(let isBehind):
            write(UInt8(18))
            write(isBehind)
        case .stoodStill: write(UInt8(20))
        }
    }

    private mutating func begin(_ kind: UInt8, _ peer: PeerID) {
        write(kind)
        write(peer.rawValue)
    }

    private mutating func begin(_ kind: UInt8, _ peer: PeerID, _ unit: UnitID, _ attempt: Attempt) {
        begin(kind, peer)
        write(unit.rawValue)
        write(attempt.rawValue)
    }

    private mutating func write(attachment: ExecutorAttachment) {
        write(worker: attachment.identity)
        write(count: attachment.slots)
        write(count: attachment.line)
        write(list: attachment.operations) { $0.write(signature: $1, withElements: true, withParameters: true) }
        write(list: attachment.labels) { $0.write($1) }
        write(list: attachment.held) { writer, held in
            writer.write(held.unit.rawValue)
            writer.write(held.attempt.rawValue)
            switch held.state {
            case .queued: writer.write(UInt8(0))
            case .running: writer.write(UInt8(1))
            case .finished: writer.write(UInt8(2))
            }
        }
        write(list: attachment.conditions) { $0.write($1) }
        write(list: attachment.resources) { writer, resource in
            writer.write(resource.name)
            writer.write(resource.amount)
        }
        write(attachment.connection)
        write(attachment.followsLinks)
    }

    private mutating func write(authority: Authority) {
        write(authority.principal)
        write(list: authority.roles) { $0.write($1) }
        write(authority.maySubmit)
        write(authority.mayObserve)
        write(authority.mayAdminister)
        write(list: authority.operations) { $0.write($1) }
    }

    private mutating func write(request: Request) {
        func write(_ kind: UInt8, _ texts: String...) {
            self.write(kind)
            for text in texts { self.write(text) }
        }
        switch request {
        case .submit(let key, let name, let graph, let waitForWorkers, let cancelled, let submitter, let trace):
            write(0, key, name)
            self.write(wholeGraph: graph.graph)
            self.write(waitForWorkers)
            self.write(list: cancelled) { $0.write(count: $1) }
            self.write(submitter.rawValue)
            self.write(trace: trace)
        case .check(let graph, let waitForWorkers):
            write(1)
            self.write(wholeGraph: graph)
            self.write(waitForWorkers)
        case .cancel(let submission, let path, let reason, let now):
            write(2, submission, path, reason)
            self.write(now)
        case .pause(let submission, let path): write(3, submission, path)
        case .resume(let submission, let path): write(4, submission, path)
        case .list(let before, let limit):
            write(5, before)
            self.write(Int64(limit))
        case .show(let submission): write(6, submission)
        case .operations(let query):
            let kind: UInt8 = if query.atEnd { query.withDependencies ? 24 : 23 } else { query.withDependencies ? 17 : 7 }
            write(kind, query.submission, query.path)
            self.write(Int64(query.from))
            self.write(Int64(query.limit))
            self.write(query.withValues)
            self.write(query.failedOnly)
        case .follow(let submission, let depth):
            write(8, submission)
            self.write(UInt8(depth.rawValue))
        case .unfollow(let submission): write(9, submission)
        case .workers: write(10)
        case .retry(let submission, let key, let force, let failedOnly):
            write(11, submission, key)
            self.write(force)
            self.write(failedOnly)
        case .releaseLock(let key, let holders, let reason, let now):
            write(12, key, reason)
            self.write(list: holders) { $0.write($1) }
            self.write(now)
        case .drainWorker(let name, let reason): write(18, name, reason)
        case .resumeWorker(let name): write(19, name)
        case .removeWorker(let name): write(20, name)
        case .worker(let name): write(21, name)
        case .workerEvents(let number):
            write(22)
            self.write(number)
        case .locks(let key, let from):
            write(13, key)
            self.write(Int64(from))
        case .locate(let submission, let path): write(14, submission, path)
        case .explain(let submission, let path): write(15, submission, path)
        case .locateOperation(let submission, let path): write(16, submission, path)
        }
    }
}

extension ByteReader {
    fileprivate mutating func input() throws(DecodingFailure) -> Input {
        let kind = try byte()
        switch kind {
        case 15: return .zones(try zones())
        case 16: return .diskFilled(try optional { reader throws(DecodingFailure) in try reader.text() })
        case 18: return .historyBehind(try flag())
        case 20: return .stoodStill
        case 17: return .barred(Incarnation(try unsigned()), try flag() ? .revoked : .limited)
        default: break
        }
        let peer = PeerID(try unsigned())
        switch kind {
        case 0: return .executorAttached(peer, try attachment())
        case 1: return .heard(peer)
        case 2: return .draining(peer)
        case 3: return .disconnected(peer)
        case 4: return .revoked(peer)
        case 5: return .departed(peer)
        case 6: return .executorEnded(supervisor: peer, Incarnation(try unsigned()), crashed: try flag())
        case 13:
            let number = try unsigned()
            return .request(RequestID(peer: peer, number: number), try request(), by: try authority())
        default: return try input(kind, peer, UnitID(rawValue: try unsigned()), Attempt(rawValue: try unsigned()))
        }
    }

    private mutating func input(
        _ kind: UInt8, _ peer: PeerID, _ unit: UnitID, _ attempt: Attempt
    ) throws(DecodingFailure) -> Input {
        switch kind {
        case 7: return .started(peer, unit, attempt, at: try signed())
        case 8:
            let fraction = Double(bitPattern: try unsigned())
            let message = try optional { reader throws(DecodingFailure) in try reader.text() }
            return .progressed(peer, unit, attempt, Progress(fraction: fraction, message: message, at: try signed()))
        case 9:
            return .heldBack(peer, unit, attempt, reason: try optional { reader throws(DecodingFailure) in try reader.text() })
        case 19:
            return .valueWaits(peer, unit, attempt, reason: try optional { reader throws(DecodingFailure) in try reader.text() })
        case 10: return .ended(peer, unit, attempt, try outcome(), startedAt: try signed(), at: try signed())
        case 11: return .produced(peer, unit, attempt, number: try unsigned(), try addition())
        case 12: return .released(peer, unit, attempt, wasStopped: try flag(), isAccepting: try flag())
        case 14: return .stopping(peer, unit, attempt, forced: try flag(), at: try signed())
        default: throw DecodingFailure("\(kind) is no kind of input")
        }
    }

    private mutating func attachment() throws(DecodingFailure) -> ExecutorAttachment {
        let identity = try workerIdentity()
        let (slots, line) = (try index(), try index())
        let operations = try list { reader throws(DecodingFailure) in
            try reader.signature(withElements: true, withParameters: true)
        }
        let labels = try texts()
        let held = try list { reader throws(DecodingFailure) in
            let (unit, attempt) = (UnitID(rawValue: try reader.unsigned()), Attempt(rawValue: try reader.unsigned()))
            let state: ExecutorAttachment.HeldState
            switch try reader.byte() {
            case 0: state = .queued
            case 1: state = .running
            case 2: state = .finished
            case let other: throw DecodingFailure("\(other) is no state of a unit that is held")
            }
            return ExecutorAttachment.Held(unit: unit, attempt: attempt, state: state)
        }
        let conditions = try texts()
        let resources = try list { reader throws(DecodingFailure) in
            ResourceAmount(name: try reader.text(), amount: try reader.signed())
        }
        return ExecutorAttachment(
            identity: identity, slots: slots, operations: operations, labels: labels, held: held, conditions: conditions,
            resources: resources, line: line, connection: try unsigned(), followsLinks: try flag())
    }

    private mutating func authority() throws(DecodingFailure) -> Authority {
        Authority(
            principal: try text(), roles: try texts(), maySubmit: try flag(), mayObserve: try flag(), mayAdminister: try flag(),
            operations: try texts())
    }

    private mutating func number() throws(DecodingFailure) -> Int { Int(try signed()) }

    private mutating func request() throws(DecodingFailure) -> Request {
        let kind = try byte()
        switch kind {
        case 0:
            return .submit(
                key: try text(), name: try text(), graph: ExaminedGraph(try wholeGraph()), waitForWorkers: try flag(),
                cancelled: try list { reader throws(DecodingFailure) in try reader.index() }, submitter: Incarnation(try unsigned()),
                trace: try trace())
        case 1: return .check(graph: try wholeGraph(), waitForWorkers: try flag())
        case 2: return .cancel(submission: try text(), path: try text(), reason: try text(), now: try flag())
        case 3: return .pause(submission: try text(), path: try text())
        case 4: return .resume(submission: try text(), path: try text())
        case 5: return .list(before: try text(), limit: try number())
        case 6: return .show(submission: try text())
        case 7, 17, 23, 24:
            return .operations(
                OperationQuery(
                    submission: try text(), path: try text(), from: try number(), limit: try number(), withValues: try flag(),
                    failedOnly: try flag(), withDependencies: kind == 17 || kind == 24, atEnd: kind == 23 || kind == 24))
        case 8:
            let submission = try text()
            guard let depth = FollowDepth(rawValue: Int(try byte())) else { throw DecodingFailure("a follower is told an unknown depth") }
            return .follow(submission: submission, depth)
        case 9: return .unfollow(submission: try text())
        case 10: return .workers
        case 11: return .retry(submission: try text(), key: try text(), force: try flag(), failedOnly: try flag())
        case 12:
            let (key, reason) = (try text(), try text())
            return .releaseLock(key: key, holders: try texts(), reason: reason, now: try flag())
        case 13: return .locks(key: try text(), from: try number())
        case 14: return .locate(submission: try text(), path: try text())
        case 15: return .explain(submission: try text(), path: try text())
        case 16: return .locateOperation(submission: try text(), path: try text())
        case 18: return .drainWorker(name: try text(), reason: try text())
        case 19: return .resumeWorker(name: try text())
        case 20: return .removeWorker(name: try text())
        case 21: return .worker(name: try text())
        case 22: return .workerEvents(after: try unsigned())
        case let other: throw DecodingFailure("\(other) is no kind of request")
        }
    }
}
