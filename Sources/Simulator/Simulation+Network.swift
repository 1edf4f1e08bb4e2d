import Wire

/// Connections: what is sent in one direction arrives in order, or not at all.
extension Simulation {
    func latency() -> Int64 {
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

    func send(_ message: WireCoordinatorMessage, on connection: SimulatedConnection) {
        guard connection.isOpenThere, let executor = hosts.flatMap(\.executors).first(where: { $0.connection === connection }) else {
            return
        }
        var message = message
        if plants(.numbersShared), case .dispatch(let dispatch)? = message.body { message.dispatch = dispatch.withFirstNumbers }
        if plants(.messageDropped), message.isOrder, random.oneIn(12) { return note("a message to \(executor.name) is dropped") }
        let at = max(connection.lastDown, now + latency())
        connection.lastDown = at
        put(.down(connection, message, to: executor), at: at)
    }

    func close(_ connection: SimulatedConnection) {
        guard connection.isOpenThere else { return }
        connection.isOpenThere = false
        connections.removeAll { $0 === connection }
        if let peer = connection.peer {
            coordinator?.disconnect(peer)
            wake()
        }
    }

    func receive(_ message: WirePeerMessage, on connection: SimulatedConnection, from executor: SimulatedExecutor) {
        guard let coordinator, connection.isOpenThere, connection.start == start else { return }
        if connection === executor.connection { executor.lastHeard = now }
        // There are so many of them that they would leave no place for what happens.
        if !message.isHeartbeat { note("heard of \(executor.name): \(message.kind)") }
        defer { wake() }
        if case .hello(let hello)? = message.body {
            do { connection.peer = try coordinator.attach(hello) } catch { violate("a hello is refused: \(error)") }
            return
        }
        guard let peer = connection.peer else { return }
        if case .heartbeat(let heartbeat)? = message.body {
            send(.with { $0.heartbeatAnswer.sentAt = heartbeat.sentAt }, on: connection)
        }
        deliver(coordinator.receive(altered(message, from: peer), from: peer, at: instant))
        spool()
    }

    /// With the fault that is planted.
    func altered(_ message: WirePeerMessage, from peer: UInt64) -> WirePeerMessage {
        if case .request(let request)? = message.body { return .with { $0.request = altered(request, from: peer) } }
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

    /// One that reads a stream, with the fault that is planted.
    func altered(_ request: WireRequest, from peer: UInt64) -> WireRequest {
        guard case .elements(var elements)? = request.body else { return request }
        if plants(.attemptsMixed) { reads[ReadName(peer: peer, request: request.id)] = elements }
        guard plants(.replayFromSecond), elements.index == 0 else { return request }
        elements.index = 1
        return .with {
            $0.id = request.id
            $0.elements = elements
        }
    }

    func altered(_ response: WireResponse, for peer: UInt64) -> WireResponse {
        guard let asked = reads.removeValue(forKey: ReadName(peer: peer, request: response.request)), asked.attempt != 0,
            case .elements(var page)? = response.body, page.attempt != asked.attempt
        else { return response }
        page.attempt = asked.attempt
        page.elements.removeAll { $0.index < asked.index }
        page.next = max(page.next, asked.index)
        var altered = response
        altered.elements = page
        return altered
    }
}

/// A question of one who reads a stream.
struct ReadName: Hashable {
    let peer: UInt64
    let request: UInt64
}

extension WirePeerMessage {
    fileprivate var isHeartbeat: Bool {
        if case .heartbeat? = body { true } else { false }
    }

    fileprivate var kind: String {
        switch body {
        case .hello?: "hello"
        case .heartbeat?: "heartbeat"
        case .reports(let reports)?: "\(reports.reports.count) reports"
        case .goodbye?: "goodbye"
        case .elements(let batch)?: "\(batch.runs.reduce(0) { $0 + $1.elements.count }) elements"
        case .products?: "something that it has produced"
        case .request?: "a question about a stream"
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

extension WireDispatch {
    /// With the fault that is planted.
    fileprivate var withFirstNumbers: WireDispatch {
        var dispatch = self
        for index in dispatch.assignments.indices {
            for place in dispatch.assignments[index].resources.indices {
                let count = dispatch.assignments[index].resources[place].indices.count
                dispatch.assignments[index].resources[place].indices = Array(0..<UInt32(count))
            }
        }
        return dispatch
    }
}
