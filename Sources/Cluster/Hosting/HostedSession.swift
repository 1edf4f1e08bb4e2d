import AOperation
import Executing
import Foundation
import Synchronization
import Wire

/// What a process executes of the graphs that it has submitted: it attaches to the coordinator as an executor that takes
/// nothing else, and lives through everything that a worker's executor lives through.
///
/// Everything happens on `desk`, one thing after the other; the mutex is for those who look from elsewhere.
final class HostedSession: Sendable {
    /// How many hosted operations of one session execute at a time, and evaluations of conditions. Others wait at the
    /// coordinator.
    static let slots = 64
    /// How long bodies may take to end when the session is closed.
    private static let closingSeconds = 5.0

    struct State {
        var executor = ExecutorState(slots: HostedSession.slots)
        /// Nothing large comes to what is hosted: nothing is kept for it.
        var shelf = BlobShelf(idleBytesMax: 0)
        var phase = Phase.connecting
        /// By submission.
        var graphs: [String: Mirrors] = [:]
        /// What bodies have produced under ids, until the coordinator has it.
        var products = ProductDesk()
        /// What bodies have sent, until the coordinator has it.
        var elements = ElementDesk()
        /// Of products: by its number, where it was produced, and under which id.
        var kept: [UnitKey: [UInt64: (mirrors: Mirrors, id: String)]] = [:]
        /// What came before it was known which submission is which.
        var unclaimed: [String: [(key: UnitKey, assignment: WireAssignment)]] = [:]
        var bodies: [UnitKey: HostedBody] = [:]
        /// What groups are asked, and what is asked about ends, that has no answer yet: for whom.
        var asking: [String: UnitKey] = [:]
        /// Called when no body is left.
        var whenIdle: (@Sendable () -> Void)?
        var tick: Int64?
        /// Bodies whose ends are being reported.
        var ending = 0
        /// Bodies that are being told to stop.
        var stopping = 0

        /// Nobody asks anything of the submission any more; what has no answer yet needs none.
        mutating func forget(_ submission: String) {
            graphs[submission] = nil
            unclaimed[submission] = nil
            asking = asking.filter { !$0.key.hasPrefix("\(submission)/") && !$0.key.hasPrefix("\(submission)#") }
        }
    }

    enum Phase {
        /// The coordinator has not welcomed it yet.
        case connecting
        case open
        /// It is over for good: nothing is reported any more.
        case over(ClusterError)
    }

    let incarnation = UInt64.random(in: 1...UInt64.max)
    /// Nil: nothing is traced.
    let traces = TraceDesk.current
    let state = Mutex(State())
    /// Settled when the coordinator knows it, or it is over.
    private let attachment = Promise<Void>()
    let desk = DispatchQueue(label: "aop.hosted-session")
    private let link = Mutex<HostedLink?>(nil)
    /// Fetches large values.
    let connection: ClusterConnection
    /// Where attempts after the first run.
    let queue = AOperationQueue()
    /// What bodies receive of others. Only touched on `desk`, but for its beginning.
    nonisolated(unsafe) private(set) var streams: StreamDesk?

    /// Begins to attach.
    init(for connection: ClusterConnection) throws {
        self.connection = connection
        streams = StreamDesk(
            send: { [weak self] request in self?.send(.with { $0.request = request }) },
            later: { [desk] again in
                // Made on `desk`, and called there only.
                nonisolated(unsafe) let again = again
                desk.asyncAfter(deadline: .now() + .milliseconds(Int(StreamDesk.busyMilliseconds))) { again() }
            })
        if let memory = connection.memory {
            link.withLock { $0 = .memory(memory.attach(self, incarnation: incarnation)) }
            return
        }
        let context = try ZMQContext()
        var configuration = PeerLink.Configuration(
            endpoint: connection.endpoint, role: .executor, cookie: connection.cookie, key: connection.key, incarnation: incarnation)
        configuration.executorHello = { [weak self] in self?.hello() ?? WireExecutorHello() }
        configuration.heartbeat = { [weak self] in self?.heartbeat() }
        let link = PeerLink(configuration, context: context) { [weak self] event in
            guard let self else { return }
            desk.async { self.handle(event) }
        }
        self.link.withLock { $0 = .network(link, context) }
        try link.start()
    }

    /// A coordinator in this process sees that it is gone when it looks.
    deinit { connection.memory?.lookAgain() }

    /// Why it is of no use any more; nil: it is.
    var ending: ClusterError? { state.withLock { if case .over(let error) = $0.phase { error } else { nil } } }

    /// Waits until the coordinator knows it.
    /// - Throws: `ClusterError` when it is over; `CancellationError`.
    func attached() async throws {
        if let ending { throw ending }
        try await attachment.value()
    }

    /// This is the graph of that submission. The first one counts: it has the operations that execute.
    func claim(_ submission: String, _ mirrors: Mirrors) {
        mirrors.whenGrown { [weak self] in
            guard let self else { return }
            desk.async { self.startUnclaimed(of: submission) }
        }
        desk.async { [self] in
            state.withLock { state in if state.graphs[submission] == nil { state.graphs[submission] = mirrors } }
            startUnclaimed(of: submission)
        }
    }

    /// It is known now what some of them are; the others wait again.
    private func startUnclaimed(of submission: String) {
        let waiting = state.withLock { $0.unclaimed.removeValue(forKey: submission) ?? [] }
        for (key, assignment) in waiting { start(key, assignment) }
    }

    /// Everything of the submission has ended.
    func release(_ submission: String, _ mirrors: Mirrors) {
        desk.async { [self] in
            state.withLock { state in if state.graphs[submission] === mirrors { state.forget(submission) } }
        }
    }

    /// Nothing of it is reported any more. Stops everything, and waits a little for the bodies.
    func stop(_ error: ClusterError) async {
        await withCheckedContinuation { continuation in
            desk.async { [self] in
                end(error)
                let once = OnceOnly { continuation.resume() }
                let isIdle = state.withLock { state in
                    if !state.bodies.isEmpty { state.whenIdle = { once.run() } }
                    return state.bodies.isEmpty
                }
                if isIdle { return once.run() }
                desk.asyncAfter(deadline: .now() + Self.closingSeconds) { once.run() }
            }
        }
    }

    /// Ends the connection; tells the coordinator that nothing is left, if that is so.
    func disconnect() async {
        let isIdle = state.withLock { $0.bodies.isEmpty }
        guard let link = link.withLock({ $0.take() }) else { return }
        await link.close(goodbye: isIdle ? "the queue was closed" : nil)
    }

    // MARK: The link's questions

    /// After everything that came in the session before has been seen: see the worker's executor.
    func hello() -> WireExecutorHello {
        desk.sync {
            let held = state.withLock { $0.executor.tellHeld() }
            return .with {
                $0.slots = UInt32(Self.slots)
                $0.submitter = true
                $0.units = held
            }
        }
    }

    private func heartbeat() -> WireHeartbeat {
        state.withLock { state in
            .with {
                $0.running = UInt32(state.executor.runningCount)
                $0.queued = UInt32(state.executor.queuedCount)
                $0.accepting = true
            }
        }
    }

    // MARK: Events

    func handle(_ event: PeerLink.Event) {
        switch event {
        case .attached(let welcome, _):
            guard welcome.capabilities.contains(ProtocolVersion.hosting) else {
                return giveUp(
                    ClusterError(.version, "the coordinator (\(welcome.productVersion)) is too old for hosted code; start a newer one"))
            }
            let isFirst = state.withLock { state in
                guard case .connecting = state.phase else { return false }
                state.phase = .open
                return true
            }
            link.withLock { $0 }?.enter()
            if isFirst { attachment.settle(.success(())) }
            state.withLock { state in
                state.products.forgetSent()
                state.elements.forgetSent()
            }
            streams?.resume()
            sendElements()
            sendProducts()
            step { $0.attached(drop: welcome.drop.map { UnitKey($0) }, now: $1, at: $2) }
        case .leaseOver:
            step { state, _, _ in
                state.leaseOver()
                return []
            }
        case .lockLeaseEnding(let grace): step { state, now, _ in state.lockLeaseEnding(graceMilliseconds: grace, now: now) }
        case .orphanLimitOver: step { state, now, _ in state.orphanLimitOver(now: now) }
        case .refused(let refusal): giveUp(ClusterError(refusal))
        case .denied(let reason): giveUp(ClusterError(.notPermitted, reason))
        case .message(let message, _): handle(message)
        case .detached, .farewell: break
        }
    }

    private func handle(_ message: WireCoordinatorMessage) {
        switch message.body {
        case .dispatch(let dispatch)?: step { $0.dispatched(dispatch.assignments, now: $1, at: $2) }
        case .productReceipts(let receipts)?: receive(receipts.receipts)
        case .elementReceipts(let receipts)?: receive(receipts.receipts)
        case .response(let response)?: streams?.receive(response)
        case .stop(let stop)?:
            for unit in stop.units where unit.reason != .recalled {
                if let end = state.withLock({ $0.products.release(UnitKey(unit)) }) { admit(end) }
                if let end = state.withLock({ $0.elements.release(UnitKey(unit)) }) { self.report(end) }
            }
            step { $0.stopOrdered(stop.units, now: $1, at: $2) }
        case .acknowledgement(let acknowledgement)?:
            step { $0.acknowledged(acknowledgement.units.map { UnitKey($0) }, now: $1, at: $2) }
        case .blobRequest(let request)?:
            let (chunk, bytes) = state.withLock { $0.shelf.answer(request) }
            send(.with { $0.blobChunk = chunk }, bytes)
        // It sends no output.
        case .welcome?, .refusal?, .heartbeatAnswer?, .blobChunk?, .events?, .farewell?, .helloWanted?, .outputReceipts?, .enrolled?, nil:
            break
        }
    }

    /// It is over: what runs is stopped.
    private func end(_ error: ClusterError) {
        let bodies = state.withLock { state -> [HostedBody] in
            if case .over = state.phase { return [] }
            state.phase = .over(error)
            state.unclaimed = [:]
            // Nobody takes what they still send.
            for key in state.bodies.keys { state.elements.forget(key) }
            return Array(state.bodies.values)
        }
        attachment.settle(.failure(error))
        for body in bodies { stop(body) }
    }

    /// With the link: a coordinator that took up the session again would count on what nobody carries out any more.
    private func giveUp(_ error: ClusterError) {
        end(error)
        Task { await disconnect() }
    }

    // MARK: Steps

    func step(_ input: (inout ExecutorState, _ now: Int64, _ at: Int64) -> [ExecutorAction]) {
        let (now, at) = readings
        let actions = state.withLock { state -> [ExecutorAction] in
            if case .over = state.phase { return [] }
            return input(&state.executor, now, at)
        }
        for action in actions { perform(action) }
        armTimer()
    }

    private func perform(_ action: ExecutorAction) {
        switch action {
        case .report(let report):
            if let report = state.withLock({ $0.products.admit(report) }) { admit(report) }
        case .start(let key, let assignment): start(key, assignment)
        case .stop(let key):
            stopBody(key)
            // It waits for its graph.
            if isUnclaimed(key) { ended(key, FinishedUnit(.cancelled)) }
        case .kill(let key): abandon(key)
        case .forget(let key):
            state.withLock { state in
                state.shelf.release(key)
                state.products.forget(key)
                state.elements.forget(key)
                state.kept[key] = nil
            }
        // Nothing large comes to what is hosted, there is no line, and what does not end is given up.
        case .fetchInputs, .lineUp, .askForReplacement, .exit: break
        }
    }

    private func isUnclaimed(_ key: UnitKey) -> Bool {
        state.withLock { state in
            for submission in state.unclaimed.keys {
                guard let place = state.unclaimed[submission]?.firstIndex(where: { $0.key == key }) else { continue }
                state.unclaimed[submission]?.remove(at: place)
                return true
            }
            return false
        }
    }

    func send(_ message: WirePeerMessage, _ attachment: Buffer? = nil) {
        link.withLock { $0 }?.send(message, attachment)
    }

    func stopBody(_ key: UnitKey) {
        if let body = state.withLock({ $0.bodies[key] }) { stop(body) }
    }

    private func stop(_ body: HostedBody) {
        state.withLock { $0.stopping += 1 }
        Self.background.async { [self] in
            body.stop()
            state.withLock { $0.stopping -= 1 }
            connection.memory?.lookAgain()
        }
    }
}

/// Something that is to happen once, whoever asks first.
private final class OnceOnly: Sendable {
    private let body: Mutex<(@Sendable () -> Void)?>

    init(_ body: @escaping @Sendable () -> Void) { self.body = Mutex(body) }

    func run() {
        let body = body.withLock { $0.take() }
        body?()
    }
}
