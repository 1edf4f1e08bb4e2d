import ArgumentParser
import Simulator

@main
struct AopSim: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "aop-sim",
        abstract: "Runs whole clusters in virtual time, each under one seed, and looks for what must not be.",
        discussion: """
            The scheduler, sessions and executors' states are those of a real cluster; network, disk, clocks and processes are
            simulated, and fail. A run that breaks a promise is made as small as can be and printed; its seed repeats it.
            """)

    @Option(help: "The seed of the first run.") var seed: UInt64 = 1
    @Option(help: "How many runs, each with the next seed.") var runs = 1
    @Option(help: "A defect to put in, to see that it is found: \(PlantedDefect.allCases.map(\.rawValue).joined(separator: ", ")).")
    var plant: PlantedDefect?
    @Flag(help: "Print the last events of the run.") var trace = false

    func validate() throws {
        guard runs > 0 else { throw ValidationError("`--runs \(runs)`: at least 1") }
    }

    func run() throws {
        var total = (steps: 0, milliseconds: Int64(0))
        var facts: [String: Int] = [:]
        var faults: [String: Int] = [:]
        for number in 0..<UInt64(runs) {
            let report = Simulation(SimulationPlan(seed: seed &+ number, defect: plant, keepsTrace: trace)).run()
            total.steps += report.steps
            total.milliseconds += report.milliseconds
            facts.merge(report.facts, uniquingKeysWith: +)
            faults.merge(report.faultCounts, uniquingKeysWith: +)
            if trace { for line in report.trace { print(line) } }
            guard report.violation != nil else { continue }
            tell(report)
            throw ExitCode(1)
        }
        print("\(runs) runs from seed \(seed), \(total.steps) steps, \(total.milliseconds / 1_000) s of virtual time: nothing found")
        for (name, counts) in [("facts", facts), ("faults", faults)] {
            print("\(name): \(counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))")
        }
    }

    private func tell(_ report: SimulationReport) {
        print("seed \(report.plan.seed): \(report.violation ?? "")")
        let small = report.plan.minimised()
        print("with \(small.faults), submissions at most \(small.plan.submissionsMax):")
        for line in small.trace { print("  \(line)") }
        print("again: aop-sim --seed \(report.plan.seed)\(plant.map { " --plant \($0.rawValue)" } ?? "")")
    }
}

extension PlantedDefect: ExpressibleByArgument {}
