/// Which faults a run has. Each seed draws its own: rare pairs would hide behind the many of a run that has everything.
public struct FaultMix: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let coordinatorCrashes = FaultMix(rawValue: 1 << 0)
    public static let executorCrashes = FaultMix(rawValue: 1 << 1)
    public static let hostLosses = FaultMix(rawValue: 1 << 2)
    public static let partitions = FaultMix(rawValue: 1 << 3)
    public static let brokenConnections = FaultMix(rawValue: 1 << 4)
    public static let hostPauses = FaultMix(rawValue: 1 << 5)
    public static let coordinatorPauses = FaultMix(rawValue: 1 << 6)
    public static let slowDisk = FaultMix(rawValue: 1 << 7)
    public static let slowNetwork = FaultMix(rawValue: 1 << 8)
    public static let clockJumps = FaultMix(rawValue: 1 << 9)
    public static let deafBodies = FaultMix(rawValue: 1 << 10)
    public static let failures = FaultMix(rawValue: 1 << 11)
    public static let cancellations = FaultMix(rawValue: 1 << 12)
    public static let pausedWork = FaultMix(rawValue: 1 << 13)
    public static let duplicatedRequests = FaultMix(rawValue: 1 << 14)
    public static let draining = FaultMix(rawValue: 1 << 15)
    /// Not a fault, but many of them matter only to what runs for longer than leases last.
    public static let longBodies = FaultMix(rawValue: 1 << 16)
    /// Operators take locks from those who hold them.
    public static let releasedLocks = FaultMix(rawValue: 1 << 17)

    /// Operators take workers out of service, and let them take work again.
    public static let drainedWorkers = FaultMix(rawValue: 1 << 18)

    /// The coordinator has little room for partial results.
    public static let fullSpools = FaultMix(rawValue: 1 << 19)
    /// The client's connection breaks.
    public static let clientLosses = FaultMix(rawValue: 1 << 20)

    public static let names: [(fault: FaultMix, name: String)] = [
        (.coordinatorCrashes, "coordinator-crashes"), (.executorCrashes, "executor-crashes"), (.hostLosses, "host-losses"),
        (.partitions, "partitions"), (.brokenConnections, "broken-connections"), (.hostPauses, "host-pauses"),
        (.coordinatorPauses, "coordinator-pauses"), (.slowDisk, "slow-disk"), (.slowNetwork, "slow-network"),
        (.clockJumps, "clock-jumps"), (.deafBodies, "deaf-bodies"), (.failures, "failures"), (.cancellations, "cancellations"),
        (.pausedWork, "paused-work"), (.duplicatedRequests, "duplicated-requests"), (.draining, "draining"),
        (.longBodies, "long-bodies"), (.releasedLocks, "released-locks"),
        (.drainedWorkers, "drained-workers"), (.fullSpools, "full-spools"), (.clientLosses, "client-losses"),
    ]

    /// Those that happen at a moment; the others are how things are as long as a run lasts.
    static let events: FaultMix = [
        .coordinatorCrashes, .executorCrashes, .hostLosses, .partitions, .brokenConnections, .hostPauses, .coordinatorPauses, .clockJumps,
        .cancellations, .pausedWork, .draining, .releasedLocks, .drainedWorkers,
        .clientLosses,
    ]

    /// All but `drainedWorkers`.
    static func draw(using random: inout SimulationRandom) -> FaultMix {
        var mix: FaultMix = []
        // Some runs have few of them, some nearly all.
        let share = 1 + random.below(4)
        for (fault, _) in names where fault != .drainedWorkers && random.below(4) < share { mix.insert(fault) }
        return mix
    }

    /// Those in it, each alone.
    var each: [FaultMix] { Self.names.map(\.fault).filter(contains) }
}

extension FaultMix: CustomStringConvertible {
    public var description: String { Self.names.filter { contains($0.fault) }.map(\.name).joined(separator: " ") }
}
