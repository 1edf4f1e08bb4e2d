import Scheduling
import Wire

/// From the socket to the scheduler's inputs.
extension CoordinatorLoop {
    func receive(_ message: RouterMessage) throws {
        // Probes of other ZeroMQ programs.
        guard message.frames.contains(where: { $0.count > 0 }) else { return }
        let peer = peers[message.routingID]
        if let peer, !isAuthentic(message, of: peer) { return }
        if peer == nil { ledger.spoke(message.fileDescriptor) }
        let wire: WirePeerMessage
        do throws(WireError) {
            wire = try WirePeerMessage(
                frames: message.frames, limitBytes: peer == nil ? Limits.helloBytes : Limits.messageBytes)
        } catch {
            return counters.note(.garbage, from: message.source, "what came\(message.source.text): \(error)", now.boot, logger)
        }
        if peer == nil, tookFromJoiner(wire, message) { return }
        if case .hello(let hello) = wire.body { return try greet(hello, message) }
        guard let peer else { return wantHello(message.routingID) }
        if peer.isExecutor && now.boot - peer.lastHeard - pauseBefore >= configuration.leaseMilliseconds {
            // The scheduler may have given up on this connection: only a hello says what the executor holds now. Not for
            // what was sent during a pause of our own and is read before the step that follows it.
            forget(peer, "it was silent for its lease")
            return wantHello(message.routingID)
        }
        hear(peer)
        try receive(wire, message.frames, from: peer)
    }

    /// A message of a client within this process.
    func receive(_ wire: WirePeerMessage, _ frames: [Buffer], fromLocal peer: Peer) throws {
        try receive(wire, frames, from: peer)
    }

    private func hear(_ peer: Peer) {
        peer.lastHeard = now.boot
        guard peer.isExecutor, peer.heardInStep != stepNumber + 1 else { return }
        peer.heardInStep = stepNumber + 1
        inputs.append(.heard(peer.id))
    }

    private func receive(_ wire: WirePeerMessage, _ frames: [Buffer], from peer: Peer) throws {
        switch (wire.body, peer.role) {
        case (.heartbeat(let heartbeat), _): receive(heartbeat, from: peer)
        case (.goodbye(let goodbye), _): receive(goodbye, from: peer)
        case (.blobRequest(let request), _): receive(request, from: peer)
        case (.blobChunk(let chunk), .executor), (.blobChunk(let chunk), .client):
            receive(chunk, frames.count > 1 ? frames[1] : nil, from: peer)
        case (.reports(let reports), .executor):
            for report in reports.reports { receive(report, from: peer) }
        case (.output(let batch), .executor): receive(batch, from: peer.id)
        case (.progress(let batch), .executor): receive(batch, from: peer)
        case (.elements(let batch), .executor): receive(batch, from: peer.id)
        case (.products(let batch), .executor):
            for product in batch.products { receive(product, from: peer) }
        case (.executorEnded(let ended), .supervisor): receive(ended, from: peer)
        case (.request(let request), .client): receive(request, from: peer)
        // For an operation that receives what another one sends.
        case (.request(let request), .executor) where request.isElementRead: receive(request, from: peer)
        case (.reports, _), (.output, _), (.progress, _), (.elements, _), (.products, _), (.executorEnded, _), (.request, _),
            (.blobChunk, _), (.hello, _), (.enrol, _), (nil, _):
            note(.violation, peer, "a message that a \(peer.role) does not send")
        }
    }

    /// Executors share their supervisor's clock, and clients tell no times.
    private func noteClock(_ change: ClockOffset.Change?, of peer: Peer) {
        guard case .supervisor = peer.role else { return }
        switch change {
        case nil: break
        case .agrees: logger.notice("the clock of \(peer.host) agrees with the coordinator's again (process \(peer.pid))")
        case .differs(let offset):
            logger.warning(
                "the clock of \(peer.host) is \(offset.magnitude) ms \(offset < 0 ? "behind" : "ahead of") the coordinator's (process \(peer.pid)): when operations began and ended there is told wrong; keep the clocks of both hosts with NTP"
            )
        }
    }

    private func receive(_ heartbeat: WireHeartbeat, from peer: Peer) {
        peer.outbox.heartbeat = heartbeat.sentAt
        unflushed.insert(peer.id)
        noteClock(peer.clockOffset.heard(heartbeat.clock, now: now.wall, boot: now.boot), of: peer)
        guard case .executor(let isDraining) = peer.role, !isDraining, !heartbeat.accepting else { return }
        peer.role = .executor(isDraining: true)
        inputs.append(.draining(peer.id))
    }

    private func receive(_ goodbye: WireGoodbye, from peer: Peer) {
        if peer.isExecutor {
            executorKeys[peer.incarnation] = nil
            inputs.append(.departed(peer.id))
        }
        forget(peer, "it said goodbye")
    }

    private func receive(_ ended: WireExecutorEnded, from peer: Peer) {
        let executors = peers.peers(ofIncarnation: ended.executorIncarnation, where: \.isExecutor)
        guard executors.allSatisfy({ $0.principal?.name == peer.principal?.name }) else {
            return note(.notPermitted, peer, "says that a process of another key has ended")
        }
        for executor in executors {
            forget(executor, "its supervisor says that its process has ended")
        }
        if executorKeys[ended.executorIncarnation] == peer.principal?.key { executorKeys[ended.executorIncarnation] = nil }
        inputs.append(
            .executorEnded(
                supervisor: peer.id, Incarnation(ended.executorIncarnation), crashed: ended.cause == .crashed))
    }

    private func receive(_ report: WireUnitReport, from peer: Peer) {
        let unit = UnitID(rawValue: report.unit)
        let attempt = Attempt(rawValue: report.attempt)
        switch report.body {
        case .started(let started): inputs.append(.started(peer.id, unit, attempt, at: started.startedAt))
        case .stopping(let stop): inputs.append(.stopping(peer.id, unit, attempt, forced: stop.forced, at: stop.at))
        case .released(let released):
            inputs.append(.released(peer.id, unit, attempt, wasStopped: released.stopped, isAccepting: released.accepting))
        case .ended(let end):
            guard !peer.pulls.contains(AttemptName(unit: unit, attempt: attempt)) else { return }
            switch ReportedEnd(wire: end, host: peer.host) {
            case .whole(let outcome):
                inputs.append(.ended(peer.id, unit, attempt, outcome, startedAt: end.startedAt, at: end.endedAt))
            case .value(let encoding, let key, let addition):
                pull(
                    key, .value(unit, attempt, encoding, addition, startedAt: end.startedAt, endedAt: end.endedAt), from: peer)
            case .elements(let key):
                pull(key, .elements(unit, attempt, startedAt: end.startedAt, endedAt: end.endedAt), from: peer)
            }
        case nil: note(.violation, peer, "a report that says nothing")
        }
    }

    private func receive(_ product: WireProduct, from peer: Peer) {
        do throws(TranslationError) {
            inputs.append(
                .produced(
                    peer.id, UnitID(rawValue: product.unit), Attempt(rawValue: product.attempt), number: product.number,
                    try Addition(wire: product.addition)))
        } catch {
            let receipt = WireProductReceipt.with {
                $0.unit = product.unit
                $0.attempt = product.attempt
                $0.number = product.number
                $0.problem = "produced what cannot be read: \(error)"
            }
            send(.with { $0.productReceipts.receipts = [receipt] }, to: peer)
        }
    }

    // MARK: Hello

    private func wantHello(_ route: RoutingID) {
        sendOnce(.with { $0.helloWanted = WireHelloWanted() }, to: route)
    }

    private func greet(_ hello: WireHello, _ message: RouterMessage) throws {
        // What the monitor knows of an earlier connection with the same descriptor comes first.
        try readMonitor()
        if let earlier = peers[message.routingID] { forget(earlier, "it said hello again") }
        if let refusal = refusal(of: hello, hasKey: message.key != nil) { return refuse(hello, refusal, message) }
        let principal: Principal?
        do throws(HelloRefusal) { principal = try self.principal(of: hello, message).get() } catch {
            if error.wire.code == .notPermitted { noteLimited(hello, message.key) }
            return refuse(hello, error.wire, message)
        }
        let role: Peer.Role
        switch hello.role {
        case .executor:
            var attachment: ExecutorAttachment
            do throws(TranslationError) { attachment = try ExecutorAttachment(wire: hello) } catch {
                return refuse(
                    hello,
                    .with {
                        $0.code = .malformed; $0.message = "\(error)"
                    }, message)
            }
            if let label = principal?.forbiddenLabel(of: attachment) {
                noteLimited(hello, message.key)
                let text = "\(principal?.title ?? "") may not have the label `\(label)` as a worker"
                return refuse(hello, HelloRefusal.notPermitted(text).wire, message)
            }
            if let principal, case let names = principal.restrict(&attachment), !names.isEmpty {
                let place = message.address.map { "\(hello.host) at \($0)" } ?? hello.host
                counters.note(
                    .notPermitted, from: message.source,
                    "\(principal.title) on \(place) may not run \(names.joined(separator: ", ")): it gets none of that", now.boot, logger)
            }
            let peer = add(hello, message, principal, .executor(isDraining: false))
            if let key = principal?.key, executorKeys.count < CoordinatorLimits.executorKeys { executorKeys[hello.incarnation] = key }
            // Also of what has finished: what it printed while we were away comes now.
            for held in attachment.held {
                if let question = labels.question(held.unit, held.attempt) { inputs.append(question) }
            }
            inputs.append(.executorAttached(peer.id, attachment))
            return
        case .supervisor: role = .supervisor
        case .client: role = .client
        case .unspecified, .UNRECOGNIZED:
            preconditionFailure("a hello of the role \(hello.role) was not refused")
        }
        for older in peers.peers(ofIncarnation: hello.incarnation, where: { $0.role == role }) {
            supersede(older)
        }
        let peer = add(hello, message, principal, role)
        send(.with { $0.welcome = welcome(name: hello.host, drop: []) }, to: peer)
    }

    private func add(_ hello: WireHello, _ message: RouterMessage, _ principal: Principal?, _ role: Peer.Role) -> Peer {
        let isWorker = hello.role == .executor && !hello.executor.submitter
        let peer = Peer(
            id: peers.drawID(), routingID: message.routingID, fileDescriptor: message.fileDescriptor,
            incarnation: hello.incarnation, host: hello.host, pid: hello.pid, version: hello.productVersion, address: message.address,
            principal: principal,
            authority: principal?.authority(asWorker: isWorker) ?? .unlimited, role: role, now: now.boot)
        peers.insert(peer)
        logger.debug(
            "hello",
            metadata: [
                "peer": "\(peer.id.rawValue)", "role": "\(role)", "host": "\(hello.host)", "pid": "\(hello.pid)",
                "version": "\(hello.productVersion)", "principal": "\(principal?.name ?? "")",
            ])
        return peer
    }

    private func refusal(of hello: WireHello, hasKey: Bool) -> WireRefusal? {
        func refusal(_ code: WireRefusal.Code, _ message: String) -> WireRefusal {
            .with {
                $0.code = code
                $0.message = message
            }
        }
        guard hello.protocolMajor == ProtocolVersion.major else {
            return refusal(
                .version,
                """
                this coordinator (aop \(ProductVersion.current)) speaks protocol \(ProtocolVersion.major), the peer \
                (aop \(hello.productVersion.prefix(40))) speaks \(hello.protocolMajor); run the same release on both sides
                """)
        }
        // A key has been looked at by now; without one it came over ipc or loopback.
        if !hasKey, let cookie = configuration.cookie, !Cookie.isEqual(hello.cookie, cookie) {
            return refusal(
                .cookie,
                """
                the cookie does not fit: only processes of the user who runs the coordinator may connect; run as that \
                user, with the same XDG_STATE_HOME
                """)
        }
        switch hello.role {
        case .executor, .supervisor, .client: break
        case .unspecified, .UNRECOGNIZED: return refusal(.malformed, "the role \(hello.role.rawValue) is unknown")
        }
        guard peers.count < configuration.connectionsMax else {
            return refusal(
                .limit,
                "\(peers.count) connections are open; the limit is \(configuration.connectionsMax) (connections): try again later, or use "
                    + "fewer, larger workers")
        }
        guard hello.incarnation != 0 else { return refusal(.malformed, "a hello without an incarnation") }
        guard hello.host.utf8.count <= Limits.nameBytes,
            hello.productVersion.utf8.count <= Limits.nameBytes
        else { return refusal(.limit, "a name in the hello is longer than \(Limits.nameBytes) bytes") }
        return nil
    }

    private func refuse(_ hello: WireHello, _ refusal: WireRefusal, _ message: RouterMessage) {
        let kind: ProtocolCounters.Kind = refusal.code == .notPermitted || refusal.code == .revoked ? .notPermitted : .refused
        let place = message.address.map { " at \($0)" } ?? ""
        counters.note(
            kind, from: message.source, "\(hello.host) (process \(hello.pid))\(place): \(logged(refusal.message))", now.boot, logger)
        sendOnce(.with { $0.refusal = refusal }, to: message.routingID)
    }

    /// Of one that has said hello.
    func note(_ kind: ProtocolCounters.Kind, _ peer: Peer, _ text: @autoclosure () -> String) {
        counters.note(kind, from: peer.source, "\(peer.place): \(text())", now.boot, logger)
    }

    /// A newer connection of the same process took over.
    func supersede(_ peer: Peer) {
        sendOnce(
            .with {
                $0.refusal = .with {
                    $0.code = .superseded
                    $0.message = "a newer connection of the same process took over"
                }
            }, to: peer.routingID)
        forget(peer, "a newer connection of the same process took over")
    }

    /// A submitter's process came back too late.
    func endSession(of peer: Peer) {
        sendOnce(
            .with {
                $0.refusal = .with {
                    $0.code = .sessionOver
                    $0.message = "this process was away for too long; what it hosted has failed"
                }
            }, to: peer.routingID)
        forget(peer, "its session is over")
    }

    func welcome(name: String, drop: [ExecutorAttachment.Held]) -> WireWelcome {
        .with {
            $0.epoch = scheduler.epoch
            $0.coordinatorIncarnation = incarnation.rawValue
            $0.productVersion = ProductVersion.current
            $0.name = name
            $0.heartbeatMilliseconds = UInt32(clamping: configuration.heartbeatMilliseconds)
            $0.leaseMilliseconds = UInt32(clamping: configuration.leaseMilliseconds)
            $0.lockLeaseMilliseconds = UInt32(clamping: configuration.lockLeaseMilliseconds)
            $0.orphanLimitMilliseconds = UInt32(clamping: configuration.orphanLimitMilliseconds)
            $0.drop = drop.map(\.wire)
            $0.capabilities = ProtocolVersion.capabilities
        }
    }
}
