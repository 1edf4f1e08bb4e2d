import Scheduling
import Wire

/// What happens to the client.
enum ClientEvent {
    /// Its requests arrive at the coordinator, of whose start it is.
    case asks(ClientRequest, start: Int)
    case answered(ClientRequest, Reply, start: Int)
    case hears(WireEvents, start: Int)
    /// A question of one of its readers arrives at the coordinator, and the answer.
    case asksToRead(WireRequest, start: Int)
    case reads(WireResponse, start: Int)
    /// Somebody begins to read what an operation of the submission sends.
    case beginsToRead(String)
    case connects
    /// It does something of its own.
    case acts
    /// Faults are over: it looks how everything is, now and then.
    case settles
    case lost(start: Int)

    var isOfCoordinator: Bool {
        switch self {
        case .asks, .asksToRead: true
        case .answered, .hears, .reads, .beginsToRead, .connects, .acts, .settles, .lost: false
        }
    }
}

/// A question of the client, which it repeats until it is answered.
struct ClientRequest {
    let number: Int
    let body: Request
    let purpose: Purpose

    enum Purpose {
        case submit(key: String)
        /// What of a submission has failed once more, under this key.
        case retry(key: String, id: String)
        case cancel(id: String, path: String)
        /// Who holds a lock, to take it from them.
        case locks(key: String)
        case steer
        /// Of a worker, which it may not know, or not let go.
        case steerWorker
        case follow(id: String)
        case look(id: String)
        case outcomes(id: String, from: Int)
    }
}

/// Submits, cancels, looks, and keeps its own list of what it was told.
final class SimulatedClient {
    struct Submission {
        let key: String
        let graph: Graph
        /// Once it was acknowledged.
        var id: String?
        var isFinished = false
        /// Outcomes of its operations, as they were told when it had ended.
        var outcomes: [String: OutcomeSeen] = [:]
        var hasOutcomes = false
    }

    struct OutcomeSeen: Equatable {
        var state: OperationState
        var value: Payload?
        var attempts: Int
    }

    unowned let world: Simulation
    /// Of what operations send.
    var readers: [UInt64: SimulatedReader] = [:]
    private(set) var submissions: [Submission]
    /// What it has asked and not been answered.
    private var open: [Int: ClientRequest] = [:]
    private var nextNumber = 0
    /// Keys of its own: a refused retry is forgotten, its key is not given to another.
    private var retries = 0
    private(set) var isConnected = false
    /// Paths that it paused, by submission.
    private var paused: [(id: String, path: String)] = []
    /// Names of workers that it drained.
    private var drained: [String] = []
    /// Those that it was told were cancelled.
    private(set) var toldCancelled: Set<String> = []

    init(_ graphs: [Graph], of world: Simulation) {
        self.world = world
        submissions = graphs.enumerated().map { Submission(key: "key-\($0.offset)", graph: $0.element) }
    }

    var isDone: Bool { submissions.allSatisfy(\.hasOutcomes) }
    var isAnswered: Bool { open.isEmpty }
    var openRequests: String { open.sorted { $0.key < $1.key }.map { "\($0.value.purpose)" }.joined(separator: ", ") }

    // MARK: What happens to it

    func connected() {
        isConnected = true
        for request in open.sorted(by: { $0.key < $1.key }).map(\.value) { send(request) }
        for submission in submissions where !submission.hasOutcomes {
            if let id = submission.id { ask(.follow(submission: id), .follow(id: id)) }
        }
        for number in readers.keys.sorted() { askToRead(number) }
    }

    func disconnected() { isConnected = false }

    func submit(_ index: Int) {
        let submission = submissions[index]
        world.note("client submits `\(submission.key)`: \(submission.graph.sketch)")
        // Large graphs are looked at before the scheduler has them: that must make no difference.
        let graph = submission.graph
        let examined = index.isMultiple(of: 2) ? ExaminedGraph(graph) : ExaminedGraph(examining: graph, by: GraphLimits())
        let request = Request.submit(
            key: submission.key, name: "", graph: examined, waitForWorkers: true, submitter: Incarnation(0))
        ask(request, .submit(key: submission.key))
        if world.faults.contains(.duplicatedRequests), world.random.oneIn(2) { ask(request, .submit(key: submission.key)) }
    }

    /// Cancels, pauses or resumes something, takes a lock from who holds it, drains a worker, or runs once more what has failed.
    func meddle() {
        if world.faults.contains(.drainedWorkers), world.random.oneIn(3) { return steerWorker() }
        if world.faults.contains(.releasedLocks), world.random.oneIn(3), let key = world.random.pick(RandomWork.keys) {
            return ask(.locks(key: key, from: 0), .locks(key: key))
        }
        if world.random.oneIn(3) { return retry() }
        guard let submission = world.random.pick(submissions.filter { $0.id != nil && !$0.isFinished }), let id = submission.id else {
            return
        }
        let nodes = submission.graph.nodes.indices.filter { submission.graph.isStatic($0) && !submission.graph.decides($0) }
        guard let node = world.random.pick(nodes) else { return }
        let path = submission.graph.path(of: node)
        switch world.random.below(3) {
        case 0 where world.faults.contains(.cancellations):
            world.note("client cancels \(id)/\(path)")
            ask(.cancel(submission: id, path: path, reason: "", now: world.random.oneIn(3)), .cancel(id: id, path: path))
        case 1 where world.faults.contains(.pausedWork):
            paused.append((id, path))
            ask(.pause(submission: id, path: path), .steer)
        case 2:
            guard let (id, path) = paused.popLast() else { return }
            ask(.resume(submission: id, path: path), .steer)
        default: break
        }
    }

    private func steerWorker() {
        guard let name = world.random.pick(world.hosts.flatMap(\.executors).filter(\.isWorker).map(\.name)) else { return }
        switch world.random.below(8) {
        case 0: ask(.removeWorker(name: name), .steerWorker)
        case 1...3: ask(.resumeWorker(name: drained.isEmpty ? name : drained.removeLast()), .steerWorker)
        default:
            world.note("client drains \(name)")
            drained.append(name)
            ask(.drainWorker(name: name, reason: ""), .steerWorker)
        }
    }

    private func retry() {
        guard submissions.count < Self.submissionsMax, let submission = world.random.pick(submissions.filter(\.isFinished)),
            let id = submission.id
        else { return }
        retries += 1
        let key = "again-\(retries)"
        submissions.append(Submission(key: key, graph: submission.graph))
        world.submitted.insert(submissions.count - 1)
        ask(.retry(submission: id, key: key, force: world.random.oneIn(2), failedOnly: world.random.oneIn(2)), .retry(key: key, id: id))
    }

    private static let submissionsMax = 6

    private func release(_ key: String, _ locks: [LockView]) {
        let holders = locks.filter { $0.key == key && $0.scope.isEmpty }.flatMap(\.holders).map(\.operation)
        guard let holder = world.random.pick(holders) else { return }
        world.note("client takes `\(key)` from \(holder)")
        ask(.releaseLock(key: key, holders: [holder], reason: "", now: world.random.oneIn(2)), .steer)
    }

    /// Faults are over: nothing stays paused, no worker drained, and it wants to know how everything ended.
    func settle() {
        for (id, path) in paused { ask(.resume(submission: id, path: path), .steer) }
        paused = []
        for name in drained { ask(.resumeWorker(name: name), .steerWorker) }
        drained = []
        for submission in submissions where !submission.isFinished {
            if let id = submission.id { ask(.show(submission: id), .look(id: id)) }
        }
    }

    private func ask(_ body: Request, _ purpose: ClientRequest.Purpose) {
        nextNumber += 1
        let request = ClientRequest(number: nextNumber, body: body, purpose: purpose)
        open[request.number] = request
        send(request)
    }

    /// What has hosted code waits for the session in which that is to execute.
    private func send(_ request: ClientRequest) {
        guard isConnected else { return }
        guard case .submit(let key, let name, let graph, let waits, _, _, _) = request.body, graph.graph.hasHostedCode else {
            return world.ask(request)
        }
        guard let submitter = world.submitter else { return }
        let body = Request.submit(
            key: key, name: name, graph: graph, waitForWorkers: waits, submitter: Incarnation(submitter.incarnation))
        world.ask(ClientRequest(number: request.number, body: body, purpose: request.purpose))
    }

    /// The coordinator knows a session: what waits for one is submitted.
    func sessionBegan() {
        for request in open.sorted(by: { $0.key < $1.key }).map(\.value) { if case .submit = request.purpose { send(request) } }
    }

    func answered(_ request: ClientRequest, _ reply: Reply) {
        guard open.removeValue(forKey: request.number) != nil else { return }
        if case .failed(.notFound) = reply, let id = request.body.submission, world.witness.isForgotten(id) {
            return forgotten(id, request)
        }
        switch (request.purpose, reply) {
        case (.submit(let key), .submitted(let id, _)), (.retry(let key, _), .retried(let id, _, _)): submitted(key, id)
        // It is submitted again in the next session.
        case (.submit, .failed(.sessionOver)): open[request.number] = request
        // There is nothing in it to run again, somebody has its unique id, or its hosted code is not there any more.
        case (.retry(let key, _), .failed(.refused)): submissions.removeAll { $0.key == key }
        case (.locks(let key), .locks(let locks, _)): release(key, locks)
        case (.steer, .lockReleased), (.steerWorker, .workerSteered): break
        case (.steerWorker, .failed(.notFound)), (.steerWorker, .failed(.refused)): break
        case (.look, .submission(let view)), (.follow, .following(let view)): saw(view.id, isFinished: view.finishedAt > 0)
        case (.outcomes(let id, let from), .operations(let page, let next, _)): saw(page, of: id, from: from, next: next)
        case (.steer, .steered(let id, _, alreadyEnded: false, _)):
            if case .pause(_, let path) = request.body { world.witness.pauses.acknowledged(path.isEmpty ? id : "\(id)/\(path)") }
        case (.cancel, .cancelAccepted), (.steer, .steered), (.steer, .done): break
        case (_, .failed(let failure)): world.violate("the client is told of \(request.purpose): \(failure)")
        default: world.violate("the client is answered to \(request.purpose) with \(reply)")
        }
    }

    private func submitted(_ key: String, _ id: String) {
        guard let index = submissions.firstIndex(where: { $0.key == key }) else { return }
        // The same key may be given again when what had it is forgotten.
        if let known = submissions[index].id, known != id, world.witness.isForgotten(known) { return }
        if let known = submissions[index].id, known != id { world.violate("`\(key)` was acknowledged as \(known), and then as \(id)") }
        world.witness.acknowledged(submission: id)
        if submissions[index].id == nil { planToRead(id) }
        submissions[index].id = id
        ask(.follow(submission: id), .follow(id: id))
    }

    /// What had ended long ago is not known any more.
    private func forgotten(_ id: String, _ request: ClientRequest) {
        if case .retry(let key, _) = request.purpose { submissions.removeAll { $0.key == key } }
        guard let index = submissions.firstIndex(where: { $0.id == id }) else { return }
        (submissions[index].isFinished, submissions[index].hasOutcomes) = (true, true)
    }

    private func saw(_ id: String, isFinished: Bool) {
        guard let index = submissions.firstIndex(where: { $0.id == id }) else { return }
        if submissions[index].isFinished, !isFinished { world.violate("\(id) had finished, and has not any more") }
        if isFinished { world.witness.shownFinished(submission: id) }
        guard isFinished, !submissions[index].isFinished else { return }
        submissions[index].isFinished = true
        askForOutcomes(of: id, from: 0)
    }

    private func askForOutcomes(of id: String, from: Int) {
        let query = OperationQuery(submission: id, path: "", from: from, limit: 0, withValues: true, failedOnly: false)
        ask(.operations(query), .outcomes(id: id, from: from))
    }

    private func saw(_ page: [OperationView], of id: String, from: Int, next: Int) {
        guard let index = submissions.firstIndex(where: { $0.id == id }) else { return }
        for operation in page {
            let seen = OutcomeSeen(state: operation.state, value: operation.value, attempts: operation.attempts)
            if let known = submissions[index].outcomes[operation.path], known != seen {
                world.violate("\(id)/\(operation.path) had ended as \(known), and now as \(seen)")
            }
            submissions[index].outcomes[operation.path] = seen
        }
        guard next == 0 else { return askForOutcomes(of: id, from: next) }
        submissions[index].hasOutcomes = true
        if world.work.features.contains(.retention) { ask(.unfollow(submission: id), .steer) }
        world.streams.check(submissions[index])
    }

    /// Asks once more how everything ended that it was told of.
    func askAgain() {
        for submission in submissions { if let id = submission.id, submission.hasOutcomes { askForOutcomes(of: id, from: 0) } }
        readAgain()
    }

    func hears(_ events: WireEvents) {
        for event in events.events {
            world.witness.shown(event, of: events.submission)
            if event.state == .cancelled { toldCancelled.insert("\(events.submission)/\(event.path)") }
        }
        saw(events.submission, isFinished: events.view.finishedAt != 0)
    }
}

extension Graph {
    func decides(_ node: Int) -> Bool { if case .decider = nodes[node].kind { true } else { false } }

    /// Whether something of it exists only in the process that submits it.
    var hasHostedCode: Bool {
        nodes.contains { node in
            if node.options == .standard { return false }
            return node.options.isHosted || node.options.say != SubmitterSay() || node.options.conditions.contains(where: \.isHostedProbe)
        }
    }

    /// Whether there is one unit of it, which is there from the start.
    func isStatic(_ node: Int) -> Bool {
        var next = node
        while next != 0 {
            next = nodes[next].parent
            if case .forEach = nodes[next].kind { return false }
        }
        return true
    }
}

extension Request {
    /// Of which submission it is; nil: of none, or of none yet.
    fileprivate var submission: String? {
        switch self {
        case .cancel(let id, _, _, _), .pause(let id, _), .resume(let id, _), .show(let id), .follow(let id, _), .unfollow(let id),
            .retry(let id, _, _, _):
            id
        case .operations(let query): query.submission
        default: nil
        }
    }
}
