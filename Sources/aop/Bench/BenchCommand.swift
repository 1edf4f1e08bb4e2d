import ArgumentParser
import Benchmark
import Foundation
import Shapes
import Wire

struct BenchCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure the library and a cluster on this machine.",
        discussion: """
            The library's queue, beside Foundation's OperationQueue:
            \(list(Workload.allCases.map { ($0.id, $0.name) }))
            A coordinator with its journal on disk and a worker, processes of this machine:
            \(list(ClusterWorkload.allCases.map { ($0.id, $0.name) }))

            The operations do nothing: what is measured is what queues and
            clusters cost. Each figure is the median of --repeat measurements.
            Use a release build, and let nothing else run.

            Examples:
              aop bench
              aop bench L1 L2 --repeat 5
              aop bench W1 W4 --data .
              aop bench W1 W4 --curve
              aop bench W1 W2 -o json > before.json
              aop bench W1 W2 --compare before.json
              aop bench L1 --n 1000000 -o json | jq '.workloads[].operationsPerSecond'
            """)

    private static func list(_ workloads: [(id: String, name: String)]) -> String {
        workloads.map { "  \($0.id.padding(toLength: 5, withPad: " ", startingAt: 0))\($0.name)" }.joined(separator: "\n")
    }

    /// Any workload that can be asked for.
    private enum Chosen: Equatable {
        case library(Workload)
        case cluster(ClusterWorkload)

        init?(id: String) {
            if let workload = Workload(id: id) {
                self = .library(workload)
            } else if let workload = ClusterWorkload(id: id) {
                self = .cluster(workload)
            } else {
                return nil
            }
        }

        static var all: [Chosen] { Workload.allCases.map(Chosen.library) + ClusterWorkload.allCases.map(Chosen.cluster) }

        var title: (id: String, name: String) {
            switch self {
            case .library(let workload): (workload.id, workload.name)
            case .cluster(let workload): (workload.id, workload.name)
            }
        }
    }

    @Argument(help: "Which workloads, by id; all of them by default.")
    var workloads: [String] = []
    @Option(help: "How many operations, in place of each workload's own sizes.")
    var n: Int?
    @Option(
        name: .customLong("repeat"), help: "How often each is measured. (default: 3, of clusters 1, with --full 3)")
    var repeats: Int?
    @Flag(help: "Measure all sizes of each workload. Takes minutes.")
    var full = false
    @Option(help: "Make the journals of clusters in this directory. (default: where temporary files are)", completion: .directory)
    var data: String?
    @Flag(help: "Let the processes of clusters have keys: what they say to each other is encrypted.")
    var curve = false
    @Option(
        help: "Show every figure beside that of an earlier run, which `aop bench -o json` has written to this file.",
        completion: .file())
    var compare: String?
    @OptionGroup var output: OutputOptions

    private static let sizes = 1...10_000_000
    private static let repetitions = 1...100

    func validate() throws {
        try DataOption.check(data)
        _ = try chosen()
        _ = try earlier()
        if let n, !Self.sizes.contains(n) {
            throw ValidationError("--n \(n): use a number from 1 to \(Self.sizes.upperBound)")
        }
        if let repeats, !Self.repetitions.contains(repeats) {
            throw ValidationError("--repeat \(repeats): use a number from 1 to \(Self.repetitions.upperBound)")
        }
        if n != nil, full {
            throw ValidationError("--n and --full: the one asks for one size, the other for all; use one of them")
        }
    }

    private func earlier() throws -> EarlierBench? {
        guard let compare else { return nil }
        do throws(EarlierBench.Unreadable) { return try EarlierBench(file: compare) } catch {
            throw ValidationError("--compare \(compare): it \(error); write one with `aop bench -o json > \(compare.shellWord)`")
        }
    }

    /// The workloads that were asked for, each once, in the order in which they were named.
    private func chosen() throws -> [Chosen] {
        var chosen: [Chosen] = []
        for id in workloads {
            guard let workload = Chosen(id: id) else {
                let known = Chosen.all.map(\.title).map { "\($0.id) (\($0.name))" }.joined(separator: ", ")
                throw ValidationError("there is no workload `\(id)`; there are \(known)")
            }
            if !chosen.contains(workload) { chosen.append(workload) }
        }
        return chosen.isEmpty ? Chosen.all : chosen
    }

    func execute(_ console: Console) async throws -> ExitStatus {
        var (library, clusters): ([Workload], [ClusterWorkload]) = ([], [])
        for chosen in try chosen() {
            switch chosen {
            case .library(let workload): library.append(workload)
            case .cluster(let workload): clusters.append(workload)
            }
        }
        // Whatever becomes of its file meanwhile.
        let earlier = try earlier()
        var report = BenchReport(
            floor: library.isEmpty ? nil : try await OwnThread.run { DispatchFloor.microseconds(repeats: repeats ?? 3) })
        for workload in library {
            for size in n.map({ [$0] }) ?? (full ? workload.allSizes : workload.standardSizes) {
                console.hint("\(workload.id) \(workload.name), \(BenchReport.grouped(size)) operations …")
                report.add(try await OwnThread.run { try LocalBenchmark(repeats: repeats ?? 3).run(workload, count: size) })
            }
        }
        if !clusters.isEmpty { report.clusters = try await measure(clusters, console) }
        if let earlier { report.compare(with: earlier) }
        switch console.mode {
        case .json: try await console.writeValue(report.json)
        case .jsonl: for line in report.lines { try await console.writeValue(line) }
        case .quiet: try await console.write(report.bareText)
        case .text: try await console.write(report.text)
        }
        return .success
    }

    private func measure(_ workloads: [ClusterWorkload], _ console: Console) async throws -> ClusterReport {
        let data = data.map { $0.hasPrefix("/") ? $0 : FileManager.default.currentDirectoryPath + "/" + $0 }
        let (messages, message) = AsyncStream<String>.makeStream()
        let relay = Task { for await line in messages { await console.warn(line) } }
        let benchmark = ClusterBenchmark(
            repeats: repeats ?? (full ? 3 : 1),
            options: BenchCluster.Options(
                data: data, curve: curve, logLevel: output.effectiveLogLevel(default: .error).rawValue
            ) { message.yield($0) })
        let directory = data ?? NSTemporaryDirectory()
        var report = ClusterReport(floor: try await OwnThread.run { try MachineFloor.measure(in: directory) }, curve: curve)
        for workload in workloads {
            for size in n.map({ [$0] }) ?? (full ? workload.allSizes : [workload.standardSize]) {
                console.hint("\(workload.id) \(workload.name), \(BenchReport.grouped(size)) operations …")
                report.add(try await benchmark.run(workload, count: size))
            }
        }
        message.finish()
        await relay.value
        return report
    }
}
