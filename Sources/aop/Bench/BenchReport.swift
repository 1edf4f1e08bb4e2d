import Benchmark

/// What `bench` says.
struct BenchReport {
    /// Microseconds of an empty closure through Dispatch; nil: no workload of the library was measured.
    let floor: Double?
    private(set) var workloads: [WorkloadReport] = []
    /// Nil: no workload of a cluster was measured.
    var clusters: ClusterReport?
    /// Nil: there is no earlier run beside it.
    private(set) var comparison: BenchComparison?

    init(floor: Double?) { self.floor = floor }

    mutating func add(_ report: WorkloadReport) { workloads.append(report) }

    mutating func compare(with earlier: EarlierBench) { comparison = BenchComparison(of: self, with: earlier) }

    /// A number of operations, with its thousands set apart.
    static func grouped(_ number: Int) -> String {
        var digits = String(number)
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return ([digits] + groups).joined(separator: ",")
    }

    /// To two decimals.
    static func number(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }
}

// MARK: - For people

extension BenchReport {
    var text: String {
        [workloads.isEmpty ? nil : libraryText, clusters?.text, comparison?.text].compactMap(\.self).joined(separator: "\n")
    }

    private var libraryText: String {
        var table = Table(["WORKLOAD", "N", "KIND", "SLOTS", "µs/OP", "FOUNDATION µs/OP", "RATIO", "OPS/S", "PEAK MiB OURS/FOUNDATION"])
        for workload in workloads {
            for variant in workload.variants { table.add(row(workload, variant)) }
        }
        return table.text + "\n" + notes.map { "\($0)\n" }.joined()
    }

    private func row(_ report: WorkloadReport, _ variant: VariantReport) -> [String] {
        let foundationCount = min(report.count, report.workload.foundationMaximum)
        let isLess = foundationCount < report.count
        return [
            "\(report.workload.id) \(report.workload.name)", Self.grouped(report.count), variant.variant.kind.rawValue,
            variant.variant.limit.map { "\($0)" } ?? "default",
            Self.number(variant.ours.microsecondsPerOperation),
            Self.number(variant.foundation.microsecondsPerOperation) + (isLess ? " (N \(Self.grouped(foundationCount)))" : ""),
            Self.number(variant.ratio),
            Self.grouped(Int(variant.ours.operationsPerSecond)),
            "\(Self.mebibytes(variant.ours.peakBytes))/\(Self.mebibytes(variant.foundation.peakBytes))",
        ]
    }

    private var notes: [String] {
        var notes = floor.map { ["floor: \(Self.number($0)) µs for an empty closure through Dispatch"] } ?? []
        for report in workloads {
            guard let teardown = report.teardown else { continue }
            notes.append(
                "\(report.workload.id) of \(Self.grouped(report.count)) is released in \(Self.number(teardown.afterRun * 1000)) ms after its "
                    + "run, in \(Self.number(teardown.neverRun * 1000)) ms if it never ran")
        }
        if workloads.contains(where: { $0.count > $0.workload.foundationMaximum }) {
            notes.append("(N …): Foundation's cost rises with the number that waits, and it overflows the stack at long chains")
        }
        if Self.isDebugBuild { notes.append("this is a debug build: its times say nothing about the library") }
        return notes
    }

    private static func mebibytes(_ bytes: Int?) -> String {
        bytes.map { "\(Int((Double($0) / 1_048_576).rounded()))" } ?? "-"
    }

    /// A line per workload and size: id, size, microseconds per operation. Beside an earlier run its lines.
    var bareText: String {
        if let comparison { return comparison.bareText }
        return workloads.map { report in
            let time = report.variants.first.map { Self.number($0.ours.microsecondsPerOperation) } ?? "-"
            return "\(report.workload.id) \(report.count) \(time)\n"
        }.joined() + (clusters?.bareText ?? "")
    }

    static var isDebugBuild: Bool {
        #if DEBUG
            true
        #else
            false
        #endif
    }
}
