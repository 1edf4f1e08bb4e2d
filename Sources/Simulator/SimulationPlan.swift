/// One run: everything else follows from it.
public struct SimulationPlan: Hashable, Sendable {
    public var seed: UInt64
    /// A fault of the cluster's own code that is put in; nil: none.
    public var defect: PlantedDefect?
    /// Of those that the seed draws, only these happen.
    public var faults: FaultMix
    /// Of those that the seed draws, graphs have only these features.
    public var features: WorkFeatures
    /// Graphs have these features, whatever the seed draws.
    public var added: WorkFeatures
    /// Of those that the seed draws, only the first so many are submitted.
    public var submissionsMax: Int
    /// Whether the last events are kept for the report.
    public var keepsTrace: Bool

    public init(
        seed: UInt64, defect: PlantedDefect? = nil, faults: FaultMix = FaultMix(rawValue: .max), submissionsMax: Int = .max,
        features: WorkFeatures = WorkFeatures(rawValue: .max), added: WorkFeatures = [], keepsTrace: Bool = false
    ) {
        (self.seed, self.defect, self.faults, self.submissionsMax, self.keepsTrace) = (seed, defect, faults, submissionsMax, keepsTrace)
        (self.features, self.added) = (features, added)
    }

    /// The smallest plan that still breaks something: faults are left out one after the other, features of graphs, and submissions.
    ///
    /// - Returns: its report, with the last events.
    public func minimised() -> SimulationReport {
        var smallest = self
        smallest.keepsTrace = false
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            for fault in FaultMix.names.map(\.fault) where smallest.faults.contains(fault) {
                var candidate = smallest
                candidate.faults.remove(fault)
                guard Simulation(candidate).run().violation != nil else { continue }
                (smallest, isSmaller) = (candidate, true)
            }
            for feature in WorkFeatures.names.map(\.feature) where smallest.features.contains(feature) {
                var candidate = smallest
                (candidate.features, candidate.added) = (smallest.features.subtracting(feature), smallest.added.subtracting(feature))
                guard Simulation(candidate).run().violation != nil else { continue }
                (smallest, isSmaller) = (candidate, true)
            }
            for count in 1..<3 where count < smallest.submissionsMax {
                var candidate = smallest
                candidate.submissionsMax = count
                guard Simulation(candidate).run().violation != nil else { continue }
                (smallest, isSmaller) = (candidate, true)
                break
            }
        }
        smallest.keepsTrace = true
        return Simulation(smallest).run()
    }
}

/// What came of a run.
public struct SimulationReport: Sendable {
    public let plan: SimulationPlan
    /// Those that could happen.
    public let faults: FaultMix
    /// Those that its graphs could have.
    public let features: WorkFeatures
    /// What was wrong first; nil: nothing.
    public let violation: String?
    /// The last events before that.
    public let trace: [String]
    /// Of the coordinator.
    public let steps: Int
    /// Of virtual time.
    public let milliseconds: Int64
    public let coverage: SimulationCoverage
}
