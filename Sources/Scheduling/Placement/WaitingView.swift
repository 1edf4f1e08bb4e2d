/// Why a unit that could start otherwise waits, where that is not only that all slots are taken.
public struct WaitingView: Hashable, Sendable {
    /// The raw values are those of JSON.
    public enum Kind: String, Hashable, Sendable {
        /// No worker that is there could take it.
        case worker
        /// What it takes of a host is not free, or kept for another one.
        case resources
        /// It, or something around it, is paused, or is about to be.
        case paused
        /// The process that submitted it is not connected.
        case submitter
        /// It runs, and is held back because what it sends is not taken.
        case partialResults
        /// It has ended, and its value cannot be taken yet.
        case value
        /// The operation whose stream it receives has to begin, or to end.
        case stream
        /// Its end counts when the end of its delivery net has decided, which may have it tried again.
        case retryScope
    }
    public var kind: Kind
    public var text: String

    public init(kind: Kind, text: String) {
        self.kind = kind
        self.text = text
    }
}

/// What there is of a resource of a worker's host, and what attempts have.
public struct ResourceView: Hashable, Sendable {
    public var name: String
    public var amount: Int64
    public var taken: Int64

    public init(name: String, amount: Int64, taken: Int64) {
        self.name = name
        self.amount = amount
        self.taken = taken
    }
}

extension Scheduler {
    /// - Parameters:
    ///   - known: what was found for classes before, for the same reader.
    ///   - reader: others' operations are not named to whom may not read them.
    func waiting(_ unit: UnitID, known: inout [Int: WaitingView?], for reader: Authority) -> WaitingView? {
        if let view = pauseInTheWay(of: unit) ?? pauseOnTheWay(to: unit) ?? submitterInTheWay(of: unit) ?? streamInTheWay(of: unit)
            ?? scopeInTheWay(of: unit)
        {
            return view
        }
        switch durable.phase(unit) {
        case .ready, .wanting: break
        case .assigned where waitingValues[unit] != nil: return WaitingView(kind: .value, text: waitingValues[unit] ?? "")
        case .assigned where heldBack[unit] != nil: return WaitingView(kind: .partialResults, text: heldBack[unit] ?? "")
        case .blocked, .delayed, .held, .paused, .locking, .preparing, .postponed, .assigned, .retryWait, .provisional, .open, .ended,
            .lingering, .dropped:
            return nil
        }
        let lane = operationClass(of: unit)
        let node = durable.submissions[durable.index(of: unit.submission)].node(unit.index)
        let isGroup = !node.isOperation && !node.isDecider
        // Nothing is asked of a worker for most groups.
        if isGroup, !durable.submissions[durable.index(of: unit.submission)].needsProbing(unit.index) { return nil }
        // What runs alone takes what is kept for others, which the rest of its class waits for.
        let isAlone = durable.submissions[durable.index(of: unit.submission)].units[unit.index].isSuspect
        if !isAlone, let view = known[lane] { return view }
        let view = waiting(lane, unit, isAlone: isAlone, for: reader)
        if !isAlone { known[lane] = .some(view) }
        return view
    }

    private func waiting(_ lane: Int, _ unit: UnitID, isAlone: Bool, for reader: Authority) -> WaitingView? {
        let there = workersThere
        if isForSubmitter(unit) { return nil }
        guard there.contains(where: { couldTake(lane, worker: $0) }) else {
            let index = durable.index(of: unit.submission)
            let node = Int(durable.submissions[index].units[unit.index].node)
            return WaitingView(kind: .worker, text: workerGap(ofNode: node, index, lane, there: there).text)
        }
        guard classes.takesResources(lane) else { return nil }
        let takers = there.filter { workers.sessions[$0].demandingLanes.contains(lane) }
        let doesOneFit = takers.contains { isAlone ? fitsAlone(lane, onHost: host(of: $0)) : fits(lane, onHost: host(of: $0)) }
        guard !doesOneFit else { return nil }
        let best = takers.map { (share: share(lane, $0), worker: $0) }.max { $0.share < $1.share }
        return best.map { best in
            let need = Requirements(resources: classes.need(of: lane)).text
            return WaitingView(
                kind: .resources, text: "waits for \(need); \(spare(lane, worker: best.worker, isAlone: isAlone, for: reader))")
        }
    }

    /// What is free of what the class needs where the worker is, and what of that is kept.
    func spare(_ lane: Int, worker: Int, isAlone: Bool, for reader: Authority) -> String {
        let place = host(of: worker)
        let spare = classes.need(of: lane).map { need in
            "\(ResourceAmount(name: need.name, amount: max(0, free(need.name, onHost: place))).shortText) of "
                + ResourceAmount(name: need.name, amount: workers.hosts[place].capacity.amount(of: need.name)).text
        }
        let kept = keptShare(of: lane, onHost: place, isAlone: isAlone, for: reader)
        return "on \(durable.workers[worker].identity.host) \(spare.joined(separator: ", ")) are free\(kept)"
    }

    /// Of what is free of what the class needs: what it does not get, or gets first, because the host is kept.
    private func keptShare(of lane: Int, onHost place: Int, isAlone: Bool, for reader: Authority) -> String {
        guard let other = workers.hosts[place].keptFor else { return "" }
        if other == lane { return ", which are kept for it" }
        // It takes what is kept for others.
        guard !isAlone else { return "" }
        let kept = classes.need(of: lane).map { need in
            let amount = min(free(need.name, onHost: place), classes.need(of: other).amount(of: need.name))
            return ResourceAmount(name: need.name, amount: amount)
        }.filter { $0.amount > 0 }
        return kept.isEmpty ? "" : ", with \(Requirements(resources: kept).text) kept for \(keeper(ofClass: other, for: reader))"
    }

    /// For whom a host is kept that is kept for the class, and why.
    private func keeper(ofClass lane: Int, for reader: Authority) -> String {
        let isOverdue = demands.isOverdue(lane)
        let alone = ready.suspects.first { isWaiting($0) && operationClass(of: $0) == lane }
        guard let unit = isOverdue ? nextWaiting(lane) ?? alone : alone else { return "another operation" }
        let name = mayRead(unit, reader) ? durable.name(of: unit) : "another's operation"
        return "\(name), which \(isOverdue ? "was passed over" : "is to run alone")"
    }

    /// How much of what the class needs is free, in thousandths.
    private func share(_ lane: Int, _ worker: Int) -> Int64 {
        classes.need(of: lane).map { free($0.name, onHost: host(of: worker)) / max(1, $0.amount / 1_000) }.min() ?? 0
    }

    /// Why nobody could take units of the node, which are of this class.
    func workerGap(ofNode place: Int, _ index: Int, _ lane: Int, there: [Int]) -> WorkerWait.Reason {
        let drained = workers.sessions.indices.filter { isOnlyDrained($0) && couldTake(lane, worker: $0) }
        if let first = drained.first, let drain = durable.drains[durable.workers[first].identity.givenName] {
            return .drained(worker: durable.workers[first].identity.givenName, drain, others: drained.count - 1)
        }
        return keptOut(absentWorkers(for: lane)) ?? gap(ofNode: place, index, there: there)
    }

    /// Executors that could take units of the class, and are neither there nor ended; without those that only a drain keeps.
    func absentWorkers(for lane: Int) -> [Int] {
        workers.sessions.indices.filter {
            !durable.workers[$0].hasEnded && !durable.workers[$0].identity.isSubmitter && couldTake(lane, worker: $0) && !isOnlyDrained($0)
        }
    }

    /// What keeps an executor out that is not there; nil: nothing is known of that, or it is there.
    func bar(ofWorker worker: Int) -> WorkerBar? {
        let session = workers.sessions[worker]
        return session.isAttached && !session.isSuspected ? nil : session.bar
    }

    /// Whether a key is why none of them is there; nil: it is not, or there is none.
    ///
    /// The one that was heard last decides: those before it may be gone for good, and it is the one that is missed.
    private func keptOut(_ absent: [Int]) -> WorkerWait.Reason? {
        func heard(_ worker: Int) -> (Int64, Int) { (workers.sessions[worker].lastHeard, bar(ofWorker: worker) == nil ? 0 : 1) }
        guard let last = absent.max(by: { heard($0) < heard($1) }), let bar = bar(ofWorker: last) else { return nil }
        return .barred(
            worker: durable.workers[last].identity.name, bar, since: workers.sessions[last].barredAt,
            others: absent.count { self.bar(ofWorker: $0) == bar } - 1)
    }

    /// What none of these workers has for the node.
    private func gap(ofNode place: Int, _ index: Int, there: [Int]) -> WorkerWait.Reason {
        guard !there.isEmpty else { return .noWorker }
        let node = durable.submissions[index].layout.graph.nodes[place]
        if let operation = node.registered {
            let signatures = there.compactMap { worker in workers.sessions[worker].operations.first { $0.name == operation.type } }
            guard !signatures.isEmpty else { return .operation(operation.type) }
            guard signatures.contains(where: { $0.takes(version: operation.version) }) else {
                return .version(operation.version, of: operation.type)
            }
        }
        for type in node.probeTypes where !there.contains(where: { workers.sessions[$0].conditions.contains(type) }) {
            return .condition(type)
        }
        return durable.submissions[index].layout.requirements?.requirements(of: place).map { .requirements($0) } ?? .together
    }

    func resourceViews(of worker: Int) -> [ResourceView] {
        let host = host(of: worker)
        return workers.hosts[host].capacity.map { resource in
            ResourceView(
                name: resource.name, amount: resource.amount, taken: durable.resources.taken(of: resource.name, on: host))
        }
    }
}

extension ResourceAmount {
    /// Without its name.
    fileprivate var shortText: String { isMemory ? ByteCount.text(amount) : "\(amount)" }
}
