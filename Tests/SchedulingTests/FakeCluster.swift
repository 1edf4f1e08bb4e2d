import Scheduling
import Testing

/// A scheduler with executors, clients and a journal that the test plays, in virtual time.
struct FakeCluster {
    var scheduler: Scheduler
    private(set) var journal: [Fact] = []
    private(set) var now = Instant(boot: 1_000, wall: 1_700_000_000_000)
    let configuration: Scheduler.Configuration
    private var nextPeer: UInt64 = 1
    private var nextRequest: UInt64 = 1
    /// What executors were given and have not ended, by executor.
    private(set) var held: [Int: [Assignment]] = [:]
    private(set) var peers: [Int: PeerID] = [:]
    /// What executors were told to drop, and have not said that it has ended.
    private var dropped: [Int: [Assignment]] = [:]
    private(set) var sends: [Outputs.Send] = []
    /// All answers to clients so far.
    private(set) var replies: [Reply] = []
    /// What operations were said to have waited, if ``Scheduler/tellsWaits``.
    private(set) var waits: [OperationWait] = []
    /// Large values that forgotten submissions named.
    private(set) var forgottenValues: [StoredValue] = []
    /// Paths in the order in which their attempts were handed out.
    private(set) var dispatched: [String] = []
    private(set) var wakeAt: Int64?
    let client = PeerID(1_000_000)
    /// Keys of which the test wants to know that never more than so many run at once.
    var limits: [String: Int] = [:]
    /// Units that run at most once and were handed out.
    var isOnceChecked = true
    private var handedOutOnce = Set<UnitID>()
    private var begun = Set<Attempt>()
    private var stepCount = 0
    private var lastTokens: [String: UInt64] = [:]
    private var cutOffSince: [Int: Int64] = [:]
    private var hosts: [Int: FakeHost] = [:]
    private var submitters: Set<Int> = []
    private var names: [WorkerNumber: String] = [:]
    private var drained: Set<String> = []
    private var linked: Set<Attempt> = []

    init(_ configuration: Scheduler.Configuration = .init()) {
        self.configuration = configuration
        scheduler = Scheduler(configuration)
        boot()
    }

    private mutating func boot() {
        var outputs = Outputs()
        scheduler.start(at: now, incarnation: Incarnation(UInt64(journal.count) + 7), into: &outputs)
        // Nothing can be asked before the first step.
        absorb(outputs, isExplained: false)
    }

    // MARK: Stepping

    mutating func step(_ inputs: [Input]) {
        var outputs = Outputs()
        scheduler.step(inputs, at: now, into: &outputs)
        absorb(outputs)
    }

    private mutating func absorb(_ outputs: Outputs, isExplained: Bool = true) {
        journal += outputs.facts
        wakeAt = outputs.wakeAt
        sends = outputs.sends
        for send in outputs.sends { if case .reply(_, let reply) = send.message { replies.append(reply) } }
        waits += outputs.waits
        forgottenValues += outputs.forgottenValues
        checkFences(outputs.sends)
        checkDrains(outputs.facts)
        for send in outputs.sends {
            guard case .welcome(_, let drop) = send.message, let executor = peers.first(where: { $0.value == send.to })?.key else {
                continue
            }
            dropped[executor, default: []] += (held[executor] ?? []).filter { unit in drop.contains { $0.attempt == unit.attempt } }
            held[executor]?.removeAll { assignment in drop.contains { $0.attempt == assignment.attempt } }
        }
        for send in outputs.sends {
            // The process of a submitter gives up everything that it hosted.
            guard case .sessionOver = send.message, let executor = peers.first(where: { $0.value == send.to })?.key else { continue }
            peers[executor] = nil
            held[executor] = nil
        }
        for send in outputs.sends {
            #expect(send.after <= scheduler.sequence)
            guard case .dispatch(let assignments) = send.message, let executor = peers.first(where: { $0.value == send.to })?.key
            else { continue }
            held[executor, default: []] += assignments
            for assignment in assignments where assignment.isAtMostOnce && isOnceChecked {
                #expect(handedOutOnce.insert(assignment.unit).inserted, "\(assignment.path) is handed out twice")
            }
            dispatched += assignments.map(\.path)
        }
        checkResources()
        for violation in scheduler.violations() + scheduler.idleViolations() { Issue.record("\(violation)") }
        stepCount += 1
        guard isExplained, stepCount.isMultiple(of: 4) else { return }
        for violation in scheduler.explanationViolations(upTo: 300) { Issue.record("\(violation)") }
    }

    /// What is drained is given nothing.
    private mutating func checkDrains(_ facts: [Fact]) {
        for fact in facts {
            switch fact {
            case .linked(_, let attempt, _, _): linked.insert(attempt)
            // It was given out before.
            case .assigned(_, let attempt, _, _) where linked.contains(attempt): break
            case .workerMet(let number, let identity) where !identity.isSubmitter: names[number] = identity.givenName
            case .workerDrained(let name, _, _, _): drained.insert(name)
            case .workerResumed(let name, _, _), .workerRemoved(let name, _, _): drained.remove(name)
            case .assigned(let unit, _, let worker, _):
                let name = names[worker] ?? ""
                #expect(!drained.contains(name), "\(scheduler.name(of: unit)) is given to \(name), which is drained")
            default: break
            }
        }
    }

    /// Tokens rise by key, and of the keys that the test named never more run than may. An executor that is cut off
    /// goes on until the lock lease is over.
    private mutating func checkFences(_ sends: [Outputs.Send]) {
        var earlier: [Assignment] = []
        let assignments = sends.flatMap { send -> [Assignment] in
            if case .dispatch(let assignments) = send.message { assignments } else { [] }
        }
        for assignment in assignments.sorted(by: { $0.attempt < $1.attempt }) where !assignment.fences.isEmpty {
            defer { earlier.append(assignment) }
            for fence in assignment.fences {
                #expect(fence.token > lastTokens[fence.key] ?? 0, "the token of \(fence.key) does not rise")
                lastTokens[fence.key] = fence.token
                guard let limit = limits[fence.key] else { continue }
                let running =
                    held.keys.filter { owner in
                        peers[owner] != nil || now.boot < cutOffSince[owner, default: 0] + configuration.lockLeaseMilliseconds
                    }.flatMap { held[$0] ?? [] } + earlier
                let others = running.count { $0.unit != assignment.unit && $0.fences.contains { $0.key == fence.key } }
                #expect(others < limit, "\(assignment.path) runs while \(others) others run under \(fence.key)")
            }
        }
    }

    /// What attempts on the executors of one supervisor have never exceeds what that has, and no number is given out twice.
    private func checkResources() {
        var taken: [UInt64: [String: Int64]] = [:]
        var numbers: [UInt64: [String: [Int]]] = [:]
        for (executor, assignments) in held where peers[executor] != nil {
            guard let host = hosts[executor] else { continue }
            for resource in assignments.flatMap(\.resources) {
                taken[host.supervisor, default: [:]][resource.name, default: 0] += resource.amount
                numbers[host.supervisor, default: [:]][resource.name, default: []] += resource.indices
            }
        }
        for (executor, host) in hosts where peers[executor] != nil {
            for (name, sum) in taken[host.supervisor] ?? [:] {
                let amount = host.resources.first { $0.name == name }?.amount ?? 0
                #expect(sum <= amount, "\(sum) of \(name) are taken where there are \(amount)")
                let given = numbers[host.supervisor]?[name] ?? []
                #expect(Set(given).count == given.count && given.allSatisfy { $0 < amount }, "of \(name) \(given) are given out")
            }
        }
    }

    mutating func advance(_ milliseconds: Int64, hearing: Bool = true) {
        let end = now.boot + milliseconds
        while let wake = wakeAt, wake <= end {
            let passed = max(0, wake - now.boot)
            now.boot += passed
            now.wall += passed
            step(hearing ? peers.keys.sorted().compactMap { peers[$0].map(Input.heard) } : [])
        }
        now.wall += end - now.boot
        now.boot = end
        step(hearing ? peers.keys.sorted().compactMap { peers[$0].map(Input.heard) } : [])
    }

    /// Time passes without a step.
    mutating func jump(_ milliseconds: Int64) {
        now.boot += milliseconds
        now.wall += milliseconds
    }

    /// Somebody sets the wall clock.
    mutating func stepWallClock(_ milliseconds: Int64) { now.wall += milliseconds }

    /// The coordinator dies and comes back with the first `facts` of its journal (nil: all).
    mutating func restart(keeping facts: Int? = nil, after outage: Int64 = 500) throws {
        if let facts { journal = Array(journal.prefix(facts)) }
        now.boot += outage
        now.wall += outage
        scheduler = try recovered()
        for executor in peers.keys { cutOffSince[executor] = now.boot - outage }
        peers = [:]
        boot()
    }

    /// A scheduler with the state that the journal says, by way of a snapshot somewhere in it. It has to be the one that all
    /// facts together give.
    private func recovered() throws -> Scheduler {
        var whole = Scheduler(configuration)
        var other = Scheduler(configuration)
        // Somewhere else each time, and the same in every process.
        let middle = journal.isEmpty ? 0 : (journal.count &* 2_654_435_761 >> 7) % (journal.count + 1)
        for (index, fact) in journal.enumerated() {
            let fact = try FactCodec.decode(FactCodec.encode(fact)[...])
            try whole.restore(fact)
            if index < middle { continue }
            if index == middle, index > 0 { other = try before(index) }
            try other.restore(fact)
        }
        if middle == journal.count { other = try throughSnapshot(whole) }
        #expect(snapshot(of: whole) == snapshot(of: other))
        return other
    }

    private func before(_ count: Int) throws -> Scheduler {
        var scheduler = Scheduler(configuration)
        for fact in journal.prefix(count) { try scheduler.restore(fact) }
        return try throughSnapshot(scheduler)
    }

    private func snapshot(of scheduler: Scheduler) -> [[UInt8]] {
        var sections: [[UInt8]] = []
        scheduler.writeSnapshot { sections.append($0) }
        return sections
    }

    private func throughSnapshot(_ scheduler: Scheduler) throws -> Scheduler {
        guard scheduler.sequence != .none else { return scheduler }
        var restored = Scheduler(configuration)
        for section in snapshot(of: scheduler) { try restored.restore(section: section[...]) }
        #expect(restored.hasWholeSnapshot)
        // Takes long for what is large.
        guard journal.count % 50 == 0 else { return restored }
        let (before, after) = (durableDescription(of: scheduler), durableDescription(of: restored))
        if before != after { Issue.record("what a snapshot holds is another state: \(difference(before, after))") }
        return restored
    }

    private func durableDescription(of scheduler: Scheduler) -> String {
        Mirror(reflecting: scheduler).children.first { $0.label == "durable" }.map { stateDescription(of: $0.value) } ?? "nothing"
    }

    private func difference(_ before: String, _ after: String) -> String {
        let common = zip(before, after).prefix { $0 == $1 }.count
        let from = max(0, common - 200)
        return "\(before.dropFirst(from).prefix(400))\n---\n\(after.dropFirst(from).prefix(400))"
    }

    // MARK: Executors

    mutating func attach(
        _ executor: Int, slots: Int = 1, operations: [OperationSignature]? = nil, held: [ExecutorAttachment.Held] = [],
        conditions: [String] = ["probe"], host: FakeHost? = nil, isSubmitter: Bool = false, line: Int = 0, connection: UInt64 = 0,
        name: String? = nil, followsLinks: Bool = false
    ) {
        // Nothing is linked to what may send.
        let operations = operations ?? [followsLinks ? OperationSignature(name: "noop") : "noop"]
        if isSubmitter { submitters.insert(executor) }
        let host = host ?? hosts[executor] ?? .standard(executor)
        hosts[executor] = host
        let peer = PeerID(nextPeer)
        nextPeer += 1
        peers[executor] = peer
        self.held[executor]?.removeAll { assignment in !held.contains { $0.attempt == assignment.attempt } }
        step([
            .executorAttached(
                peer,
                ExecutorAttachment(
                    identity: WorkerIdentity(
                        incarnation: Incarnation(UInt64(executor) + 100), name: name ?? "h/\(executor)", host: "h", pid: 1,
                        supervisor: Incarnation(submitters.contains(executor) ? 0 : host.supervisor),
                        isSubmitter: submitters.contains(executor)),
                    slots: slots, operations: operations, labels: host.labels, held: held, conditions: conditions,
                    resources: host.resources, line: line, connection: connection,
                    followsLinks: followsLinks
                ))
        ])
    }

    /// Attaches again with what it holds; what the coordinator tells it to drop is dropped.
    ///
    /// - Parameter endsDropped: it says at once that this has ended.
    mutating func reattach(
        _ executor: Int, slots: Int = 1, operations: [OperationSignature] = ["noop"], endsDropped: Bool = true
    ) {
        var stopped: [Assignment] = []
        if now.boot >= cutOffSince[executor, default: now.boot] + configuration.lockLeaseMilliseconds {
            // By then it has stopped what runs under a key or at most once; of the latter it keeps that.
            stopped = (held[executor] ?? []).filter(\.isAtMostOnce)
            held[executor]?.removeAll { !$0.fences.isEmpty && !$0.isAtMostOnce }
        }
        held[executor, default: []] += dropped.removeValue(forKey: executor) ?? []
        let items = (held[executor] ?? []).map { unit in
            let isStopped = stopped.contains { $0.attempt == unit.attempt }
            return ExecutorAttachment.Held(unit: unit.unit, attempt: unit.attempt, state: isStopped ? .finished : .running)
        }
        attach(executor, slots: slots, operations: operations, held: items)
        for unit in stopped where held[executor]?.contains(where: { $0.attempt == unit.attempt }) == true {
            end(unit.path, on: executor, .failure([Failure(code: .workerLost, message: "stopped")]))
        }
        if endsDropped { endDropped(executor) }
    }

    /// What the executor was told to drop has ended.
    mutating func endDropped(_ executor: Int) {
        guard let peer = peers[executor], let ended = dropped.removeValue(forKey: executor), !ended.isEmpty else { return }
        step(ended.map { .released(peer, $0.unit, $0.attempt, wasStopped: true) })
    }

    mutating func disconnect(_ executor: Int) {
        guard let peer = peers.removeValue(forKey: executor) else { return }
        cutOffSince[executor] = now.boot
        step([.disconnected(peer)])
    }

    /// Its key was revoked; what it runs goes on.
    mutating func revoke(_ executor: Int) {
        guard let peer = peers.removeValue(forKey: executor) else { return }
        cutOffSince[executor] = now.boot
        step([.revoked(peer)])
    }

    /// It is not let in, connected or not.
    mutating func bar(_ executor: Int, _ bar: WorkerBar) { step([.barred(Incarnation(UInt64(executor) + 100), bar)]) }

    /// It says goodbye: nothing of it runs any more.
    mutating func depart(_ executor: Int) {
        guard let peer = peers.removeValue(forKey: executor) else { return }
        held[executor] = nil
        dropped[executor] = nil
        step([.departed(peer)])
    }

    mutating func die(_ executor: Int, crashed: Bool = true) {
        peers[executor] = nil
        held[executor] = nil
        dropped[executor] = nil
        step([.executorEnded(supervisor: PeerID(999), Incarnation(UInt64(executor) + 100), crashed: crashed)])
    }

    /// Ends what `executor` holds under `path`.
    ///
    /// - Parameters:
    ///   - lasting: milliseconds that its body took.
    ///   - heardAfter: milliseconds until that is heard of; negative: the executor's clock is ahead.
    mutating func end(
        _ path: String, on executor: Int? = nil, _ outcome: AttemptOutcome = .success(.void), lasting: Int64 = 0, heardAfter: Int64 = 0
    ) {
        guard let (owner, assignment) = find(path, on: executor), let peer = peers[owner] else {
            Issue.record("nobody holds \(path)")
            return
        }
        held[owner]?.removeAll { $0.attempt == assignment.attempt }
        // Who has nothing else to say about conditions says that they hold.
        var outcome = outcome
        if assignment.kind == .evaluate, case .success = outcome {
            outcome = .answers(assignment.questions.map { ConditionAnswer(condition: $0.condition, finding: .satisfied) })
        }
        let at = now.wall - heardAfter
        step([.ended(peer, assignment.unit, assignment.attempt, outcome, startedAt: at - lasting, at: at)])
    }

    /// The executor holds it no longer; the scheduler has not been told.
    mutating func forget(_ unit: Assignment, of executor: Int) {
        held[executor]?.removeAll { $0.attempt == unit.attempt }
    }

    mutating func begin(_ path: String) {
        guard let (owner, assignment) = find(path, on: nil), let peer = peers[owner] else { return }
        begun.insert(assignment.attempt)
        step([.started(peer, assignment.unit, assignment.attempt, at: now.wall)])
    }

    func find(_ path: String, on executor: Int?) -> (Int, Assignment)? {
        for owner in held.keys.sorted() where executor == nil || owner == executor {
            if let assignment = held[owner]?.first(where: { $0.path == path }) { return (owner, assignment) }
        }
        return nil
    }

    func holds(_ path: String) -> Bool { find(path, on: nil) != nil }
    var heldPaths: [String] { held.keys.sorted().flatMap { (held[$0] ?? []).map(\.path) } }

    /// Ends everything that is handed out, first come first served, until nothing is.
    mutating func drain(_ outcome: (Assignment) -> AttemptOutcome = { _ in .success(.void) }) {
        while let owner = held.keys.sorted().first(where: { !(held[$0]?.isEmpty ?? true) }), let next = held[owner]?.first {
            end(next.path, on: owner, outcome(next))
        }
    }

    // MARK: Clients

    mutating func ask(_ request: Request, by authority: Authority = .unlimited) -> Reply? {
        let id = RequestID(peer: client, number: nextRequest)
        nextRequest += 1
        step([.request(id, request, by: authority)])
        for send in sends {
            if case .reply(id, let reply) = send.message { return reply }
        }
        return nil
    }

    @discardableResult
    mutating func submit(_ graph: Graph, key: String = "key", waitForWorkers: Bool = true, submitter: Int? = nil) -> String? {
        let incarnation = Incarnation(submitter.map { UInt64($0) + 100 } ?? 0)
        switch ask(.submit(key: key, name: "", graph: ExaminedGraph(graph), waitForWorkers: waitForWorkers, submitter: incarnation)) {
        case .submitted(let id, _)?: return id
        case let other:
            Issue.record("refused: \(String(describing: other))")
            return nil
        }
    }

    mutating func view() -> SubmissionView? {
        if case .submission(let view)? = ask(.show(submission: "last")) { view } else { nil }
    }

    mutating func operations(of submission: String = "last", failedOnly: Bool = false, values: Bool = false) -> [OperationView] {
        var found: [OperationView] = []
        var from = 0
        while true {
            let query = OperationQuery(submission: submission, path: "", from: from, limit: 0, withValues: values, failedOnly: failedOnly)
            guard case .operations(let page, let next, _)? = ask(.operations(query)) else { return found }
            found += page
            guard next > 0 else { return found }
            from = next
        }
    }

    mutating func state(_ path: String) -> OperationState? { operations().first { $0.path == path }?.state }

    /// Executors give back what they were asked for and what has not begun.
    mutating func giveBackRecalled() {
        for send in sends {
            guard case .stop(let orders) = send.message else { continue }
            for order in orders where order.reason == .recalled {
                guard let owner = peers.first(where: { $0.value == send.to })?.key, let peer = peers[owner],
                    let unit = held[owner]?.first(where: { $0.attempt == order.attempt }), !begun.contains(order.attempt)
                else { continue }
                forget(unit, of: owner)
                handedOutOnce.remove(order.unit)
                step([.released(peer, order.unit, order.attempt)])
            }
        }
    }

    /// Orders in the last step's messages to stop an attempt.
    var stops: [StopOrder] {
        sends.flatMap { send -> [StopOrder] in
            if case .stop(let orders) = send.message { orders } else { [] }
        }
    }
}

/// What the executors of one supervisor have.
struct FakeHost {
    var supervisor: UInt64
    var labels: [String] = []
    var resources: [ResourceAmount] = []

    /// Two executors each; every other supervisor is fast, the others have a gpu more.
    static func standard(_ executor: Int) -> FakeHost {
        let number = executor / 2
        return FakeHost(
            supervisor: UInt64(number) + 5_000, labels: number.isMultiple(of: 2) ? ["fast"] : [],
            resources: [ResourceAmount(name: "gpus", amount: number.isMultiple(of: 2) ? 2 : 3), ResourceAmount(name: "memory", amount: 8)])
    }

    /// Everything that random graphs ask for.
    static let full = FakeHost(
        supervisor: 4_999, labels: ["fast"],
        resources: [ResourceAmount(name: "gpus", amount: 4), ResourceAmount(name: "memory", amount: 8)])
}

func text(_ value: String) -> Payload { Payload(encoding: .text, storage: .inline(Array(value.utf8))) }
func failure(_ message: String) -> AttemptOutcome { .failure([Failure(code: .operation, message: message)]) }

/// Of version 1, and of unknown types.
extension OperationSignature: ExpressibleByStringLiteral {
    /// Of which nothing is known but the name.
    public init(stringLiteral name: String) {
        self.init(name: name)
        (sent, streamed) = (.any, .any)
    }
}
