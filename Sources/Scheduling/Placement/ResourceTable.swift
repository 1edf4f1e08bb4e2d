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
    private struct Host {
        var taken: [AssignedResource] = []
    }

    private struct Holding {
        let host: Int
        let resources: [AssignedResource]
    }

    private var hosts: [Host] = []
    /// Looked up, never iterated.
    private var hostBySupervisor: [Incarnation: Int] = [:]
    private var holdings: [UnitID: Holding] = [:]

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
    mutating func release(_ unit: UnitID) {
        guard let holding = holdings.removeValue(forKey: unit) else { return }
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
