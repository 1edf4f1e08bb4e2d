/// What an attempt has of a resource of its host.
public struct AssignedResource: Hashable, Sendable {
    public var name: String
    public var amount: Int64
    /// Which of them, from 0, no other attempt on the host has; empty: it is only counted (`memory`, large amounts).
    public var indices: [Int]

    public init(name: String, amount: Int64, indices: [Int]) {
        self.name = name
        self.amount = amount
        self.indices = indices
    }
}

/// What attempts have taken of the resources of worker hosts. A host is a supervisor with its executors; an executor
/// without one is a host of its own.
///
/// It follows from who was given what and what has ended, and is worked out by `evolve`: a folded journal has the same
/// numbers in use. How much there is workers say when they attach; that is looked at when something is given out.
struct ResourceTable {
    struct Host {
        var taken: [AssignedResource] = []
    }

    /// An attempt under which a lock was released.
    struct Orphan: Hashable {
        let unit: UnitID
        let attempt: Attempt
        let worker: WorkerNumber
    }

    struct Holding {
        let host: Int
        let resources: [AssignedResource]
    }

    var hosts: [Host] = []
    /// Looked up, never iterated.
    var hostBySupervisor: [Incarnation: Int] = [:]
    var holdings: [UnitID: Holding] = [:]
    /// Of attempts that are nobody's any more and may still run.
    var orphans: [Orphan: Holding] = [:]

    var hostCount: Int { hosts.count }
    /// How many units have taken something.
    var holdingCount: Int { holdings.count }

    /// The host of an executor that was just met.
    mutating func host(of identity: WorkerIdentity) -> Int {
        let hasSupervisor = identity.supervisor.rawValue != 0
        if hasSupervisor, let known = hostBySupervisor[identity.supervisor] { return known }
        hosts.append(Host())
        if hasSupervisor { hostBySupervisor[identity.supervisor] = hosts.count - 1 }
        return hosts.count - 1
    }

    func taken(of name: String, on host: Int) -> Int64 { hosts[host].taken.first { $0.name == name }?.amount ?? 0 }

    /// What the unit's attempt has.
    func holding(of unit: UnitID) -> [AssignedResource] { holdings[unit]?.resources ?? [] }

    /// The unit's attempt takes what it needs: of numbered resources those with the lowest numbers that are free.
    mutating func take(_ need: [ResourceAmount], for unit: UnitID, on host: Int) {
        precondition(holdings[unit] == nil, "unit \(unit.rawValue) takes resources twice")
        var resources: [AssignedResource] = []
        for amount in need {
            let place = place(of: amount.name, on: host)
            var indices: [Int] = []
            if amount.isNumbered {
                indices = Self.lowestFree(Int(amount.amount), besides: hosts[host].taken[place].indices)
                hosts[host].taken[place].indices = (hosts[host].taken[place].indices + indices).sorted()
            }
            hosts[host].taken[place].amount += amount.amount
            resources.append(AssignedResource(name: amount.name, amount: amount.amount, indices: indices))
        }
        holdings[unit] = Holding(host: host, resources: resources)
    }

    /// The unit's attempt is over.
    mutating func release(_ unit: UnitID) { give(back: holdings.removeValue(forKey: unit)) }

    /// The attempt is the unit's no longer, and keeps what it has until nothing of it runs.
    mutating func orphan(_ orphan: Orphan) { orphans[orphan] = holdings.removeValue(forKey: orphan.unit) }

    /// Nothing of these attempts runs any more.
    mutating func releaseOrphans(where isOver: (Orphan) -> Bool) {
        for orphan in orphans.keys where isOver(orphan) { give(back: orphans.removeValue(forKey: orphan)) }
    }

    func hasOrphan(_ unit: UnitID, _ attempt: Attempt) -> Bool { orphans.keys.contains { $0.unit == unit && $0.attempt == attempt } }

    /// Attempts of the worker that are nobody's any more and may still run, as far as they have resources.
    func orphans(on worker: WorkerNumber) -> [Orphan] {
        guard !orphans.isEmpty else { return [] }
        return orphans.keys.filter { $0.worker == worker }.sorted { $0.attempt < $1.attempt }
    }

    /// What such attempts have, with the number of the host: for checks.
    var orphaned: [(host: Int, resources: [AssignedResource])] { orphans.values.map { ($0.host, $0.resources) } }

    private mutating func give(back holding: Holding?) {
        guard let holding else { return }
        for resource in holding.resources {
            let place = place(of: resource.name, on: holding.host)
            hosts[holding.host].taken[place].amount -= resource.amount
            if !resource.indices.isEmpty { hosts[holding.host].taken[place].indices.removeAll(where: resource.indices.contains) }
        }
    }

    private mutating func place(of name: String, on host: Int) -> Int {
        if let place = hosts[host].taken.firstIndex(where: { $0.name == name }) { return place }
        hosts[host].taken.append(AssignedResource(name: name, amount: 0, indices: []))
        return hosts[host].taken.count - 1
    }

    /// - Parameter taken: sorted.
    private static func lowestFree(_ count: Int, besides taken: [Int]) -> [Int] {
        var free: [Int] = []
        var rest = taken[...]
        var next = 0
        while free.count < count {
            if rest.first == next { rest.removeFirst() } else { free.append(next) }
            next += 1
        }
        return free
    }
}
