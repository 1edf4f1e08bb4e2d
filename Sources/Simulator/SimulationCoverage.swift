import Scheduling

/// A fault that has happened while something was in this state.
public struct FaultMeeting: Hashable, Sendable {
    public let fault: FaultMix
    public let state: OperationState
}

/// What has occurred in simulations, and how often: what never occurs is not tested.
public struct SimulationCoverage: Sendable {
    /// Facts that came to the disk, by kind.
    public internal(set) var facts: [String: Int] = [:]
    public internal(set) var faults: [FaultMix: Int] = [:]
    public internal(set) var pairs: [FaultMeeting: Int] = [:]

    public init() {}

    public mutating func add(_ other: SimulationCoverage) {
        facts.merge(other.facts, uniquingKeysWith: +)
        faults.merge(other.faults, uniquingKeysWith: +)
        pairs.merge(other.pairs, uniquingKeysWith: +)
    }

    /// What is simulated and has not occurred, in words. Many runs leave nothing out.
    public var missing: [String] {
        let events = FaultMix.names.filter { FaultMix.events.contains($0.fault) }
        let missingFacts = Self.factNames.filter { facts[$0] == nil }.map { "the fact \($0)" }
        let missingFaults = events.filter { faults[$0.fault] == nil }.map { "the fault \($0.name)" }
        let missingPairs = events.flatMap { fault, name in
            OperationState.allCases.filter { pairs[FaultMeeting(fault: fault, state: $0)] == nil }.map {
                "\(name) while something is \($0)"
            }
        }
        return missingFacts + missingFaults + missingPairs
    }

    /// Kinds of facts that simulations can bring about. Quarantine that is lifted is not simulated, nor what does not fit its type.
    static let factNames = [
        "assigned", "attemptEnded", "attemptLost", "attemptTimedOut", "cancelRequested", "deadlinePassed", "deathProven", "delayEnded",
        "epochStarted",
        "forgotten", "groupRestarted", "judged", "lateResultRefused", "lockCycleFound", "lockSeized", "locksAsked", "locksReturned",
        "offersRegistered", "orphanEnded", "outcomesKept", "paused", "preparationDue", "produced", "quarantineMet", "queueTimedOut",
        "resumed", "scopeRestarted", "signaturesRegistered", "stopBegun", "streamBegun", "submitted", "submitterMissed", "timedOut",
        "typesRegistered", "workerDrained", "workerEnded", "workerMet", "workerRemoved", "workerResumed", "zonesRegistered",
    ]
}
