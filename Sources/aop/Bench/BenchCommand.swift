import ArgumentParser
import Benchmark

struct BenchCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure the library on this machine, beside Foundation's OperationQueue.",
        discussion: """
            \(Workload.allCases.map { "\($0.id)  \($0.name)" }.joined(separator: "\n"))

            Every workload runs on both queues in turn, with operations that do
            nothing: what is measured is what the queues cost. Each figure is
            the median of --repeat measurements. Use a release build.

            Examples:
              aop bench
              aop bench L1 L2 --repeat 5
              aop bench L1 --n 1000000 -o json | jq '.workloads[].operationsPerSecond'
            """)

    @Argument(help: "Which workloads, by id; all of them by default.")
    var workloads: [String] = []
    @Option(help: "How many operations, in place of each workload's own sizes.")
    var n: Int?
    @Option(name: .customLong("repeat"), help: "How often each queue is measured.")
    var repeats: Int = 3
    @Flag(help: "Measure all sizes of each workload. Takes minutes.")
    var full = false
    @OptionGroup var output: OutputOptions

    private static let sizes = 1...10_000_000
    private static let repetitions = 1...100

    func validate() throws {
        _ = try chosen()
        if let n, !Self.sizes.contains(n) {
            throw ValidationError("--n \(n): use a number from 1 to \(Self.sizes.upperBound)")
        }
        if !Self.repetitions.contains(repeats) {
            throw ValidationError("--repeat \(repeats): use a number from 1 to \(Self.repetitions.upperBound)")
        }
        if n != nil, full {
            throw ValidationError("--n and --full: the one asks for one size, the other for all; use one of them")
        }
    }

    /// The workloads that were asked for, each once, in the order in which they were named.
    private func chosen() throws -> [Workload] {
        var chosen: [Workload] = []
        for id in workloads {
            guard let workload = Workload(id: id) else {
                let known = Workload.allCases.map { "\($0.id) (\($0.name))" }.joined(separator: ", ")
                throw ValidationError("there is no workload `\(id)`; there are \(known)")
            }
            if !chosen.contains(workload) { chosen.append(workload) }
        }
        return chosen.isEmpty ? Workload.allCases : chosen
    }

    private func sizes(of workload: Workload) -> [Int] {
        if let n { return [n] }
        return full ? workload.allSizes : workload.standardSizes
    }

    func execute(_ console: Console) async throws -> ExitStatus {
        let benchmark = LocalBenchmark(repeats: repeats)
        let floor = try await OwnThread.run { DispatchFloor.microseconds(repeats: benchmark.repeats) }
        var report = BenchReport(floor: floor)
        for workload in try chosen() {
            for size in sizes(of: workload) {
                console.hint("\(workload.id) \(workload.name), \(BenchReport.grouped(size)) operations …")
                report.add(try await OwnThread.run { try benchmark.run(workload, count: size) })
            }
        }
        switch console.mode {
        case .json: try await console.writeValue(report.json)
        case .jsonl: for line in report.lines { try await console.writeValue(line) }
        case .quiet: try await console.write(report.bareText)
        case .text: try await console.write(report.text)
        }
        return .success
    }
}
