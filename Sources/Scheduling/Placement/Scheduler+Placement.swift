/// Resources: which units fit, and how those that need much get their turn among those that need little.
extension Scheduler {
    func host(of worker: Int) -> Int { durable.workers[worker].host }

    /// Whether the executor could take units of the class when everything on its host is free.
    func couldTake(_ lane: Int, worker: Int) -> Bool {
        workers.sessions[worker].lanes.contains(lane) || workers.sessions[worker].demandingLanes.contains(lane)
    }

    /// Whether what a unit of the class needs is free on the host now. What is kept for another class counts as taken.
    func fits(_ lane: Int, onHost host: Int) -> Bool {
        let kept = workers.hosts[host].keptFor.map { $0 == lane ? [] : classes.need(of: $0) } ?? []
        return classes.need(of: lane).allSatisfy { need in
            need.amount <= free(need.name, onHost: host) - kept.amount(of: need.name)
        }
    }

    /// As ``fits(_:onHost:)`` for a unit that runs alone, for which an executor is kept already: were it to wait for what is kept for
    /// another class, that might wait for the executor.
    func fitsAlone(_ lane: Int, onHost host: Int) -> Bool {
        classes.need(of: lane).allSatisfy { $0.amount <= free($0.name, onHost: host) }
    }

    /// Below 0: an executor that said more was there is gone.
    func free(_ name: String, onHost host: Int) -> Int64 {
        workers.hosts[host].capacity.amount(of: name) - durable.resources.taken(of: name, on: host)
    }

    /// The classes that take resources, wait, and fit where the executor is.
    /// - Complexity: O(waiting classes that take resources).
    func fittingLanes(of worker: Int) -> [Int] {
        demands.entries.lazy.map(\.lane).filter { lane in
            workers.sessions[worker].demandingLanes.contains(lane) && isAwaited(lane) && fits(lane, onHost: host(of: worker))
        }
    }

    private func isAwaited(_ lane: Int) -> Bool { ready.isWaiting(lane: lane) }

    /// The unit of the class that is next; nil: none waits, or those in front do no more.
    func nextWaiting(_ lane: Int) -> UnitID? {
        if let unit = ready.next(lane: lane, .plain), isWaiting(unit) { return unit }
        return ready.next(lane: lane, .conditioned).flatMap { isWaiting($0) && conditionedUnits[$0] == lane ? $0 : nil }
    }

    /// A unit waits for a worker.
    mutating func noteDemand(_ lane: Int) {
        if classes.takesResources(lane) { demands.open(lane) }
    }

    /// A unit was handed out: others of which some unit waits for the same resources were passed over.
    mutating func noteServed(_ unit: UnitID, by worker: Int) {
        let lane = operationClass(of: unit)
        guard classes.takesResources(lane), !demands.isEmpty else { return }
        if let host = demands.host(of: lane) { workers.hosts[host].keptFor = nil }
        demands.serve(lane)
        let names = classes.need(of: lane).map(\.name)
        let priority = durable.submissions[durable.index(of: unit.submission)].priority(unit.index)
        for entry in demands.entries where entry.lane != lane && workers.sessions[worker].demandingLanes.contains(entry.lane) {
            guard classes.need(of: entry.lane).contains(where: { names.contains($0.name) }) else { continue }
            guard let waiting = ready.highestPriority(lane: entry.lane) else { continue }
            demands.passOver(entry.lane, byLower: waiting - priority)
        }
        keepHosts()
    }

    /// Looks after the classes that wait: forgets those that do no more, and keeps hosts for those that are overdue.
    ///
    /// - Returns: whether a host is not kept any more for the class that it was kept for.
    @discardableResult
    mutating func reviewDemands() -> Bool {
        guard !demands.isEmpty else { return false }
        var isFreed = false
        var over: [Int] = []
        let suspects = Set(ready.suspects.map { operationClass(of: $0) })
        for entry in demands.entries {
            dropStopped(entry.lane)
            let isOver = !isAwaited(entry.lane) && !suspects.contains(entry.lane)
            if isOver { over.append(entry.lane) }
            guard let host = entry.host, isOver || !hasTaker(entry.lane, onHost: host) else { continue }
            workers.hosts[host].keptFor = nil
            demands.keep(nil, for: entry.lane)
            isFreed = true
        }
        demands.close(over)
        keepHosts()
        return isFreed
    }

    /// For those that are overdue and have none; who was passed over most comes first, so that each has its turn.
    private mutating func keepHosts() {
        let overdue = demands.entries.enumerated().filter { $0.element.isOverdue && $0.element.host == nil }
        for (_, entry) in overdue.sorted(by: { (-$0.element.passedOver, $0.offset) < (-$1.element.passedOver, $1.offset) }) {
            keepHost(for: entry.lane)
        }
    }

    /// Keeps a host for the class: the one where the least is missing of those that are kept for nobody. Everybody else
    /// gets only what it does not need there, so that it fits when what runs has ended.
    private mutating func keepHost(for lane: Int) {
        var best: (host: Int, missing: Int64)?
        for worker in workers.sessions.indices where canTake(worker) && workers.sessions[worker].demandingLanes.contains(lane) {
            let host = host(of: worker)
            guard workers.hosts[host].keptFor == nil else { continue }
            let missing =
                classes.need(of: lane).map { need in
                    // In thousandths of what is needed, which may be a large number of bytes.
                    max(0, need.amount - free(need.name, onHost: host)) / max(1, need.amount / 1_000)
                }.max() ?? 0
            if missing < best?.missing ?? .max { best = (host, missing) }
        }
        if let best { keep(host: best.host, for: lane) }
    }

    private mutating func keep(host: Int, for lane: Int) {
        workers.hosts[host].keptFor = lane
        demands.keep(host, for: lane)
    }

    /// A unit that has to run alone has an executor for itself, but not what it needs of the host: it is kept for it.
    mutating func keepHost(_ host: Int, forSuspectOf lane: Int) {
        demands.open(lane)
        if demands.host(of: lane) == nil, workers.hosts[host].keptFor == nil { keep(host: host, for: lane) }
    }

    private func hasTaker(_ lane: Int, onHost host: Int) -> Bool {
        workers.sessions.indices.contains { worker in
            self.host(of: worker) == host && canTake(worker) && workers.sessions[worker].demandingLanes.contains(lane)
        }
    }

    /// Units at the front that were stopped while they waited wait for nothing.
    private mutating func dropStopped(_ lane: Int) {
        while let unit = ready.next(lane: lane, .plain), !isWaiting(unit) { ready.dropNext(lane: lane, .plain) }
        while let unit = ready.next(lane: lane, .conditioned), !isWaiting(unit) || conditionedUnits[unit] != lane {
            if conditionedUnits[unit] == lane { conditionedUnits[unit] = nil }
            ready.dropNext(lane: lane, .conditioned)
        }
    }
}
