import Foundation
import Simulator
import Testing

/// Whole clusters in virtual time. `AOP_SIMULATION_SEEDS` says how many seeds each of the eight parts takes; builds without optimisation
/// are slow, `make soak` is for many.
@Suite struct SimulatorTests {
    private static let seeds = ProcessInfo.processInfo.environment["AOP_SIMULATION_SEEDS"].flatMap { UInt64($0) } ?? 50
    private static let parts: UInt64 = 8

    @Test(arguments: 0..<parts) func seeds_breakNoPromise(part: UInt64) {
        for seed in part * Self.seeds..<(part + 1) * Self.seeds {
            let report = Simulation(SimulationPlan(seed: seed)).run()
            #expect(report.violation == nil, "seed \(seed); `aop-sim --seed \(seed)` shows what happened")
        }
    }

    /// A simulation that finds nothing may be blind: each of these has to be found. What needs many seeds is left to
    /// `make soak`.
    @Test(arguments: PlantedDefect.allCases.filter { $0.seedsMax <= 1_000 }) func plantedDefect_isFound(
        _ defect: PlantedDefect
    ) {
        let found = defect.seeds.first { Simulation(SimulationPlan(seed: $0, defect: defect)).run().violation != nil }
        #expect(found != nil, "\(defect.rawValue) is not found within \(defect.seedsMax) seeds")
    }

    /// Two that run alone had both executors of a host for themselves, and waited for what was kept there for a third one.
    @Test(arguments: [15_076] as [UInt64]) func seedThatFoundAFault_breaksNoPromise(seed: UInt64) {
        #expect(Simulation(SimulationPlan(seed: seed)).run().violation == nil)
    }

    @Test(arguments: [7, 91] as [UInt64]) func sameSeed_givesTheSameRun(seed: UInt64) {
        let plan = SimulationPlan(seed: seed, keepsTrace: true)
        let (first, second) = (Simulation(plan).run(), Simulation(plan).run())
        #expect(first.trace == second.trace)
        #expect(!first.trace.isEmpty)
    }

    /// What is printed of a run that breaks something is as small as can be, and breaks it still.
    @Test func runThatBreaksSomething_isMadeSmaller() throws {
        // It is found by the first seed, and soon: this is not optimised.
        let plan = SimulationPlan(seed: 0, defect: .hostOversold)
        let (whole, small) = (Simulation(plan).run(), plan.minimised())
        #expect(whole.violation != nil && small.violation != nil)
        #expect(small.faults.isStrictSubset(of: whole.faults))
        #expect(!small.trace.isEmpty)
    }
}
