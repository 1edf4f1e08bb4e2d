/// Measures workloads on an `AOperationQueue` and on Foundation's `OperationQueue` in turn.
///
/// ```swift
/// let report = try LocalBenchmark(repeats: 3).run(.chain, count: 10_000)
/// print(report.variants[0].ratio)
/// ```
/// Blocks the calling thread: call it from a thread of its own. Other work of the process disturbs it.
public struct LocalBenchmark: Sendable {
    /// How often each queue is measured; the figures are medians.
    public var repeats: Int

    /// How many operations the warm-up of each variant has.
    private static let warmUpCount = 1_000

    /// - Parameter repeats: at least 1.
    public init(repeats: Int) {
        precondition(repeats > 0, "repeats is \(repeats): it must be 1 or more")
        self.repeats = repeats
    }

    /// Runs `workload` with `count` operations, in all its variants, after one warm-up of each.
    ///
    /// - Throws: ``WrongResult`` when a queue did not do its work.
    public func run(_ workload: Workload, count: Int) throws -> WorkloadReport {
        precondition(count > 0, "count is \(count): it must be 1 or more")
        var variants: [VariantReport] = []
        for variant in workload.variants { variants.append(try measure(workload, variant, count)) }
        return WorkloadReport(
            workload: workload, count: count, repeats: repeats, variants: variants,
            teardown: workload == .chain ? try measureTeardown(count) : nil)
    }

    /// Pairs, so that what else the machine does meets both queues; every other pair begins with Foundation's.
    private func measure(_ workload: Workload, _ variant: Variant, _ count: Int) throws -> VariantReport {
        let foundationCount = min(count, workload.foundationMaximum)
        for engine in Engine.allCases { _ = try workload.sample(engine, variant, min(foundationCount, Self.warmUpCount)) }
        var ours: [Sample] = []
        var foundations: [Sample] = []
        for round in 0..<repeats {
            for engine in round.isMultiple(of: 2) ? Engine.allCases : Engine.allCases.reversed() {
                switch engine {
                case .ours: ours.append(try workload.sample(.ours, variant, count))
                case .foundation: foundations.append(try workload.sample(.foundation, variant, foundationCount))
                }
            }
        }
        return VariantReport(variant: variant, ours: ours, foundation: foundations)
    }

    private func measureTeardown(_ count: Int) throws -> Teardown {
        let rounds = try (0..<repeats).map { _ in try Chain.teardown(count) }
        return Teardown(
            afterRun: rounds.map(\.afterRun).median ?? 0, neverRun: rounds.map(\.neverRun).median ?? 0)
    }
}

extension Workload {
    fileprivate func sample(_ engine: Engine, _ variant: Variant, _ count: Int) throws -> Sample {
        switch self {
        case .flood: try Flood.sample(engine, variant, count)
        case .chain: try Chain.sample(engine, variant, count)
        case .fanIn: try FanIn.sample(engine, variant, count)
        case .groups: try NestedGroups.sample(engine, variant, count)
        }
    }
}
