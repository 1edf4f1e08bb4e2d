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
    @Flag(help: "Put each defect in, one after the other, and fail unless each is found within the number of seeds stated for it.")
    var planted = false
    @Option(help: "With --planted: leave out defects for which more seeds than these are stated.") var seedsMax: UInt64?
    @Flag(help: "Print the last events of the run.") var trace = false
    @Flag(
        help: """
            Fail if something that can be simulated has not occurred in any run: kinds of facts, faults, states that a fault met. \
            What is rare is looked for in up to \(Self.runsForRare) times as many runs.
            """)
    var complete = false

    @Option(name: .customLong("with"), parsing: .upToNextOption, help: "What graphs of every run have, else of some: \(Self.featureNames).")
    var features: [String] = []

    private static let runsForRare = 4
    private static let featureNames = WorkFeatures.names.map(\.name).joined(separator: ", ")

    private var added: WorkFeatures { WorkFeatures(WorkFeatures.names.filter { features.contains($0.name) }.map(\.feature)) }

    func validate() throws {
        if let unknown = features.first(where: { name in !WorkFeatures.names.contains { $0.name == name } }) {
            throw ValidationError("`--with \(unknown)`: there are \(Self.featureNames)")
        }
        guard runs > 0 else { throw ValidationError("`--runs \(runs)`: at least 1") }
        guard planted || seedsMax == nil else { throw ValidationError("`--seeds-max` is for `--planted`") }
        guard !planted || plant == nil else { throw ValidationError("`--planted` puts all defects in; leave out `--plant`") }
    }

    func run() throws {
        if planted { try findAll() } else { try simulate() }
    }

    private func findAll() throws {
        var missed: [PlantedDefect] = []
        for defect in PlantedDefect.allCases where defect.seedsMax <= seedsMax ?? .max {
            let seed = defect.seeds.first { Simulation(SimulationPlan(seed: $0, defect: defect)).run().violation != nil }
            print("\(defect.rawValue): \(seed.map { "found with seed \($0)" } ?? "NOT FOUND"), within \(defect.seedsMax)")
            if seed == nil { missed.append(defect) }
        }
        if !missed.isEmpty { throw ExitCode(1) }
    }

    private func simulate() throws {
        var total = (steps: 0, milliseconds: Int64(0))
        var coverage = SimulationCoverage()
        var done = 0
        while done < runs || (complete && done / Self.runsForRare < runs && !coverage.missing.isEmpty) {
            let report = Simulation(SimulationPlan(seed: seed &+ UInt64(done), defect: plant, added: added, keepsTrace: trace)).run()
            done += 1
            total.steps += report.steps
            total.milliseconds += report.milliseconds
            coverage.add(report.coverage)
            if trace { for line in report.trace { print(line) } }
            guard report.violation != nil else { continue }
            tell(report)
            throw ExitCode(1)
        }
        print("\(done) runs from seed \(seed), \(total.steps) steps, \(total.milliseconds / 1_000) s of virtual time: nothing found")
        show(coverage)
        guard complete, !coverage.missing.isEmpty else { return }
        print("never occurred: \(coverage.missing.joined(separator: ", "))")
        throw ExitCode(2)
    }

    private func show(_ coverage: SimulationCoverage) {
        func line(_ counts: [(String, Int)]) -> String { counts.sorted { $0.0 < $1.0 }.map { "\($0) \($1)" }.joined(separator: ", ") }
        print("facts: \(line(coverage.facts.map { ($0, $1) }))")
        print("faults: \(line(coverage.faults.map { ($0.description, $1) }))")
        let pairs = Dictionary(grouping: coverage.pairs) { $0.key.fault }.sorted { $0.key.description < $1.key.description }
        for (fault, met) in pairs { print("  \(fault) met: \(line(met.map { ("\($0.key.state)", $0.value) }))") }
    }

    private func tell(_ report: SimulationReport) {
        print("seed \(report.plan.seed): \(report.violation ?? "")")
        let small = report.plan.minimised()
        print("with \(small.faults); graphs with \(small.features); submissions at most \(small.plan.submissionsMax):")
        for line in small.trace { print("  \(line)") }
        let defect = plant.map { " --plant \($0.rawValue)" } ?? ""
        print("again: aop-sim --seed \(report.plan.seed)\(defect)\(features.isEmpty ? "" : " --with \(features.joined(separator: " "))")")
    }
}

extension PlantedDefect: ExpressibleByArgument {}
